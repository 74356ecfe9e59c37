#include "dataset/scan_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dataset/scan_values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rthiss::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// max |value| into *max_abs; false where a value is NaN or infinite.
template <typename Real>
HWY_INLINE bool largest_magnitude(const Real* values, std::size_t count, Real* max_abs) {
  const hn::ScalableTag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto finite_limit = hn::Set(tag, std::numeric_limits<Real>::max());
  auto largest = hn::Zero(tag);
  auto all_finite = hn::Eq(largest, largest);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto magnitude = hn::Abs(hn::LoadU(tag, values + i));
    all_finite = hn::And(all_finite, hn::Le(magnitude, finite_limit));
    largest = hn::Max(largest, magnitude);
  }
  bool finite = hn::AllTrue(tag, all_finite);
  Real result = hn::GetLane(hn::MaxOfLanes(tag, largest));
  for (; i < count; ++i) {
    const Real magnitude = std::fabs(values[i]);
    finite = finite && magnitude <= std::numeric_limits<Real>::max();
    result = std::max(result, magnitude);
  }
  *max_abs = result;
  return finite;
}

// Is every value an integer times `step`, a power of two with the inverse `inverse`? value == RN(value / step) * step
// shows it: the product of an integer and a power of two is exact or overflows, and then it differs from the value.
template <typename Real>
HWY_INLINE bool all_multiples(const Real* values, std::size_t count, Real step, Real inverse) {
  const hn::ScalableTag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto step_vector = hn::Set(tag, step);
  const auto inverse_vector = hn::Set(tag, inverse);
  auto all = hn::Eq(step_vector, step_vector);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(tag, values + i);
    all = hn::And(all, hn::Eq(value, hn::Mul(hn::Round(hn::Mul(value, inverse_vector)), step_vector)));
  }
  bool result = hn::AllTrue(tag, all);
  for (; i < count; ++i) result = result && values[i] == std::nearbyint(values[i] * inverse) * step;
  return result;
}

bool largest_float(const float* values, std::size_t count, float* max_abs) {
  return largest_magnitude(values, count, max_abs);
}
bool largest_double(const double* values, std::size_t count, double* max_abs) {
  return largest_magnitude(values, count, max_abs);
}
bool multiples_float(const float* values, std::size_t count, float step, float inverse) {
  return all_multiples(values, count, step, inverse);
}
bool multiples_double(const double* values, std::size_t count, double step, double inverse) {
  return all_multiples(values, count, step, inverse);
}

}  // namespace rthiss::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rthiss {

HWY_EXPORT(largest_float);
HWY_EXPORT(largest_double);
HWY_EXPORT(multiples_float);
HWY_EXPORT(multiples_double);

namespace {

bool largest(const float* values, std::size_t count, float* max_abs) {
  return HWY_DYNAMIC_DISPATCH(largest_float)(values, count, max_abs);
}
bool largest(const double* values, std::size_t count, double* max_abs) {
  return HWY_DYNAMIC_DISPATCH(largest_double)(values, count, max_abs);
}
bool multiples(const float* values, std::size_t count, float step, float inverse) {
  return HWY_DYNAMIC_DISPATCH(multiples_float)(values, count, step, inverse);
}
bool multiples(const double* values, std::size_t count, double step, double inverse) {
  return HWY_DYNAMIC_DISPATCH(multiples_double)(values, count, step, inverse);
}

constexpr int kLowestFloatExponent = -126;   // its inverse is a float
constexpr int kLowestDoubleExponent = -537;  // its square is a double

// The largest e with value = integer * 2^e; value finite and not zero.
int trailing_exponent(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>((bits >> 52) & 0x7FF);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t significand = biased == 0 ? fraction : fraction | (std::uint64_t{1} << 52);
  return std::max(biased, 1) - 1075 + std::countr_zero(significand);
}

}  // namespace

template <typename Real>
bool ValueScan::add_values(const Real* values, std::size_t count, int lowest_exponent) {
  Real max_abs = 0;
  if (!largest(values, count, &max_abs)) return false;
  max_abs_ = std::max(max_abs_, static_cast<double>(max_abs));
  if (grid_lost_ || max_abs == 0) return true;
  // Blocks that fail lower the exponent, which happens at most a few dozen times before the search ends.
  if (exponent_ == kNoValue || exponent_ >= std::numeric_limits<Real>::max_exponent ||
      !multiples(values, count, std::ldexp(Real(1), exponent_), std::ldexp(Real(1), -exponent_))) {
    for (std::size_t i = 0; i < count; ++i) {
      if (values[i] != 0) exponent_ = std::min(exponent_, trailing_exponent(static_cast<double>(values[i])));
    }
    grid_lost_ = exponent_ < lowest_exponent;
  }
  check_steps();
  return true;
}

void ValueScan::check_steps() {
  if (grid_lost_ || exponent_ == kNoValue) return;
  grid_lost_ = std::ilogb(max_abs_) - exponent_ >= 53;
}

bool ValueScan::add(const float* values, std::size_t count) { return add_values(values, count, kLowestFloatExponent); }
bool ValueScan::add(const double* values, std::size_t count) {
  return add_values(values, count, kLowestDoubleExponent);
}

void ValueScan::add_integers(std::uint64_t largest_value, std::uint64_t all_bits) {
  if (all_bits == 0) return;
  max_abs_ = std::max(max_abs_, static_cast<double>(largest_value));
  exponent_ = std::min(exponent_, std::countr_zero(all_bits));
  check_steps();
}

void ValueScan::merge(const ValueScan& other) {
  max_abs_ = std::max(max_abs_, other.max_abs_);
  exponent_ = std::min(exponent_, other.exponent_);
  grid_lost_ = grid_lost_ || other.grid_lost_;
  check_steps();
}

ValueGrid ValueScan::grid() const {
  if (grid_lost_) return {false, 0, max_abs_, 0.0};
  const int exponent = exponent_ == kNoValue ? 0 : exponent_;
  return {true, exponent, max_abs_, std::ldexp(max_abs_, -exponent)};
}

}  // namespace rthiss
#endif  // HWY_ONCE
