#include <algorithm>
#include <atomic>
#include <limits>

#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

namespace rthiss::test {
namespace {

/// A searcher that has searched before, compared with the table.
void expect_lists(const NeighborLists& lists, const PairTable& table, double radius, bool drop_self) {
  ASSERT_EQ(lists.queries(), table.queries);
  for (std::size_t i = 0; i < table.queries; ++i) {
    expect_row(table, i, radius, drop_self, lists.row(i), {}, false);
    if (testing::Test::HasFatalFailure()) return;
  }
}

bool reused(const Searcher& searcher) {
  const auto& chosen = searcher.statistics().chosen;
  return std::any_of(chosen.begin(), chosen.end(), [](const auto& choice) { return choice.first == "points"; });
}

TEST(Reuse, AnswersAsANewSearcherInAnyOrder) {
  const Rows rows = uniform_rows(220, 6, -1.0, 1.0, 3);
  const Rows queries = uniform_rows(70, 6, -1.0, 1.0, 4);
  const TypedPoints points = typed_points(rows, 6, DType::kFloat64);
  const TypedPoints others = typed_points(queries, 6, DType::kFloat32);
  const PairTable self_table = euclidean_table(points.values, points.values);
  const PairTable table = euclidean_table(others.values, points.values);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::string& engine : tested_engines()) {
    for (const std::string preset : {"auto", "paper"}) {
      SCOPED_TRACE(engine + " " + preset);
      SearchOptions options = default_options();
      options.engine = engine;
      options.preset = preset;
      options.threads = 2;
      options.kd_tree_height = 3;
      Searcher searcher(points.view, options);
      for (const double radius : {0.7, 0.7, 0.2, 1.5, 0.0, infinity, 0x1p-60, 0.9}) {
        SCOPED_TRACE(radius);
        expect_lists(searcher.self_join(radius), self_table, radius, true);
        expect_lists(searcher.radius_search(others.view, radius), table, radius, false);
        expect_lists(searcher.radius_search(others.view, radius / 2), table, radius / 2, false);
        expect_lists(searcher.self_join(radius), self_table, radius, true);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Reuse, TakesUpThePointsOfThePreviousSearch) {
  const TypedPoints points = typed_points(integer_rows(300, 5, 0.0, 9.0), 5, DType::kUInt8);
  for (const std::string preset : {"auto", "paper"}) {
    SearchOptions options;
    options.engine = "cpu";
    options.preset = preset;
    Searcher searcher(points.view, options);
    (void)searcher.self_join(3.0);
    EXPECT_FALSE(reused(searcher));
    (void)searcher.self_join(4.0);
    EXPECT_TRUE(reused(searcher));
    EXPECT_EQ(searcher.statistics().seconds[static_cast<std::size_t>(Stage::kOrder)], 0.0);
    (void)searcher.radius_search(points.view, 4.0);
    EXPECT_TRUE(reused(searcher));
  }
}

TEST(Reuse, StartsAfreshWhereTheFilterSpaceDiffers) {
  // The radius sets the scale of float32 where values are far from 1.
  const Rows rows = uniform_rows(90, 3, 0.0, 0x1p-50, 8);
  const TypedPoints points = typed_points(rows, 3, DType::kFloat64);
  const PairTable table = euclidean_table(points.values, points.values);
  SearchOptions options;
  options.engine = "cpu";
  Searcher searcher(points.view, options);
  for (const double radius : {0x1p-51, 0x1p-54, 0x1p-51}) {
    expect_lists(searcher.self_join(radius), table, radius, true);
    EXPECT_FALSE(reused(searcher));
  }
}

TEST(Reuse, RecoversFromASearchThatWasCancelledAnywhere) {
  struct Stop final : Observer {
    explicit Stop(int calls) : left(calls) {}
    [[nodiscard]] bool cancelled() const override { return left.fetch_sub(1) <= 0; }
    mutable std::atomic<int> left;
  };
  const TypedPoints points = typed_points(uniform_rows(150, 4, 0.0, 1.0), 4, DType::kFloat64);
  const PairTable table = euclidean_table(points.values, points.values);
  Searcher searcher(points.view);
  expect_lists(searcher.self_join(0.5), table, 0.5, true);
  int cancelled = 0;
  for (int calls = 0; calls < 24; ++calls) {
    Stop stop(calls);
    try {
      expect_lists(searcher.self_join(0.6, &stop), table, 0.6, true);
    } catch (const Cancelled&) {
      ++cancelled;
    }
    expect_lists(searcher.self_join(0.4), table, 0.4, true);
  }
  EXPECT_GT(cancelled, 0);
}

TEST(Reuse, HoldsForCosine) {
  const TypedPoints points = typed_points(uniform_rows(120, 5, -1.0, 1.0), 5, DType::kFloat32);
  const PairTable table = cosine_table(points.values, false);
  SearchOptions options;
  options.engine = "cpu";
  options.metric = {Metric::Kind::kCosineDistance};
  Searcher searcher(points.view, options);
  for (const double radius : {0.1, 0.4, 0.05}) expect_lists(searcher.self_join(radius), table, radius, true);
  EXPECT_TRUE(reused(searcher));
}

}  // namespace
}  // namespace rthiss::test
