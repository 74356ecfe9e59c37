#include "dataset/value_grid.hpp"

#include <algorithm>
#include <cmath>

namespace rthiss {

ValueGrid ValueGrid::common(const ValueGrid& a, const ValueGrid& b) {
  const double max_abs = std::max(a.max_abs, b.max_abs);
  if (!a.on_grid || !b.on_grid) return {false, 0, max_abs, 0.0};
  if (a.max_abs == 0.0) return b;  // zeros lie on every grid
  if (b.max_abs == 0.0) return a;
  const int exponent = std::min(a.exponent, b.exponent);
  if (std::ilogb(max_abs) - exponent >= 53) return {false, 0, max_abs, 0.0};
  return {true, exponent, max_abs, std::ldexp(max_abs, -exponent)};
}

}  // namespace rthiss
