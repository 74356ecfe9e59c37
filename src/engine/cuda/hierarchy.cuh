#pragma once

#include <cstdint>

#include "engine/cuda/hierarchy.hpp"
#include "engine/cuda/launch.hpp"

namespace rthiss::cuda {

inline constexpr std::uint32_t kFanout = 1U << Hierarchy::kFanoutBits;

/// A Hierarchy as kernels take it.
struct HierarchyView {
  const float* nodes;
  std::uint64_t level_begin[Hierarchy::kMostLevels];
  int levels;
  std::uint32_t components;

  [[nodiscard]] __device__ const float* node(int level, std::uint32_t index) const {
    return nodes + (level_begin[level] + index) * hierarchy_node_floats(components);
  }
};

inline HierarchyView view_of(const Hierarchy& hierarchy) {
  HierarchyView view{hierarchy.nodes.data(), {}, hierarchy.levels, hierarchy.components};
  for (int level = 0; level < hierarchy.levels; ++level) view.level_begin[level] = hierarchy.level_begin[level];
  return view;
}

/// The box of a driver: lane c holds component c.
struct DriverBox {
  float low, high, reach;
};

/// The children of a node that pass the test. Lanes without a child have infinite gaps (with no components everything
/// is near, and the range leaves them out).
template <bool kSquared>
__device__ std::uint32_t near_children(const float* node, std::uint32_t components, const DriverBox& driver,
                                       const CandidateThreshold& threshold, std::uint32_t lane) {
  const float limit = threshold(driver.reach, node[2 * components * kFanout + lane]);
  float sum = 0.0F;
  for (std::uint32_t c = 0; c < components; ++c) {
    const float low = node[2 * c * kFanout + lane], high = node[(2 * c + 1) * kFanout + lane];
    const float gap = fmaxf(
        fmaxf(__shfl_sync(kWholeWarp, driver.low, c) - high, low - __shfl_sync(kWholeWarp, driver.high, c)), 0.0F);
    sum = kSquared ? fmaf(gap, gap, sum) : fmaxf(sum, gap);
    // Sums only grow: a partial sum above the limit settles a lane.
    if (c % 4 == 3 && __ballot_sync(kWholeWarp, sum <= limit) == 0) return 0;
  }
  return __ballot_sync(kWholeWarp, sum <= limit);
}

/// Children of a node that [begin, end), begin < end, of boxes touches.
__device__ inline std::uint32_t children_in_range(int level, std::uint32_t node, std::uint32_t begin,
                                                  std::uint32_t end) {
  const std::uint32_t shift = Hierarchy::kFanoutBits * static_cast<std::uint32_t>(level);
  const std::uint64_t first_child = std::uint64_t{node} * kFanout;
  const std::uint64_t first = std::uint64_t{begin} >> shift, last = (std::uint64_t{end} - 1) >> shift;
  if (last < first_child || first >= first_child + kFanout) return 0;
  const auto low = static_cast<std::uint32_t>(first > first_child ? first - first_child : 0);
  const auto high = static_cast<std::uint32_t>(last < first_child + kFanout - 1 ? last - first_child : kFanout - 1);
  return (2U << high) - (1U << low);  // 2 << 31 is 0, which is right
}

/// Calls leaf(first target, near children) for the leaves near the driver, ascending.
template <bool kSquared, typename Leaf>
__device__ void traverse(const HierarchyView& view, const DriverBox& driver, const CandidateThreshold& threshold,
                         std::uint32_t begin, std::uint32_t end, std::uint32_t lane, const Leaf& leaf) {
  if (begin >= end || view.levels == 0) return;
  std::uint32_t node[Hierarchy::kMostLevels];
  std::uint32_t pending[Hierarchy::kMostLevels];
  const auto near = [&](int level, std::uint32_t index) {
    const std::uint32_t wanted = children_in_range(level, index, begin, end);
    if (wanted == 0) return 0U;
    return wanted & near_children<kSquared>(view.node(level, index), view.components, driver, threshold, lane);
  };
  const int top = view.levels - 1;
  if (top == 0) {
    leaf(0U, near(0, 0));
    return;
  }
  node[top] = 0;
  pending[top] = near(top, 0);
  for (int level = top; level <= top;) {
    if (pending[level] == 0) {
      ++level;
      continue;
    }
    const std::uint32_t child = node[level] * kFanout + static_cast<std::uint32_t>(__ffs(pending[level]) - 1);
    pending[level] &= pending[level] - 1;
    const std::uint32_t found = near(level - 1, child);
    if (level == 1) {
      leaf(child * kFanout, found);
    } else if (found != 0) {
      --level;
      node[level] = child;
      pending[level] = found;
    }
  }
}

}  // namespace rthiss::cuda
