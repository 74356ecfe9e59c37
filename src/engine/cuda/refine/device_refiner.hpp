#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/cuda/device_types.hpp"
#include "engine/cuda/refine/filter_rows.hpp"
#include "engine/cuda/refine/pair_rows.hpp"
#include "engine/cuda/refine/paper_kernel.hpp"
#include "engine/cuda/refine/recheck.hpp"
#include "engine/cuda/refine/tile_filter.hpp"
#include "refinement/refinement_task.hpp"

namespace rthiss::cuda {

/// Decides the candidates of a search on the device: matrix units, then float64, then the exact tiers on the host.
class DeviceRefiner {
 public:
  /// Makes the filter's copy of the rows. What `task` points to, and `memory`, outlive the refiner.
  DeviceRefiner(const DeviceTask& task, DeviceMemory& memory, Stream stream);

  [[nodiscard]] static BatchBytes batch_bytes(const DeviceTask& task);

  /// Numbers only: adds to row_counts [queries.rows], by position. Done when it returns.
  RefinementCounts count(const DeviceLists& lists, const DeviceRange& range, std::uint64_t* row_counts,
                         RefinementProgress& progress, Stream stream);

  /// The range's rows. Done when it returns.
  RefinementCounts collect(const DeviceLists& lists, const DeviceRange& range, DeviceChunk& chunk,
                           RefinementProgress& progress, Stream stream);

 private:
  struct Pass;
  struct Slice;

  RefinementCounts run(const DeviceLists& lists, const PairRule& rule, Pass& pass, RefinementProgress& progress,
                       Stream stream);
  /// Filters the tasks [first, last).
  using Filter = std::function<void(std::uint64_t first, std::uint64_t last, const HitTarget& target)>;
  void run_slices(std::uint64_t tasks, std::uint64_t least, std::uint64_t entries, const Filter& filter,
                  const PairRule& rule, Pass& pass, RefinementCounts& done, RefinementProgress& progress,
                  Stream stream);
  void filter_slice(const Filter& filter, Slice& slice, Pass& pass, Stream stream);
  /// Returns the ordered pairs among them.
  std::uint64_t decide_open(const PairRule& rule, std::uint64_t count, Pass& pass, RefinementCounts& done,
                            Stream stream);
  [[nodiscard]] PairRule rule_of(const DeviceRange& range) const;

  const DeviceTask& task_;
  DeviceMemory& memory_;
  std::optional<FilterData> rows_;
  std::optional<PaperRefinement> paper_;  // instead of the rows: the paper's refinement
  Recheck recheck_;
};

}  // namespace rthiss::cuda
