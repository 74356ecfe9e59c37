#include "engine/host_stages.hpp"

#include <algorithm>
#include <limits>
#include <rthiss/errors.hpp>
#include <vector>

#include "candidates/settled_counts.hpp"
#include "grouping/group_points.hpp"
#include "index/registry.hpp"
#include "index/settled_groups.hpp"
#include "projection/project.hpp"
#include "refinement/compact.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss {

namespace {

// Candidate lists of a counting batch: enough to keep all threads busy, little beside any large input.
constexpr std::uint64_t kCountingBytes = std::uint64_t{1} << 26;

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

struct HostSlot final : BatchSlot {
  CandidateRange range;
  IntersectionCounts counts;
  CandidateLists lists;
  HitMask mask;
  std::uint32_t block_begin = 0, block_end = 0;  // of the rows to compact
};

class HostStages final : public SearchStages {
 public:
  HostStages(const HostEngine& engine, const StageSetup& setup) : engine_(engine), setup_(setup), plan_(*setup.plan) {}

  bool keeps_points() const override { return true; }

  bool start_again(const StageSetup& setup) override {
    // Single queries of the points themselves are cut from images that are gone.
    const bool singles_stay = plan_.single_queries && setup_.self_join() && setup.self_join();
    if (plan_.single_queries && setup.self_join() && !singles_stay) return false;
    if (!singles_stay) other_queries_.reset();
    setup_ = setup;
    unused_counts_ = Array<std::uint64_t>();
    return true;
  }

  void project(Side side) override {
    PreparedSet& set = set_of(side);
    set.data = side == Side::kPoints ? setup_.points : setup_.queries;
    ProjectedPoints all = project_points(*set.data, *setup_.space, plan_.projection, pool());
    forget_errors(all, set.data->ignored_rows());
    if (plan_.coarse_components < plan_.projection.components) {
      set.coarse = shorten(all, plan_.coarse_components, pool());
      if (plan_.use_fine) set.fine = std::move(all);
    } else {
      set.coarse = std::move(all);
    }
  }

  void group(Side side) override {
    PreparedSet& set = set_of(side);
    set.grouping = group_points(set.coarse, plan_.grouping, pool());
  }

  void bound(Side side) override {
    PreparedSet& set = set_of(side);
    set.bounds = bound_groups(set.coarse, set.grouping, pool());
  }

  void separate_queries() override {
    if (setup_.self_join()) {
      if (other_queries_) return;  // of an earlier search
      other_queries_.emplace();
      other_queries_->data = setup_.points;
      other_queries_->grouping = single_queries(points_.grouping);
      other_queries_->bounds = bound_groups(points_.coarse, other_queries_->grouping, pool());
    } else {
      other_queries_->grouping = single_queries(other_queries_->grouping);
      other_queries_->bounds = bound_groups(other_queries_->coarse, other_queries_->grouping, pool());
    }
  }

  void build_index() override {
    index_ = make_index(setup_.index);
    index_->build(points_.bounds, setup_.test, pool());
    settle();
  }

  FirstTest first_test() override {
    FirstTest test;
    CandidateRange all;
    all.blocks = &queries().bounds;
    all.block_end = blocks();
    all.group_end = groups();
    all.settled = settled_ ? &*settled_ : nullptr;
    test.counts = count_candidates(*index_, all, groups(), pool());
    any_candidates_ = test.counts.total != 0;
    for (std::uint32_t b = 0; b < blocks(); ++b) {
      test.query_group += std::uint64_t{test.counts.per_block[b]} * queries_in(b, b + 1);
    }
    return test;
  }

  void arrange() override {
    task_.points = &points_;
    task_.queries = &queries();
    task_.space = setup_.space;
    task_.decider = setup_.decider;
    task_.projection = &plan_.projection;
    task_.threshold = setup_.threshold;
    task_.self_join = setup_.self_join();
    task_.include_self = setup_.options->include_self;
    task_.coarse_complete = plan_.coarse_complete;
    task_.cull_rows = plan_.cull_rows;
    task_.cascade = plan_.cascade;
    if (!any_candidates_) return;
    refiner_ = engine_.make_refiner(task_, std::move(refiner_));
    // The refiner has its own copy of the images, in group order.
    for (PreparedSet* set : {&points_, other_queries_ ? &*other_queries_ : nullptr}) {
      if (set == nullptr) continue;
      set->coarse.values = Array<float>();
      set->fine.values = Array<float>();
    }
  }

  std::uint32_t groups() const override { return static_cast<std::uint32_t>(points_.grouping.groups()); }
  int height() const override { return points_.grouping.height; }
  std::uint32_t blocks() const override { return static_cast<std::uint32_t>(queries().grouping.groups()); }
  std::uint64_t queries_in(std::uint32_t begin, std::uint32_t end) const override {
    const Array<std::uint32_t>& first = queries().grouping.group_begin;
    return first[end] - first[begin];
  }

  std::uint64_t batch_budget(std::uint64_t host_budget) const override { return host_budget; }
  ByteModel counting_bytes() const override { return {16, 2 * sizeof(std::uint32_t)}; }
  std::uint64_t counting_room(std::uint64_t budget) const override {
    return std::clamp<std::uint64_t>(budget / 16, std::uint64_t{1} << 20, kCountingBytes);
  }
  ByteModel listing_bytes(double hits, std::uint64_t bytes_per_pair) const override {
    const double mask = sizeof(HitTile) + std::min(512.0, 8.0 * hits);
    return {64 * 32, static_cast<std::uint64_t>(8 + mask + hits * static_cast<double>(bytes_per_pair))};
  }
  std::size_t slots() const override { return 1; }

  std::unique_ptr<BatchSlot> make_slot() override { return std::make_unique<HostSlot>(); }

  std::uint64_t count(BatchSlot& slot, const CandidateRange& range) override {
    auto& own = static_cast<HostSlot&>(slot);
    own.range = range;
    own.range.blocks = &queries().bounds;
    own.range.settled = settled_ ? &*settled_ : nullptr;
    own.counts = count_candidates(*index_, own.range, groups(), pool());
    return own.counts.total;
  }

  void fill(BatchSlot& slot) override {
    auto& own = static_cast<HostSlot&>(slot);
    own.lists = fill_candidates(*index_, own.range, own.counts, pool());
  }

  RefinementCounts refine(BatchSlot& slot, const RefineRequest& request, RefinementProgress& progress) override {
    auto& own = static_cast<HostSlot&>(slot);
    RefinementResult result;
    result.mask_limit = request.hits_limit;
    result.block_begin = request.block_begin;
    result.block_end = request.block_end;
    switch (request.want) {
      case RefineRequest::Want::kHits:
        result.mask = &own.mask;
        break;
      case RefineRequest::Want::kCounts:
        result.counts = request.counts;
        break;
      case RefineRequest::Want::kTotal:
        if (unused_counts_.empty()) unused_counts_ = Array<std::uint64_t>(queries().data->rows(), 0);
        result.counts = unused_counts_.data();
        break;
    }
    try {
      RefinementCounts done;
      if (own.counts.total != 0) {
        done = refiner_->refine(own.lists, own.range, own.range.each_pair_once, result, progress);
      }
      if (own.range.settled != nullptr) {
        const SettledPairs settled = add_settled(own.range, queries().grouping, points_.grouping,
                                                 task_.self_join && !task_.include_self, result.counts, pool());
        done.accepted_whole += settled.accepted;
        progress.advance(0, settled.ordered);
      }
      return done;
    } catch (const MaskOverflow&) {
      own.mask = HitMask();
      throw;
    }
  }

  void start_compact(BatchSlot& slot, std::uint32_t block_begin, std::uint32_t block_end) override {
    auto& own = static_cast<HostSlot&>(slot);
    own.block_begin = block_begin;
    own.block_end = block_end;
  }

  NeighborChunk finish_compact(BatchSlot& slot) override {
    auto& own = static_cast<HostSlot&>(slot);
    NeighborChunk chunk = compact(own.mask, task_, own.block_begin, own.block_end, setup_.options->distances, pool());
    own.mask = HitMask();
    return chunk;
  }

 private:
  /// For a search that only counts. The paper's preset decides every pair; an ignored row lies in its group's box.
  void settle() {
    settled_.reset();
    if (!setup_.counts_only || !plan_.cascade || plan_.single_queries) return;
    if (!points_.data->ignored_rows().empty() || !queries().data->ignored_rows().empty()) return;
    settled_.emplace(points_.bounds, FilterLimits(setup_.threshold, *setup_.space).in_radius(),
                     points_.coarse.width > points_.coarse.components);
  }

  [[nodiscard]] const ThreadPool& pool() const { return engine_.pool(); }
  [[nodiscard]] const PreparedSet& queries() const { return other_queries_ ? *other_queries_ : points_; }
  [[nodiscard]] PreparedSet& set_of(Side side) {
    if (side == Side::kPoints) return points_;
    return other_queries_ ? *other_queries_ : other_queries_.emplace();
  }

  const HostEngine& engine_;
  StageSetup setup_;
  const SearchPlan& plan_;
  PreparedSet points_;
  std::optional<PreparedSet> other_queries_;  // semi-join, or single queries of a self-join
  std::unique_ptr<GroupIndex> index_;
  std::optional<SettledGroups> settled_;
  RefinementTask task_;
  bool any_candidates_ = false;
  std::unique_ptr<Refiner> refiner_;  // made by the first search that has candidates
  Array<std::uint64_t> unused_counts_;
};

}  // namespace

void HostEngine::check(const SearchOptions& options) const {
  if (options.shared_memory || options.mask) {
    throw UnsupportedError("engine '" + name() +
                           "' has no tiles in shared memory and one kind of result mask: shared_memory and mask are "
                           "ablations of engine 'cuda' with preset 'paper'");
  }
  if (options.engine == name() && (options.device || options.device_memory_limit != 0)) {
    throw UnsupportedError("engine '" + name() + "' uses no device: device and device_memory_limit are for 'cuda'");
  }
}

std::string HostEngine::resolve_index(std::string_view name) const {
  // On the CPU the own hierarchy was measured faster than Embree's point queries (benchmarks/RESULTS.md).
  if (name == "auto") return "bvh";
  if (name == "optix") {
    throw UnsupportedError("engine '" + this->name() + "' has no index 'optix', which is one of engine 'cuda'");
  }
  (void)make_index(name);
  return std::string(name);
}

std::unique_ptr<SearchStages> HostEngine::make_stages(const StageSetup& setup) const {
  return std::make_unique<HostStages>(*this, setup);
}

}  // namespace rthiss
