// The vector kernels on data that stays in the caches of one core.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "rates.hpp"
#include "refinement/bit_transpose.hpp"
#include "simd/gemm.hpp"
#include "simd/sort.hpp"
#include "simd/tile.hpp"

namespace rthiss::micro {
namespace {

using simd::kTileSide;

constexpr double kTilePairs = static_cast<double>(kTileSide * kTileSide);

// As project_points calls it: a block of rows against the whole basis.
void gemm(benchmark::State& state) {
  constexpr std::size_t kRows = 16 * simd::kGemmRows;
  const auto inner = static_cast<std::size_t>(state.range(0));
  const auto columns = static_cast<std::size_t>(state.range(1));
  const Array<float> a = random_floats(kRows * inner, 1);
  const Array<float> b = random_floats(inner * columns, 2);
  Array<float> c(kRows * columns);
  for (auto _ : state) {
    simd::gemm(a.data(), inner, kRows, b.data(), columns, inner, c.data(), columns, columns);
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
  const auto products = static_cast<double>(kRows * inner * columns);
  set_rates(state, {static_cast<double>(kRows), 0.0, 2.0 * products});
}
BENCHMARK(gemm)->ArgNames({"inner", "columns"})->ArgsProduct({{64, 784}, {16, 96}});

void near_boxes(benchmark::State& state) {
  const auto width = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kStride = 16;
  const Array<float> panel = random_floats(width * kTileSide, 1);
  Array<float> low = random_floats(simd::kStrips * kStride, 2);
  Array<float> high(low.size());
  for (std::size_t i = 0; i < low.size(); ++i) high[i] = low[i] + 0.1F;
  std::uint64_t near[simd::kStrips];
  for (auto _ : state) {
    simd::near_boxes(panel.data(), width, low.data(), high.data(), kStride, simd::kStrips, 0.5F, near);
    benchmark::DoNotOptimize(near);
    benchmark::ClobberMemory();
  }
  // Two subtractions and a fused multiply-add a component; the two maxima do not count.
  const auto components = static_cast<double>(kTileSide * simd::kStrips * width);
  set_rates(state, {static_cast<double>(kTileSide * simd::kStrips), 0.0, 4.0 * components});
}
BENCHMARK(near_boxes)->ArgNames({"width"})->Arg(8)->Arg(16);

// Refinement's inner kernel. hits: whether every pair passes both limits, or none the first.
void dense_tile(benchmark::State& state) {
  const auto width = static_cast<std::size_t>(state.range(0));
  const bool hits = state.range(1) != 0;
  const Array<float> x = random_floats(kTileSide * width, 1);
  const Array<float> y = random_floats(width * kTileSide, 2);
  const Array<float> zeros(kTileSide, 0.0F);
  const Array<float> limit(kTileSide, hits ? -1.0F : std::numeric_limits<float>::max());
  const std::uint64_t all = ~std::uint64_t{0};
  const std::uint64_t near[simd::kStrips] = {all, all, all, all};
  const simd::DenseLimits limits{zeros.data(), limit.data(), limit.data(), zeros.data(), zeros.data()};
  std::uint64_t maybe[kTileSide], sure[kTileSide];
  for (auto _ : state) {
    benchmark::DoNotOptimize(simd::dense_tile(x.data(), width, y.data(), width, near, limits, maybe, sure));
    benchmark::ClobberMemory();
  }
  set_rates(state, {kTilePairs, 0.0, 2.0 * kTilePairs * static_cast<double>(width)});
}
BENCHMARK(dense_tile)->ArgNames({"width", "hits"})->ArgsProduct({{16, 32, 48, 64, 96, 128}, {0, 1}});

// All pairs to the end: the limits leave no way out early. A difference and a fused multiply-add take two of the
// instructions that the peak counts with two operations each: 75 % is all that there is.
void difference_tile(benchmark::State& state) {
  const auto width = static_cast<std::size_t>(state.range(0));
  const Array<float> x = random_floats(simd::kTileRowRoom * width, 1);
  const Array<float> y = random_floats(width * kTileSide, 2);
  std::uint64_t maybe[simd::kTileRowRoom], sure[simd::kTileRowRoom];
  for (auto _ : state) {
    simd::difference_tile(x.data(), width, simd::kTileRowRoom, y.data(), width, kTileSide,
                          std::numeric_limits<float>::max(), -1.0F, maybe, sure);
    benchmark::DoNotOptimize(maybe);
    benchmark::ClobberMemory();
  }
  const auto pairs = static_cast<double>(simd::kTileRowRoom * kTileSide);
  set_rates(state, {pairs, 0.0, 3.0 * pairs * static_cast<double>(width)});
}
BENCHMARK(difference_tile)->ArgNames({"width"})->Arg(16)->Arg(64)->Arg(128)->Arg(784);

std::vector<simd::TilePair> random_pairs(std::size_t count) {
  std::mt19937 random(3);
  std::vector<simd::TilePair> pairs(count + simd::kPairPadding);
  for (simd::TilePair& pair : pairs) {
    pair = {static_cast<std::uint8_t>(random() % kTileSide), static_cast<std::uint8_t>(random() % kTileSide)};
  }
  return pairs;
}

constexpr std::size_t kPairs = 256;

// Also at most 75 % (see difference_tile).
void pair_distances_float(benchmark::State& state) {
  const auto width = static_cast<std::size_t>(state.range(0));
  const Array<float> x = random_floats(kTileSide * width, 1);
  const Array<float> y = random_floats(kTileSide * width, 2);
  std::vector<simd::TilePair> pairs = random_pairs(kPairs);
  float out[kPairs + simd::kPairPadding];
  for (auto _ : state) {
    simd::pair_distances(x.data(), y.data(), width, pairs.data(), kPairs, width, std::numeric_limits<float>::max(),
                         out);
    benchmark::DoNotOptimize(out);
    benchmark::ClobberMemory();
  }
  const auto values = static_cast<double>(kPairs * width);
  set_rates(state, {static_cast<double>(kPairs), 2.0 * sizeof(float) * values, 3.0 * values});
}
BENCHMARK(pair_distances_float)->ArgNames({"width"})->Arg(64)->Arg(128)->Arg(256)->Arg(784);

void pair_distances_bytes(benchmark::State& state) {
  const auto width = static_cast<std::size_t>(state.range(0));
  std::mt19937 random(1);
  Array<std::uint8_t> x(kTileSide * width), y(kTileSide * width);
  for (std::uint8_t& value : x) value = static_cast<std::uint8_t>(random());
  for (std::uint8_t& value : y) value = static_cast<std::uint8_t>(random());
  std::vector<simd::TilePair> pairs = random_pairs(kPairs);
  std::uint32_t out[kPairs + simd::kPairPadding];
  for (auto _ : state) {
    simd::pair_distances(x.data(), y.data(), width, pairs.data(), kPairs, out);
    benchmark::DoNotOptimize(out);
    benchmark::ClobberMemory();
  }
  set_rates(state, {static_cast<double>(kPairs), 2.0 * static_cast<double>(kPairs * width)});
}
BENCHMARK(pair_distances_bytes)->ArgNames({"width"})->Arg(64)->Arg(128)->Arg(256)->Arg(832);

// One row of a result. The copy that brings the disorder back is counted in.
void sort_ids(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::mt19937 random(1);
  std::vector<std::uint32_t> source(count), ids(count);
  for (std::uint32_t& id : source) id = static_cast<std::uint32_t>(random());
  for (auto _ : state) {
    std::copy(source.begin(), source.end(), ids.begin());
    simd::sort_ids(ids.data(), count);
    benchmark::DoNotOptimize(ids.data());
    benchmark::ClobberMemory();
  }
  set_rates(state, {static_cast<double>(count), 2.0 * sizeof(std::uint32_t) * static_cast<double>(count)});
}
BENCHMARK(sort_ids)->ArgNames({"ids"})->Arg(16)->Arg(64)->Arg(256)->Arg(1024)->Arg(16384);

void transpose_bits(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::uint64_t words[kTileSide];
  for (std::uint64_t& word : words) word = random();
  for (auto _ : state) {
    rthiss::transpose_bits(words);
    benchmark::DoNotOptimize(words);
    benchmark::ClobberMemory();
  }
  set_rates(state, {1.0, 2.0 * sizeof(words)});
}
BENCHMARK(transpose_bits);

}  // namespace
}  // namespace rthiss::micro
