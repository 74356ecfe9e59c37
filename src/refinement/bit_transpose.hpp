#pragma once

#include <cstdint>

namespace rthiss {

/// Transposes a 64 x 64 bit matrix in place: afterwards bit r of word c is what bit c of word r was.
inline void transpose_bits(std::uint64_t* words) {
  std::uint64_t mask = 0x00000000FFFFFFFFULL;
  for (unsigned width = 32; width != 0; width >>= 1, mask ^= mask << width) {
    for (unsigned row = 0; row < 64; row = ((row | width) + 1) & ~width) {
      const std::uint64_t swap = ((words[row] >> width) ^ words[row | width]) & mask;
      words[row] ^= swap << width;
      words[row | width] ^= swap;
    }
  }
}

}  // namespace rthiss
