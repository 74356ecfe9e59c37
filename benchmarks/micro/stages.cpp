// The stages between the input and refinement, each by itself on one thread.
#include <cstdint>

#include "candidates/candidate_lists.hpp"
#include "common/parallel.hpp"
#include "generate/families.hpp"
#include "grouping/group_bounds.hpp"
#include "index/registry.hpp"
#include "projection/project.hpp"
#include "rates.hpp"

namespace rthiss::micro {
namespace {

using generate::GeneratedPoints;

const ThreadPool& one_thread() {
  static const ThreadPool pool(1);
  return pool;
}

// 100 clusters in the unit cube.
GeneratedPoints clustered(std::uint64_t rows, std::uint64_t columns) {
  return generate::generate({generate::ClustersFamily{}, rows, columns, DType::kFloat32}, one_thread());
}

void project_points(benchmark::State& state) {
  constexpr std::uint64_t kRows = 6000;
  const auto d = static_cast<std::size_t>(state.range(0));
  const auto k = static_cast<std::size_t>(state.range(1));
  const ThreadPool& pool = one_thread();
  const GeneratedPoints points = clustered(kRows, d);
  const Dataset data(points.view(), NonFinite::kError, "points", pool);
  const FilterSpace space = FilterSpace::choose(data, nullptr, false, 1.0, pool);
  const Projection projection = principal_components(draw_sample(data, space, 1536, 1, pool), k, 1, pool);
  for (auto _ : state) {
    benchmark::DoNotOptimize(rthiss::project_points(data, space, projection, pool).values.data());
  }
  const double rows = kRows;
  const auto width = static_cast<double>(d + projection.width());
  set_rates(state, {rows, rows * width * sizeof(float), 2.0 * rows * static_cast<double>(d * k)});
}
BENCHMARK(project_points)->ArgNames({"d", "k"})->Args({784, 95})->Unit(benchmark::kMillisecond);

/// Images of clustered points as the grouping gets them: all columns in their own order.
ProjectedPoints projected(std::uint64_t rows, std::size_t components) {
  const ThreadPool& pool = one_thread();
  const GeneratedPoints points = clustered(rows, components);
  const Dataset data(points.view(), NonFinite::kError, "points", pool);
  const FilterSpace space = FilterSpace::choose(data, nullptr, false, 1.0, pool);
  const Projection projection = choose_coordinates(draw_sample(data, space, 1536, 1, pool), components, false);
  return rthiss::project_points(data, space, projection, pool);
}

void build_kd_tree(benchmark::State& state) {
  const auto rows = static_cast<std::uint64_t>(state.range(0));
  const ProjectedPoints points = projected(rows, 16);
  for (auto _ : state) {
    benchmark::DoNotOptimize(rthiss::build_kd_tree(points, {}, one_thread()).group_begin.data());
  }
  set_rates(state, {static_cast<double>(rows)});
}
BENCHMARK(build_kd_tree)->ArgNames({"rows"})->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void bound_groups(benchmark::State& state) {
  const auto rows = static_cast<std::uint64_t>(state.range(0));
  const auto components = static_cast<std::size_t>(state.range(1));
  const ProjectedPoints points = projected(rows, components);
  const Grouping grouping = rthiss::build_kd_tree(points, {}, one_thread());
  for (auto _ : state) {
    benchmark::DoNotOptimize(rthiss::bound_groups(points, grouping, one_thread()).low.data());
  }
  set_rates(state, {static_cast<double>(rows), static_cast<double>(rows * points.stride) * sizeof(float)});
}
BENCHMARK(bound_groups)
    ->ArgNames({"rows", "components"})
    ->Args({100'000, 16})
    ->Args({100'000, 64})
    ->Unit(benchmark::kMillisecond);

/// Groups of 100,000 points in 16 components, and the hierarchy over them. Radius in hundredths: the axes of Google
/// Benchmark are integers.
struct IndexedGroups {
  explicit IndexedGroups(std::int64_t radius_in_hundredths) {
    const ProjectedPoints points = projected(100'000, 16);
    bounds = rthiss::bound_groups(points, rthiss::build_kd_tree(points, {}, one_thread()), one_thread());
    test.radius = 0.01 * static_cast<double>(radius_in_hundredths);
    test.components = 16;
    index = make_index("bvh");
    build();
    range.blocks = &bounds;
    range.block_end = range.group_end = static_cast<std::uint32_t>(bounds.groups);
  }
  void build() const { index->build(bounds, test, one_thread()); }
  [[nodiscard]] double pairs() const { return static_cast<double>(bounds.groups) * static_cast<double>(bounds.groups); }

  GroupBounds bounds;
  CandidateTest test;
  CandidateRange range;
  std::unique_ptr<GroupIndex> index;
};

void bvh_build(benchmark::State& state) {
  const IndexedGroups groups(10);
  for (auto _ : state) groups.build();
  set_rates(state, {static_cast<double>(groups.bounds.groups)});
}
BENCHMARK(bvh_build)->Unit(benchmark::kMillisecond);

// Items: pairs of groups that are decided, by the hierarchy or by their boxes.
void bvh_count(benchmark::State& state) {
  const IndexedGroups groups(state.range(0));
  std::uint64_t candidates = 0;
  for (auto _ : state) {
    candidates = count_candidates(*groups.index, groups.range, groups.bounds.groups, one_thread()).total;
    benchmark::DoNotOptimize(candidates);
  }
  set_rates(state, {groups.pairs()});
  state.counters["candidates"] = static_cast<double>(candidates);
}
BENCHMARK(bvh_count)->ArgNames({"radius_x100"})->Arg(10)->Arg(30)->Arg(60)->Unit(benchmark::kMillisecond);

void bvh_fill(benchmark::State& state) {
  const IndexedGroups groups(state.range(0));
  const IntersectionCounts counts = count_candidates(*groups.index, groups.range, groups.bounds.groups, one_thread());
  for (auto _ : state) {
    benchmark::DoNotOptimize(fill_candidates(*groups.index, groups.range, counts, one_thread()).begin.data());
  }
  set_rates(state, {groups.pairs()});
  state.counters["candidates"] = static_cast<double>(counts.total);
}
BENCHMARK(bvh_fill)->ArgNames({"radius_x100"})->Arg(10)->Arg(30)->Arg(60)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rthiss::micro
