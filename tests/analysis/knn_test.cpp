#include <rthiss/knn.hpp>

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/analysis_samples.hpp"

namespace rthiss::test {
namespace {

void expect_nearest(const NearestNeighbors& found, const PairTable& table, std::uint64_t k, bool drop_self) {
  ASSERT_EQ(found.queries, table.queries);
  ASSERT_EQ(found.k, k);
  ASSERT_EQ(found.ids.size(), table.queries * k);
  ASSERT_EQ(found.distances.size(), table.queries * k);
  for (std::size_t i = 0; i < table.queries; ++i) {
    const double all = table.similarity ? -1.0 : std::numeric_limits<double>::infinity();
    const std::vector<std::uint32_t> right = nearest_ids(table, i, near_ids(table, i, all, drop_self), k);
    const auto row = found.row(i);
    ASSERT_EQ(std::vector<std::uint32_t>(row.begin(), row.end()), right) << "query " << i;
    for (std::size_t place = 0; place < k; ++place) {
      ASSERT_EQ(found.row_distances(i)[place], table.value(i, right[place])) << "query " << i << " place " << place;
    }
  }
}

void check_self(const Rows& rows, const PairTable& table, Metric metric, std::vector<std::uint64_t> ks) {
  const TypedPoints points = typed_points(rows, DType::kFloat64, Layout::kPlain);
  for (const SearchOptions& options : different_ways(metric)) {
    SCOPED_TRACE(describe(options));
    Searcher searcher(points.view, options);
    for (const std::uint64_t k : ks) {
      if (options.memory_limit != 0 && rows.size() * k * 12 > options.memory_limit) continue;
      SCOPED_TRACE(k);
      expect_nearest(knn(searcher, k), table, k, true);
      EXPECT_EQ(searcher.statistics().pairs, rows.size() * k);
      EXPECT_EQ(searcher.statistics().queries, rows.size());
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Knn, EqualsTheOracle) {
  for (const std::size_t n : {2U, 31U, 33U, 64U, 65U, 150U}) {
    const Rows rows = uniform_rows(n, 5, -1.0, 1.0, static_cast<unsigned>(n));
    check_self(rows, euclidean_table(rows, rows), {}, {1, std::min<std::uint64_t>(7, n - 1), n - 1});
  }
}

TEST(Knn, EqualsTheOracleWhereDensityDiffersByManyOrders) {
  // Clusters, a far cloud, and outliers: one radius does not fit all.
  Rows rows = joined(clustered_rows(150, 6, 1e-6), uniform_rows(60, 6, 50.0, 90.0));
  rows = joined(rows, uniform_rows(6, 6, -1e9, 1e9, 5));
  check_self(rows, euclidean_table(rows, rows), {}, {1, 4, 30});
}

TEST(Knn, OrdersTiesById) {
  // Squared distances are small integers: most rows have many neighbours at the same distance.
  const Rows rows = lattice(150, 4, 3);
  const PairTable table = euclidean_table(rows, rows);
  check_self(rows, table, {}, {1, 2, 5, 17, 149});
}

TEST(Knn, OrdersEqualRowsById) {
  Rows rows(40, std::vector<double>{1.0, 2.0, 3.0});
  rows = joined(rows, uniform_rows(30, 3, 0.0, 1.0));
  check_self(rows, euclidean_table(rows, rows), {}, {1, 3, 39, 40, 69});
}

TEST(Knn, OrdersByTheRoundedDistance) {
  // From the origin: 1 + 2^-60 and 1 are different distances that round to the same double, so that the id decides.
  const Rows rows = {{0.0, 0.0}, {1.0, 0x1p-30}, {1.0, 0.0}, {0.0, 2.0}};
  const PairTable table = euclidean_table(rows, rows);
  ASSERT_EQ(table.value(0, 1), table.value(0, 2));
  check_self(rows, table, {}, {1, 2, 3});
}

TEST(Knn, WorksAtTheEndsOfTheRange) {
  for (const double scale : {1e-310, 1e-200, 1e160, 1e307}) {
    const Rows rows = scaled_rows(uniform_rows(33, 3, -1.0, 1.0), scale);
    check_self(rows, euclidean_table(rows, rows), {}, {1, 5});
  }
}

TEST(Knn, WorksFarFromTheOrigin) {
  const Rows rows = scaled_rows(uniform_rows(80, 3, 0.0, 1.0), 1.0, 0x1p40);
  check_self(rows, euclidean_table(rows, rows), {}, {3});
}

TEST(Knn, EqualsTheOracleForCosine) {
  const Rows rows = joined(uniform_rows(70, 4, -1.0, 1.0), integer_rows(50, 4, 1.0, 4.0));
  check_self(rows, cosine_table(rows, false), {Metric::Kind::kCosineDistance}, {1, 6, 119});
  check_self(rows, cosine_table(rows, true), {Metric::Kind::kCosineSimilarity}, {1, 6, 119});
}

TEST(Knn, WorksOnBytes) {
  for (const double step : {1.0, 2.0, 85.0}) {  // steps other than 1 are divided out
    const Rows rows = scaled_rows(lattice(160, 5, 4), step);
    const PairTable table = euclidean_table(rows, rows);
    for (const Layout layout : {Layout::kPlain, Layout::kFortran}) {
      const TypedPoints points = typed_points(rows, DType::kUInt8, layout);
      Searcher searcher(points.view);
      for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{6}, std::uint64_t{70}})
        expect_nearest(knn(searcher, k), table, k, true);
    }
  }
}

TEST(Knn, SearchesForOtherRows) {
  const Rows rows = lattice(100, 3, 4);
  const Rows queries = joined(lattice(20, 3, 4), uniform_rows(45, 3, 0.0, 4.0));
  const TypedPoints points = typed_points(rows, DType::kFloat32, Layout::kFortran);
  const TypedPoints others = typed_points(queries, DType::kFloat64, Layout::kStrided);
  const PairTable table = euclidean_table(others.values, points.values);
  for (const SearchOptions& options : different_ways()) {
    SCOPED_TRACE(describe(options));
    Searcher searcher(points.view, options);
    for (const std::uint64_t k : {std::uint64_t{1}, std::uint64_t{9}})
      expect_nearest(knn(searcher, others.view, k), table, k, false);
    if (options.memory_limit == 0) expect_nearest(knn(searcher, others.view, 100), table, 100, false);
  }
}

TEST(Knn, CountsARowItselfOnRequest) {
  const Rows rows = lattice(70, 2, 4);
  const TypedPoints points = typed_points(rows, DType::kUInt8, Layout::kPlain);
  SearchOptions options = default_options();
  options.include_self = true;
  Searcher searcher(points.view, options);
  expect_nearest(knn(searcher, 70), euclidean_table(rows, rows), 70, false);
  EXPECT_EQ(searcher.statistics().self_pairs, 70U);
}

TEST(Knn, LeavesIgnoredRowsOut) {
  Rows rows = uniform_rows(40, 2, 0.0, 1.0);
  rows[3][1] = std::numeric_limits<double>::quiet_NaN();
  rows[39][0] = std::numeric_limits<double>::infinity();
  const TypedPoints points = typed_points(rows, DType::kFloat64, Layout::kPlain);
  SearchOptions options = default_options();
  options.nonfinite = NonFinite::kIgnore;
  Searcher searcher(points.view, options);
  const NearestNeighbors found = knn(searcher, 37);
  const PairTable table = euclidean_table(rows, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 3 || i == 39) {
      for (std::size_t place = 0; place < 37; ++place) {
        EXPECT_EQ(found.row(i)[place], kNoNeighbor);
        EXPECT_TRUE(std::isnan(found.row_distances(i)[place]));
      }
      continue;
    }
    const auto row = found.row(i);
    EXPECT_EQ(std::vector<std::uint32_t>(row.begin(), row.end()),
              nearest_ids(table, i, near_ids(table, i, std::numeric_limits<double>::infinity(), true), 37));
  }
  EXPECT_EQ(searcher.statistics().pairs, 38U * 37U);
  EXPECT_THROW((void)knn(searcher, 38), InvalidArgument);
}

TEST(Knn, RefusesWhatCannotBe) {
  const Rows rows = uniform_rows(5, 2, 0.0, 1.0);
  const TypedPoints points = typed_points(rows, DType::kFloat64, Layout::kPlain);
  Searcher searcher(points.view, default_options());
  EXPECT_THROW((void)knn(searcher, 0), InvalidArgument);
  EXPECT_THROW((void)knn(searcher, 5), InvalidArgument);
  EXPECT_THROW((void)knn(searcher, ~std::uint64_t{0}), InvalidArgument);
  EXPECT_NO_THROW((void)knn(searcher, points.view, 5));
  EXPECT_THROW((void)knn(searcher, points.view, 6), InvalidArgument);
  const double wide[3] = {};
  EXPECT_THROW((void)knn(searcher, PointsView::row_major(wide, 1, 3), 1), InvalidArgument);

  SearchOptions limited = default_options();
  limited.max_results = 9;
  EXPECT_THROW((void)knn(*std::make_unique<Searcher>(points.view, limited), 2), OutOfMemory);
  limited.max_results = 10;
  Searcher enough(points.view, limited);
  EXPECT_EQ(knn(enough, 2).ids.size(), 10U);
  limited.max_results = 0;
  limited.memory_limit = 10 * 12 - 1;
  Searcher small(points.view, limited);
  EXPECT_THROW((void)knn(small, 2), OutOfMemory);
}

TEST(Knn, IsEmptyWithoutQueries) {
  const TypedPoints none = double_points({}, 3);
  Searcher empty(none.view, default_options());
  EXPECT_EQ(knn(empty, 4).ids.size(), 0U);
  EXPECT_EQ(knn(empty, 4).k, 4U);
  const TypedPoints points = typed_points(uniform_rows(6, 3, 0.0, 1.0), DType::kFloat64, Layout::kPlain);
  EXPECT_THROW((void)knn(empty, points.view, 1), InvalidArgument);
  Searcher searcher(points.view, default_options());
  EXPECT_EQ(knn(searcher, none.view, 2).queries, 0U);
}

TEST(Knn, StopsWhenCancelled) {
  struct Stop final : Observer {
    [[nodiscard]] bool cancelled() const override { return true; }
  } stop;
  const TypedPoints points = typed_points(uniform_rows(50, 3, 0.0, 1.0), DType::kFloat64, Layout::kPlain);
  Searcher searcher(points.view, default_options());
  EXPECT_THROW((void)knn(searcher, 3, &stop), Cancelled);
  EXPECT_EQ(knn(searcher, 3).ids.size(), 150U);
}

}  // namespace
}  // namespace rthiss::test
