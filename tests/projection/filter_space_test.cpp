#include "dataset/filter_space.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "common/parallel.hpp"
#include "refinement/filter_limits.hpp"
#include "support/exact_oracle.hpp"
#include "support/sample_rows.hpp"
#include "support/typed_points.hpp"

namespace rthiss::test {
namespace {

struct Family {
  Rows rows;
  DType dtype;
  double radius;
};

std::vector<Family> families() {
  return {
      {uniform_rows(9, 5, -1, 1), DType::kFloat32, 1.0},
      {uniform_rows(9, 5, -1, 1), DType::kFloat64, 1.0},
      {uniform_rows(9, 5, -1, 1), DType::kFloat64, 1e-30},
      {uniform_rows(9, 5, -1, 1), DType::kFloat32, 1e30},
      {scaled_rows(uniform_rows(9, 5, -1, 1), 1e300), DType::kFloat64, 1e299},
      {scaled_rows(uniform_rows(9, 5, -1, 1), 1e300), DType::kFloat64, 1.0},
      {scaled_rows(uniform_rows(9, 5, -1, 1), 1e-300), DType::kFloat64, 1e-299},
      {scaled_rows(uniform_rows(9, 5, -1, 1), 1e-300), DType::kFloat64, 1.0},
      {scaled_rows(uniform_rows(9, 5, -1, 1), 1e-44), DType::kFloat32, 1e300},
      {scaled_rows(integer_rows(9, 5, -9, 9), 0x1p-1074), DType::kFloat64, 0.0},
      {scaled_rows(integer_rows(9, 5, 0, 256), 0x1p600), DType::kFloat64, 0x1p601},
      {scaled_rows(integer_rows(9, 5, 0, 256), 0x1p400), DType::kFloat64, 0x1p401},
      {scaled_rows(uniform_rows(9, 5, 0, 1), 1.0, 0x1p40), DType::kFloat64, 1e-3},
      {integer_rows(9, 5, 0, 256), DType::kUInt8, 100.0},
      {integer_rows(9, 5, -0x1p53, 0x1p53), DType::kInt64, 1e10},
      {joined(uniform_rows(5, 5, -1, 1), scaled_rows(uniform_rows(4, 5, -1, 1), 1e-170)), DType::kFloat64, 1.0},
  };
}

// |out - scale (x - center)|^2 <= error^2 in rational arithmetic.
TEST(FilterSpace, LoadErrorIsABound) {
  const ThreadPool pool(1);
  int family_number = 0;
  for (const Family& family : families()) {
    SCOPED_TRACE(family_number++);
    const std::size_t d = family.rows[0].size();
    const TypedPoints points = typed_points(family.rows, d, family.dtype);
    const Dataset data(points.view, NonFinite::kError, "points", pool);
    const FilterSpace space = FilterSpace::choose(data, nullptr, false, family.radius, pool);
    std::vector<float> out(d);
    std::vector<double> scratch(d);
    for (std::size_t i = 0; i < data.rows(); ++i) {
      const float error = space.load(data, i, out.data(), scratch.data());
      for (const float value : out) ASSERT_TRUE(std::isfinite(value));
      if (std::isinf(error)) continue;
      Rational squares = 0;
      for (std::size_t k = 0; k < d; ++k) {
        Rational image = rational(points.values[i][k]);
        if (!space.center.empty()) image -= rational(space.center[k]);
        image *= rational(space.scale);
        image -= rational(out[k]);
        squares += image * image;
        if (space.integers) {
          ASSERT_EQ(out[k], std::floor(out[k]));
        }
        if (space.bytes) {
          ASSERT_TRUE(out[k] >= 0.0F && out[k] <= 255.0F);
        }
      }
      ASSERT_LE(squares, rational(error) * rational(error)) << i;
    }
  }
}

// |out - x/|x||^2 is not rational; out as a multiple of x brackets it: |t out| = |x| for some t, so long double does.
TEST(FilterSpace, LoadErrorIsABoundForDirections) {
  const ThreadPool pool(1);
  for (const double scale : {1.0, 1e-300, 1e300, 0x1p-1070}) {
    const TypedPoints points = typed_points(scaled_rows(integer_rows(20, 6, 1, 90), scale), 6, DType::kFloat64);
    const Dataset data(points.view, NonFinite::kError, "points", pool);
    const FilterSpace space = FilterSpace::choose(data, nullptr, true, 0.5, pool);
    std::vector<float> out(6);
    std::vector<double> scratch(6);
    for (std::size_t i = 0; i < data.rows(); ++i) {
      const float error = space.load(data, i, out.data(), scratch.data());
      long double norm = 0, squares = 0;
      for (const double value : points.values[i]) norm += static_cast<long double>(value) * value;
      norm = std::sqrt(norm);
      for (std::size_t k = 0; k < 6; ++k) {
        const long double lost = points.values[i][k] / norm - out[k];
        squares += lost * lost;
      }
      EXPECT_LE(std::sqrt(squares), error + 0x1p-60L);
      EXPECT_LT(error, 0x1p-22F);
    }
  }
}

// What a filter may say at its limits is right: everything above out is farther than the radius, everything up to in
// is not, whatever the error in between was.
TEST(FilterLimits, ProveWhatTheyClaim) {
  FilterSpace space;
  for (const double radius : {0.0, 0x1p-1074, 1e-200, 1e-20, 0.1, 1.0, 1.7, std::sqrt(3.0), 1e10, 1e18, 1e150}) {
    for (const double scale : {1.0, 0x1p-30, 0x1p60, 0x1p-600}) {
      space.scale = scale;
      const auto decider = make_pair_decider({}, radius, 4, {});
      const FilterLimits limits(decider->filter_threshold(), space);
      const Rational m = border_above(radius) * rational(scale);
      for (const double error : {0.0, 1e-7, 0.3}) {
        for (const double units : {0.0, 20.0, 5000.0}) {
          for (const double absolute : {0.0, 0x1p-140, 0.01}) {
            const Rational u = power_of_two(-24) * rational(units);
            const float out = limits.out(error, units, absolute);
            if (std::isfinite(out)) {
              // The least exact sum that can have been computed as more than `out` exceeds (m + error)^2.
              const Rational least = (rational(out) - rational(absolute)) / (1 + u);
              const Rational reach = m + rational(error);
              ASSERT_GE(least, reach * reach) << radius << ' ' << scale << ' ' << error << ' ' << units;
            }
            const float in = limits.in(error, units, absolute);
            if (in >= 0.0F && std::isfinite(in)) {
              const Rational most = (rational(in) + rational(absolute)) / (1 - u);
              const Rational reach = m - rational(error);
              ASSERT_TRUE(reach >= 0 && most <= reach * reach) << radius << ' ' << scale << ' ' << error;
            }
          }
        }
      }
      ASSERT_GE(rational(limits.out_radius() < 1e300 ? limits.out_radius() : 1e300),
                limits.out_radius() < 1e300 ? m : Rational(0));
    }
  }
}

TEST(FilterLimits, AreCloseOnOrdinaryRadii) {
  const FilterSpace space;
  const auto decider = make_pair_decider({}, 1.5, 4, {});
  const FilterLimits limits(decider->filter_threshold(), space);
  EXPECT_LT(limits.out(0.0, 20.0, 0.0), 2.25F * (1 + 24 * 0x1p-24F));
  EXPECT_GT(limits.in(0.0, 20.0, 0.0), 2.25F * (1 - 24 * 0x1p-24F));
}

TEST(FilterLimits, InfiniteRadiusAndInfiniteErrors) {
  const FilterSpace space;
  const auto everything = make_pair_decider({}, INFINITY, 4, {});
  const FilterLimits all(everything->filter_threshold(), space);
  EXPECT_TRUE(std::isinf(all.out(0.0, 20.0, 0.0)));
  EXPECT_TRUE(std::isinf(all.in(0.0, 20.0, 0.0)));
  EXPECT_LT(all.in(INFINITY, 20.0, 0.0), 0.0F);
  const auto some = make_pair_decider({}, 1.0, 4, {});
  const FilterLimits limits(some->filter_threshold(), space);
  EXPECT_TRUE(std::isinf(limits.out(INFINITY, 20.0, 0.0)));
  EXPECT_TRUE(std::isinf(limits.out(0.0, 20.0, INFINITY)));
  EXPECT_TRUE(std::isinf(limits.out(0.0, 0x1p24, 0.0)));
  EXPECT_LT(limits.in(INFINITY, 20.0, 0.0), 0.0F);
  EXPECT_LT(limits.in(0.0, 20.0, INFINITY), 0.0F);
  EXPECT_LT(limits.in(0.0, 0x1p25, 0.0), 0.0F);
}

}  // namespace
}  // namespace rthiss::test
