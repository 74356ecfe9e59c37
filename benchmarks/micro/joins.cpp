// Whole self-joins from rows in memory to all lists (or counts), on one thread: processor time that other programs and
// the scheduling of threads disturb least.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <rthiss/searcher.hpp>

#include "common/parallel.hpp"
#include "generate/families.hpp"
#include "rates.hpp"
#include "result/counts_sink.hpp"

namespace rthiss::micro {
namespace {

using generate::GeneratedPoints;

constexpr std::uint64_t kRows = 20'000;
constexpr std::uint64_t kColumns = 64;

GeneratedPoints make(const generate::Family& family, DType dtype) {
  return generate::generate({family, kRows, kColumns, dtype}, ThreadPool(1));
}

SearchOptions options_of(const char* preset) {
  SearchOptions options;
  options.preset = preset;
  options.threads = 1;
  return options;
}

void join_lists(benchmark::State& state, PointsView points, double radius, const char* preset) {
  std::uint64_t pairs = 0;
  for (auto _ : state) {
    Searcher searcher(points, options_of(preset));
    const NeighborLists lists = searcher.self_join(radius);
    pairs = lists.pairs();
  }
  set_rates(state, {static_cast<double>(kRows) * static_cast<double>(kRows)});
  state.counters["pairs"] = static_cast<double>(pairs);
}

// 100 clusters in the unit cube; some twenty neighbours a row.
constexpr double kRadius = 0.5;

void join_float32(benchmark::State& state, const char* preset) {
  join_lists(state, make(generate::ClustersFamily{}, DType::kFloat32).view(), kRadius, preset);
}

void join_float64(benchmark::State& state, const char* preset) {
  join_lists(state, make(generate::ClustersFamily{}, DType::kFloat64).view(), kRadius, preset);
}

// The same rows in steps of 1 / 170, which 0 ... 255 hold.
void join_uint8(benchmark::State& state, const char* preset) {
  constexpr double kSteps = 170.0;
  const GeneratedPoints points = make(generate::ClustersFamily{}, DType::kFloat64);
  const auto& values = std::get<Array<double>>(points.values);
  Array<std::uint8_t> bytes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(std::clamp(std::round((values[i] + 0.25) * kSteps), 0.0, 255.0));
  }
  join_lists(state, PointsView::row_major(bytes.data(), kRows, kColumns), kRadius * kSteps, preset);
}

#define RTHISS_JOIN(name)                                                                               \
  BENCHMARK_CAPTURE(name, preset_auto, "auto")->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(name, preset_paper, "paper")->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond)
RTHISS_JOIN(join_float32);
RTHISS_JOIN(join_float64);
RTHISS_JOIN(join_uint8);
#undef RTHISS_JOIN

void count_pairs(benchmark::State& state, const GeneratedPoints& points, double radius) {
  std::uint64_t pairs = 0;
  for (auto _ : state) {
    Searcher searcher(points.view(), options_of("auto"));
    CountsSink sink;
    searcher.self_join(radius, sink);
    pairs = sink.pairs();
  }
  set_rates(state, {static_cast<double>(kRows) * static_cast<double>(kRows)});
  state.counters["pairs"] = static_cast<double>(pairs);
}

// A tenth of all pairs lie on the radius, half of all are within.
void ties_binary(benchmark::State& state) {
  count_pairs(state, make(generate::BinaryFamily{}, DType::kFloat32), std::sqrt(32.0));
}
BENCHMARK(ties_binary)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

// The same shape without a tie: uniform values at a radius with as many pairs.
void ties_general_position(benchmark::State& state) {
  count_pairs(state, make(generate::UniformFamily{}, DType::kFloat32), 3.296);
}
BENCHMARK(ties_general_position)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rthiss::micro
