#pragma once

#include <cstdint>

#include "engine/cuda/candidate_sets.hpp"
#include "engine/cuda/device_array.hpp"
#include "engine/cuda/optix/context.hpp"
#include "index/candidate_test.hpp"

namespace rthiss::cuda::optix {

/// Groups as boxes of an acceleration structure in the space of SceneSpace, and what a launch needs beside it.
struct Scene {
  abi::Traversable handle = 0;  ///< 0: there are no groups
  double scale = 1.0;
  std::uint32_t axes = 0;
  DeviceArray<unsigned char> structure, records;
  /// Queries whose error is not finite: they are near everything, and a ray cannot say so.
  DeviceArray<std::uint32_t> loose_queries;
  std::uint32_t loose_count = 0;
};

/// The boxes' first `axes` <= 3 components are widened by the radius and the errors of both sides, rounded outward and
/// by two units in the last place more, since the traversal does not promise containment to the last one. A group that
/// cannot be bounded gets a box around everything. Throws UnsupportedError for more groups than a scene takes.
[[nodiscard]] Scene build_scene(const DeviceContext& optix, const CandidateSets& sets, const CandidateTest& test,
                                std::uint32_t axes, DeviceMemory& memory, Stream stream);

/// The boxes themselves [groups], for build_scene and the tests.
[[nodiscard]] DeviceArray<abi::Box> scene_boxes(const CandidateSets& sets, const CandidateTest& test,
                                                std::uint32_t axes, Scene& scene, DeviceMemory& memory, Stream stream);

}  // namespace rthiss::cuda::optix
