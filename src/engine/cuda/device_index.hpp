#pragma once

#include <cstdint>

#include "engine/cuda/candidate_sets.hpp"
#include "engine/cuda/direct_pass.hpp"
#include "engine/cuda/hierarchy.hpp"

namespace rthiss::cuda {

/// Which blocks were found near which groups, kept from the counting pass to the filling pass by an index that needs
/// it: a row of bits for each group.
using CandidateMarks = DeviceArray<std::uint32_t>;

/// Where the filling pass puts the blocks of each group.
struct ListPlaces {
  std::uint64_t* cursor = nullptr;     ///< [groups] next free place; by_query: moved on with every entry
  const std::uint64_t* end = nullptr;  ///< [groups] nothing is written there or beyond
  std::uint32_t* block_ids = nullptr;
};

/// Finds the groups near blocks on the device (GroupIndex has the contract). Every pass over a range finds the same
/// candidates. In the ranges groups are the drivers and blocks the targets. Everything is ordered in `stream`.
class DeviceIndex {
 public:
  virtual ~DeviceIndex() = default;

  /// First intersection test: near groups of every block, counts [blocks].
  virtual void count_by_block(std::uint32_t* counts, DeviceMemory& memory, Stream stream) const = 0;
  /// Near blocks of every group of the range; counts [groups] start as 0.
  virtual void count_by_group(const TraversalRange& range, std::uint32_t* counts, CandidateMarks& marks,
                              DeviceMemory& memory, Stream stream) const = 0;
  virtual void fill(const TraversalRange& range, const ListPlaces& places, const CandidateMarks& marks,
                    DeviceMemory& memory, Stream stream) const = 0;
  /// Decides pairs where the search meets them.
  virtual void join_directly(const DirectPass& pass, DeviceMemory& memory, Stream stream) const = 0;
  /// Device memory of a batch for each of its blocks, beside the lists.
  [[nodiscard]] virtual std::uint64_t bytes_per_block() const = 0;
};

}  // namespace rthiss::cuda
