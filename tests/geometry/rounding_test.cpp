#include "geometry/rounding.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/exact_oracle.hpp"

namespace rthiss {
namespace {

using test::Rational;
using test::rational;

// All kinds of magnitudes: random bit patterns, and the ends of the format.
template <typename Real, typename Bits>
std::vector<Real> finite_values() {
  using Limits = std::numeric_limits<Real>;
  std::vector<Real> values = {Real(0),
                              -Real(0),
                              Limits::denorm_min(),
                              Limits::min(),
                              Limits::max(),
                              Real(1),
                              Real(2),
                              std::nextafter(Limits::min(), Real(0)),
                              std::nextafter(Real(1), Real(0)),
                              Limits::epsilon()};
  for (std::size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
  std::mt19937_64 random(11);
  while (values.size() < 300) {
    const auto value = std::bit_cast<Real>(static_cast<Bits>(random()));
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

template <typename Real, typename Bits>
void check_neighbours() {
  const Real infinity = std::numeric_limits<Real>::infinity();
  for (const Real x : finite_values<Real, Bits>()) {
    EXPECT_EQ(next_above(x), std::nextafter(x, infinity)) << x;
    EXPECT_EQ(next_below(x), std::nextafter(x, -infinity)) << x;
    EXPECT_GT(next_above(x), x);
    EXPECT_LT(next_below(x), x);
  }
  EXPECT_EQ(next_above(infinity), infinity);
  EXPECT_EQ(next_below(-infinity), -infinity);
  EXPECT_EQ(next_above(-infinity), std::numeric_limits<Real>::lowest());
  EXPECT_EQ(next_below(infinity), std::numeric_limits<Real>::max());
  EXPECT_TRUE(std::isnan(next_above(std::numeric_limits<Real>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(next_below(std::numeric_limits<Real>::quiet_NaN())));
}

TEST(Rounding, Neighbours) {
  check_neighbours<double, std::uint64_t>();
  check_neighbours<float, std::uint32_t>();
}

TEST(Rounding, ToFloatIsTheNearestOnThatSide) {
  std::vector<double> values = finite_values<double, std::uint64_t>();
  for (const float f : finite_values<float, std::uint32_t>()) {
    for (const double near :
         {static_cast<double>(f), next_above(static_cast<double>(f)), next_below(static_cast<double>(f))}) {
      values.push_back(near);
    }
  }
  for (const double x : values) {
    const float up = round_up_to_float(x);
    const float down = round_down_to_float(x);
    EXPECT_GE(static_cast<double>(up), x);
    EXPECT_LE(static_cast<double>(down), x);
    EXPECT_LT(static_cast<double>(next_below(up)), x);
    EXPECT_GT(static_cast<double>(next_above(down)), x);
  }
}

template <typename Real>
void expect_at_most(Real bound, const Rational& exact) {
  if (std::isinf(bound)) {
    EXPECT_LT(bound, 0);
  } else {
    EXPECT_LE(rational(static_cast<double>(bound)), exact);
  }
}

template <typename Real, typename Bits>
void check_operations() {
  const std::vector<Real> values = finite_values<Real, Bits>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Real a = values[i];
    const Real b = values[(i * 7 + 3) % values.size()];
    const Rational x = rational(static_cast<double>(a));
    const Rational y = rational(static_cast<double>(b));
    expect_at_most(add_down(a, b), x + y);
    expect_at_most(-add_up(a, b), -(x + y));
    expect_at_most(multiply_down(a, b), x * y);
    expect_at_most(-multiply_up(a, b), -(x * y));
    if (b != 0) {
      expect_at_most(divide_down(a, b), x / y);
      expect_at_most(-divide_up(a, b), -(x / y));
    }
    if (a >= 0) {
      const Rational low = rational(static_cast<double>(sqrt_down(a)));
      const Rational high = rational(static_cast<double>(sqrt_up(a)));
      EXPECT_GE(low, 0);
      EXPECT_LE(low * low, x);
      EXPECT_GE(high * high, x);
    }
  }
}

TEST(Rounding, OperationsEncloseTheExactResult) {
  check_operations<double, std::uint64_t>();
  check_operations<float, std::uint32_t>();
}

}  // namespace
}  // namespace rthiss
