#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "common/host_device.hpp"

/// Directed rounding, for bounds that must hold whatever the rounding of single operations did. Host and device; needs
/// round-to-nearest and subnormals kept (FloatingPointScope). None of these functions uses the rounding mode.
namespace rthiss {

/// The next float64 above `x`; NaN and +inf stay.
RTHISS_HOST_DEVICE inline double next_above(double x) noexcept {
  if (!(x < HUGE_VAL)) return x;
  if (x == 0.0) x = 0.0;  // -0.0 has the bits of a negative number
  std::int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits += bits >= 0 ? 1 : -1;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// The next float32 above `x`; NaN and +inf stay.
RTHISS_HOST_DEVICE inline float next_above(float x) noexcept {
  if (!(x < HUGE_VALF)) return x;
  if (x == 0.0F) x = 0.0F;
  std::int32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits += bits >= 0 ? 1 : -1;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// The next value below `x`; NaN and -inf stay.
RTHISS_HOST_DEVICE inline double next_below(double x) noexcept { return -next_above(-x); }
RTHISS_HOST_DEVICE inline float next_below(float x) noexcept { return -next_above(-x); }

/// The smallest float32 >= `x` (+inf beyond the largest).
RTHISS_HOST_DEVICE inline float round_up_to_float(double x) noexcept {
  const float nearest = static_cast<float>(x);
  return static_cast<double>(nearest) < x ? next_above(nearest) : nearest;
}

/// The largest float32 <= `x` (-inf below the lowest).
RTHISS_HOST_DEVICE inline float round_down_to_float(double x) noexcept {
  const float nearest = static_cast<float>(x);
  return static_cast<double>(nearest) > x ? next_below(nearest) : nearest;
}

/// `x`, the result of one correctly rounded operation, moved outward: at least (at most) the exact result.
template <typename Real>
RTHISS_HOST_DEVICE inline Real round_up(Real x) noexcept {
  return next_above(x);
}
template <typename Real>
RTHISS_HOST_DEVICE inline Real round_down(Real x) noexcept {
  return next_below(x);
}

/// Bounds of one operation on float32 or float64.
template <typename Real>
RTHISS_HOST_DEVICE inline Real add_up(Real a, Real b) noexcept {
  return round_up(a + b);
}
template <typename Real>
RTHISS_HOST_DEVICE inline Real add_down(Real a, Real b) noexcept {
  return round_down(a + b);
}
template <typename Real>
RTHISS_HOST_DEVICE inline Real multiply_up(Real a, Real b) noexcept {
  return round_up(a * b);
}
template <typename Real>
RTHISS_HOST_DEVICE inline Real multiply_down(Real a, Real b) noexcept {
  return round_down(a * b);
}
template <typename Real>
RTHISS_HOST_DEVICE inline Real divide_up(Real a, Real b) noexcept {
  return round_up(a / b);
}
template <typename Real>
RTHISS_HOST_DEVICE inline Real divide_down(Real a, Real b) noexcept {
  return round_down(a / b);
}
/// Bounds of the square root of a non-negative number; sqrt_down is never negative.
template <typename Real>
RTHISS_HOST_DEVICE inline Real sqrt_up(Real a) noexcept {
  return round_up(std::sqrt(a));
}
template <typename Real>
RTHISS_HOST_DEVICE inline Real sqrt_down(Real a) noexcept {
  const Real root = std::sqrt(a);
  return root > Real(0) ? round_down(root) : root;
}

}  // namespace rthiss
