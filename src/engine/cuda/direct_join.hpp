#pragma once

#include <cstdint>

#include "engine/cuda/device_index.hpp"
#include "engine/cuda/device_types.hpp"
#include "engine/cuda/direct_pass.hpp"
#include "refinement/refinement_task.hpp"

namespace rthiss::cuda {

/// The join for rows of few columns: a pair is decided where the index meets it, without candidate lists, mask or
/// second kernel.
///
/// Tiers: float32 sums over the images (FilterLimits), float64 sums over the stored values (DoubleLimits), the rest by
/// the exact tiers on the host.
class DirectJoin {
 public:
  /// What is pointed to, the index included, outlives the join.
  DirectJoin(const DeviceTask& task, const DeviceIndex& index, DeviceMemory& memory, Stream stream);

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

  [[nodiscard]] DirectPass pass_over(const DeviceRange& range, std::uint32_t group_begin,
                                     std::uint32_t group_end) const;
  void check_complete(const DeviceArray<unsigned long long>& cursor, const DeviceArray<std::uint64_t>& end) const;
  RefinementCounts count_open(const DeviceRange& range, std::uint32_t group_begin, std::uint32_t group_end,
                              std::uint32_t* counts, Open& open);

  const DeviceTask& task_;
  const DeviceIndex& index_;
  DeviceMemory& memory_;
  Stream stream_;
  Limits limits_;
};

/// One pass of the direct join through the hierarchy over the groups; `threshold` is squared.
void traverse_directly(const DirectPass& pass, const Hierarchy& groups, const CandidateThreshold& threshold,
                       Stream stream);

/// Largest finite value of errors [rows]; 0 where `errors` is null.
[[nodiscard]] float largest_finite(const float* errors, std::uint32_t rows, DeviceMemory& memory, Stream stream);

}  // namespace rthiss::cuda
