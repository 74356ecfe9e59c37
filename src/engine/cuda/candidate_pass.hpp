#pragma once

#include <cstdint>

#include "engine/cuda/device_index.hpp"
#include "engine/cuda/device_types.hpp"

namespace rthiss::cuda {

/// Candidate lists of a batch, built in two passes (paper, section IV-D): count, prefix sum with the most-hit groups
/// first, fill.
class CandidatePass {
 public:
  CandidatePass() = default;

  /// Returns the number of candidates.
  std::uint64_t count(const DeviceIndex& index, const CandidateSets& sets, const TraversalRange& blocks_of_groups,
                      DeviceMemory& memory, Stream stream);
  /// Throws DeviceError where the index finds other candidates than it counted. Waits for the stream.
  void fill(const DeviceIndex& index, const CandidateSets& sets, DeviceMemory& memory, Stream stream);

  [[nodiscard]] DeviceLists lists() const;

 private:
  TraversalRange range_;  // drivers: groups; targets: blocks
  std::uint32_t lists_ = 0;
  std::uint64_t entries_ = 0;
  DeviceArray<std::uint32_t> group_ids_, block_ids_;
  DeviceArray<std::uint64_t> begin_;           // [groups + 1] of the lists
  DeviceArray<std::uint64_t> begin_of_group_;  // [groups]
  DeviceArray<std::uint64_t> end_of_group_;    // [groups]
  CandidateMarks marks_;
};

}  // namespace rthiss::cuda
