#include "analysis/sampled_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/parallel.hpp"

namespace rthiss {
namespace {

TEST(SamplePlaces, AscendingDistinctAndOfTheSizeWanted) {
  for (const std::uint64_t all : {0, 1, 31, 32, 33, 1000}) {
    for (const std::uint64_t wanted : {0, 1, 32, 999, 1000, 2000}) {
      const std::vector<std::uint32_t> places = sample_places(all, wanted, 7);
      EXPECT_EQ(places.size(), std::min(all, wanted));
      EXPECT_TRUE(std::adjacent_find(places.begin(), places.end(), std::greater_equal<>()) == places.end());
      if (!places.empty()) {
        EXPECT_LT(places.back(), all);
      }
    }
  }
}

TEST(SamplePlaces, DependsOnTheSeedOnly) {
  EXPECT_EQ(sample_places(1000, 10, 3), sample_places(1000, 10, 3));
  EXPECT_NE(sample_places(1000, 10, 3), sample_places(1000, 10, 4));
}

TEST(SamplePlaces, EveryPlaceIsAsLikely) {
  std::vector<int> hits(10, 0);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    for (const std::uint32_t place : sample_places(10, 3, seed)) ++hits[place];
  }
  for (const int count : hits) EXPECT_NEAR(count, 900, 130);  // five standard deviations
}

TEST(SampleRows, LeavesIgnoredRowsOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values = {nan, 1, 2, nan, nan, 5, nan};
  const ThreadPool pool(1);
  const Dataset data(PointsView::row_major(values.data(), values.size(), 1), NonFinite::kIgnore, "points", pool);
  EXPECT_EQ(sample_rows(data, 100, 1), (std::vector<std::uint32_t>{1, 2, 5}));
  EXPECT_EQ(sample_rows(data, 2, 1).size(), 2U);
}

TEST(RowImage, UnitLengthUnderACosineMetric) {
  const std::vector<double> values = {3e200, 4e200, 3e-200, 4e-200};
  const ThreadPool pool(1);
  const Dataset data(PointsView::row_major(values.data(), 2, 2), NonFinite::kError, "points", pool);
  const RowImage image = RowImage::choose(data, data, true);
  for (const std::uint32_t row : {0U, 1U}) {
    double out[2];
    image.load(data, row, out);
    EXPECT_NEAR(out[0], 0.6, 1e-15);
    EXPECT_NEAR(out[1], 0.8, 1e-15);
  }
}

}  // namespace
}  // namespace rthiss
