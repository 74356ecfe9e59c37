#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <vector>

#include "common/parallel.hpp"
#include "index/group_index.hpp"

namespace rthiss::test {

using Rational = boost::multiprecision::cpp_rational;

struct Box {
  std::vector<float> low, high;
  float error = 0.0f;
};

/// Bounds with exactly these boxes; spheres as wide as a box can need.
inline GroupBounds bounds_of(const std::vector<Box>& boxes, std::size_t components) {
  GroupBounds bounds;
  bounds.groups = boxes.size();
  bounds.components = components;
  bounds.stride = (boxes.size() + 15) / 16 * 16;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  bounds.low = Array<float>(components * bounds.stride, infinity);
  bounds.high = Array<float>(components * bounds.stride, -infinity);
  bounds.error = Array<float>(bounds.stride, 0.0f);
  bounds.sphere_center = Array<float>(3 * bounds.stride, 0.0f);
  bounds.sphere_radius = Array<float>(bounds.stride, infinity);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t c = 0; c < components; ++c) {
      bounds.low[c * bounds.stride + i] = boxes[i].low[c];
      bounds.high[c * bounds.stride + i] = boxes[i].high[c];
    }
    bounds.error[i] = boxes[i].error;
  }
  return bounds;
}

/// Whether the boxes come as near as radius + both errors in the first `components`, in exact arithmetic.
inline bool near_exactly(const Box& block, const Box& group, double radius, std::size_t components, bool box_distance) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (block.error == infinity || group.error == infinity) return true;
  const Rational reach = Rational(radius) + Rational(block.error) + Rational(group.error);
  Rational sum = 0;
  for (std::size_t c = 0; c < components; ++c) {
    const Rational gap = std::max({Rational(0), Rational(Rational(group.low[c]) - Rational(block.high[c])),
                                   Rational(Rational(block.low[c]) - Rational(group.high[c]))});
    if (!box_distance && gap > reach) return false;
    sum += gap * gap;
  }
  return !box_distance || sum <= reach * reach;
}

/// All pairs that an index lists. Also holds the index to its contract: every block once, ids ascending.
inline std::vector<std::vector<std::uint32_t>> lists_of(const GroupIndex& index, const CandidateRange& range,
                                                        const ThreadPool& pool) {
  std::vector<std::vector<std::uint32_t>> lists(range.blocks->groups);
  std::vector<int> calls(range.blocks->groups, 0);
  index.visit(range, pool, [&](std::uint32_t block, std::span<const std::uint32_t> groups, int) {
    lists.at(block).assign(groups.begin(), groups.end());
    ++calls.at(block);
  });
  for (std::uint32_t block = 0; block < calls.size(); ++block) {
    const int expected = block >= range.block_begin && block < range.block_end ? 1 : 0;
    if (calls[block] != expected) throw std::runtime_error("block visited " + std::to_string(calls[block]) + " times");
    const auto& list = lists[block];
    if (std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) != list.end()) {
      throw std::runtime_error("ids do not ascend");
    }
  }
  return lists;
}

}  // namespace rthiss::test
