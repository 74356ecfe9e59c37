#pragma once

#include <memory>
#include <utility>

#include "engine/cpu/group_rows.hpp"
#include "engine/cpu/pair_stage.hpp"
#include "engine/host_stages.hpp"
#include "refinement/filter_limits.hpp"

namespace rthiss::cpu {

/// Refinement as published (paper, section IV-E): all queries of a group's list against the group's points, both in
/// tiles, points stored component-major, squared differences summed over the columns in variance order, early exit.
class PaperRefiner final : public Refiner {
 public:
  /// `point_rows`: null, or what a refiner with the same points and the same plan made of them.
  PaperRefiner(const RefinementTask& task, const ThreadPool& pool, std::unique_ptr<const GroupRows> point_rows);

  /// Leaves the refiner unusable.
  [[nodiscard]] std::unique_ptr<const GroupRows> take_point_rows() { return std::move(kept_point_rows_); }

  RefinementCounts refine(const CandidateLists& lists, const CandidateRange& range, bool mirror,
                          const RefinementResult& result, RefinementProgress& progress) override;

 private:
  struct Worker;

  const RefinementTask& task_;
  const ThreadPool& pool_;
  FilterLimits limits_;
  std::unique_ptr<const GroupRows> kept_point_rows_;
  const GroupRows& point_rows_;
  GroupRows query_rows_;
};

}  // namespace rthiss::cpu
