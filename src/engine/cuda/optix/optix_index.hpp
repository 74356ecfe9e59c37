#pragma once

#include <memory>

#include "engine/cuda/device_index.hpp"
#include "engine/cuda/optix/context.hpp"

namespace rthiss::cuda::optix {

/// The index `optix`: boxes in a scene of OptiX, a ray of no length for each query, and the exact test in the program
/// of the box. Blocks of several queries are found by the rays of their queries, which mark a bit for block and group.
/// `components` of the boxes are tested, the first three of which are the scene's coordinates.
[[nodiscard]] std::unique_ptr<DeviceIndex> make_optix_index(const DeviceContext& optix, const CandidateSets& sets,
                                                            const CandidateTest& test, std::uint32_t components,
                                                            DeviceMemory& memory, Stream stream);

}  // namespace rthiss::cuda::optix
