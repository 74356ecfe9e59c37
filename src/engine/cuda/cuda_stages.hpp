#pragma once

#include <memory>

#include "common/parallel.hpp"
#include "engine/cuda/device_memory.hpp"
#include "engine/search_stages.hpp"

namespace rthiss::cuda {

/// The stages of one search on `device`. Rows, projection, groups, index, candidates and results stay on it; the host
/// keeps the groups' first positions, the counts of the first test, and finished rows.
[[nodiscard]] std::unique_ptr<SearchStages> make_cuda_stages(int device, DeviceMemory& memory, const ThreadPool& pool,
                                                             const StageSetup& setup);

}  // namespace rthiss::cuda
