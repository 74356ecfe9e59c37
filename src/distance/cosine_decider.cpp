#include "distance/cosine_decider.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "distance/pair_sums.hpp"
#include "geometry/rounding.hpp"

namespace rthiss {

using boost::multiprecision::cpp_int;
using boost::multiprecision::msb;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Squared norms in here: products neither overflow, nor does what underflows matter (cosine_sums, cosine_sums_dd).
constexpr double kLowestSquare = 0x1p-690;
constexpr double kHighestSquare = 0x1p890;

bool in_range(double square) { return square >= kLowestSquare && square <= kHighestSquare; }

// A row times the power of two that brings its largest magnitude into [1, 2). The cosine stays the same, but for values
// that underflow: less than 2^-1074 each, against a norm of at least 1.
std::vector<double> brought_into_range(const double* row, std::size_t columns) {
  double largest = 0.0;
  for (std::size_t k = 0; k < columns; ++k) largest = std::max(largest, std::fabs(row[k]));
  const int exponent = std::ilogb(largest);
  std::vector<double> result(columns);
  for (std::size_t k = 0; k < columns; ++k) result[k] = std::ldexp(row[k], -exponent);
  return result;
}

// cos with an absolute error of at most 3 b, b = double_double_bound(d): xy is off by b |x||y|, the two norms by b / 2
// relative each, and five operations of at most 16 u^2 stay below b / 2.
DoubleDouble cosine_dd(const double* x, const double* y, std::size_t columns) {
  const CosineSums<double> rough = cosine_sums(x, y, columns);
  std::vector<double> scaled_x;
  std::vector<double> scaled_y;
  if (!in_range(rough.xx)) {
    scaled_x = brought_into_range(x, columns);
    x = scaled_x.data();
  }
  if (!in_range(rough.yy)) {
    scaled_y = brought_into_range(y, columns);
    y = scaled_y.data();
  }
  const CosineSums<DoubleDouble> sums = cosine_sums_dd(x, y, columns);
  return divide(sums.xy, multiply(square_root(sums.xx), square_root(sums.yy)));
}

// The sign of xy / sqrt(xx yy) - limit.
int compare_cosine(const ExactCosineSums& sums, const Dyadic& limit) {
  const int sign = sums.xy.sign();
  const int limit_sign = limit.sign();
  if (sign != limit_sign) return sign < limit_sign ? -1 : 1;
  const int order = compare(sums.xy * sums.xy, limit * limit * (sums.xx * sums.yy));
  return sign >= 0 ? order : -order;
}

// RN64 of xy / sqrt(xx yy), or of 1 minus it. The square is a quotient of integers; its root is taken to more and more
// bits until both ends of what it can be round to the same double.
double exact_value(const ExactCosineSums& sums, bool similarity) {
  if (sums.xy.n.is_zero()) return similarity ? 0.0 : 1.0;
  const bool negative = sums.xy.sign() < 0;
  const cpp_int square = sums.xy.n * sums.xy.n;
  const cpp_int norms = sums.xx.n * sums.yy.n;
  const int exponent = 2 * sums.xy.exponent - sums.xx.exponent - sums.yy.exponent;
  for (int bits = 128;; bits *= 2) {
    // floor(|cos| * 2^bits) = floor(sqrt(square * 2^(2 bits + exponent) / norms))
    const int shift = 2 * bits + exponent;
    const cpp_int numerator = shift >= 0 ? cpp_int(square << shift) : square;
    const cpp_int denominator = shift >= 0 ? norms : cpp_int(norms << -shift);
    cpp_int quotient;
    cpp_int remainder;
    divide_qr(numerator, denominator, quotient, remainder);
    const IntegerRoot root = integer_root(quotient);
    const bool inexact = root.inexact || !remainder.is_zero();
    const auto end = [&](const cpp_int& magnitude) {
      const cpp_int cosine = negative ? cpp_int(-magnitude) : magnitude;
      const cpp_int result = similarity ? cosine : cpp_int((cpp_int(1) << bits) - cosine);
      return round_to_nearest({result, -bits});
    };
    const double first = end(root.root);
    if (!inexact) return first;
    const double second = end(cpp_int(root.root + 1));
    // Bit patterns, since 0 and -0 are different ends.
    if (std::bit_cast<std::uint64_t>(first) == std::bit_cast<std::uint64_t>(second)) return first;
  }
}

// Integers of at most `max_steps` whose squares sum to less than 2^53, and whose squared unit float64 holds.
bool sums_are_exact(const ValueGrid& grid, std::size_t columns) {
  return grid.on_grid && grid.exponent >= -537 && grid.exponent <= 485 &&
         static_cast<double>(columns) * grid.max_steps * grid.max_steps < 0x1p52;
}

bool is_even(double value) { return (std::bit_cast<std::uint64_t>(value) & 1) == 0; }

}  // namespace

CosineDecider::CosineDecider(Metric::Kind kind, double value, std::size_t columns, const ValueGrid& grid)
    : similarity_(kind == Metric::Kind::kCosineSimilarity),
      columns_(columns),
      sums_exact_(sums_are_exact(grid, columns)),
      in_(-kInfinity),
      out_(-kInfinity),
      error_dd_(3.0 * double_double_bound(columns)) {
  // Every cosine is in [-1, 1], so that every similarity is >= -1 and every distance is <= 2.
  if (similarity_ ? value <= -1.0 : value >= 2.0) {
    filter_ = {kInfinity, kInfinity, true, false};
    return;
  }
  value += 0.0;  // -0.0 is 0.0
  tie_is_within_ = is_even(value);
  if (similarity_) {
    set_limit(scaled(dyadic(value) + dyadic(next_below(value)), -1));
  } else {
    set_limit(Dyadic{cpp_int(1), 0} - scaled(dyadic(value) + dyadic(next_above(value)), -1));
  }
}

void CosineDecider::set_limit(const Dyadic& limit) {
  limit_ = limit;
  limit_dd_.hi = round_to_nearest(limit);
  limit_dd_.lo = round_to_nearest(limit - dyadic(limit_dd_.hi));

  // s = 2 - 2 cos, so that cos > limit is s < 2 - 2 limit.
  const Dyadic square = scaled(Dyadic{cpp_int(1), 0} - limit, 1);
  filter_.in_below = double_below(square);
  filter_.out_above = double_above(square);
  if (filter_.in_below == filter_.out_above && !tie_is_within_) filter_.in_below = next_below(filter_.in_below);

  // With g = d u / (1 - d u): |xy~ - xy| <= g |x||y|, the root of the product of the squared norms is off by g and two
  // roundings, the quotient by one: |cos~ - cos| <= (2 d + 8) u to first order; (2 d + 16) u / (1 - (2 d + 16) u) has
  // room for the second order, for what underflows (cosine_sums), and for the subtraction below.
  const double relative = (2.0 * static_cast<double>(columns_) + 16.0) * 0x1p-53;
  const double error = divide_up(relative, 1.0 - round_up(relative));
  in_ = add_up(double_above(limit), error);
  out_ = add_down(double_below(limit), -error);
}

bool CosineDecider::within(const double* x, const double* y, TierCounts& counts) const {
  const CosineSums<double> sums = cosine_sums(x, y, columns_);
  if (in_range(sums.xx) && in_range(sums.yy)) {
    const double cosine = sums.xy / (std::sqrt(sums.xx) * std::sqrt(sums.yy));
    if (cosine > in_) {
      ++counts.in_double;
      return true;
    }
    if (cosine < out_) {
      ++counts.in_double;
      return false;
    }
  }
  return within_near_tie(x, y, counts);
}

ExactCosineSums CosineDecider::exact_sums(const double* x, const double* y) const {
  if (!sums_exact_) return exact_cosine_sums(x, y, columns_);
  const CosineSums<double> sums = cosine_sums(x, y, columns_);
  return {dyadic(sums.xy), dyadic(sums.xx), dyadic(sums.yy)};
}

bool CosineDecider::within_near_tie(const double* x, const double* y, TierCounts& counts) const {
  // Equal rows have the cosine 1, the largest there is; no limit is above it (RN64(1) = 1, RN64(1 - 1) = 0).
  if (filter_.accepts_everything || std::equal(x, x + columns_, y)) {
    ++counts.in_double;
    return true;
  }
  const DoubleDouble cosine = cosine_dd(x, y, columns_);
  const double difference = (cosine.hi - limit_dd_.hi) + (cosine.lo - limit_dd_.lo);
  // Twice the bound: the other half covers the roundings of the difference and of the limit.
  if (std::fabs(difference) > 2.0 * error_dd_) {
    ++counts.double_double;
    return difference > 0.0;
  }
  ++counts.exact;
  const int order = compare_cosine(exact_sums(x, y), limit_);
  return order > 0 || (order == 0 && tie_is_within_);
}

double CosineDecider::value(const double* x, const double* y) const {
  const DoubleDouble cosine = cosine_dd(x, y, columns_);
  DoubleDouble result = cosine;
  if (!similarity_) {
    const DoubleDouble difference = two_sum(1.0, -cosine.hi);
    result = two_sum(difference.hi, difference.lo - cosine.lo);
  }
  double rounded = 0.0;
  if (round_with_bound(result, 2.0 * error_dd_, &rounded)) return rounded;
  if (std::equal(x, x + columns_, y)) return similarity_ ? 1.0 : 0.0;
  return exact_value(exact_sums(x, y), similarity_);
}

}  // namespace rthiss
