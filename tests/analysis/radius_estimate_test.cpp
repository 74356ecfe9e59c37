#include <rthiss/radius_estimate.hpp>

#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace rthiss {
namespace {

/// Values of a few clusters: neither constant density nor one scale.
std::vector<double> make_rows(std::size_t rows, std::size_t columns, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::vector<double> values;
  for (std::size_t i = 0; i < rows; ++i) {
    const double center = static_cast<double>(engine() % 5);
    for (std::size_t j = 0; j < columns; ++j) values.push_back(center + static_cast<double>(engine()) * 0x1p-32);
  }
  return values;
}

double distance(const double* x, const double* y, std::size_t columns, bool cosine) {
  double sum = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t j = 0; j < columns; ++j) {
    sum += (x[j] - y[j]) * (x[j] - y[j]);
    xx += x[j] * x[j];
    yy += y[j] * y[j];
    xy += x[j] * y[j];
  }
  return cosine ? 1 - xy / std::sqrt(xx * yy) : std::sqrt(sum);
}

/// Mean number of other rows within the radius.
double mean_neighbors(const std::vector<double>& rows, std::size_t columns, double radius, bool cosine = false) {
  const std::size_t n = rows.size() / columns;
  double pairs = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j && distance(&rows[i * columns], &rows[j * columns], columns, cosine) <= radius) ++pairs;
    }
  }
  return pairs / static_cast<double>(n);
}

RadiusEstimateOptions options_for(double selectivity) {
  RadiusEstimateOptions options;
  options.selectivity = selectivity;
  options.sample_queries = 100000;  // all: the estimate then knows everything
  options.threads = 2;
  return options;
}

void expect_hits(const std::vector<double>& rows, std::size_t columns, double selectivity, double radius,
                 bool cosine = false) {
  EXPECT_LE(mean_neighbors(rows, columns, radius * 0.995, cosine), selectivity * (1 + 1e-9)) << radius;
  EXPECT_GE(mean_neighbors(rows, columns, radius * 1.005, cosine), selectivity * (1 - 1e-9)) << radius;
}

class EstimateBySize : public testing::TestWithParam<std::size_t> {};

TEST_P(EstimateBySize, MeetsTheSelectivityWhenAllIsSampled) {
  const std::size_t n = GetParam();
  for (const std::size_t columns : {1, 3, 17}) {
    const std::vector<double> rows = make_rows(n, columns);
    const PointsView view = PointsView::row_major(rows.data(), n, columns);
    for (const double selectivity : {0.5, 1.0, static_cast<double>(n - 1) / 2, static_cast<double>(n - 1)}) {
      const RadiusEstimate estimate = estimate_radius(view, nullptr, options_for(selectivity));
      expect_hits(rows, columns, selectivity, estimate.radius);
      EXPECT_EQ(estimate.sampled_queries, n);
      EXPECT_EQ(estimate.low, estimate.radius);  // nothing was left to chance
      EXPECT_EQ(estimate.high, estimate.radius);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, EstimateBySize, testing::Values(2, 31, 32, 33, 65, 300));

TEST(RadiusEstimate, AnyScaleAndOffset) {
  for (const double scale : {1e-300, 1e-30, 1.0, 1e30, 1e150}) {
    for (const double offset : {0.0, 1e7}) {
      std::vector<double> rows = make_rows(200, 4);
      for (double& value : rows) value = (value + offset) * scale;
      const RadiusEstimate estimate =
          estimate_radius(PointsView::row_major(rows.data(), 200, 4), nullptr, options_for(10));
      std::vector<double> plain = rows;
      for (double& value : plain) value /= scale;
      expect_hits(plain, 4, 10, estimate.radius / scale);
    }
  }
}

TEST(RadiusEstimate, TurnsToDoubleWhereFloatCannotTell) {
  std::vector<double> rows = make_rows(200, 2);
  for (std::size_t i = 0; i < rows.size() / 2; ++i) rows[i] += 1e9;  // two far ends: no centre helps
  const RadiusEstimate estimate = estimate_radius(PointsView::row_major(rows.data(), 200, 2), nullptr, options_for(5));
  EXPECT_TRUE(estimate.in_double);
  expect_hits(rows, 2, 5, estimate.radius);
}

TEST(RadiusEstimate, OtherTypes) {
  std::vector<double> rows;
  std::vector<std::uint8_t> bytes;
  std::vector<float> floats;
  std::mt19937 engine(5);
  for (int i = 0; i < 300 * 20; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(engine()));
    floats.push_back(bytes.back());
    rows.push_back(bytes.back());
  }
  const double radius = estimate_radius(PointsView::row_major(bytes.data(), 300, 20), nullptr, options_for(7)).radius;
  expect_hits(rows, 20, 7, radius);
  EXPECT_EQ(estimate_radius(PointsView::row_major(floats.data(), 300, 20), nullptr, options_for(7)).radius, radius);
}

TEST(RadiusEstimate, CosineDistance) {
  const std::vector<double> rows = make_rows(300, 6, 9);
  RadiusEstimateOptions options = options_for(12);
  options.metric = Metric::Kind::kCosineDistance;
  const RadiusEstimate estimate = estimate_radius(PointsView::row_major(rows.data(), 300, 6), nullptr, options);
  expect_hits(rows, 6, 12, estimate.radius, true);
}

TEST(RadiusEstimate, EqualRowsGiveRadiusZero) {
  const std::vector<double> rows(64, 3.0);
  EXPECT_EQ(estimate_radius(PointsView::row_major(rows.data(), 32, 2), nullptr, options_for(31)).radius, 0.0);
}

TEST(RadiusEstimate, SemiJoinCountsEqualRows) {
  const std::vector<double> rows = make_rows(100, 3);
  const PointsView view = PointsView::row_major(rows.data(), 100, 3);
  EXPECT_EQ(estimate_radius(view, &view, options_for(1)).radius, 0.0);
  EXPECT_NEAR(estimate_radius(view, &view, options_for(11)).radius,
              estimate_radius(view, nullptr, options_for(10)).radius, 1e-12);
}

TEST(RadiusEstimate, IgnoredRowsCountAsQueriesWithoutNeighbors) {
  std::vector<double> rows = make_rows(200, 2);
  const double before = estimate_radius(PointsView::row_major(rows.data(), 100, 2), nullptr, options_for(10)).radius;
  for (std::size_t i = 100; i < 200; ++i) rows[2 * i] = std::numeric_limits<double>::infinity();
  RadiusEstimateOptions options = options_for(5);
  EXPECT_THROW((void)estimate_radius(PointsView::row_major(rows.data(), 200, 2), nullptr, options), InvalidArgument);
  options.nonfinite = NonFinite::kIgnore;
  EXPECT_NEAR(estimate_radius(PointsView::row_major(rows.data(), 200, 2), nullptr, options).radius, before, 1e-12);
}

TEST(RadiusEstimate, IntervalsCoverTheTruth) {
  const std::vector<double> rows = make_rows(3000, 4);
  const PointsView view = PointsView::row_major(rows.data(), 3000, 4);
  const double truth = estimate_radius(view, nullptr, options_for(40)).radius;
  int covered = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RadiusEstimateOptions options = options_for(40);
    options.sample_queries = 100;
    options.seed = seed;
    const RadiusEstimate estimate = estimate_radius(view, nullptr, options);
    EXPECT_LT(estimate.low, estimate.radius);
    EXPECT_GT(estimate.high, estimate.radius);
    EXPECT_LT(estimate.high, estimate.low * 1.3);
    covered += estimate.low <= truth && truth <= estimate.high ? 1 : 0;
  }
  EXPECT_GE(covered, 34);  // of 40, 38 expected
}

TEST(RadiusEstimate, SamplesPointsWhenThereAreTooManyOperations) {
  const std::vector<double> rows = make_rows(4000, 4);
  const PointsView view = PointsView::row_major(rows.data(), 4000, 4);
  RadiusEstimateOptions options = options_for(100);
  options.sample_queries = 500;
  options.operations = 500.0 * 1000 * 4;
  const RadiusEstimate estimate = estimate_radius(view, nullptr, options);
  EXPECT_EQ(estimate.sampled_points, 1000U);
  EXPECT_NEAR(mean_neighbors(rows, 4, estimate.radius), 100, 15);
}

TEST(RadiusEstimate, ThreadsDoNotMatter) {
  const std::vector<double> rows = make_rows(1500, 5);
  const PointsView view = PointsView::row_major(rows.data(), 1500, 5);
  RadiusEstimateOptions options = options_for(20);
  options.sample_queries = 64;
  const RadiusEstimate many = estimate_radius(view, nullptr, options);
  options.threads = 1;
  const RadiusEstimate one = estimate_radius(view, nullptr, options);
  EXPECT_EQ(many.radius, one.radius);
  EXPECT_EQ(many.low, one.low);
  EXPECT_EQ(many.high, one.high);
}

TEST(RadiusEstimate, CurveRises) {
  const std::vector<double> rows = make_rows(300, 3);
  RadiusEstimateOptions options = options_for(10);
  options.curve = true;
  const RadiusEstimate estimate = estimate_radius(PointsView::row_major(rows.data(), 300, 3), nullptr, options);
  ASSERT_EQ(estimate.curve.size(), 8U);  // 1, 2, 5, ..., 200
  double before = 0;
  for (const CurvePoint& point : estimate.curve) {
    EXPECT_GT(point.radius, before);
    EXPECT_LE(point.low, point.median);
    EXPECT_LE(point.median, point.high);
    before = point.radius;
    if (point.k == 10) {
      EXPECT_DOUBLE_EQ(point.radius, estimate.radius);  // the same mean, summed in another order
    }
  }
}

TEST(RadiusEstimate, RefusesWhatCannotBe) {
  const std::vector<double> rows = make_rows(10, 2);
  const PointsView view = PointsView::row_major(rows.data(), 10, 2);
  for (const double selectivity : {0.0, -1.0, 9.5, HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)estimate_radius(view, nullptr, options_for(selectivity)), InvalidArgument) << selectivity;
  }
  EXPECT_NO_THROW((void)estimate_radius(view, &view, options_for(10)));
  const PointsView none = PointsView::row_major(rows.data(), 0, 2), one = PointsView::row_major(rows.data(), 1, 2);
  const PointsView wide = PointsView::row_major(rows.data(), 4, 5);
  EXPECT_THROW((void)estimate_radius(none, nullptr, options_for(1)), InvalidArgument);
  EXPECT_THROW((void)estimate_radius(one, nullptr, options_for(1)), InvalidArgument);
  EXPECT_THROW((void)estimate_radius(view, &none, options_for(1)), InvalidArgument);
  EXPECT_THROW((void)estimate_radius(view, &wide, options_for(1)), InvalidArgument);
}

TEST(RadiusEstimate, CanBeCancelled) {
  class Cancelling final : public Observer {
   public:
    [[nodiscard]] bool cancelled() const override { return true; }
  };
  const std::vector<double> rows = make_rows(100, 2);
  Cancelling observer;
  EXPECT_THROW((void)estimate_radius(PointsView::row_major(rows.data(), 100, 2), nullptr, options_for(3), &observer),
               Cancelled);
}

}  // namespace
}  // namespace rthiss
