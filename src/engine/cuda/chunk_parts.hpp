#pragma once

#include <rthiss/result_sink.hpp>

#include <vector>

#include "engine/cuda/device_types.hpp"

namespace rthiss::cuda {

/// Chunks of the same queries, each against some of the groups, as one.
[[nodiscard]] NeighborChunk join_parts(const std::vector<NeighborChunk>& parts);

/// Distances (or similarities) that the device could not round, by the exact tiers on the host, in parallel.
void fill_open_values(const DeviceTask& task, NeighborChunk& chunk);

}  // namespace rthiss::cuda
