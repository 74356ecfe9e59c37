#pragma once

#include <rthiss/options.hpp>

#include "engine/cuda/device_types.hpp"

namespace rthiss::cuda {

/// Distances, cosine distances or similarities of the pairs of a chunk, rounded once to float64.
///
/// The sums are those of distance/pair_sums.hpp in double-double, from at most 8 lanes a pair, under the same bounds,
/// and rounded where every number within the bound rounds alike. What that leaves (sums near the ends of the range,
/// roots near the middle between two doubles) is NaN in the result: the host's exact tier has to fill it in.
class PairValues {
 public:
  /// What `task` points to, and `memory`, outlive this.
  PairValues(const DeviceTask& task, Metric::Kind metric, DeviceMemory& memory, Stream stream);

  /// Writes chunk.values [pairs].
  void add(DeviceChunk& chunk, Stream stream) const;

 private:
  const DeviceTask& task_;
  Metric::Kind metric_;
  DeviceMemory& memory_;
  DeviceArray<std::uint32_t> point_at_, query_at_;  // position of each original id; the latter empty in a self-join
};

}  // namespace rthiss::cuda
