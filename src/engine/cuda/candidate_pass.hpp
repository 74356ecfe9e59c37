#pragma once

#include <cstdint>

#include "engine/cuda/device_types.hpp"
#include "engine/cuda/hierarchy.hpp"

namespace rthiss::cuda {

/// Candidate lists of a batch, built in two passes (paper, section IV-D): count, prefix sum with the most-hit groups
/// first, fill.
class CandidatePass {
 public:
  /// `by_query`: queries look for groups and enter themselves in their slots (the paper's way: any order within a
  /// list). Else groups look for blocks, which gives ascending lists without atomics.
  struct Setup {
    BoxSet groups, blocks;
    const Hierarchy* group_tree = nullptr;
    const Hierarchy* block_tree = nullptr;  ///< not by_query
    bool by_query = false;
  };

  CandidatePass() = default;

  /// Returns the number of candidates.
  std::uint64_t count(const Setup& setup, const CandidateThreshold& threshold, const TraversalRange& blocks_of_groups,
                      DeviceMemory& memory, Stream stream);
  void fill(const Setup& setup, const CandidateThreshold& threshold, DeviceMemory& memory, Stream stream);

  [[nodiscard]] DeviceLists lists() const;

 private:
  TraversalRange range_;  // drivers: groups; targets: blocks
  std::uint32_t lists_ = 0;
  std::uint64_t entries_ = 0;
  DeviceArray<std::uint32_t> group_ids_, block_ids_;
  DeviceArray<std::uint64_t> begin_;           // [groups + 1] of the lists
  DeviceArray<std::uint64_t> begin_of_group_;  // [groups]
};

}  // namespace rthiss::cuda
