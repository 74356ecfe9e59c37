#include "distance/radius_threshold.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include "geometry/rounding.hpp"

namespace rthiss {

using boost::multiprecision::cpp_int;
using boost::multiprecision::msb;

RadiusThreshold::RadiusThreshold(double radius) : tie_is_within_((std::bit_cast<std::uint64_t>(radius) & 1) == 0) {
  const double next = next_above(radius);
  const Dyadic upper = std::isinf(next) ? Dyadic{cpp_int(1), 1024} : dyadic(next);
  const Dyadic m = scaled(dyadic(radius) + upper, -1);
  m_squared_ = m * m;
  below_ = double_below(m_squared_);
  above_ = double_above(m_squared_);

  const int top = static_cast<int>(msb(m_squared_.n)) + m_squared_.exponent;
  leading_exponent_ = top >= 0 ? top / 2 : -((1 - top) / 2);  // floor(top / 2)
  const Dyadic leading = scaled(m_squared_, -2 * leading_exponent_);
  leading_.hi = round_to_nearest(leading);
  leading_.lo = round_to_nearest(leading - dyadic(leading_.hi));
}

bool RadiusThreshold::within(const Dyadic& s) const {
  const int order = compare(s, m_squared_);
  return order < 0 || (order == 0 && tie_is_within_);
}

std::optional<double> RadiusThreshold::grid_limit(int grid_exponent) const {
  const Dyadic in_steps = scaled(m_squared_, -2 * grid_exponent);
  if (compare(in_steps, {cpp_int(1), 53}) >= 0) return std::nullopt;
  // m^2 in steps is no integer: an odd number of 107 or more bits is no integer below 2^53, and for a subnormal radius
  // m^2 is below the smallest step. So there is no tie to look at.
  return floor_of(in_steps).convert_to<double>();
}

}  // namespace rthiss
