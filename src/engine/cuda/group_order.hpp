#pragma once

#include "engine/cuda/grouping.hpp"

namespace rthiss::cuda {

/// Reorders the groups as order_leaves_by_morton_code does: by the Morton code of their boxes' centres in the first
/// three values, ties by where they stood, a smaller last group stays last. Sets original_id and begin_host.
void order_groups_by_morton_code(const float* values, std::uint32_t rows, std::uint32_t stride, std::uint32_t width,
                                 DeviceGrouping& grouping, DeviceMemory& memory, Stream stream);

}  // namespace rthiss::cuda
