#pragma once

#include <cstdint>

#include "common/host_device.hpp"
#include "geometry/morton_code.hpp"

namespace rthiss {

/// Place along the Hilbert curve through 2^21 cells an axis. The curve's transposed index (J. Skilling, "Programming
/// the Hilbert curve", 2004) is worked out bit by bit and interleaved like a Morton code.
[[nodiscard]] RTHISS_HOST_DEVICE constexpr std::uint64_t hilbert_code(std::uint32_t x, std::uint32_t y,
                                                                      std::uint32_t z) {
  std::uint32_t axis[3] = {x, y, z};
  // Undo the rotations and reflections of each level, coarsest first.
  for (std::uint32_t bit = 1U << (kMortonBitsPerAxis - 1); bit > 1; bit >>= 1) {
    const std::uint32_t below = bit - 1;
    for (std::uint32_t& coordinate : axis) {
      if ((coordinate & bit) != 0) {
        axis[0] ^= below;
      } else {
        const std::uint32_t swapped = (axis[0] ^ coordinate) & below;
        axis[0] ^= swapped;
        coordinate ^= swapped;
      }
    }
  }
  axis[1] ^= axis[0];
  axis[2] ^= axis[1];
  std::uint32_t flips = 0;
  for (std::uint32_t bit = 1U << (kMortonBitsPerAxis - 1); bit > 1; bit >>= 1) {
    if ((axis[2] & bit) != 0) flips ^= bit - 1;
  }
  return morton_code(axis[0] ^ flips, axis[1] ^ flips, axis[2] ^ flips);
}

}  // namespace rthiss
