#pragma once

#include <cstdint>

#include "common/host_device.hpp"

namespace rthiss {

/// Bits of an axis in a Morton code of three axes.
inline constexpr int kMortonBitsPerAxis = 21;

/// Moves bit i of the low 21 bits to bit 3 i.
[[nodiscard]] RTHISS_HOST_DEVICE constexpr std::uint64_t spread_bits_by_three(std::uint32_t value) {
  std::uint64_t x = value & 0x1FFFFFu;
  x = (x | x << 32) & 0x001F00000000FFFFull;
  x = (x | x << 16) & 0x001F0000FF0000FFull;
  x = (x | x << 8) & 0x100F00F00F00F00Full;
  x = (x | x << 4) & 0x10C30C30C30C30C3ull;
  x = (x | x << 2) & 0x1249249249249249ull;
  return x;
}

/// Interleaves the low 21 bits of each axis; x holds the highest bit of each triple.
[[nodiscard]] RTHISS_HOST_DEVICE constexpr std::uint64_t morton_code(std::uint32_t x, std::uint32_t y,
                                                                     std::uint32_t z) {
  return spread_bits_by_three(x) << 2 | spread_bits_by_three(y) << 1 | spread_bits_by_three(z);
}

/// Cell of `value` among 2^21 equal cells of [low, high]; 0 where the interval is a point.
[[nodiscard]] RTHISS_HOST_DEVICE inline std::uint32_t morton_cell(double value, double low, double high) {
  constexpr std::uint32_t last = (1u << kMortonBitsPerAxis) - 1;
  if (!(high > low)) return 0;
  const double cell = (value - low) / (high - low) * (1u << kMortonBitsPerAxis);
  if (!(cell > 0)) return 0;
  return cell >= last ? last : static_cast<std::uint32_t>(cell);
}

}  // namespace rthiss
