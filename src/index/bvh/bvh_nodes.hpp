#pragma once

#include <cstddef>
#include <cstdint>

#include "common/host_device.hpp"
#include "index/candidate_test.hpp"

namespace rthiss {

/// Children of a node, one lane each.
inline constexpr std::uint32_t kBvhFanout = 16;
inline constexpr std::uint32_t kBvhFanoutBits = 4;
/// 16^8 groups are more than 32 bits can name.
inline constexpr int kBvhGreatestLevels = 8;

/// Floats of a node: for every component 16 lows and 16 highs, then 16 errors.
[[nodiscard]] RTHISS_HOST_DEVICE constexpr std::size_t bvh_node_floats(std::size_t components) {
  return (2 * components + 1) * kBvhFanout;
}

/// An implicit hierarchy: child c of node i of level l is node 16 i + c of level l - 1, or that group for l = 0. Lanes
/// without a child hold low = +inf, high = -inf, error = 0. Level 0 comes first in memory, the single root last.
struct BvhView {
  const float* nodes = nullptr;
  std::size_t level_begin[kBvhGreatestLevels] = {};  ///< first node of each level
  int levels = 0;
  std::size_t components = 0;

  [[nodiscard]] RTHISS_HOST_DEVICE const float* node(int level, std::uint32_t index) const {
    return nodes + (level_begin[level] + index) * bvh_node_floats(components);
  }
};

/// The box of a query block; `reach` from CandidateThreshold.
struct BvhQuery {
  const float* low = nullptr;   ///< [components]
  const float* high = nullptr;  ///< [components]
  float reach = 0.0f;
};

/// Children of a node that [begin, end), begin < end, of groups touches.
[[nodiscard]] RTHISS_HOST_DEVICE inline std::uint32_t bvh_children_in_range(int level, std::uint32_t node,
                                                                            std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t shift = kBvhFanoutBits * static_cast<std::uint32_t>(level);
  const std::uint64_t first_child = std::uint64_t{node} * kBvhFanout;
  const std::uint64_t first = begin >> shift, last = (std::uint64_t{end} - 1) >> shift;
  if (last < first_child || first >= first_child + kBvhFanout) return 0;
  const std::uint32_t low = first > first_child ? static_cast<std::uint32_t>(first - first_child) : 0;
  const std::uint32_t high =
      last < first_child + kBvhFanout - 1 ? static_cast<std::uint32_t>(last - first_child) : kBvhFanout - 1;
  return (2u << high) - (1u << low);
}

}  // namespace rthiss
