#pragma once

#include <rthiss/observer.hpp>
#include <rthiss/statistics.hpp>

#include <atomic>
#include <cstdint>
#include <string>

#include "dataset/dataset.hpp"
#include "dataset/filter_space.hpp"
#include "distance/pair_decider.hpp"
#include "grouping/group_bounds.hpp"
#include "projection/projected_points.hpp"
#include "projection/projection.hpp"
#include "refinement/hit_mask.hpp"

namespace rthiss {

/// One side of a search, ready for refinement. A self-join has one for both sides.
struct PreparedSet {
  const Dataset* data = nullptr;
  Grouping grouping;
  ProjectedPoints coarse;  ///< in the caller's order; what groups, bounds and the first filter use
  ProjectedPoints fine;    ///< more components for the second filter; empty when not used
  GroupBounds bounds;      ///< of `coarse`
};

/// Everything that refinement needs to know of a search. The referenced objects outlive the refiner.
struct RefinementTask {
  const PreparedSet* points = nullptr;
  const PreparedSet* queries = nullptr;  ///< equal to `points` in a self-join
  const FilterSpace* space = nullptr;
  const PairDecider* decider = nullptr;
  const Projection* projection = nullptr;
  FilterThreshold threshold;  ///< of the decider
  bool self_join = false;
  bool include_self = false;
  bool coarse_complete = false;  ///< `coarse` holds all coordinates: it may accept, not only reject
  bool cull_rows = true;         ///< boxes are expected to keep queries away from points
  bool cascade = true;           ///< false: the paper's refinement, all coordinates in variance order
};

/// Shared by the workers of a refinement: how far it is, and whether to stop.
class RefinementProgress {
 public:
  /// `observer` may be null; `before` is what earlier batches have done.
  RefinementProgress(Observer* observer, const Progress& before) : observer_(observer), before_(before) {}

  /// Adds what a worker has done, tells the observer, and asks it whether to go on. Called every few milliseconds.
  void advance(std::uint64_t entries, std::uint64_t pairs) {
    const std::uint64_t entries_now = entries_.fetch_add(entries, std::memory_order_relaxed) + entries;
    const std::uint64_t pairs_now = pairs_.fetch_add(pairs, std::memory_order_relaxed) + pairs;
    if (observer_ == nullptr) return;
    Progress now = before_;
    now.work_done += entries_now;
    now.pairs += pairs_now;
    observer_->progress(now);
    if (observer_->cancelled()) stop_.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t pairs() const { return pairs_.load(std::memory_order_relaxed); }

 private:
  Observer* observer_;
  Progress before_;
  std::atomic<std::uint64_t> entries_{0};
  std::atomic<std::uint64_t> pairs_{0};
  std::atomic<bool> stop_{false};
};

/// What a refinement found out besides hits.
struct RefinementCounts {
  TierCounts decided;
  std::uint64_t comparisons = 0;
  std::uint64_t accepted_whole = 0;

  RefinementCounts& operator+=(const RefinementCounts& other) {
    decided += other.decided;
    comparisons += other.comparisons;
    accepted_whole += other.accepted_whole;
    return *this;
  }
};

/// Result of refinement: bits, or numbers only.
struct RefinementResult {
  HitMask* mask = nullptr;                       ///< filled when not null
  std::uint64_t* counts = nullptr;               ///< [queries in the caller's order] else: added to, no bits kept
  std::uint64_t mask_limit = ~std::uint64_t{0};  ///< stop with MaskOverflow when the mask grows past this many bytes
  /// Blocks that the mask may hold. A mirrored pair of groups is entered at the group only if that is one of them: else
  /// the pair of groups stands in the group's own batch as well.
  std::uint32_t block_begin = 0, block_end = ~std::uint32_t{0};
};

/// Thrown where a batch's candidates or hits do not fit; the pipeline halves the batch and goes on.
struct MaskOverflow {
  std::string reason = "the hits of a batch do not fit; raise memory_limit";  ///< for where nothing is left to halve
};

}  // namespace rthiss
