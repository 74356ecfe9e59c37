#include "pipeline/search_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <rthiss/errors.hpp>

#include "batching/batch_plan.hpp"
#include "batching/memory.hpp"
#include "index/registry.hpp"
#include "pipeline/stage_timer.hpp"
#include "projection/project.hpp"
#include "refinement/compact.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss {

/// What the stages hand on.
struct SearchPipeline::State {
  bool self_join = false;
  FilterSpace space;
  std::unique_ptr<PairDecider> decider;
  SearchPlan plan;
  PreparedSet points;
  std::optional<PreparedSet> other_queries;  // semi-join, or single queries of a self-join
  std::unique_ptr<GroupIndex> index;
  RefinementTask task;
  std::unique_ptr<Refiner> refiner;
  bool grouped_alike = false;  // blocks are the groups themselves: each pair of groups can stand once
  IntersectionCounts first_test;
  std::uint64_t budget = 0;
  Progress progress;

  [[nodiscard]] const PreparedSet& queries() const { return other_queries ? *other_queries : points; }
  [[nodiscard]] CandidateRange range(std::uint32_t block_begin, std::uint32_t block_end) const {
    CandidateRange all;
    all.blocks = &queries().bounds;
    all.block_begin = block_begin;
    all.block_end = block_end;
    all.group_end = static_cast<std::uint32_t>(points.grouping.groups());
    return all;
  }
  [[nodiscard]] std::uint32_t blocks() const { return static_cast<std::uint32_t>(queries().grouping.groups()); }
};

namespace {

// Candidate lists of a counting batch: enough to keep all threads busy, little beside any large input.
constexpr std::uint64_t kCountingBytes = std::uint64_t{1} << 26;
// Samples behind the estimate of the result's size.
constexpr std::uint32_t kEstimateRanges = 16;

std::string resolve_index(const SearchOptions& options) {
  // On the CPU the own hierarchy was measured faster than Embree's point queries (benchmarks/RESULTS.md).
  return options.index == "auto" ? "bvh" : options.index;
}

/// Groups of one query each, in the order of `groups`.
Grouping single_queries(const Grouping& groups) {
  Grouping singles;
  singles.height = groups.height;
  singles.original_id = Array<std::uint32_t>(groups.original_id.span());
  singles.group_begin = Array<std::uint32_t>(groups.original_id.size() + 1);
  for (std::size_t i = 0; i <= groups.original_id.size(); ++i) singles.group_begin[i] = static_cast<std::uint32_t>(i);
  return singles;
}

/// Rows that take no part must not widen the bounds of those that do.
void forget_errors(ProjectedPoints& points, const Array<std::uint32_t>& ignored) {
  for (const std::uint32_t row : ignored) {
    if (!points.error.empty()) points.error[row] = 0.0F;
  }
}

}  // namespace

SearchPipeline::SearchPipeline(const Engine& engine, const SearchOptions& options, Observer* observer)
    : engine_(engine), options_(options), observer_(observer) {}

void SearchPipeline::run(const Dataset& points, const Dataset* queries, double radius, ResultSink& sink,
                         SearchStatistics& statistics) {
  const std::uint64_t query_count = queries != nullptr ? queries->rows() : points.rows();
  statistics.points = points.rows();
  statistics.queries = query_count;
  statistics.columns = points.columns();
  statistics.engine = engine_.name();
  statistics.preset = options_.preset;
  statistics.threads = engine_.pool().threads();

  State state;
  state.self_join = queries == nullptr;
  prepare(state, points, queries, radius, statistics);
  sink.begin({query_count, points.rows(), options_.distances});
  if (sink.counts_only()) {
    Array<std::uint64_t> counts(query_count, 0);
    count_all(state, counts.span(), statistics);
    for (const std::uint64_t count : counts) statistics.pairs += count;
    sink.consume_counts(counts.span());
  } else {
    list_all(state, sink, statistics);
  }
  const StageTimer timer(Stage::kOutput, statistics, observer_);
  sink.finish();
}

PreparedSet SearchPipeline::prepare_set(const State& state, const Dataset& data, SearchStatistics& statistics) const {
  PreparedSet set;
  set.data = &data;
  const ThreadPool& pool = engine_.pool();
  {
    const StageTimer timer(Stage::kOrder, statistics, observer_);
    ProjectedPoints all = project_points(data, state.space, state.plan.projection, pool);
    forget_errors(all, data.ignored_rows());
    if (state.plan.coarse_components < state.plan.projection.components) {
      set.coarse = shorten(all, state.plan.coarse_components, pool);
      if (state.plan.use_fine) set.fine = std::move(all);
    } else {
      set.coarse = std::move(all);
    }
  }
  {
    const StageTimer timer(Stage::kGroup, statistics, observer_);
    set.grouping = build_kd_tree(set.coarse, state.plan.grouping, pool);
  }
  const StageTimer timer(Stage::kBound, statistics, observer_);
  set.bounds = bound_groups(set.coarse, set.grouping, pool);
  return set;
}

void SearchPipeline::prepare(State& state, const Dataset& points, const Dataset* queries, double radius,
                             SearchStatistics& statistics) {
  const ThreadPool& pool = engine_.pool();
  if (queries != nullptr && queries->columns() != points.columns()) {
    throw InvalidArgument(fmt::format("queries have {} columns, points have {}", queries->columns(), points.columns()));
  }
  const bool cosine = options_.metric.kind != Metric::Kind::kEuclidean;
  const ValueGrid grid = queries != nullptr ? ValueGrid::common(points.grid(), queries->grid()) : points.grid();
  state.decider = make_pair_decider(options_.metric, radius, points.columns(), grid);
  state.space = FilterSpace::choose(points, queries, cosine, radius, pool);
  const FilterThreshold threshold = state.decider->filter_threshold();
  const FilterLimits limits(threshold, state.space);
  {
    const StageTimer timer(Stage::kPlan, statistics, observer_);
    state.plan = choose_plan(options_, points, state.space, limits.out_radius(), pool, statistics);
    statistics.projection = state.plan.projection.name;
  }
  state.points = prepare_set(state, points, statistics);
  if (queries != nullptr) state.other_queries = prepare_set(state, *queries, statistics);
  if (state.plan.single_queries) {
    const StageTimer timer(Stage::kBound, statistics, observer_);
    if (!state.other_queries) {
      state.other_queries.emplace();
      state.other_queries->data = &points;
      state.other_queries->grouping = single_queries(state.points.grouping);
      state.other_queries->bounds = bound_groups(state.points.coarse, state.other_queries->grouping, pool);
    } else {
      state.other_queries->grouping = single_queries(state.other_queries->grouping);
      state.other_queries->bounds = bound_groups(state.other_queries->coarse, state.other_queries->grouping, pool);
    }
  }
  state.grouped_alike = state.self_join && !state.other_queries;
  statistics.groups = state.points.grouping.groups();
  statistics.kd_tree_height = state.points.grouping.height;
  {
    const StageTimer timer(Stage::kIndex, statistics, observer_);
    const std::string name = resolve_index(options_);
    statistics.index = name;
    state.index = make_index(name);
    CandidateTest test;
    // Above this, squares overflow and everything is a candidate anyway.
    test.radius = std::min(limits.out_radius(), 0x1p100);
    test.components = state.plan.test_components;
    test.sphere_boxes = state.plan.sphere_boxes;
    test.box_distance = state.plan.box_distance;
    if (limits.out_radius() > 0x1p100) test.components = 0;
    state.index->build(state.points.bounds, test, pool);
  }
  {
    const StageTimer timer(Stage::kFit, statistics, observer_);
    state.first_test = count_candidates(*state.index, state.range(0, state.blocks()), statistics.groups, pool);
    statistics.candidates_query_group = 0;
    const Grouping& blocks = state.queries().grouping;
    for (std::uint32_t b = 0; b < state.blocks(); ++b) {
      statistics.candidates_query_group +=
          std::uint64_t{state.first_test.per_block[b]} * (blocks.group_begin[b + 1] - blocks.group_begin[b]);
    }
  }
  state.task.points = &state.points;
  state.task.queries = &state.queries();
  state.task.space = &state.space;
  state.task.decider = state.decider.get();
  state.task.projection = &state.plan.projection;
  state.task.threshold = threshold;
  state.task.self_join = state.self_join;
  state.task.include_self = options_.include_self;
  state.task.coarse_complete = state.plan.coarse_complete;
  state.task.cull_rows = state.plan.cull_rows;
  state.task.cascade = state.plan.cascade;
  const StageTimer timer(Stage::kGroup, statistics, observer_);
  state.refiner = engine_.make_refiner(state.task);
  state.budget = options_.memory_limit != 0 ? options_.memory_limit : default_memory_budget();
}

CandidateLists SearchPipeline::find_candidates(const State& state, const CandidateRange& range,
                                               SearchStatistics& statistics) const {
  const ThreadPool& pool = engine_.pool();
  IntersectionCounts counts;
  {
    const StageTimer timer(Stage::kCount, statistics, observer_);
    counts = count_candidates(*state.index, range, state.points.grouping.groups(), pool);
  }
  const StageTimer timer(Stage::kFill, statistics, observer_);
  return fill_candidates(*state.index, range, counts, pool);
}

void SearchPipeline::refine(State& state, const CandidateRange& range, const RefinementResult& result,
                            SearchStatistics& statistics) {
  const CandidateLists lists = find_candidates(state, range, statistics);
  const StageTimer timer(Stage::kRefine, statistics, observer_);
  RefinementProgress progress(observer_, state.progress);
  const bool mirror = range.each_pair_once;
  const RefinementCounts done = state.refiner->refine(lists, range, mirror, result, progress);
  if (progress.stopped()) throw Cancelled();
  statistics.decided += done.decided;
  statistics.comparisons += done.comparisons;
  statistics.accepted_whole += done.accepted_whole;
  state.progress.work_done += mirror ? 2 * lists.block_ids.size() : lists.block_ids.size();
  state.progress.pairs += progress.pairs();
}

void SearchPipeline::count_all(State& state, std::span<std::uint64_t> counts, SearchStatistics& statistics) {
  // Candidate lists are all that a batch holds here, and each pair of groups stands once over all batches.
  BatchPlan plan;
  {
    const StageTimer timer(Stage::kPlan, statistics, observer_);
    const std::uint64_t room = std::clamp<std::uint64_t>(state.budget / 16, std::uint64_t{1} << 20, kCountingBytes);
    plan = plan_batches(state.first_test.per_block.span(), static_cast<std::uint32_t>(statistics.groups),
                        {16, 2 * sizeof(std::uint32_t)}, room);
  }
  statistics.batches = plan.size();
  state.progress = {Stage::kRefine, 0, plan.size(), 0, state.first_test.total, 0};
  for (const QueryBatch& batch : plan) {
    CandidateRange range = state.range(batch.block_begin, batch.block_end);
    range.group_begin = batch.group_begin;
    range.group_end = batch.group_end;
    range.each_pair_once = state.grouped_alike;
    range.whole_block_begin = 0;
    refine(state, range, {nullptr, counts.data()}, statistics);
    ++state.progress.batch;
  }
}

void SearchPipeline::list_all(State& state, ResultSink& sink, SearchStatistics& statistics) {
  const ResultShape shape{statistics.queries, statistics.points, options_.distances};
  const std::uint64_t bytes_per_pair = sizeof(std::uint32_t) + (options_.distances ? sizeof(double) : 0);
  BatchPlan plan;
  {
    const PairEstimate estimate = estimate_pairs(state, statistics);
    const StageTimer timer(Stage::kPlan, statistics, observer_);
    statistics.chosen.emplace_back("expected_pairs", estimate.describe());
    if (observer_ != nullptr) observer_->log("expected " + estimate.describe());
    if (const std::string problem = check_limits(sink, shape, estimate.upper, state.budget); !problem.empty()) {
      // Only the exact number may refuse.
      Array<std::uint64_t> counts(statistics.queries, 0);
      count_all(state, counts.span(), statistics);
      statistics.batches = 0;  // those of the lists are counted
      std::uint64_t pairs = 0;
      for (const std::uint64_t count : counts) pairs += count;
      const std::string certain = check_limits(sink, shape, pairs, state.budget);
      if (!certain.empty()) throw OutOfMemory(certain);
    }
    const double candidates = static_cast<double>(std::max<std::uint64_t>(1, state.first_test.total));
    const double hits = std::min(4096.0, static_cast<double>(estimate.upper) / candidates);
    const double mask = sizeof(HitTile) + std::min(512.0, 8.0 * hits);
    const auto per_candidate = static_cast<std::uint64_t>(8 + mask + hits * static_cast<double>(bytes_per_pair));
    plan = plan_batches(state.first_test.per_block.span(), static_cast<std::uint32_t>(statistics.groups),
                        {64 * 32, per_candidate}, state.budget);
  }
  state.progress = {Stage::kRefine, 0, plan.size(), 0, state.first_test.total, 0};
  std::vector<QueryBatch> left(plan.rbegin(), plan.rend());
  HitMask mask;
  while (!left.empty()) {
    const QueryBatch batch = left.back();
    left.pop_back();
    CandidateRange range = state.range(batch.block_begin, batch.block_end);
    range.group_begin = batch.group_begin;
    range.group_end = batch.group_end;
    const bool whole_blocks = batch.completes_rows && batch.group_begin == 0;
    range.each_pair_once = state.grouped_alike && whole_blocks;
    const bool divisible = whole_blocks && batch.block_end - batch.block_begin > 1;
    try {
      const SearchStatistics before = statistics;
      try {
        const std::uint64_t mask_limit = divisible ? state.budget : ~std::uint64_t{0};
        refine(state, range, {&mask, nullptr, mask_limit, batch.block_begin, batch.block_end}, statistics);
      } catch (const MaskOverflow&) {
        statistics = before;
        throw;
      }
    } catch (const MaskOverflow&) {
      // More hits than the sample promised: halve the batch and go on.
      if (observer_ != nullptr) {
        observer_->log(fmt::format("more hits than expected: batch of {} query blocks halved",
                                   batch.block_end - batch.block_begin));
      }
      mask = HitMask();
      const std::uint32_t middle = batch.block_begin + (batch.block_end - batch.block_begin) / 2;
      QueryBatch first = batch, second = batch;
      first.block_end = second.block_begin = middle;
      left.push_back(second);
      left.push_back(first);
      continue;
    }
    ++statistics.batches;
    ++state.progress.batch;
    if (!batch.completes_rows) continue;
    NeighborChunk chunk;
    {
      const StageTimer timer(Stage::kCompact, statistics, observer_);
      chunk = compact(mask, state.task, batch.block_begin, batch.block_end, options_.distances, engine_.pool());
      mask = HitMask();
    }
    statistics.pairs += chunk.row_begin.back();
    if (options_.max_results != 0 && statistics.pairs > options_.max_results) {
      throw OutOfMemory(
          fmt::format("more than {} ordered pairs (found {} so far); raise max_results or lower the radius",
                      options_.max_results, statistics.pairs));
    }
    const StageTimer timer(Stage::kOutput, statistics, observer_);
    sink.consume(std::move(chunk));
  }
}

PairEstimate SearchPipeline::estimate_pairs(State& state, SearchStatistics& statistics) {
  const std::uint64_t all = statistics.queries * statistics.points;
  const std::uint32_t blocks = state.blocks();
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 22;
  if (all <= kSmall) return PairEstimate::bound(all);
  // Ranges of about 64 neighbouring queries, spread evenly: one group, or as many single queries.
  const std::uint32_t range_blocks = state.plan.single_queries ? 64U : 1U;
  const std::uint32_t wanted = std::min((blocks + range_blocks - 1) / range_blocks, kEstimateRanges);
  const Grouping& grouping = state.queries().grouping;
  Array<std::uint64_t> counts(statistics.queries, 0);
  SearchStatistics own;  // the sample's work is not the search's
  std::vector<double> means;
  {
    const StageTimer timer(Stage::kPlan, statistics, observer_);
    Observer* const observer = std::exchange(observer_, nullptr);
    for (std::uint32_t i = 0; i < wanted; ++i) {
      if (observer != nullptr && observer->cancelled()) throw Cancelled();
      const auto middle = static_cast<std::uint32_t>(std::uint64_t{blocks} * (2 * i + 1) / (2 * std::uint64_t{wanted}));
      const std::uint32_t begin = middle - std::min(middle, range_blocks / 2);
      const std::uint32_t end = std::min(blocks, begin + range_blocks);
      refine(state, state.range(begin, end), {nullptr, counts.data()}, own);
      const std::uint32_t first = grouping.group_begin[begin], last = grouping.group_begin[end];
      std::uint64_t hits = 0;
      for (std::uint32_t q = first; q < last; ++q) hits += counts[grouping.original_id[q]];
      means.push_back(static_cast<double>(hits) / static_cast<double>(std::max(1U, last - first)));
    }
    observer_ = observer;
  }
  return PairEstimate::from_means(means, statistics.queries, all);
}

std::string SearchPipeline::check_limits(const ResultSink& sink, const ResultShape& shape, std::uint64_t pairs,
                                         std::uint64_t budget) const {
  if (options_.max_results != 0 && pairs > options_.max_results) {
    return fmt::format("the result has {} ordered pairs, over the limit of {}; raise max_results or lower the radius",
                       pairs, options_.max_results);
  }
  const ResultCost cost = sink.cost(shape, pairs);
  if (cost.memory_bytes > budget) {
    return fmt::format(
        "the result has {} ordered pairs and needs {} bytes of memory, over the limit of {}; raise memory_limit, write "
        "to a file, count only, or lower the radius",
        pairs, cost.memory_bytes, budget);
  }
  if (cost.disk_bytes > cost.disk_free) {
    return fmt::format("the result has {} ordered pairs and needs {} bytes on disk, of which {} are free", pairs,
                       cost.disk_bytes, cost.disk_free);
  }
  return {};
}

}  // namespace rthiss
