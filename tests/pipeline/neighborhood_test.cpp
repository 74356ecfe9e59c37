#include <rthiss/neighborhood.hpp>

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "pipeline/radius_classes.hpp"
#include "result/counts_sink.hpp"
#include "support/analysis_samples.hpp"

namespace rthiss::test {
namespace {

std::vector<std::uint32_t> expected_row(const PairTable& table, std::size_t query, const Neighborhood& wanted,
                                        bool drop_self) {
  const double radius = wanted.radii.empty() ? wanted.radius : wanted.radii[query];
  std::vector<std::uint32_t> ids = near_ids(table, query, radius, drop_self);
  if (wanted.min_radius) {
    std::erase_if(ids, [&](std::uint32_t id) { return table.within(query, id, *wanted.min_radius); });
  }
  if (wanted.max_neighbors) ids = nearest_ids(table, query, ids, *wanted.max_neighbors);
  std::sort(ids.begin(), ids.end());
  return ids;
}

void check(const PointsView& points, const PointsView* queries, const PairTable& table, Metric metric,
           const Neighborhood& wanted) {
  for (SearchOptions options : different_ways(metric)) {
    options.distances = options.threads != 1;
    options.include_self = options.threads == 3 && queries == nullptr;
    SCOPED_TRACE(describe(options));
    // A small limit is for streams: lists would not fit.
    const bool lists_fit = options.memory_limit == 0;
    Searcher searcher(points, options);
    std::vector<std::vector<std::uint32_t>> right;
    std::uint64_t pairs = 0, self_pairs = 0;
    for (std::size_t i = 0; i < table.queries; ++i) {
      right.push_back(expected_row(table, i, wanted, queries == nullptr && !options.include_self));
      pairs += right.back().size();
      if (queries == nullptr) self_pairs += static_cast<std::uint64_t>(std::count(right[i].begin(), right[i].end(), i));
    }
    if (lists_fit) {
      const NeighborLists found =
          queries == nullptr ? searcher.self_join(wanted) : searcher.radius_search(*queries, wanted);
      ASSERT_EQ(found.queries(), table.queries);
      for (std::size_t i = 0; i < table.queries; ++i) {
        const auto row = found.row(i);
        ASSERT_EQ(std::vector<std::uint32_t>(row.begin(), row.end()), right[i]) << "query " << i;
        for (std::size_t at = 0; options.distances && at < row.size(); ++at) {
          ASSERT_EQ(found.distances[found.begin[i] + at], table.value(i, row[at]));
        }
      }
      EXPECT_EQ(found.distances.size(), options.distances ? pairs : 0);
      EXPECT_EQ(searcher.statistics().pairs, pairs);
      EXPECT_EQ(searcher.statistics().self_pairs, self_pairs);
      EXPECT_EQ(searcher.statistics().queries, table.queries);
    }
    CountsSink counts;
    if (queries == nullptr) {
      searcher.self_join(wanted, counts);
    } else {
      searcher.radius_search(*queries, wanted, counts);
    }
    for (std::size_t i = 0; i < table.queries; ++i) ASSERT_EQ(counts.counts()[i], right[i].size()) << "query " << i;
  }
}

std::vector<double> mixed_radii(const PairTable& table) {
  // Distances that occur, the doubles below them, 0 and infinity, so that a rounded decision shows.
  const std::vector<double> values = table.distinct();
  std::vector<double> radii;
  for (std::size_t i = 0; i < table.queries; ++i) {
    const double value = values[i * 7919 % values.size()];
    const bool exact = i % 2 == 0 || value <= 0.0;
    radii.push_back(exact ? value : std::nextafter(value, table.similarity ? 1.0 : 0.0));
  }
  if (!table.similarity && radii.size() > 4) {
    radii[1] = 0.0;
    radii[2] = std::numeric_limits<double>::infinity();
    radii[3] = -0.0;
  }
  return radii;
}

void check_all(const PointsView& points, const PointsView* queries, const PairTable& table, Metric metric) {
  const std::vector<double> values = table.distinct();
  const double low = values[values.size() / (table.similarity ? 2 : 20)];
  const double high = values[values.size() * 3 / 10];
  const double radius = table.similarity ? high : high, inner = low;
  check(points, queries, table, metric, {.radius = radius, .min_radius = inner});
  check(points, queries, table, metric, {.radius = radius, .min_radius = radius});
  check(points, queries, table, metric, {.radius = radius, .max_neighbors = 1});
  check(points, queries, table, metric, {.radius = radius, .max_neighbors = 5});
  check(points, queries, table, metric, {.radius = radius, .max_neighbors = ~std::uint64_t{0}});
  check(points, queries, table, metric, {.radius = radius, .min_radius = inner, .max_neighbors = 3});
  const std::vector<double> radii = mixed_radii(table);
  check(points, queries, table, metric, {.radii = radii});
  check(points, queries, table, metric, {.radii = radii, .min_radius = inner, .max_neighbors = 4});
  const std::vector<double> alike(table.queries, radius);
  check(points, queries, table, metric, {.radii = alike});
}

TEST(Neighborhood, EqualsTheOracleInASelfJoin) {
  const Rows rows = uniform_rows(130, 4, -1.0, 1.0);
  const TypedPoints points = typed_points(rows, DType::kFloat64, Layout::kPlain);
  check_all(points.view, nullptr, euclidean_table(rows, rows), {});
}

TEST(Neighborhood, EqualsTheOracleOnTies) {
  const Rows rows = lattice(120, 3, 4);
  const TypedPoints points = typed_points(rows, DType::kUInt8, Layout::kStrided);
  check_all(points.view, nullptr, euclidean_table(rows, rows), {});
}

TEST(Neighborhood, EqualsTheOracleForOtherQueries) {
  const TypedPoints points = typed_points(uniform_rows(90, 3, 0.0, 1.0), DType::kFloat32, Layout::kFortran);
  const TypedPoints queries = typed_points(uniform_rows(65, 3, 0.0, 1.0, 9), DType::kFloat32, Layout::kByteSwapped);
  check_all(points.view, &queries.view, euclidean_table(queries.values, points.values), {});
}

TEST(Neighborhood, EqualsTheOracleForCosine) {
  const Rows rows = joined(uniform_rows(50, 3, -1.0, 1.0), integer_rows(40, 3, 1.0, 4.0));
  const TypedPoints points = typed_points(rows, DType::kFloat64, Layout::kPlain);
  check_all(points.view, nullptr, cosine_table(rows, false), {Metric::Kind::kCosineDistance});
  check_all(points.view, nullptr, cosine_table(rows, true), {Metric::Kind::kCosineSimilarity});
}

TEST(Neighborhood, ShellsHoldEveryPairOnce) {
  const Rows rows = lattice(100, 2, 8);
  const TypedPoints points = typed_points(rows, DType::kFloat64, Layout::kPlain);
  Searcher searcher(points.view, default_options());
  std::uint64_t pairs = searcher.self_join(0.0).pairs();
  for (int inner = 0; inner < 12; ++inner) {
    pairs += searcher.self_join({.radius = inner + 1.0, .min_radius = static_cast<double>(inner)}).pairs();
  }
  EXPECT_EQ(pairs, 100U * 99U);
}

TEST(Neighborhood, RefusesWhatCannotBe) {
  const TypedPoints points = typed_points(lattice(5, 2, 4), DType::kFloat64, Layout::kPlain);
  Searcher searcher(points.view, default_options());
  const double kNaN = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> four(4, 1.0), bad = {1.0, 1.0, -2.0, 1.0, 1.0}, nan = {1.0, kNaN, 1.0, 1.0, 1.0};
  EXPECT_THROW((void)searcher.self_join({.radii = four}), InvalidArgument);
  EXPECT_THROW((void)searcher.self_join({.radii = nan}), InvalidArgument);
  EXPECT_THROW((void)searcher.self_join({.radius = 1.0, .min_radius = -1.0}), InvalidArgument);
  EXPECT_THROW((void)searcher.self_join({.radius = 1.0, .min_radius = kNaN}), InvalidArgument);
  EXPECT_THROW((void)searcher.self_join({.radius = 1.0, .max_neighbors = 0}), InvalidArgument);
  EXPECT_THROW((void)searcher.self_join({.radius = kNaN, .max_neighbors = 1}), InvalidArgument);
  try {
    (void)searcher.self_join({.radii = bad});
    FAIL() << "a negative radius was taken";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("query 2"), std::string::npos) << error.what();
  }
  SearchOptions limited = default_options();
  limited.max_results = 3;
  Searcher few(points.view, limited);
  EXPECT_THROW((void)few.self_join({.radius = 10.0, .max_neighbors = 1}), OutOfMemory);
}

TEST(Neighborhood, IsEmptyWithoutRows) {
  const TypedPoints none = double_points({}, 2);
  Searcher searcher(none.view, default_options());
  EXPECT_EQ(searcher.self_join({.radius = 1.0, .max_neighbors = 3}).queries(), 0U);
  EXPECT_EQ(searcher.self_join({.radius = 1.0, .min_radius = 0.5}).pairs(), 0U);
}

TEST(RadiusClasses, HoldEveryQueryOnceAndTheLoosestRadius) {
  std::vector<double> radii;
  std::vector<std::uint32_t> queries;
  for (std::uint32_t i = 0; i < 200; ++i) {
    radii.push_back(i % 50 == 0   ? 0.0
                    : i % 49 == 0 ? std::numeric_limits<double>::infinity()
                                  : std::pow(1.1, i * 37 % 101));
    if (i % 3 != 0) queries.push_back(i);
  }
  std::vector<std::uint32_t> seen;
  const std::vector<RadiusClass> classes = divide_by_radius(radii, queries, {});
  EXPECT_LE(classes.size(), 10U);
  for (const RadiusClass& part : classes) {
    double loosest = 0.0;
    for (const std::uint32_t query : part.queries) loosest = std::max(loosest, radii[query]);
    EXPECT_EQ(part.radius, loosest);
    EXPECT_TRUE(std::is_sorted(part.queries.begin(), part.queries.end()));
    seen.insert(seen.end(), part.queries.begin(), part.queries.end());
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, queries);
}

}  // namespace
}  // namespace rthiss::test
