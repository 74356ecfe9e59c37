#pragma once

#include <cmath>

#include "common/host_device.hpp"
#include "geometry/rounding.hpp"

namespace rthiss {

/// The unevaluated sum hi + lo, |lo| <= ulp(hi) / 2. u = 2^-53 in the bounds below.
struct DoubleDouble {
  double hi = 0.0;
  double lo = 0.0;
};

/// a + b exactly, any order of magnitudes (barring overflow).
RTHISS_HOST_DEVICE inline DoubleDouble two_sum(double a, double b) noexcept {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// a + b exactly, for |a| >= |b| or a == 0.
RTHISS_HOST_DEVICE inline DoubleDouble fast_two_sum(double a, double b) noexcept {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// a * b exactly (barring overflow and underflow).
RTHISS_HOST_DEVICE inline DoubleDouble two_product(double a, double b) noexcept {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

/// a * b (1 + t), |t| <= 8 u^2.
RTHISS_HOST_DEVICE inline DoubleDouble multiply(DoubleDouble a, DoubleDouble b) noexcept {
  const DoubleDouble product = two_product(a.hi, b.hi);
  return fast_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

/// a / b (1 + t), |t| <= 16 u^2.
RTHISS_HOST_DEVICE inline DoubleDouble divide(DoubleDouble a, DoubleDouble b) noexcept {
  const double quotient = a.hi / b.hi;
  // a - quotient * b: the leading parts cancel exactly, which leaves at most 4 u |a| with a relative error of 4 u.
  const DoubleDouble product = two_product(quotient, b.hi);
  const double rest = ((a.hi - product.hi) - product.lo) + (a.lo - quotient * b.lo);
  return fast_two_sum(quotient, rest / b.hi);
}

/// sqrt(a) (1 + t), |t| <= 8 u^2, for a.hi > 0. The rest a.hi - root^2 is exact; the Newton step leaves
/// delta^2 / (2 root) <= 1.2 u^2 root, and its own roundings 3 u^2 root.
RTHISS_HOST_DEVICE inline DoubleDouble square_root(DoubleDouble a) noexcept {
  const double root = std::sqrt(a.hi);
  const double rest = std::fma(-root, root, a.hi);
  return fast_two_sum(root, (rest + a.lo) / (2.0 * root));
}

/// RN64 of a real number known as `a` with an absolute error <= `error`: true, and *rounded, where every number that
/// is that near rounds to the same double. Below 2^-900 it never says so (halves of ulps must stay exact).
/// The sums below round by at most 2 u^2 |a.hi|, which `error` must include.
[[nodiscard]] RTHISS_HOST_DEVICE inline bool round_with_bound(DoubleDouble a, double error, double* rounded) noexcept {
  constexpr double kTooSmall = 0x1p-900;
  constexpr double kTooLarge = 0x1p1020;
  if (!(std::fabs(a.hi) >= kTooSmall) || !(std::fabs(a.hi) < kTooLarge)) return false;
  const double half_above = 0.5 * (next_above(a.hi) - a.hi);
  const double half_below = 0.5 * (a.hi - next_below(a.hi));
  if (!(a.lo + error < half_above) || !(a.lo - error > -half_below)) return false;
  *rounded = a.hi;
  return true;
}

}  // namespace rthiss
