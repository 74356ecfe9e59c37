#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "support/lattice.hpp"
#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

// Inputs of which other radius searches are known to get the answer wrong, with answers from exact arithmetic; under
// every preset, index and engine.
namespace rthiss::test {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::vector<SearchOptions> all_options() {
  std::vector<SearchOptions> all;
  for (const char* preset : {"auto", "paper"}) {
    for (const std::string& engine : tested_engines()) {
      for (const std::string& index : tested_indexes()) {
        SearchOptions options;
        options.preset = preset;
        options.engine = engine;
        options.index = index;
        options.threads = 2;
        all.push_back(options);
      }
    }
  }
  return all;
}

/// Pairs i < j, after a look at the symmetry of the result.
Pairs undirected(const NeighborLists& lists) {
  Pairs pairs, turned;
  for (std::uint32_t i = 0; i < lists.queries(); ++i) {
    for (const std::uint32_t j : lists.row(i)) {
      if (i < j) pairs.emplace_back(i, j);
      if (i > j) turned.emplace_back(j, i);
    }
  }
  std::sort(turned.begin(), turned.end());
  EXPECT_EQ(pairs, turned);
  return pairs;
}

/// The pairs in every way, which must agree.
Pairs found_pairs(const PointsView& view, double radius, const SearchOptions& base = {}) {
  Pairs first;
  bool have_first = false;
  for (SearchOptions options : all_options()) {
    options.nonfinite = base.nonfinite;
    options.metric = base.metric;
    Searcher searcher(view, options);
    const Pairs pairs = undirected(searcher.self_join(radius));
    if (!have_first) first = pairs;
    have_first = true;
    EXPECT_EQ(pairs, first) << options.engine << ' ' << options.index << ' ' << options.preset;
  }
  return first;
}

Pairs pairs_among(const Rows& rows, double radius, DType dtype = DType::kFloat64) {
  return found_pairs(typed_points(rows, rows[0].size(), dtype).view, radius);
}

double distance_of(const Rows& rows, DType dtype) {
  const TypedPoints points = typed_points(rows, rows[0].size(), dtype);
  SearchOptions options;
  options.distances = true;
  const NeighborLists lists = Searcher(points.view, options).self_join(std::numeric_limits<double>::infinity());
  EXPECT_EQ(lists.distances.size(), 2U);
  return lists.distances[0];
}

TEST(KnownCases, CancellationFarFromTheOrigin) {
  const Rows rows = {{400000, 400000}, {400000, 400001}, {400000, 400005}};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64}) {
    EXPECT_EQ(pairs_among(rows, 2.0, dtype), (Pairs{{0, 1}}));
    EXPECT_EQ(distance_of({rows[0], rows[1]}, dtype), 1.0);
    EXPECT_EQ(pairs_among({{512695}, {512804}}, 108.5, dtype), (Pairs{}));
    EXPECT_EQ(pairs_among({{512695}, {512804}}, 109.0, dtype), (Pairs{{0, 1}}));
  }
  // The kind: the same differences at ever larger offsets, as far as the type holds them.
  for (double offset = 1; offset <= 0x1p50; offset *= 16) {
    const Rows moved = scaled_rows(rows, 1.0, offset);
    EXPECT_EQ(pairs_among(moved, 1.0), (Pairs{{0, 1}})) << offset;
    EXPECT_EQ(pairs_among(moved, std::nextafter(1.0, 0.0)), (Pairs{})) << offset;
    EXPECT_EQ(pairs_among(moved, 5.0), (Pairs{{0, 1}, {0, 2}, {1, 2}})) << offset;
  }
}

TEST(KnownCases, Boundary) {
  const double next = std::nextafter(4.0F, 5.0F);
  const Rows rows = {{0, 0}, {3, 4}, {3, next}};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    EXPECT_EQ(pairs_among(rows, 5.0, dtype), (Pairs{{0, 1}, {1, 2}}));
    EXPECT_EQ(pairs_among(rows, std::nextafter(5.0, 0.0), dtype), (Pairs{{1, 2}}));
  }
}

TEST(KnownCases, RadiusOfTypeDouble) {
  const Rows rows = {{0}, {0.1F}};
  EXPECT_EQ(pairs_among(rows, 0.1, DType::kFloat32), (Pairs{}));
  EXPECT_EQ(pairs_among(rows, 0.1F, DType::kFloat32), (Pairs{{0, 1}}));
}

TEST(KnownCases, RadiusThatIsADistance) {
  const Rows corner = {{0, 0, 0}, {1, 1, 1}};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kUInt8, DType::kBool}) {
    EXPECT_EQ(pairs_among(corner, std::sqrt(3.0), dtype), (Pairs{{0, 1}}));
    EXPECT_EQ(pairs_among(corner, std::nextafter(std::sqrt(3.0), 0.0), dtype), (Pairs{}));
  }
}

// Every integer is a sum of four squares: one row for each squared distance from 0 to 10,000.
TEST(KnownCases, EverySquaredDistanceUpTo10000) {
  Rows rows = {{0, 0, 0, 0}};
  std::vector<bool> there(10001, false);
  for (int a = 0; a <= 100; ++a) {
    for (int b = 0; b <= a; ++b) {
      for (int c = 0; c <= b; ++c) {
        for (int d = 0; d <= c; ++d) {
          const int s = a * a + b * b + c * c + d * d;
          if (s == 0 || s > 10000 || there[static_cast<std::size_t>(s)]) continue;
          there[static_cast<std::size_t>(s)] = true;
          rows.push_back({double(a), double(b), double(c), double(d)});
        }
      }
    }
  }
  ASSERT_EQ(rows.size(), 10001U);
  const TypedPoints queries = typed_points({rows[0]}, 4, DType::kFloat32);
  const TypedPoints points = typed_points(rows, 4, DType::kFloat32);
  Searcher searcher(queries.view);
  // All rows against the origin at once: the row of squared distance s has a neighbour for s steps of radii in 10,000.
  SearchOptions options;
  options.distances = true;
  Searcher all(points.view, options);
  const NeighborLists lists = all.radius_search(queries.view, 100.0);
  ASSERT_EQ(lists.pairs(), 10001U);
  for (std::size_t i = 0; i < lists.pairs(); ++i) {
    const auto& row = rows[lists.ids[i]];
    const double s = row[0] * row[0] + row[1] * row[1] + row[2] * row[2] + row[3] * row[3];
    ASSERT_EQ(lists.distances[i], std::sqrt(s));
  }
  for (int s = 1; s <= 10000; s += s < 40 ? 1 : 331) {
    const double radius = std::sqrt(static_cast<double>(s));
    ASSERT_EQ(all.radius_search(queries.view, radius).pairs(), static_cast<std::uint64_t>(s) + 1);
    ASSERT_EQ(all.radius_search(queries.view, std::nextafter(radius, 0.0)).pairs(), static_cast<std::uint64_t>(s));
  }
  // And each pair by itself.
  for (std::size_t i = 1; i < rows.size(); i += 29) {
    const TypedPoints one = typed_points({rows[i]}, 4, DType::kFloat32);
    const auto& row = rows[i];
    const double radius = std::sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2] + row[3] * row[3]);
    ASSERT_EQ(searcher.radius_search(one.view, radius).pairs(), 1U) << i;
    ASSERT_EQ(searcher.radius_search(one.view, std::nextafter(radius, 0.0)).pairs(), 0U) << i;
  }
}

TEST(KnownCases, NoSilentCap) {
  Rows rows(34, std::vector<double>(3, 0.0));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i][0] = 0.01 * static_cast<double>(i);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) EXPECT_EQ(pairs_among(rows, 10.0, dtype).size(), 561U);
  // The kind: everything is everybody's neighbour.
  for (const std::size_t n : {65, 257, 1025}) {
    const TypedPoints points = typed_points(uniform_rows(n, 2, 0, 1), 2, DType::kFloat32);
    EXPECT_EQ(Searcher(points.view).self_join(2.0).pairs(), n * (n - 1));
  }
}

TEST(KnownCases, SmallDifferenceInManyDimensions) {
  const std::vector<std::pair<std::size_t, double>> known = {
      {1000, 0.031624254335}, {1536, 0.039193667321}, {4096, 0.064002990723}};
  for (const auto& [d, about] : known) {
    const Rows rows = {std::vector<double>(d, 1.0), std::vector<double>(d, 1.001F)};
    const double distance = distance_of(rows, DType::kFloat32);
    EXPECT_NEAR(distance, about, 1e-12);
    EXPECT_EQ(distance, euclidean_table({rows[0]}, {rows[1]}).value(0, 0));
    const TypedPoints points = typed_points(rows, d, DType::kFloat32);
    for (const char* preset : {"auto", "paper"}) {
      SearchOptions options;
      options.preset = preset;
      Searcher searcher(points.view, options);
      EXPECT_EQ(undirected(searcher.self_join(distance)), (Pairs{{0, 1}}));
      EXPECT_EQ(undirected(searcher.self_join(std::nextafter(distance, 0.0))), (Pairs{}));
    }
  }
}

TEST(KnownCases, SharedCoordinatesAndConstantColumns) {
  Rows rows, wide;
  for (int i = 0; i <= 32; ++i) {
    rows.push_back({5.0, double(i)});
    wide.emplace_back(8, 7.0);
    wide.back()[7] = i;
  }
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kUInt8}) {
    EXPECT_EQ(pairs_among(rows, 1.0, dtype).size(), 32U);
    EXPECT_EQ(pairs_among(rows, 0.999, dtype).size(), 0U);
    EXPECT_EQ(pairs_among(rows, 2.0, dtype).size(), 63U);
    EXPECT_EQ(pairs_among(wide, 1.0, dtype).size(), 32U);
  }
}

TEST(KnownCases, MemoryLayoutAndByteOrder) {
  Rows rows(4, std::vector<double>(3));
  for (std::size_t i = 0; i < 12; ++i) rows[i / 3][i % 3] = static_cast<double>(i);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kUInt16, DType::kInt64}) {
    for (const Layout layout :
         {Layout::kPlain, Layout::kReversed, Layout::kStrided, Layout::kFortran, Layout::kByteSwapped}) {
      const TypedPoints points = typed_points(rows, 3, dtype, layout);
      const std::vector<std::byte> before = points.memory;
      EXPECT_EQ(found_pairs(points.view, 5.2), (Pairs{{0, 1}, {1, 2}, {2, 3}}));
      EXPECT_EQ(points.memory, before);
    }
  }
}

TEST(KnownCases, ZeroDistancesStay) {
  const TypedPoints points = typed_points({{0, 0}, {0, 0}, {1, 0}}, 2, DType::kFloat32);
  for (SearchOptions options : all_options()) {
    options.distances = true;
    const NeighborLists lists = Searcher(points.view, options).self_join(1.0);
    EXPECT_EQ(std::vector<std::uint32_t>(lists.ids.begin(), lists.ids.end()),
              (std::vector<std::uint32_t>{1, 2, 0, 2, 0, 1}));
    EXPECT_EQ(std::vector<double>(lists.distances.begin(), lists.distances.end()),
              (std::vector<double>{0, 1, 0, 1, 1, 1}));
    options.include_self = true;
    EXPECT_EQ(Searcher(points.view, options).self_join(1.0).pairs(), 9U);
  }
}

TEST(KnownCases, Float64ThatFloat32CannotHold) {
  Rows rows;
  for (int i = 0; i < 26; ++i) rows.push_back({1654272000.0 + 8.0 * i});
  EXPECT_EQ(pairs_among(rows, 8.0).size(), 25U);
  EXPECT_EQ(pairs_among(rows, 8.0, DType::kInt64).size(), 25U);
  EXPECT_EQ(pairs_among(rows, std::nextafter(8.0, 0.0)).size(), 0U);
}

TEST(KnownCases, Lattices) {
  const Rows bytes = lattice(257, 37, 256);
  const Rows small = lattice(513, 128, 64);
  const auto sum = [](const Rows& rows) {
    double total = 0;
    for (const auto& row : rows) total = std::accumulate(row.begin(), row.end(), total);
    return total;
  };
  ASSERT_EQ(std::vector<double>(bytes[0].begin(), bytes[0].begin() + 6),
            (std::vector<double>{181, 160, 250, 207, 35, 232}));
  ASSERT_EQ(sum(bytes), 1205413);
  ASSERT_EQ(sum(small), 2063283);
  for (const DType dtype : {DType::kFloat32, DType::kUInt8, DType::kFloat64}) {
    const TypedPoints a = typed_points(bytes, 37, dtype);
    const TypedPoints b = typed_points(small, 128, dtype);
    for (const char* preset : {"auto", "paper"}) {
      SearchOptions options;
      options.preset = preset;
      Searcher first(a.view, options), second(b.view, options);
      const auto pairs = [](Searcher& searcher, double radius) {
        return undirected(searcher.self_join(radius)).size();
      };
      EXPECT_EQ(pairs(first, 486), 317U);
      EXPECT_EQ(pairs(first, 516), 953U);
      EXPECT_EQ(pairs(first, std::nextafter(516.0, 0.0)), 952U);
      EXPECT_EQ(pairs(first, 554), 3253U);
      EXPECT_EQ(pairs(first, 635), 16296U);
      EXPECT_EQ(pairs(second, 258), 1155U);
      EXPECT_EQ(pairs(second, 275), 12959U);
      EXPECT_EQ(pairs(second, 295), 65569U);
    }
  }
}

TEST(KnownCases, Cosine) {
  const TypedPoints points =
      typed_points({{1, 0, 0}, {.6, .8, 0}, {.8, .6, 0}, {0, 1, 0}, {2, 0, 0}, {0, 0, 0}}, 3, DType::kFloat64);
  SearchOptions options;
  options.metric.kind = Metric::Kind::kCosineSimilarity;
  EXPECT_THROW(Searcher(points.view, options), InvalidArgument);
  options.nonfinite = NonFinite::kIgnore;
  EXPECT_EQ(found_pairs(points.view, 0.79, options), (Pairs{{0, 2}, {0, 4}, {1, 2}, {1, 3}, {2, 4}}));
}

volatile double smallest_normal = 2.2250738585072014e-308;
volatile double two = 2.0;

TEST(KnownCases, ProcessStateStays) {
  EXPECT_NE(smallest_normal / two, 0.0);
  const TypedPoints points = typed_points(uniform_rows(200, 5, 0, 1), 5, DType::kFloat32);
  for (const SearchOptions& options : all_options()) (void)Searcher(points.view, options).self_join(0.3);
  EXPECT_NE(smallest_normal / two, 0.0);
  double later = 0.0;
  std::thread([&] { later = smallest_normal / two; }).join();
  EXPECT_NE(later, 0.0);
}

TEST(KnownCases, NoChaining) { EXPECT_EQ(pairs_among({{0}, {0.9}, {1.8}}, 1.0), (Pairs{{0, 1}, {1, 2}})); }

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * 4096 / 1e6;
}

TEST(KnownCases, MemoryOfManyCallsIsFlat) {
  const TypedPoints points = typed_points(uniform_rows(100, 45, 0, 1), 45, DType::kFloat32);
  SearchOptions options;
  options.threads = 2;
  const auto joins = [&](int count) {
    for (int i = 0; i < count; ++i) (void)Searcher(points.view, options).self_join(2.0);
  };
  joins(50);
  const double before = resident_megabytes();
  joins(1000);
  EXPECT_LT(resident_megabytes(), before + 8);
}
#endif

}  // namespace
}  // namespace rthiss::test
