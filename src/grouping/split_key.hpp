#pragma once

#include <bit>
#include <cstdint>

namespace rthiss {

/// The total order of a split, (value, id), as one integer: equal values (-0.0 and 0.0 too) fall back on the id.
[[nodiscard]] inline std::uint64_t split_key(float value, std::uint32_t id) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);
  const std::uint32_t ordered = bits ^ ((bits >> 31) != 0 ? 0xFFFFFFFFu : 0x80000000u);
  return std::uint64_t{ordered} << 32 | id;
}

}  // namespace rthiss
