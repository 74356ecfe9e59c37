#pragma once

#include <cstdint>

#include "engine/cuda/device_types.hpp"
#include "engine/cuda/hierarchy.hpp"
#include "refinement/refinement_task.hpp"

namespace rthiss::cuda {

/// The join for rows of few columns: a pair is decided where the traversal meets it, without candidate lists, mask or
/// second kernel. One lane a query, one warp for 32 neighbouring queries.
///
/// Tiers: float32 sums over the images (FilterLimits), float64 sums over the stored values (DoubleLimits), the rest by
/// the exact tiers on the host.
class DirectJoin {
 public:
  /// What is pointed to, `groups` and `threshold` of the index included, outlives the join.
  DirectJoin(const DeviceTask& task, const Hierarchy& groups, const CandidateThreshold& threshold, DeviceMemory& memory,
             Stream stream);

  /// Adds the neighbours of the range's queries to counts [row_end - row_begin], if given.
  RefinementCounts count(const DeviceRange& range, std::uint32_t group_begin, std::uint32_t group_end,
                         std::uint32_t* counts, RefinementProgress& progress);

  /// The range's rows. `pairs_limit`: MaskOverflow beyond.
  RefinementCounts collect(const DeviceRange& range, std::uint32_t group_begin, std::uint32_t group_end,
                           std::uint64_t pairs_limit, DeviceChunk& chunk, RefinementProgress& progress);

 private:
  struct Open;
  struct Limits {
    float out = 0.0F, in = 0.0F;
    DoubleLimits in_double;
  };

  RefinementCounts count_open(const DeviceRange& range, std::uint32_t group_begin, std::uint32_t group_end,
                              std::uint32_t* counts, Open& open);

  const DeviceTask& task_;
  const Hierarchy& groups_;
  CandidateThreshold threshold_;
  DeviceMemory& memory_;
  Stream stream_;
  Limits limits_;
};

/// Largest finite value of errors [rows]; 0 where `errors` is null.
[[nodiscard]] float largest_finite(const float* errors, std::uint32_t rows, DeviceMemory& memory, Stream stream);

}  // namespace rthiss::cuda
