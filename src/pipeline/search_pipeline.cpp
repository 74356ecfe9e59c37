#include "pipeline/search_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <rthiss/errors.hpp>

#include "batching/memory.hpp"
#include "pipeline/choose_plan.hpp"
#include "pipeline/stage_timer.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss {

/// What the stages hand on.
struct SearchPipeline::State {
  bool self_join = false;
  std::unique_ptr<PairDecider> decider;
  KeptPoints prepared;  // before what refers to it
  SearchStages* stages = nullptr;
  bool grouped_alike = false;  // blocks are the groups themselves: each pair of groups can stand once
  FirstTest first_test;
  std::uint64_t host_budget = 0, budget = 0;
  std::size_t slots = 1;  // of which each has a share of the budget
  Progress progress;

  [[nodiscard]] CandidateRange range(std::uint32_t block_begin, std::uint32_t block_end) const {
    CandidateRange all;
    all.block_begin = block_begin;
    all.block_end = block_end;
    all.group_end = stages->groups();
    return all;
  }
};

namespace {

// Samples behind the estimate of the result's size.
constexpr std::uint32_t kEstimateRanges = 16;

/// Puts both halves of a batch on the stack of those to do: by blocks, or one block's groups.
void halve(const QueryBatch& batch, const MaskOverflow& overflow, std::vector<QueryBatch>& left) {
  QueryBatch first = batch, second = batch;
  if (batch.block_end - batch.block_begin > 1) {
    first.block_end = second.block_begin = batch.block_begin + (batch.block_end - batch.block_begin) / 2;
  } else if (batch.group_end - batch.group_begin > 1) {
    first.group_end = second.group_begin = batch.group_begin + (batch.group_end - batch.group_begin) / 2;
    first.completes_rows = false;
  } else {
    throw OutOfMemory(overflow.reason);
  }
  left.push_back(second);
  left.push_back(first);
}

/// What a setup says of the plan.
void complete_setup(StageSetup& setup, const PreparedPoints& prepared, double out_radius) {
  setup.space = &prepared.space;
  setup.plan = &prepared.plan;
  // Above this, squares overflow and everything is a candidate anyway.
  setup.test.radius = std::min(out_radius, 0x1p100);
  setup.test.components = out_radius > 0x1p100 ? 0 : prepared.plan.test_components;
  setup.test.sphere_boxes = prepared.plan.sphere_boxes;
  setup.test.box_distance = prepared.plan.box_distance;
}

}  // namespace

SearchPipeline::SearchPipeline(const Engine& engine, const SearchOptions& options, Observer* observer, KeptPoints* kept)
    : engine_(engine), options_(options), observer_(observer), kept_(kept) {}

void SearchPipeline::run(const Dataset& points, const Dataset* queries, double radius, ResultSink& sink,
                         SearchStatistics& statistics) {
  const std::uint64_t query_count = queries != nullptr ? queries->rows() : points.rows();
  statistics.points = points.rows();
  statistics.queries = query_count;
  statistics.columns = points.columns();
  statistics.engine = engine_.name();
  statistics.preset = options_.preset;
  statistics.threads = engine_.pool().threads();
  statistics.devices = engine_.devices();

  State state;
  state.self_join = queries == nullptr;
  prepare(state, points, queries, radius, sink.counts_only(), statistics);
  sink.begin({query_count, points.rows(), options_.distances});
  if (sink.counts_only()) {
    Array<std::uint64_t> counts(query_count, 0);
    count_all(state, counts.span(), statistics);
    for (const std::uint64_t count : counts) statistics.pairs += count;
    sink.consume_counts(counts.span());
  } else {
    list_all(state, sink, statistics);
  }
  statistics.peak_bytes_device = state.stages->peak_device_bytes();
  if (kept_ != nullptr && state.stages->keeps_points()) *kept_ = std::move(state.prepared);
  const StageTimer timer(Stage::kOutput, statistics, observer_);
  sink.finish();
}

bool SearchPipeline::take_kept(State& state, StageSetup& setup, const FilterSpace& space, double out_radius) const {
  if (kept_ == nullptr || *kept_ == nullptr) return false;
  KeptPoints kept = std::move(*kept_);
  const std::uint64_t points = setup.points->rows();
  const double pairs = setup.self_join() ? 0.5 * static_cast<double>(points) * static_cast<double>(points)
                                         : static_cast<double>(setup.queries->rows()) * static_cast<double>(points);
  if (!kept->space.same_images(space) ||
      !plan_suits(kept->plan, kept->grounds, out_radius, points, pairs, engine_.pool())) {
    return false;
  }
  complete_setup(setup, *kept, out_radius);
  if (!kept->stages->start_again(setup)) return false;
  state.prepared = std::move(kept);
  return true;
}

void SearchPipeline::prepare_set(State& state, Side side, SearchStatistics& statistics) const {
  {
    const StageTimer timer(Stage::kOrder, statistics, observer_);
    state.stages->project(side);
  }
  {
    const StageTimer timer(Stage::kGroup, statistics, observer_);
    state.stages->group(side);
  }
  const StageTimer timer(Stage::kBound, statistics, observer_);
  state.stages->bound(side);
}

void SearchPipeline::prepare(State& state, const Dataset& points, const Dataset* queries, double radius,
                             bool counts_only, SearchStatistics& statistics) {
  const ThreadPool& pool = engine_.pool();
  if (queries != nullptr && queries->columns() != points.columns()) {
    throw InvalidArgument(fmt::format("queries have {} columns, points have {}", queries->columns(), points.columns()));
  }
  const bool cosine = options_.metric.kind != Metric::Kind::kEuclidean;
  const ValueGrid grid = queries != nullptr ? ValueGrid::common(points.grid(), queries->grid()) : points.grid();
  state.decider = make_pair_decider(options_.metric, radius, points.columns(), grid);
  FilterSpace space = FilterSpace::choose(points, queries, cosine, radius, pool);
  StageSetup setup;
  setup.points = &points;
  setup.queries = queries;
  setup.decider = state.decider.get();
  setup.threshold = state.decider->filter_threshold();
  setup.options = &options_;
  setup.counts_only = counts_only;
  setup.index = statistics.index = engine_.resolve_index(options_.index);
  const double out_radius = FilterLimits(setup.threshold, space).out_radius();
  bool again = false;
  {
    const StageTimer timer(Stage::kPlan, statistics, observer_);
    again = take_kept(state, setup, space, out_radius);
    if (!again) {
      state.prepared = std::make_unique<PreparedPoints>();
      PreparedPoints& prepared = *state.prepared;
      prepared.space = std::move(space);
      prepared.plan = choose_plan(options_, engine_.plan_traits(), points, prepared.space, out_radius, pool, statistics,
                                  prepared.grounds);
      prepared.chosen = statistics.chosen;
      complete_setup(setup, prepared, out_radius);
      prepared.stages = engine_.make_stages(setup);
    }
  }
  if (again) {
    statistics.chosen = state.prepared->chosen;
    statistics.chosen.emplace_back("points", "as prepared by an earlier search");
  }
  const SearchPlan& plan = state.prepared->plan;
  statistics.projection = plan.projection.name;
  state.stages = state.prepared->stages.get();
  if (!again) prepare_set(state, Side::kPoints, statistics);
  if (queries != nullptr) prepare_set(state, Side::kQueries, statistics);
  if (state.prepared->plan.single_queries) {
    const StageTimer timer(Stage::kBound, statistics, observer_);
    state.stages->separate_queries();
  }
  state.grouped_alike = state.self_join && !state.prepared->plan.single_queries;
  statistics.groups = state.stages->groups();
  statistics.kd_tree_height = state.stages->height();
  {
    const StageTimer timer(Stage::kIndex, statistics, observer_);
    state.stages->build_index();
  }
  {
    const StageTimer timer(Stage::kFit, statistics, observer_);
    state.first_test = state.stages->first_test();
    statistics.candidates_query_group = state.first_test.query_group;
  }
  const StageTimer timer(Stage::kGroup, statistics, observer_);
  state.stages->arrange();
  state.host_budget = options_.memory_limit != 0 ? options_.memory_limit : default_memory_budget();
  state.budget = state.stages->batch_budget(state.host_budget);
}

std::uint64_t SearchPipeline::refine(State& state, BatchSlot& slot, const CandidateRange& range,
                                     const RefineRequest& request, SearchStatistics& statistics) {
  std::uint64_t candidates = 0;
  {
    const StageTimer timer(Stage::kCount, statistics, observer_);
    candidates = state.stages->count(slot, range);
  }
  {
    const StageTimer timer(Stage::kFill, statistics, observer_);
    state.stages->fill(slot);
  }
  const StageTimer timer(Stage::kRefine, statistics, observer_);
  RefinementProgress progress(observer_, state.progress);
  const RefinementCounts done = state.stages->refine(slot, request, progress);
  if (progress.stopped()) throw Cancelled();
  statistics.decided += done.decided;
  statistics.comparisons += done.comparisons;
  statistics.accepted_whole += done.accepted_whole;
  statistics.batch_sizes += {1, candidates, candidates, static_cast<double>(candidates), 0};
  state.progress.work_done += range.each_pair_once ? 2 * candidates : candidates;
  state.progress.pairs += progress.pairs();
  return progress.pairs();
}

void SearchPipeline::count_all(State& state, std::span<std::uint64_t> counts, SearchStatistics& statistics) {
  // Candidate lists are all that a batch holds here, and each pair of groups stands once over all batches.
  BatchPlan plan;
  {
    const StageTimer timer(Stage::kPlan, statistics, observer_);
    plan = plan_batches(state.first_test.counts.per_block.span(), state.stages->groups(),
                        state.stages->counting_bytes(), state.stages->counting_room(state.budget));
  }
  statistics.batches = plan.size();
  state.progress = {Stage::kRefine, 0, plan.size(), 0, state.first_test.counts.total, 0};
  const std::unique_ptr<BatchSlot> slot = state.stages->make_slot();
  RefineRequest request;
  request.want = RefineRequest::Want::kCounts;
  request.counts = counts.data();
  std::vector<QueryBatch> left(plan.rbegin(), plan.rend());
  while (!left.empty()) {
    const QueryBatch batch = left.back();
    left.pop_back();
    CandidateRange range = state.range(batch.block_begin, batch.block_end);
    range.group_begin = batch.group_begin;
    range.group_end = batch.group_end;
    range.each_pair_once = state.grouped_alike;
    range.whole_block_begin = 0;
    try {
      refine(state, *slot, range, request, statistics);
    } catch (const MaskOverflow& overflow) {
      halve(batch, overflow, left);
      ++statistics.batches;
      continue;
    }
    ++state.progress.batch;
  }
}

BatchPlan SearchPipeline::plan_lists(State& state, const ResultSink& sink, SearchStatistics& statistics) {
  const ResultShape shape{statistics.queries, statistics.points, options_.distances};
  const std::uint64_t bytes_per_pair = sizeof(std::uint32_t) + (options_.distances ? sizeof(double) : 0);
  const PairEstimate estimate = estimate_pairs(state, statistics);
  const StageTimer timer(Stage::kPlan, statistics, observer_);
  statistics.chosen.emplace_back("expected_pairs", estimate.describe());
  if (observer_ != nullptr) observer_->log("expected " + estimate.describe());
  if (const std::string problem = check_limits(sink, shape, estimate.upper, state.host_budget); !problem.empty()) {
    // Only the exact number may refuse.
    Array<std::uint64_t> counts(statistics.queries, 0);
    count_all(state, counts.span(), statistics);
    statistics.batches = 0;  // those of the lists are counted
    statistics.batch_sizes = BatchSizes();
    std::uint64_t pairs = 0;
    for (const std::uint64_t count : counts) pairs += count;
    const std::string certain = check_limits(sink, shape, pairs, state.host_budget);
    if (!certain.empty()) throw OutOfMemory(certain);
  }
  const IntersectionCounts& counts = state.first_test.counts;
  const double candidates = static_cast<double>(std::max<std::uint64_t>(1, counts.total));
  const double hits = std::min(4096.0, static_cast<double>(estimate.upper) / candidates);
  const ByteModel model = state.stages->listing_bytes(hits, bytes_per_pair);
  const auto plan_within = [&](std::uint64_t budget) {
    return plan_batches(counts.per_block.span(), state.stages->groups(), model, budget);
  };
  BatchPlan plan = plan_within(state.budget);
  state.slots = 1;
  if (plan.size() <= 1 || state.stages->slots() == 1) return plan;  // one batch has nothing to overlap with
  // Several share the budget, unless a share is too small for a whole block.
  const std::uint64_t share = state.budget / state.stages->slots();
  const std::uint64_t most = *std::max_element(counts.per_block.begin(), counts.per_block.end());
  if (model.per_block + most * model.per_candidate > share) return plan;
  state.slots = state.stages->slots();
  return plan_within(share);
}

/// Batches go through as many slots as the plan counts on: while the rows of one are on their way to the sink, the next
/// is refined.
void SearchPipeline::list_all(State& state, ResultSink& sink, SearchStatistics& statistics) {
  const BatchPlan plan = plan_lists(state, sink, statistics);
  state.progress = {Stage::kRefine, 0, plan.size(), 0, state.first_test.counts.total, 0};
  std::vector<QueryBatch> left(plan.rbegin(), plan.rend());
  std::vector<std::unique_ptr<BatchSlot>> slots(state.slots);
  for (auto& slot : slots) slot = state.stages->make_slot();
  std::deque<BatchSlot*> idle, busy;
  for (const auto& slot : slots) idle.push_back(slot.get());
  while (!left.empty()) {
    if (idle.empty()) {
      hand_on(state, *busy.front(), sink, statistics);
      idle.push_back(busy.front());
      busy.pop_front();
    }
    BatchSlot& slot = *idle.front();
    const QueryBatch batch = left.back();
    left.pop_back();
    CandidateRange range = state.range(batch.block_begin, batch.block_end);
    range.group_begin = batch.group_begin;
    range.group_end = batch.group_end;
    const bool whole_blocks = batch.completes_rows && batch.group_begin == 0;
    range.each_pair_once = state.grouped_alike && whole_blocks;
    const bool divisible = whole_blocks && batch.block_end - batch.block_begin > 1;
    RefineRequest request;
    if (divisible) request.hits_limit = state.budget / state.slots;
    request.block_begin = batch.block_begin;
    request.block_end = batch.block_end;
    const SearchStatistics before = statistics;
    const Progress progress_before = state.progress;
    try {
      refine(state, slot, range, request, statistics);
    } catch (const MaskOverflow& overflow) {
      // More hits than the sample promised, or less memory: make room or halve the batch, and go on.
      statistics = before;
      state.progress = progress_before;
      if (busy.empty()) {
        if (observer_ != nullptr) {
          observer_->log(fmt::format("more hits than expected: batch of {} query blocks halved",
                                     batch.block_end - batch.block_begin));
        }
        halve(batch, overflow, left);
      } else {
        left.push_back(batch);
        hand_on(state, *busy.front(), sink, statistics);
        idle.push_back(busy.front());
        busy.pop_front();
      }
      continue;
    }
    ++statistics.batches;
    ++state.progress.batch;
    if (!batch.completes_rows) continue;
    state.stages->start_compact(slot, batch.block_begin, batch.block_end);
    busy.push_back(&slot);
    idle.pop_front();
  }
  for (BatchSlot* slot : busy) hand_on(state, *slot, sink, statistics);
}

void SearchPipeline::hand_on(State& state, BatchSlot& slot, ResultSink& sink, SearchStatistics& statistics) const {
  NeighborChunk chunk;
  {
    const StageTimer timer(Stage::kCompact, statistics, observer_);
    chunk = state.stages->finish_compact(slot);
  }
  statistics.pairs += chunk.row_begin.back();
  if (options_.max_results != 0 && statistics.pairs > options_.max_results) {
    throw OutOfMemory(fmt::format("more than {} ordered pairs (found {} so far); raise max_results or lower the radius",
                                  options_.max_results, statistics.pairs));
  }
  const StageTimer timer(Stage::kOutput, statistics, observer_);
  sink.consume(std::move(chunk));
  state.stages->reuse(slot, std::move(chunk));  // what the sink has left of it
}

PairEstimate SearchPipeline::estimate_pairs(State& state, SearchStatistics& statistics) {
  const std::uint64_t all = statistics.queries * statistics.points;
  const std::uint32_t blocks = state.stages->blocks();
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 22;
  if (all <= kSmall) return PairEstimate::bound(all);
  // Ranges of about 64 neighbouring queries, spread evenly: one group, or as many single queries.
  const std::uint32_t range_blocks = state.prepared->plan.single_queries ? 64U : 1U;
  const std::uint32_t wanted = std::min((blocks + range_blocks - 1) / range_blocks, kEstimateRanges);
  SearchStatistics own;  // the sample's work is not the search's
  std::vector<double> means;
  {
    const StageTimer timer(Stage::kPlan, statistics, observer_);
    Observer* const observer = std::exchange(observer_, nullptr);
    const std::unique_ptr<BatchSlot> slot = state.stages->make_slot();
    RefineRequest request;
    request.want = RefineRequest::Want::kTotal;
    for (std::uint32_t i = 0; i < wanted; ++i) {
      if (observer != nullptr && observer->cancelled()) throw Cancelled();
      const auto middle = static_cast<std::uint32_t>(std::uint64_t{blocks} * (2 * i + 1) / (2 * std::uint64_t{wanted}));
      const std::uint32_t begin = middle - std::min(middle, range_blocks / 2);
      const std::uint32_t end = std::min(blocks, begin + range_blocks);
      std::uint64_t hits = 0;
      try {
        hits = refine(state, *slot, state.range(begin, end), request, own);
      } catch (const MaskOverflow& overflow) {
        throw OutOfMemory(overflow.reason);  // a block's candidates are the least that a batch must hold
      }
      const std::uint64_t queries = std::max<std::uint64_t>(1, state.stages->queries_in(begin, end));
      means.push_back(static_cast<double>(hits) / static_cast<double>(queries));
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
