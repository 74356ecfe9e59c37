#include <cuda_runtime_api.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

#include "result/checksum.hpp"
#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

// The engine 'cuda' as a whole: batches in flight, orders of rows, other users of the device and of the process.
namespace rthiss::test {
namespace {

SearchOptions cuda_options(std::uint64_t memory_limit = 0, bool distances = false) {
  SearchOptions options = default_options();
  options.memory_limit = memory_limit;
  options.distances = distances;
  return options;
}

/// Several batches, of which two are in flight, at the radius below.
constexpr std::uint64_t kSmallLimit = std::uint64_t{1} << 21;
constexpr double kRadius = 0.4;

TEST(GpuBatches, InFlightGiveTheRowsOfOne) {
  const TypedPoints points = typed_points(clustered_rows(4000, 6, 0.2), 6, DType::kFloat32);
  for (const char* preset : {"auto", "paper"}) {
    SearchOptions options = cuda_options(0, true);
    options.preset = preset;
    const NeighborLists whole = Searcher(points.view, options).self_join(kRadius);
    options.memory_limit = kSmallLimit;
    Searcher searcher(points.view, options);
    std::vector<int> seen(points.values.size(), 0);
    CallbackSink sink([&](NeighborChunk&& chunk) {
      for (std::size_t r = 0; r < chunk.query_ids.size(); ++r) {
        const std::uint32_t q = chunk.query_ids[r];
        ++seen[q];
        const std::uint64_t size = chunk.row_begin[r + 1] - chunk.row_begin[r];
        ASSERT_EQ(size, whole.begin[q + 1] - whole.begin[q]) << "row " << q;
        ASSERT_TRUE(std::equal(whole.ids.data() + whole.begin[q], whole.ids.data() + whole.begin[q + 1],
                               chunk.neighbor_ids.data() + chunk.row_begin[r]))
            << "row " << q;
        ASSERT_TRUE(std::equal(whole.distances.data() + whole.begin[q], whole.distances.data() + whole.begin[q + 1],
                               chunk.distances.data() + chunk.row_begin[r]))
            << "distances of row " << q;
      }
    });
    searcher.self_join(kRadius, sink);
    EXPECT_GT(searcher.statistics().batches, 3U) << preset;
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << preset;
  }
}

TEST(GpuBatches, AnErrorOfTheSinkOrACancellationStopsWhatIsInFlight) {
  const TypedPoints points = typed_points(clustered_rows(4000, 6, 0.2), 6, DType::kFloat32);
  Searcher searcher(points.view, cuda_options(kSmallLimit));
  ChecksumSink right;
  searcher.self_join(kRadius, right);
  for (const int stop_at : {0, 1, 2}) {
    int chunks = 0;
    CallbackSink failing([&](NeighborChunk&&) {
      if (chunks++ == stop_at) throw std::runtime_error("enough");
    });
    EXPECT_THROW(searcher.self_join(kRadius, failing), std::runtime_error);
    struct Stop final : Observer {
      [[nodiscard]] bool cancelled() const override { return stop; }
      bool stop = false;
    } observer;
    chunks = 0;
    CallbackSink stopping([&](NeighborChunk&&) { observer.stop = chunks++ == stop_at; });
    EXPECT_THROW(searcher.self_join(kRadius, stopping, &observer), Cancelled);
    EXPECT_EQ(chunks, stop_at + 1);
    ChecksumSink again;
    searcher.self_join(kRadius, again);
    EXPECT_EQ(again.checksum(), right.checksum());
  }
}

TEST(GpuOrder, ShuffledRowsGiveTheSamePairs) {
  for (const std::size_t columns : {3, 12}) {
    const Rows rows = clustered_rows(700, columns, 0.3);
    std::vector<std::uint32_t> place(rows.size());
    std::iota(place.begin(), place.end(), 0U);
    std::shuffle(place.begin(), place.end(), std::mt19937_64(5));
    Rows shuffled(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) shuffled[place[i]] = rows[i];
    const TypedPoints points = typed_points(rows, columns, DType::kFloat64);
    const TypedPoints others = typed_points(shuffled, columns, DType::kFloat64);
    const double radius = 0.25 * std::sqrt(static_cast<double>(columns));
    const NeighborLists first = Searcher(points.view, cuda_options(0, true)).self_join(radius);
    const NeighborLists second = Searcher(others.view, cuda_options(0, true)).self_join(radius);
    ASSERT_GT(first.pairs(), rows.size());
    ASSERT_EQ(second.pairs(), first.pairs());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<std::pair<std::uint32_t, double>> right, found;
      for (std::uint64_t at = first.begin[i]; at < first.begin[i + 1]; ++at) {
        right.emplace_back(place[first.ids[at]], first.distances[at]);
      }
      std::sort(right.begin(), right.end());
      for (std::uint64_t at = second.begin[place[i]]; at < second.begin[place[i] + 1]; ++at) {
        found.emplace_back(second.ids[at], second.distances[at]);
      }
      ASSERT_EQ(found, right) << "row " << i;
    }
  }
}

/// Distances that double-double on the device cannot round, beside ordinary ones.
TEST(GpuDistances, AreRoundedOnceAtTheEndsOfTheRangeToo) {
  Rows rows = uniform_rows(40, 5, -1, 1);
  for (const double scale : {0x1p-1060, 0x1p-600, 0x1p-450, 0x1p480, 0x1p505, 0x1p1015}) {
    rows = joined(rows, scaled_rows(uniform_rows(12, 5, -1, 1, 9), scale));
  }
  rows = joined(rows, Rows(3, rows.front()));
  for (std::size_t i = 0; i < 8; ++i) {
    Rows tie(1, rows[i]);
    tie[0][2] += 0x1p-54;
    rows = joined(rows, tie);
  }
  const TypedPoints points = typed_points(rows, 5, DType::kFloat64);
  const PairTable table = euclidean_table(points.values, points.values);
  Way way;
  way.options.distances = true;
  for (const double radius : {1.5, std::numeric_limits<double>::infinity()}) {
    check_search(points.view, nullptr, radius, way, table);
    check_search(points.view, &points.view, radius, way, table);
  }
}

TEST(GpuDistances, OfCosineToo) {
  Rows rows = joined(integer_rows(60, 4, -2, 3), uniform_rows(40, 4, -1, 1));
  rows = joined(rows, scaled_rows(uniform_rows(12, 4, -1, 1, 9), 0x1p-400));
  for (auto& row : rows) {
    if (std::all_of(row.begin(), row.end(), [](double v) { return v == 0.0; })) row[0] = 1.0;
  }
  const TypedPoints points = typed_points(rows, 4, DType::kFloat64);
  for (const bool similarity : {false, true}) {
    Way way;
    way.options.distances = true;
    way.options.metric = {similarity ? Metric::Kind::kCosineSimilarity : Metric::Kind::kCosineDistance};
    check_search(points.view, nullptr, similarity ? -1.0 : 2.0, way, cosine_table(points.values, similarity));
  }
}

/// Another library in this process: memory, stream and current error of its own on the same device.
TEST(GpuNeighbours, AreLeftAlone) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  void* memory = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, kBytes), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(memory, 0x5A, kBytes, stream), cudaSuccess);
  std::size_t free_before = 0, total = 0;
  {
    const TypedPoints points = typed_points(uniform_rows(2000, 8, 0, 1), 8, DType::kFloat32);
    EXPECT_GT(Searcher(points.view, cuda_options()).self_join(0.4).pairs(), 0U);
    ASSERT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
    for (int i = 0; i < 3; ++i) EXPECT_GT(Searcher(points.view, cuda_options()).self_join(0.4).pairs(), 0U);
  }
  std::size_t free_after = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
  // Memory of other processes may come and go; that of the searches must not stay.
  EXPECT_GE(free_after + (std::size_t{64} << 20), free_before);
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  std::vector<unsigned char> here(kBytes, 0);
  EXPECT_EQ(cudaMemcpyAsync(here.data(), memory, kBytes, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(std::count(here.begin(), here.end(), 0x5A), static_cast<long>(kBytes));
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

/// Another user holds nearly all of the device: the search makes do with the rest, or says what is missing.
TEST(GpuNeighbours, MayHoldNearlyAllMemory) {
  const TypedPoints points = typed_points(clustered_rows(20000, 6, 0.3), 6, DType::kFloat32);
  CountsSink expected;
  Searcher(points.view, cuda_options()).self_join(0.3, expected);
  for (const std::size_t left : {std::size_t{64} << 20, std::size_t{400} << 20}) {
    std::size_t free = 0, total = 0;
    ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    if (free <= left) GTEST_SKIP() << "others hold the device's memory";
    void* held = nullptr;
    if (cudaMalloc(&held, free - left) != cudaSuccess) {
      (void)cudaGetLastError();
      GTEST_SKIP() << "others hold the device's memory";
    }
    try {
      std::uint64_t pairs = 0;
      CallbackSink sink([&](NeighborChunk&& chunk) { pairs += chunk.row_begin.back(); });
      Searcher(points.view, cuda_options()).self_join(0.3, sink);
      EXPECT_EQ(pairs, expected.pairs());
    } catch (const OutOfMemory& error) {
      EXPECT_THAT(error.what(), testing::AnyOf(testing::HasSubstr("device"), testing::HasSubstr("memory limit")));
      EXPECT_LT(left, std::size_t{100} << 20) << error.what();
    }
    EXPECT_EQ(cudaFree(held), cudaSuccess);
  }
}

}  // namespace
}  // namespace rthiss::test
