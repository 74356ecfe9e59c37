#pragma once

#include <vector>

#include "engine/cuda/refine/tile_filter.hpp"

namespace rthiss::cuda {

/// Refinement as published (paper, section IV-E), for lists of single queries: one thread block a group, tiles of
/// queries and points stored dimension-major in shared memory, squared differences summed over the columns in variance
/// order with an early exit, hits as a mask that a second kernel compacts. The sums are in float32 with the bound of
/// FilterLimits; what they leave open goes on like the other filter's pairs.
class PaperRefinement {
 public:
  PaperRefinement(const DeviceTask& task, DeviceMemory& memory, Stream stream);

  /// The lists [first, last); list_begin: DeviceLists::begin on the host.
  void run(const DeviceLists& lists, const std::vector<std::uint64_t>& list_begin, std::uint32_t first,
           std::uint32_t last, const PairRule& rule, const HitTarget& target, DeviceMemory& memory,
           Stream stream) const;

 private:
  const DeviceTask& task_;
  std::uint32_t stride_ = 0;                    // columns, padded to a multiple of 4
  DeviceArray<float> point_rows_, query_rows_;  // [rows x stride], columns by falling variance
  float out_ = 0.0F, in_ = 0.0F;
  std::uint32_t words_ = 1;  // of 64 points, of the largest group
};

}  // namespace rthiss::cuda
