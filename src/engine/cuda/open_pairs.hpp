#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/device_types.hpp"

namespace rthiss::cuda {

/// A pair that the device could not decide, by positions.
struct OpenPair {
  std::uint32_t query, point;
};

/// Keeps those of the pairs that are neighbours, decided by the exact tiers on the host, and counts the tiers.
void decide_open_pairs(const DeviceTask& task, std::vector<OpenPair>& pairs, Stream stream, TierCounts& decided);

}  // namespace rthiss::cuda
