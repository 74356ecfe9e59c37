#pragma once

#include <cstddef>

namespace rthiss {

[[nodiscard]] constexpr std::size_t round_up_to(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace rthiss
