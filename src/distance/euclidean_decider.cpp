#include "distance/euclidean_decider.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "distance/exact_sums.hpp"
#include "distance/pair_sums.hpp"
#include "geometry/rounding.hpp"

namespace rthiss {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums in this range need no scaling in double-double (squared_distance_dd).
constexpr double kUnscaledLow = 0x1p-800;
constexpr double kUnscaledHigh = 0x1p1000;

bool equal_rows(const double* x, const double* y, std::size_t columns) { return std::equal(x, x + columns, y); }

// s = total * 4^exponent within the bound of squared_distance_dd, where usable.
struct ScaledSum {
  DoubleDouble total;
  int exponent = 0;
  bool usable = false;
};

ScaledSum scaled_sum_dd(double sum, const double* x, const double* y, std::size_t columns) {
  ScaledSum result;
  if (!(sum >= kUnscaledLow && sum <= kUnscaledHigh)) {
    const double largest = largest_difference(x, y, columns);
    if (!(largest > 0.0) || std::isinf(largest)) return result;
    // Between these ends 2^-exponent is a normal number; beyond them the largest scaled difference lies in
    // [2^-74, 2^24], so that the sum is still far from both ends.
    result.exponent = std::clamp(std::ilogb(largest), -1000, 1000);
  }
  result.total = squared_distance_dd(x, y, columns, std::ldexp(1.0, -result.exponent));
  result.usable = std::isfinite(result.total.hi) && std::isfinite(result.total.lo) && result.total.hi > 0.0;
  return result;
}

}  // namespace

EuclideanDecider::EuclideanDecider(double radius, std::size_t columns, const ValueGrid& grid)
    : columns_(columns), relative_dd_(double_double_bound(columns)) {
  // Differences of up to 2^53 steps are exact. Every addition of non-negative integers whose computed result is below
  // 2^53 steps was exact, and so were those before it, as computed sums never fall.
  const int square_exponent = 2 * grid.exponent;
  const bool exact_on_grid =
      grid.on_grid && grid.max_steps <= 0x1p52 && square_exponent >= -1074 && square_exponent <= 1023 - 53;
  if (exact_on_grid) exact_below_ = std::ldexp(1.0, 53 + square_exponent);

  if (std::isinf(radius)) {
    filter_ = {kInfinity, kInfinity, true, false};
    in_ = kInfinity;
    out_ = kInfinity;
    return;
  }
  threshold_.emplace(radius);
  filter_ = {threshold_->below(), threshold_->above(), false, false};

  if (exact_on_grid) grid_limit_ = threshold_->grid_limit(grid.exponent);
  if (grid_limit_) {
    // Exact sums are <= the limit or above it; inexact ones are >= 2^53 steps, above it like their exact sums.
    in_ = out_ = std::ldexp(*grid_limit_, square_exponent);
    return;
  }
  // |computed - s| <= r s + a, r = (d + 3) u / (1 - (d + 3) u), a = d 2^-1074. So
  // computed <= below (1 - r) - a gives s <= below < m^2, and computed > above (1 + r) + a gives s > above > m^2.
  // An overflow to infinity means that with a wider exponent the computed sum would be 2^1024 or more: out as well.
  const double n = static_cast<double>(columns);
  const double relative = divide_up((n + 3.0) * 0x1p-53, 1.0 - (n + 4.0) * 0x1p-53);
  const double absolute = n * 0x1p-1074;
  in_ = add_down(multiply_down(filter_.in_below, round_down(1.0 - relative)), -absolute);
  out_ = add_up(multiply_up(filter_.out_above, round_up(1.0 + relative)), absolute);
}

bool EuclideanDecider::within(const double* x, const double* y, TierCounts& counts) const {
  const double sum = squared_distance(x, y, columns_);
  if (sum <= in_) {
    ++counts.in_double;
    return true;
  }
  if (sum > out_) {
    ++counts.in_double;
    return false;
  }
  return within_near_tie(sum, x, y, counts);
}

bool EuclideanDecider::within_near_tie(double sum, const double* x, const double* y, TierCounts& counts) const {
  // Only here when sum > in_, and so never with an infinite radius or with a grid limit.
  if (sum < kUnscaledLow && equal_rows(x, y, columns_)) {
    ++counts.in_double;
    return true;
  }
  const ScaledSum scaled_sum = scaled_sum_dd(sum, x, y, columns_);
  if (scaled_sum.usable) {
    // The threshold in the sum's unit. The sum lies in [2^-810, 2^1010], so that a clamped shift still orders them; the
    // low part cannot underflow where it matters.
    const int shift = std::clamp(2 * (threshold_->leading_exponent() - scaled_sum.exponent), -900, 1020);
    const DoubleDouble leading = threshold_->leading();
    const double limit_hi = std::ldexp(leading.hi, shift);
    const double limit_lo = std::ldexp(leading.lo, shift);
    // Near a tie hi - hi is exact; else its rounding keeps the sign. All roundings are below 2^-104 of the larger
    // number, which the factor 2 covers (the bound alone is 2^-91 or more, and itself counted twice).
    const double difference = (scaled_sum.total.hi - limit_hi) + (scaled_sum.total.lo - limit_lo);
    const double error = 2.0 * relative_dd_ * std::max(scaled_sum.total.hi, limit_hi);
    if (std::fabs(difference) > error) {
      ++counts.double_double;
      return difference < 0.0;
    }
  }
  ++counts.exact;
  return threshold_->within(exact_squared_distance(x, y, columns_));
}

double EuclideanDecider::value(const double* x, const double* y) const {
  const double sum = squared_distance(x, y, columns_);
  if (sum < exact_below_) return std::sqrt(sum);
  if (sum < kUnscaledLow && equal_rows(x, y, columns_)) return 0.0;
  const ScaledSum scaled_sum = scaled_sum_dd(sum, x, y, columns_);
  if (scaled_sum.usable) {
    // A relative error b of the sum is one of at most 0.6 b of the root; square_root and the rounding test add less
    // than 0.1 b.
    const DoubleDouble root = square_root(scaled_sum.total);
    double rounded = 0.0;
    if (round_with_bound(root, relative_dd_ * root.hi, &rounded)) {
      const double distance = std::ldexp(rounded, scaled_sum.exponent);
      if (distance >= std::numeric_limits<double>::min()) return distance;  // a subnormal would be rounded twice
    }
  }
  return rounded_root(exact_squared_distance(x, y, columns_));
}

}  // namespace rthiss
