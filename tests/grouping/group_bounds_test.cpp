#include "grouping/group_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <limits>
#include <random>

#include "common/parallel.hpp"
#include "support/projected_values.hpp"

namespace rthiss::test {
namespace {

using Rational = boost::multiprecision::cpp_rational;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Tight boxes, greatest errors, and every point inside its sphere in exact arithmetic.
void expect_bounds(const ProjectedPoints& points, const Grouping& grouping, const ThreadPool& pool) {
  const GroupBounds bounds = bound_groups(points, grouping, pool);
  ASSERT_EQ(bounds.groups, grouping.groups());
  ASSERT_EQ(bounds.components, points.width);
  ASSERT_EQ(bounds.stride % 16, 0u);
  for (std::size_t g = 0; g < bounds.groups; ++g) {
    float error = 0.0f;
    for (std::size_t c = 0; c < points.width; ++c) {
      float low = kInfinity, high = -kInfinity;
      for (std::size_t i = grouping.group_begin[g]; i < grouping.group_begin[g + 1]; ++i) {
        const float value = points.values[grouping.original_id[i] * points.stride + c];
        low = std::min(low, value);
        high = std::max(high, value);
      }
      ASSERT_EQ(bounds.low[c * bounds.stride + g], low);
      ASSERT_EQ(bounds.high[c * bounds.stride + g], high);
    }
    for (std::size_t i = grouping.group_begin[g]; i < grouping.group_begin[g + 1]; ++i) {
      const std::size_t id = grouping.original_id[i];
      error = std::max(error, points.error[id]);
      if (bounds.sphere_radius[g] == kInfinity) continue;
      Rational square = 0;
      for (std::size_t a = 0; a < std::min<std::size_t>(3, points.width); ++a) {
        const Rational difference =
            Rational(points.values[id * points.stride + a]) - Rational(bounds.sphere_center[a * bounds.stride + g]);
        square += difference * difference;
      }
      const Rational radius(bounds.sphere_radius[g]);
      ASSERT_LE(square, radius * radius);
    }
    ASSERT_EQ(bounds.error[g], error);
    for (std::size_t a = points.width; a < 3; ++a) ASSERT_EQ(bounds.sphere_center[a * bounds.stride + g], 0.0f);
  }
  for (std::size_t g = bounds.groups; g < bounds.stride; ++g) {
    for (std::size_t c = 0; c < points.width; ++c) {
      ASSERT_EQ(bounds.low[c * bounds.stride + g], kInfinity);
      ASSERT_EQ(bounds.high[c * bounds.stride + g], -kInfinity);
    }
    ASSERT_EQ(bounds.error[g], 0.0f);
  }
}

TEST(GroupBounds, HoldEveryPoint) {
  std::mt19937 random(3);
  for (const int threads : {1, 2}) {
    const ThreadPool pool(threads);
    for (const std::size_t n : {0u, 1u, 2u, 31u, 32u, 33u, 63u, 64u, 65u, 700u}) {
      for (const std::size_t width : {1u, 2u, 3u, 4u, 17u}) {
        ProjectedPoints points = integer_values(n, width, 0.0f, 1);
        const int exponent = std::uniform_int_distribution<int>(-149, 127)(random);
        for (float& value : points.values) {
          value = std::ldexp(std::uniform_real_distribution<float>(-1.0f, 1.0f)(random), exponent);
        }
        const GroupingOptions options{SplitRule::kWidest, GroupOrder::kTree, 16, -1, 1 + n / 20};
        ASSERT_NO_FATAL_FAILURE(expect_bounds(points, build_kd_tree(points, options, pool), pool));
      }
    }
  }
}

TEST(GroupBounds, SphereOfEqualPointsHasNoRadius) {
  const ThreadPool pool(1);
  ProjectedPoints points = integer_values(5, 3, 0.0f, 1);
  for (std::size_t i = 0; i < 5; ++i) points.values[i * points.stride] = 0.1f;
  const GroupBounds bounds =
      bound_groups(points, build_kd_tree(points, {SplitRule::kWidest, GroupOrder::kTree, 3, 0, 0}, pool), pool);
  EXPECT_EQ(bounds.sphere_radius[0], 0.0f);
}

TEST(GroupBounds, SphereBeyondFloatIsInfinite) {
  const ThreadPool pool(1);
  ProjectedPoints points = integer_values(2, 3, 0.0f, 1);
  for (std::size_t a = 0; a < 3; ++a) {
    points.values[a] = 3.4e38f;
    points.values[points.stride + a] = -3.4e38f;
  }
  points.error[1] = kInfinity;
  const GroupBounds bounds =
      bound_groups(points, build_kd_tree(points, {SplitRule::kWidest, GroupOrder::kTree, 3, 0, 0}, pool), pool);
  EXPECT_EQ(bounds.sphere_radius[0], kInfinity);
  EXPECT_EQ(bounds.sphere_center[0], 0.0f);
  EXPECT_EQ(bounds.error[0], kInfinity);
}

}  // namespace
}  // namespace rthiss::test
