#include <rthiss/clustering.hpp>
#include <rthiss/near_duplicates.hpp>

#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "analysis/disjoint_sets.hpp"
#include "analysis/keep_list.hpp"
#include "support/analysis_samples.hpp"

namespace rthiss::test {
namespace {

/// Labels by the definitions, with loops over the whole table.
struct Expected {
  std::vector<std::int64_t> labels, components;
  std::vector<bool> core;
  std::vector<std::uint32_t> keep;
  std::uint64_t clusters = 0, chained = 0;
};

void spread(const PairTable& table, double radius, const std::vector<bool>& member, std::size_t from,
            std::int64_t label, std::vector<std::int64_t>& labels) {
  std::vector<std::size_t> open = {from};
  labels[from] = label;
  while (!open.empty()) {
    const std::size_t i = open.back();
    open.pop_back();
    for (std::size_t j = 0; j < table.points; ++j) {
      if (!member[j] || labels[j] != kNoLabel || !table.within(i, j, radius)) continue;
      labels[j] = label;
      open.push_back(j);
    }
  }
}

Expected expect(const PairTable& table, double radius, std::uint64_t min_points) {
  const std::size_t n = table.points;
  Expected right;
  right.labels.assign(n, kNoLabel);
  right.components.assign(n, kNoLabel);
  std::vector<bool> usable(n), kept(n, false);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t near = 0;
    for (std::size_t j = 0; j < n; ++j) near += table.within(i, j, radius) ? 1 : 0;
    right.core.push_back(near >= min_points);
    usable[i] = table.within(i, i, radius);
  }
  std::int64_t components = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (right.core[i] && right.labels[i] == kNoLabel) {
      spread(table, radius, right.core, i, static_cast<std::int64_t>(right.clusters++), right.labels);
    }
    if (usable[i] && right.components[i] == kNoLabel) spread(table, radius, usable, i, components++, right.components);
    bool keep = true;
    for (std::size_t j = 0; j < i; ++j) keep = keep && !(kept[j] && table.within(i, j, radius));
    kept[i] = keep;
    if (keep) right.keep.push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (right.core[i]) continue;
    std::int64_t lowest = kNoLabel;
    for (std::size_t j = 0; j < n; ++j) {
      if (!right.core[j] || !table.within(i, j, radius)) continue;
      if (lowest == kNoLabel || right.labels[j] < lowest) lowest = right.labels[j];
    }
    right.labels[i] = lowest;
  }
  std::set<std::int64_t> chained;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (usable[i] && right.components[i] == right.components[j] && !table.within(i, j, radius)) {
        chained.insert(right.components[i]);
      }
    }
  }
  right.chained = chained.size();
  return right;
}

template <typename T, typename U>
void expect_equal(const Array<T>& found, const std::vector<U>& right, const char* what) {
  ASSERT_EQ(found.size(), right.size()) << what;
  for (std::size_t i = 0; i < right.size(); ++i) ASSERT_EQ(found[i], right[i]) << what << " of " << i;
}

void expect_far(const std::optional<FarPair>& far, const Array<std::int64_t>& labels, std::uint64_t chained,
                const PairTable& table, double radius) {
  ASSERT_EQ(far.has_value(), chained > 0);
  if (!far) return;
  EXPECT_LT(far->first, far->second);
  EXPECT_EQ(labels[far->first], labels[far->second]);
  EXPECT_NE(labels[far->first], kNoLabel);
  EXPECT_FALSE(table.within(far->first, far->second, radius));
  EXPECT_EQ(far->distance, table.value(far->first, far->second));
}

void check(const TypedPoints& points, const PairTable& table, Metric metric, double radius,
           NonFinite nonfinite = NonFinite::kError) {
  SCOPED_TRACE(fmt::format("radius {}", radius));
  for (SearchOptions options : different_ways(metric)) {
    options.nonfinite = nonfinite;
    // What these analyses have no use for must not disturb them.
    options.max_results = 1;
    options.include_self = options.threads == 3;
    options.distances = options.threads == 3;
    SCOPED_TRACE(describe(options));
    Searcher searcher(points.view, options);
    for (const std::uint64_t min_points : {1U, 2U, 4U, 9U}) {
      SCOPED_TRACE(min_points);
      const Expected right = expect(table, radius, min_points);
      const Clustering found = dbscan(searcher, radius, min_points);
      expect_equal(found.core, right.core, "core");
      expect_equal(found.labels, right.labels, "label");
      EXPECT_EQ(found.clusters, right.clusters);
      EXPECT_EQ(found.core_points + found.border_points + found.noise_points, table.points);
      if (testing::Test::HasFatalFailure()) return;
    }
    const Expected right = expect(table, radius, 1);
    const Components components = connected_components(searcher, radius);
    expect_equal(components.labels, right.components, "component");
    EXPECT_EQ(components.chained, right.chained);
    std::vector<std::uint32_t> sizes(components.components, 0);
    for (const std::int64_t label : right.components) {
      if (label != kNoLabel) ++sizes.at(static_cast<std::size_t>(label));
    }
    expect_equal(components.sizes, sizes, "size");
    expect_far(components.far, components.labels, components.chained, table, radius);

    const NearDuplicates duplicates = near_duplicates(searcher, radius);
    expect_equal(duplicates.keep, right.keep, "kept row");
    EXPECT_EQ(duplicates.chained, right.chained);
    std::vector<std::int64_t> renumbered(sizes.size(), kNoLabel);
    std::int64_t groups = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) renumbered[i] = sizes[i] > 1 ? groups++ : kNoLabel;
    for (std::size_t i = 0; i < table.points; ++i) {
      const std::int64_t component = right.components[i];
      ASSERT_EQ(duplicates.labels[i],
                component == kNoLabel ? kNoLabel : renumbered[static_cast<std::size_t>(component)]);
    }
    EXPECT_EQ(duplicates.groups, static_cast<std::uint64_t>(groups));
    expect_far(duplicates.far, duplicates.labels, duplicates.chained, table, radius);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Clustering, EqualsTheDefinitions) {
  const Rows rows = joined(clustered_rows(110, 3, 0.2), uniform_rows(60, 3, -1.5, 1.5));
  const PairTable table = euclidean_table(rows, rows);
  const TypedPoints points = typed_points(rows, DType::kFloat64, Layout::kPlain);
  for (const double radius : {0.0, 0.1, 0.25, 0.6, std::numeric_limits<double>::infinity()})
    check(points, table, {}, radius);
}

TEST(Clustering, EqualsTheDefinitionsOnTies) {
  const Rows rows = lattice(180, 2, 16);
  const PairTable table = euclidean_table(rows, rows);
  const TypedPoints points = typed_points(rows, DType::kUInt8, Layout::kReversed);
  for (const double radius : {0.0, 1.0, std::nextafter(1.0, 0.0), std::sqrt(2.0)}) check(points, table, {}, radius);
}

TEST(Clustering, EqualsTheDefinitionsForCosine) {
  const Rows rows = joined(uniform_rows(60, 3, -1.0, 1.0), integer_rows(50, 3, 1.0, 5.0));
  const TypedPoints points = typed_points(rows, DType::kFloat64, Layout::kPlain);
  check(points, cosine_table(rows, false), {Metric::Kind::kCosineDistance}, 0.01);
  check(points, cosine_table(rows, true), {Metric::Kind::kCosineSimilarity}, 0.98);
}

TEST(Clustering, EqualsTheDefinitionsWithIgnoredRows) {
  Rows rows = lattice(65, 2, 8);
  rows[0][0] = std::numeric_limits<double>::quiet_NaN();
  rows[40][1] = -std::numeric_limits<double>::infinity();
  check(typed_points(rows, DType::kFloat64, Layout::kPlain), euclidean_table(rows, rows), {}, 1.0, NonFinite::kIgnore);
}

TEST(Clustering, WorksForFewRows) {
  for (const std::size_t n : {0U, 1U, 2U, 31U, 32U, 33U, 63U, 64U, 65U}) {
    const Rows rows = lattice(static_cast<std::uint32_t>(n), 2, 6);
    check(double_points(rows, 2), euclidean_table(rows, rows), {}, 1.0);
  }
}

TEST(Clustering, GivesABorderPointToTheLowestCluster) {
  // Two clusters of three, of which the one with the higher coordinates has the lower ids, and a point between them.
  const Rows rows = {{9.0}, {10.0}, {11.0}, {7.0}, {5.0}, {4.0}, {3.0}};
  const TypedPoints points = typed_points(rows, DType::kFloat64, Layout::kPlain);
  Searcher searcher(points.view, default_options());
  const Clustering found = dbscan(searcher, 2.0, 4);
  expect_equal(found.labels, std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1}, "label");
  EXPECT_EQ(found.core_points, 2U);
  EXPECT_EQ(found.border_points, 5U);
}

TEST(Clustering, SaysThatAChainIsNoClique) {
  const Rows rows = {{0.0}, {0.9}, {1.8}};
  const TypedPoints points = typed_points(rows, DType::kFloat64, Layout::kPlain);
  Searcher searcher(points.view, default_options());
  const Components found = connected_components(searcher, 1.0);
  EXPECT_EQ(searcher.statistics().pairs, 4U);
  EXPECT_EQ(found.components, 1U);
  EXPECT_EQ(found.sizes[0], 3U);
  EXPECT_EQ(found.chained, 1U);
  ASSERT_TRUE(found.far.has_value());
  EXPECT_EQ(found.far->first, 0U);
  EXPECT_EQ(found.far->second, 2U);
  EXPECT_EQ(found.far->distance, 1.8);
  const NearDuplicates duplicates = near_duplicates(searcher, 1.0);
  expect_equal(duplicates.keep, std::vector<std::uint32_t>{0, 2}, "kept row");
  EXPECT_EQ(duplicates.chained, 1U);
}

TEST(Clustering, RefusesWhatCannotBe) {
  const TypedPoints points = typed_points(lattice(5, 2, 4), DType::kFloat64, Layout::kPlain);
  Searcher searcher(points.view, default_options());
  EXPECT_THROW((void)dbscan(searcher, 1.0, 0), InvalidArgument);
  for (const double radius : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)dbscan(searcher, radius, 1), InvalidArgument);
    EXPECT_THROW((void)connected_components(searcher, radius), InvalidArgument);
    EXPECT_THROW((void)near_duplicates(searcher, radius), InvalidArgument);
  }
  EXPECT_EQ(dbscan(searcher, 1.0, ~std::uint64_t{0}).noise_points, 5U);
}

TEST(DisjointSets, HaveTheLowestMemberAsRoot) {
  DisjointSets sets(6);
  sets.unite(5, 3);
  sets.unite(4, 5);
  sets.unite(1, 2);
  EXPECT_EQ(sets.find(4), 3U);
  EXPECT_EQ(sets.find(2), 1U);
  EXPECT_EQ(sets.find(0), 0U);
  sets.unite(2, 4);
  EXPECT_EQ(sets.find(5), 1U);
}

/// A path 0 - 1 - ... - (n - 1), whose rows come one by one from the last on: nothing can be decided before the end.
TEST(KeepList, DecidesWhateverTheRoomAndTheOrder) {
  constexpr std::uint32_t kRows = 21;
  for (const std::size_t room : {0U, 1U, 5U, 100U}) {
    KeepList list(kRows, room);
    std::vector<std::uint32_t> open = list.open();
    std::size_t passes = 0;
    for (; !open.empty(); open = list.open()) {
      for (auto row = open.rbegin(); row != open.rend(); ++row) {
        std::vector<std::uint32_t> near;
        if (*row > 0) near.push_back(*row - 1);
        if (*row + 1 < kRows) near.push_back(*row + 1);
        NeighborChunk chunk;
        chunk.query_ids = Array<std::uint32_t>(1, *row);
        chunk.row_begin = Array<std::uint64_t>(2, 0);
        chunk.row_begin[1] = near.size();
        chunk.neighbor_ids = Array<std::uint32_t>(std::span<const std::uint32_t>(near));
        list.add(chunk);
      }
      list.settle();
      ASSERT_LE(++passes, kRows);
    }
    EXPECT_EQ(passes == 1, room == 100U);
    const Array<std::uint32_t> kept = list.kept();
    ASSERT_EQ(kept.size(), 11U);
    for (std::uint32_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i], 2 * i);
  }
}

}  // namespace
}  // namespace rthiss::test
