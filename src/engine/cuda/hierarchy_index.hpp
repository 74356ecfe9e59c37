#pragma once

#include <memory>

#include "engine/cuda/device_index.hpp"

namespace rthiss::cuda {

/// The indexes `bvh` and, with no components, `exhaustive`: hierarchies over the groups, and over the blocks where
/// those are other groups.
[[nodiscard]] std::unique_ptr<DeviceIndex> make_hierarchy_index(const CandidateSets& sets, const CandidateTest& test,
                                                                std::uint32_t components, bool blocks_are_groups,
                                                                DeviceMemory& memory, Stream stream);

}  // namespace rthiss::cuda
