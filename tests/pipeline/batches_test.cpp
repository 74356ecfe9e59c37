#include <algorithm>
#include <cmath>
#include <vector>

#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

// Batches: however many there are, however they are halved, every row comes out once and whole.
namespace rthiss::test {
namespace {

/// Points on a grid, and two places where hundreds lie together: more hits than a sample promises.
Rows crowded_rows(std::size_t n) {
  return changed(integer_rows(n, 2, 0, 1000), [](std::size_t i, std::size_t k, double v) {
    if (i % 16 == 0) return k == 0 ? 333.0 : 77.0;
    return i % 16 == 1 ? std::floor(v / 50) + 900 : v;
  });
}

/// Squares of small integers: exact in plain arithmetic.
PairTable plane_table(const Rows& rows) {
  PairTable table{rows.size(), rows.size(), {}, false};
  for (const auto& x : rows) {
    for (const auto& y : rows) {
      table.values.push_back(std::sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1])));
    }
  }
  return table;
}

TEST(Batches, ManyAndHalved) {
  const TypedPoints points = typed_points(crowded_rows(2300), 2, DType::kFloat32);
  const PairTable table = plane_table(points.values);
  for (const char* preset : {"auto", "paper"}) {
    for (const std::uint64_t limit : {std::uint64_t{1} << 15, std::uint64_t{1} << 17, std::uint64_t{1} << 20}) {
      for (const int threads : {1, 3}) {
        Way way;
        way.options.preset = preset;
        way.options.memory_limit = limit;
        way.options.threads = threads;
        way.options.distances = true;
        way.output = Output::kCallback;
        check_search(points.view, nullptr, 20.0, way, table);
        if (HasFatalFailure()) return;
        check_search(points.view, &points.view, 5.0, way, table);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Counting takes runs of groups that lie within the radius as a whole at once, whatever the index.
TEST(Batches, DenseRegionsAreCountedAsAWhole) {
  const TypedPoints points = typed_points(crowded_rows(2300), 2, DType::kFloat32);
  const PairTable table = plane_table(points.values);
  const std::string engine = tested_engines().front();
  for (const std::string& index : tested_indexes()) {
    for (const double radius : {0.0, 60.0, 700.0, 2000.0}) {
      for (const bool include_self : {false, true}) {
        Way way;
        way.options.index = index;
        way.options.engine = engine;
        way.options.kd_tree_height = 9;
        way.options.threads = include_self ? 3 : 1;
        way.options.memory_limit = include_self ? std::uint64_t{1} << 17 : 0;
        way.options.include_self = include_self;
        way.output = Output::kCounts;
        check_search(points.view, nullptr, radius, way, table);
        if (HasFatalFailure()) return;
        way.options.include_self = false;
        check_search(points.view, &points.view, radius, way, table);
        if (HasFatalFailure()) return;
      }
    }
    if (engine != "cpu") continue;
    SearchOptions options;
    options.engine = engine;
    options.index = index;
    options.kd_tree_height = 9;
    Searcher searcher(points.view, options);
    CountsSink sink;
    searcher.self_join(2000.0, sink);
    EXPECT_EQ(searcher.statistics().candidates_query_group, 0U) << "everything is within the radius as a whole";
  }
}

class HalvingLog : public Observer {
 public:
  void log(std::string_view message) override { halved += message.find("halved") != std::string_view::npos ? 1 : 0; }
  int halved = 0;
};

// The size of the result is guessed from 16 places evenly spread; here all pairs lie between two of them.
TEST(Batches, MoreHitsThanExpectedHalveABatch) {
  constexpr std::uint32_t kRows = 32768, kFirst = 1280, kLast = 2816;
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 17;
  Rows rows;
  for (std::uint32_t i = 0; i < kRows; ++i) {
    rows.push_back({i >= kFirst && i < kLast ? 1000.0 * kFirst : 1000.0 * i});
  }
  const TypedPoints points = typed_points(rows, 1, DType::kFloat32);
  for (const int threads : {1, 3}) {
    for (const std::uint64_t limit : {kLimit / 2, kLimit}) {
      SearchOptions options;
      options.threads = threads;
      options.memory_limit = limit;
      Searcher searcher(points.view, options);
      HalvingLog observer;
      std::vector<std::uint32_t> seen(kRows, 0);
      CallbackSink sink([&](NeighborChunk&& chunk) {
        for (std::size_t r = 0; r < chunk.query_ids.size(); ++r) {
          const std::uint32_t q = chunk.query_ids[r];
          ++seen[q];
          std::vector<std::uint32_t> expected;
          if (q >= kFirst && q < kLast) {
            for (std::uint32_t i = kFirst; i < kLast; ++i) {
              if (i != q) expected.push_back(i);
            }
          }
          const std::vector<std::uint32_t> found(chunk.neighbor_ids.data() + chunk.row_begin[r],
                                                 chunk.neighbor_ids.data() + chunk.row_begin[r + 1]);
          EXPECT_EQ(found, expected) << "row " << q;
        }
      });
      searcher.self_join(1.0, sink, &observer);
      // Under the smaller limit a batch is so short that it may just fit.
      if (limit == kLimit) {
        EXPECT_GT(observer.halved, 0) << threads << " threads";
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1U), static_cast<long>(kRows));
    }
  }
}

TEST(Batches, SmallLimitGivesMoreBatches) {
  const TypedPoints points = typed_points(crowded_rows(2300), 2, DType::kFloat64);
  std::uint64_t batches[2] = {}, pairs[2] = {};
  for (const std::size_t i : {0, 1}) {
    SearchOptions options = default_options();
    options.memory_limit = i == 0 ? std::uint64_t{1} << 30 : std::uint64_t{1} << 16;
    Searcher searcher(points.view, options);
    CallbackSink sink([](NeighborChunk&&) {});
    searcher.self_join(20.0, sink);
    batches[i] = searcher.statistics().batches;
    pairs[i] = searcher.statistics().pairs;
  }
  EXPECT_GT(batches[1], batches[0]);
  EXPECT_EQ(pairs[1], pairs[0]);
}

TEST(Batches, LimitOfNothingIsRefused) {
  const TypedPoints points = typed_points(uniform_rows(300, 3, 0, 1), 3, DType::kFloat32);
  int refused = 0;
  for (const std::uint64_t limit : {1, 100, 1000, 1 << 16}) {
    SearchOptions options = default_options();
    options.memory_limit = limit;
    Searcher searcher(points.view, options);
    CallbackSink sink([](NeighborChunk&&) {});
    try {
      searcher.self_join(0.3, sink);
    } catch (const OutOfMemory& error) {
      ++refused;
      EXPECT_THAT(error.what(), testing::HasSubstr("memory limit"));
    }
  }
  EXPECT_EQ(refused, 3);
}

}  // namespace
}  // namespace rthiss::test
