#include "dataset/value_grid.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "dataset/scan_values.hpp"

namespace rthiss {
namespace {

template <typename Real>
ValueGrid grid_of(const std::vector<Real>& values) {
  ValueScan scan;
  EXPECT_TRUE(scan.add(values.data(), values.size()));
  return scan.grid();
}

void expect_grid(const ValueGrid& grid, int exponent, double max_abs, double max_steps) {
  EXPECT_TRUE(grid.on_grid);
  EXPECT_EQ(grid.exponent, exponent);
  EXPECT_EQ(grid.max_abs, max_abs);
  EXPECT_EQ(grid.max_steps, max_steps);
}

TEST(ValueScan, FindsTheCoarsestGrid) {
  expect_grid(grid_of<float>({}), 0, 0, 0);
  expect_grid(grid_of<float>({0.0F, -0.0F}), 0, 0, 0);
  expect_grid(grid_of<float>({0.0F, 1.0F, -255.0F}), 0, 255, 255);
  expect_grid(grid_of<float>({8.0F, -24.0F, 0.0F}), 3, 24, 3);
  expect_grid(grid_of<float>({0.5F, -0.375F}), -3, 0.5, 4);
  expect_grid(grid_of<double>({0x1p500, 0x1.8p501}), 500, 0x1.8p501, 3 * 0x1p500 / 0x1p500);
  expect_grid(grid_of<double>({0x1p-530, -0x1.4p-529}), -531, 0x1.4p-529, 5);
  expect_grid(grid_of<double>({0x1p53 - 1, 1.0}), 0, 0x1p53 - 1, 0x1p53 - 1);
  expect_grid(grid_of<float>({0x1p-126F, 0x1p-100F}), -126, 0x1p-100, 0x1p26);
  expect_grid(grid_of<float>({0x1p127F}), 127, 0x1p127, 1);
  expect_grid(grid_of<double>({0x1p1023, 0x1p1000}), 1000, 0x1p1023, 0x1p23);
}

TEST(ValueScan, KnowsWhereThereIsNone) {
  for (const auto& values : std::vector<std::vector<double>>{{0x1p53, 1.0},
                                                             {1.0, 0x1p-53},
                                                             {0x1p1000, 0x1p-500},
                                                             {0x1p-500, 0x1p1000},
                                                             {0x1p-538},
                                                             {std::numeric_limits<double>::denorm_min()},
                                                             {0x1p1000, 0x1p-1074}}) {
    const ValueGrid grid = grid_of(values);
    EXPECT_FALSE(grid.on_grid);
    EXPECT_EQ(grid.max_abs, std::max(values.front(), values.back()));
  }
}

// One finer value anywhere among many must be seen, in vectors and in their rest.
TEST(ValueScan, SeesASingleFinerValue) {
  for (const std::size_t count : {1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 64, 65}) {
    for (std::size_t at = 0; at < count; ++at) {
      std::vector<float> floats(count, 4.0F);
      std::vector<double> doubles(count, 4.0);
      ValueScan float_scan;
      ValueScan double_scan;
      ASSERT_TRUE(float_scan.add(floats.data(), count));  // a grid of fours is known before
      ASSERT_TRUE(double_scan.add(doubles.data(), count));
      floats[at] = -2.5F;
      doubles[at] = -2.5;
      ASSERT_TRUE(float_scan.add(floats.data(), count));
      ASSERT_TRUE(double_scan.add(doubles.data(), count));
      expect_grid(float_scan.grid(), -1, 4, 8);
      expect_grid(double_scan.grid(), -1, 4, 8);
      floats[at] = -1e30F;
      doubles[at] = -1e300;
      ASSERT_TRUE(float_scan.add(floats.data(), count));
      ASSERT_TRUE(double_scan.add(doubles.data(), count));
      EXPECT_EQ(float_scan.grid().max_abs, static_cast<double>(1e30F));
      EXPECT_EQ(double_scan.grid().max_abs, 1e300);
    }
  }
}

TEST(ValueScan, RefusesNonFiniteAndForgetsThem) {
  for (const std::size_t count : {1, 3, 4, 7, 8, 16, 17, 33}) {
    for (std::size_t at = 0; at < count; ++at) {
      for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        std::vector<double> doubles(count, 0.3);
        doubles[at] = bad;
        std::vector<float> floats(doubles.begin(), doubles.end());
        ValueScan scan;
        ASSERT_FALSE(scan.add(doubles.data(), count));
        ASSERT_FALSE(scan.add(floats.data(), count));
        expect_grid(scan.grid(), 0, 0, 0);
      }
    }
  }
}

TEST(ValueScan, MergesLikeOneScan) {
  std::mt19937 random(1);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<double> values(20);
    const int spread = 1 + repeat % 60;
    for (double& v : values) v = std::ldexp(static_cast<double>(random() % 1000), static_cast<int>(random()) % spread);
    ValueScan left;
    ValueScan right;
    ASSERT_TRUE(left.add(values.data(), 9));
    ASSERT_TRUE(right.add(values.data() + 9, 11));
    const ValueGrid common = ValueGrid::common(left.grid(), right.grid());
    left.merge(right);
    const ValueGrid whole = grid_of(values);
    for (const ValueGrid& grid : {left.grid(), common}) {
      EXPECT_EQ(grid.on_grid, whole.on_grid);
      EXPECT_EQ(grid.exponent, whole.exponent);
      EXPECT_EQ(grid.max_abs, whole.max_abs);
      EXPECT_EQ(grid.max_steps, whole.max_steps);
    }
  }
}

TEST(ValueGrid, CommonOfZerosIsTheOther) {
  const ValueGrid zeros{true, 0, 0, 0};
  const ValueGrid tens{true, 5, 320, 10};
  expect_grid(ValueGrid::common(zeros, tens), 5, 320, 10);
  expect_grid(ValueGrid::common(tens, zeros), 5, 320, 10);
  EXPECT_FALSE(ValueGrid::common(tens, {false, 0, 7, 0}).on_grid);
  EXPECT_EQ(ValueGrid::common(tens, {false, 0, 7000, 0}).max_abs, 7000);
  EXPECT_FALSE(ValueGrid::common({true, 0, 1, 1}, {true, 53, 0x1p53, 1}).on_grid);
}

}  // namespace
}  // namespace rthiss
