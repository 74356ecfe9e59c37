#pragma once

#include <rthiss/rthiss.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "result/callback_sink.hpp"
#include "result/counts_sink.hpp"
#include "simd/targets.hpp"
#include "support/pair_table.hpp"
#include "support/tested_engines.hpp"
#include "support/typed_points.hpp"

namespace rthiss::test {

enum class Output { kLists, kCallback, kCounts };

/// One way to search.
struct Way {
  SearchOptions options = default_options();
  std::string target;  ///< instruction set; empty: the best
  Output output = Output::kLists;

  [[nodiscard]] std::string describe() const {
    return fmt::format(
        "engine {} index {} preset {} projection {} height {} threads {} memory {} self {} distances {} "
        "target {} output {}",
        options.engine, options.index, options.preset, options.projection, options.kd_tree_height.value_or(-1),
        options.threads, options.memory_limit, options.include_self, options.distances, target,
        static_cast<int>(output));
  }
};

/// Restores the instruction set.
struct ForcedTarget {
  explicit ForcedTarget(const std::string& name) { simd::force_target(name); }
  ~ForcedTarget() { simd::force_target(""); }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
};

/// Ways in which each two values of two different choices meet at least once (where they may meet at all).
inline std::vector<Way> covering_ways() {
  const std::vector<std::string> engine_names = tested_engines();
  const std::vector<std::string> index_names = tested_indexes();
  const std::vector<std::string> targets = simd::supported_targets();
  const std::vector<std::string> projections = {"auto", "none", "variance", "pca"};
  constexpr std::uint64_t kMemory[] = {0, std::uint64_t{1} << 18, std::uint64_t{1} << 16};
  constexpr int kHeights[] = {-1, 0, 2, 5};
  // engine, index, preset, projection, threads, memory, height, target, self, distances, output
  const std::vector<std::size_t> sizes = {
      engine_names.size(), index_names.size(), 2, 4, 3, 3, 4, targets.size(), 2, 2, 3};
  const auto allowed = [&](const std::vector<std::size_t>& c) {
    if (c[2] == 1 && c[3] == 3) return false;  // the paper's preset has no principal components
    return c[5] == 0 || c[10] != 0;            // lists would not fit the small limits
  };
  std::set<std::vector<std::size_t>> open;  // pairs of choices that have not met: {a, value, b, value}
  const auto pairs_of = [&](const std::vector<std::size_t>& c, auto visit) {
    for (std::size_t a = 0; a < c.size(); ++a) {
      for (std::size_t b = a + 1; b < c.size(); ++b) visit(std::vector<std::size_t>{a, c[a], b, c[b]});
    }
  };
  std::mt19937_64 random(7);
  const auto draw = [&] {
    std::vector<std::size_t> c(sizes.size());
    do {
      for (std::size_t i = 0; i < c.size(); ++i) c[i] = random() % sizes[i];
    } while (!allowed(c));
    return c;
  };
  for (int i = 0; i < 4000; ++i) pairs_of(draw(), [&](const std::vector<std::size_t>& p) { open.insert(p); });
  std::vector<Way> ways;
  while (!open.empty()) {
    std::vector<std::size_t> best;
    std::size_t most = 0;
    for (int i = 0; i < 100 || most == 0; ++i) {
      const std::vector<std::size_t> c = draw();
      std::size_t met = 0;
      pairs_of(c, [&](const std::vector<std::size_t>& p) { met += open.count(p); });
      if (met > most) {
        most = met;
        best = c;
      }
    }
    pairs_of(best, [&](const std::vector<std::size_t>& p) { open.erase(p); });
    Way way;
    way.options.engine = engine_names[best[0]];
    way.options.index = index_names[best[1]];
    way.options.preset = best[2] == 0 ? "auto" : "paper";
    way.options.projection = projections[best[3]];
    way.options.threads = static_cast<int>(best[4]) + 1;
    way.options.memory_limit = kMemory[best[5]];
    if (kHeights[best[6]] >= 0) way.options.kd_tree_height = kHeights[best[6]];
    way.target = targets[best[7]];
    way.options.include_self = best[8] == 1;
    way.options.distances = best[9] == 1;
    way.output = static_cast<Output>(best[10]);
    ways.push_back(way);
  }
  return ways;
}

/// Rows of a result, gathered from whatever the search hands out.
struct FoundRows {
  std::vector<std::vector<std::uint32_t>> ids;
  std::vector<std::vector<double>> values;
};

inline void expect_row(const PairTable& table, std::size_t query, double radius, bool drop_self,
                       std::span<const std::uint32_t> ids, std::span<const double> values, bool with_values) {
  std::vector<std::uint32_t> expected;
  for (std::size_t j = 0; j < table.points; ++j) {
    if (table.within(query, j, radius) && !(drop_self && j == query)) {
      expected.push_back(static_cast<std::uint32_t>(j));
    }
  }
  ASSERT_EQ(std::vector<std::uint32_t>(ids.begin(), ids.end()), expected) << "neighbours of row " << query;
  ASSERT_EQ(values.size(), with_values ? expected.size() : 0U);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double right = table.value(query, expected[i]);
    // Bits, so that a negative zero is noticed.
    ASSERT_EQ(std::bit_cast<std::uint64_t>(values[i]), std::bit_cast<std::uint64_t>(right))
        << values[i] << " for " << right << ", rows " << query << " and " << expected[i];
  }
}

/// Searches and compares with the table, for equality. `queries` null: self-join.
inline void check_search(const PointsView& points, const PointsView* queries, double radius, const Way& way,
                         const PairTable& table) {
  SCOPED_TRACE(fmt::format("radius {:a}, {}", radius, way.describe()));
  const ForcedTarget forced(way.target);
  Searcher searcher(points, way.options);
  const bool drop_self = queries == nullptr && !way.options.include_self;
  std::uint64_t pairs = 0;
  if (way.output == Output::kLists) {
    const NeighborLists lists =
        queries == nullptr ? searcher.self_join(radius) : searcher.radius_search(*queries, radius);
    ASSERT_EQ(lists.queries(), table.queries);
    ASSERT_EQ(lists.begin.size(), table.queries + 1);
    ASSERT_EQ(lists.begin[0], 0U);
    ASSERT_EQ(lists.ids.size(), lists.pairs());
    for (std::size_t i = 0; i < table.queries; ++i) {
      ASSERT_LE(lists.begin[i], lists.begin[i + 1]);
      const auto values = way.options.distances
                              ? lists.distances.span().subspan(lists.begin[i], lists.begin[i + 1] - lists.begin[i])
                              : std::span<const double>();
      expect_row(table, i, radius, drop_self, lists.row(i), values, way.options.distances);
      if (testing::Test::HasFatalFailure()) return;
    }
    pairs = lists.pairs();
  } else if (way.output == Output::kCallback) {
    std::vector<int> seen(table.queries, 0);
    CallbackSink sink([&](NeighborChunk&& chunk) {
      for (std::size_t r = 0; r < chunk.query_ids.size(); ++r) {
        const std::uint64_t begin = chunk.row_begin[r], size = chunk.row_begin[r + 1] - begin;
        const auto values = chunk.distances.empty() ? std::span<const double>()
                                                    : std::as_const(chunk.distances).span().subspan(begin, size);
        ++seen.at(chunk.query_ids[r]);
        pairs += size;
        expect_row(table, chunk.query_ids[r], radius, drop_self,
                   std::as_const(chunk.neighbor_ids).span().subspan(begin, size), values, way.options.distances);
        if (testing::Test::HasFatalFailure()) return;
      }
    });
    if (queries == nullptr) {
      searcher.self_join(radius, sink);
    } else {
      searcher.radius_search(*queries, radius, sink);
    }
    ASSERT_EQ(seen, std::vector<int>(table.queries, 1));
  } else {
    CountsSink sink;
    if (queries == nullptr) {
      searcher.self_join(radius, sink);
    } else {
      searcher.radius_search(*queries, radius, sink);
    }
    const auto counts = sink.take();
    ASSERT_EQ(counts.size(), table.queries);
    for (std::size_t i = 0; i < table.queries; ++i) {
      std::uint64_t right = 0;
      for (std::size_t j = 0; j < table.points; ++j) right += table.within(i, j, radius) && !(drop_self && i == j);
      ASSERT_EQ(counts[i], right) << "number of neighbours of row " << i;
      pairs += right;
    }
  }
  const SearchStatistics& statistics = searcher.statistics();
  EXPECT_EQ(statistics.pairs, pairs);
  EXPECT_EQ(statistics.decided.total(), statistics.comparisons);
  EXPECT_EQ(statistics.queries, table.queries);
  EXPECT_EQ(statistics.points, table.points);
  if (queries == nullptr && way.options.include_self) {
    std::uint64_t self = 0;
    for (std::size_t i = 0; i < table.queries; ++i) self += table.within(i, i, radius) ? 1 : 0;
    EXPECT_EQ(statistics.self_pairs, self);
  }
}

/// Radii where a wrong decision shows: values that occur, and the doubles beside them.
inline std::vector<double> telling_radii(const PairTable& table) {
  std::vector<double> radii = {0.0};
  const std::vector<double> values = table.distinct();
  const auto at = [&](double share) {
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
  };
  if (!values.empty()) {
    for (const double share : {0.02, 0.2, 0.7}) {
      radii.push_back(at(share));
      if (at(share) > 0.0) radii.push_back(std::nextafter(at(share), 0.0));
    }
    radii.push_back(values.back());
  }
  radii.push_back(std::numeric_limits<double>::infinity());
  return radii;
}

}  // namespace rthiss::test
