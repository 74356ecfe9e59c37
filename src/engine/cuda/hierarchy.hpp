#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/device_array.hpp"
#include "index/candidate_test.hpp"

namespace rthiss::cuda {

/// Boxes on the device: of groups, or of single rows (low and high are then the same array).
struct BoxSet {
  const float* low = nullptr;     ///< [count x stride]
  const float* high = nullptr;    ///< [count x stride]
  const float* error = nullptr;   ///< [count]
  const float* sphere = nullptr;  ///< [count x 4] or null
  std::uint32_t count = 0, stride = 0;
};

/// An implicit hierarchy over boxes, 32 children a node, a lane for each: child c of node i of level l is node
/// 32 i + c of level l - 1, or that box for l = 0. For every component 32 lows and 32 highs, then 32 errors; lanes
/// without a child are never near.
struct Hierarchy {
  static constexpr std::uint32_t kFanoutBits = 5;
  static constexpr int kMostLevels = 7;  // 32^7 > 2^32

  DeviceArray<float> nodes;
  std::uint64_t level_begin[kMostLevels] = {};  ///< first node of each level, the boxes' level first
  int levels = 0;                               ///< 0: no boxes
  std::uint32_t components = 0;
};

/// Sets the levels over `boxes` boxes; gives the number of nodes.
[[nodiscard]] inline std::uint64_t set_levels(Hierarchy& hierarchy, std::uint64_t boxes) {
  std::uint64_t total = 0;
  hierarchy.levels = 0;
  for (std::uint64_t count = boxes; count != 0;) {
    count = (count + (1U << Hierarchy::kFanoutBits) - 1) >> Hierarchy::kFanoutBits;
    hierarchy.level_begin[hierarchy.levels++] = total;
    total += count;
    if (count == 1) break;
  }
  return total;
}

/// Floats of a node: for every component the lows and highs of its children, then their errors.
[[nodiscard]] constexpr std::uint64_t hierarchy_node_floats(std::uint32_t components) {
  return (2 * std::uint64_t{components} + 1) << Hierarchy::kFanoutBits;
}

/// Components that the hierarchies take.
inline constexpr std::uint32_t kMostTestedComponents = 32;

/// `test.sphere_boxes`: of the boxes around the spheres. `components`: those that are tested.
[[nodiscard]] Hierarchy build_hierarchy(const BoxSet& boxes, const CandidateTest& test, std::uint32_t components,
                                        DeviceMemory& memory, Stream stream);

/// Which targets count for which drivers of a traversal.
struct TraversalRange {
  std::uint32_t driver_begin = 0, driver_end = 0;
  std::uint32_t target_begin = 0, target_end = 0;
  /// Each pair of groups once: drivers d >= once_from take targets t <= d only.
  bool once = false;
  std::uint32_t once_from = 0;
};

/// How many targets are near each driver: counts[d - driver_begin]. Where `per_target` is given, the same by target
/// [target], added to what is there.
void count_near(const BoxSet& drivers, const Hierarchy& targets, const CandidateThreshold& threshold,
                const TraversalRange& range, std::uint32_t* counts, std::uint32_t* per_target, Stream stream);

/// Writes the near targets of driver d, ascending, from ids[begin[d - driver_begin]] on.
void list_near(const BoxSet& drivers, const Hierarchy& targets, const CandidateThreshold& threshold,
               const TraversalRange& range, const std::uint64_t* begin, std::uint32_t* ids, Stream stream);

/// Writes every driver into the slot of each target that is near it: ids[cursor[target]++] = driver, in any order (the
/// paper's filling pass).
void list_near_by_target(const BoxSet& drivers, const Hierarchy& targets, const CandidateThreshold& threshold,
                         const TraversalRange& range, std::uint64_t* cursor, std::uint32_t* ids, Stream stream);

}  // namespace rthiss::cuda
