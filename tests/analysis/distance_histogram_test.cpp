#include "analysis/distance_histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rthiss {
namespace {

TEST(DistanceHistogram, BinsEncloseTheirValuesAndRise) {
  std::size_t before = 0;
  for (double squared = 0x1p-96; squared < 0x1p32; squared *= 1.0037) {
    const std::size_t bin = DistanceHistogram::bin_of(squared);
    EXPECT_GE(bin, before);
    EXPECT_LE(bin - before, 1U) << squared;  // steps are narrower than bins: none is passed over
    const double distance = std::sqrt(squared);
    const double low = DistanceHistogram::distance_at(bin, 0), high = DistanceHistogram::distance_at(bin, 1);
    EXPECT_LE(low, distance * (1 + 1e-15));
    EXPECT_GE(high, distance);
    EXPECT_LT(high, low * 1.004);
    before = bin;
  }
  EXPECT_EQ(before, DistanceHistogram::kBins - 2);
}

TEST(DistanceHistogram, ValuesOutsideGoToTheEnds) {
  EXPECT_EQ(DistanceHistogram::bin_of(0), 0U);
  EXPECT_EQ(DistanceHistogram::bin_of(0x1.fffffp-97), 0U);
  EXPECT_EQ(DistanceHistogram::bin_of(0x1p-96), 1U);
  for (const double large : {0x1p32, HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(DistanceHistogram::bin_of(large), DistanceHistogram::kBins - 1);
  }
  EXPECT_EQ(DistanceHistogram::distance_at(0, 0.5), 0.0);
}

TEST(DistanceHistogram, Counts) {
  DistanceHistogram histogram;
  histogram.add(1.0);
  histogram.add(1.0);
  histogram.add(0.0);
  EXPECT_EQ(histogram.count(DistanceHistogram::bin_of(1.0)), 2U);
  EXPECT_EQ(histogram.count(0), 1U);
  EXPECT_EQ(histogram.count(1), 0U);
}

}  // namespace
}  // namespace rthiss
