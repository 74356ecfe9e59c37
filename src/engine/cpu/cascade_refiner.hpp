#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/cpu/group_rows.hpp"
#include "engine/cpu/pair_stage.hpp"
#include "engine/host_stages.hpp"
#include "refinement/filter_limits.hpp"
#include "refinement/hit_recorder.hpp"

namespace rthiss::cpu {

/// Refinement of `preset = auto`: tiles of 64 x 64 pairs go through a dense filter in a few components, what is left
/// through filters by rows in more, and only what those cannot decide through the exact tiers.
class CascadeRefiner final : public Refiner {
 public:
  /// `point_rows`: null, or what a refiner with the same points and the same plan made of them.
  CascadeRefiner(const RefinementTask& task, const ThreadPool& pool, std::unique_ptr<const GroupRows> point_rows);

  /// Leaves the refiner unusable.
  [[nodiscard]] std::unique_ptr<const GroupRows> take_point_rows() { return std::move(kept_point_rows_); }

  RefinementCounts refine(const CandidateLists& lists, const CandidateRange& range, bool mirror,
                          const RefinementResult& result, RefinementProgress& progress) override;

 private:
  struct Worker;
  struct Tile;

  void prefetch(std::uint32_t block) const;
  void compare(Worker& worker, HitRecorder& recorder, std::uint32_t block, std::uint32_t group,
               std::uint32_t next_block) const;
  void compare_tile(Worker& worker, HitRecorder& recorder, std::uint32_t block, std::uint32_t query_chunk,
                    std::uint32_t group, std::uint32_t point_chunk) const;
  [[nodiscard]] bool exact_in_integers(const Tile& tile) const;
  [[nodiscard]] double product_error(const Tile& tile) const;
  void center_tile(Worker& worker, Tile& tile) const;
  [[nodiscard]] std::uint64_t filter_tile(Worker& worker, const Tile& tile, double error,
                                          const std::uint64_t* near) const;
  [[nodiscard]] std::uint64_t computed_pairs(const Tile& tile, const std::uint64_t* near, bool diagonal) const;
  [[nodiscard]] bool within_whole(std::uint32_t block, std::uint32_t group) const;
  void decide_constant(Worker& worker, HitRecorder& recorder, std::uint32_t block, std::uint32_t group) const;

  const RefinementTask& task_;
  const ThreadPool& pool_;
  FilterLimits limits_;
  std::unique_ptr<const GroupRows> kept_point_rows_;
  const GroupRows& point_rows_;
  GroupRows query_rows_storage_;  // empty in a self-join
  const GroupRows& query_rows_;
  PairStage pair_stage_;
  float integer_limit_ = -1.0F;  // >= 0: the dense filter's sums are exact integers
};

}  // namespace rthiss::cpu
