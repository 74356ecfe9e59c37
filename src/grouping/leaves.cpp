#include "grouping/leaves.hpp"

#include <rthiss/errors.hpp>

#include <limits>
#include <numeric>
#include <string>

namespace rthiss {

namespace {

constexpr int kGreatestHeight = 31;

}  // namespace

void check_grouping(std::uint64_t points, std::size_t width, const GroupingOptions& options) {
  if (points > std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidArgument("grouping: " + std::to_string(points) + " points; at most 4294967295 are supported");
  }
  if (options.height > kGreatestHeight) {
    throw InvalidArgument("grouping: kd-tree height " + std::to_string(options.height) + "; at most " +
                          std::to_string(kGreatestHeight) + " is supported");
  }
  if (options.height < 0 && options.leaf_size == 0) throw InvalidArgument("grouping: the leaf size must be at least 1");
  if (options.split_components == 0 || width == 0) {
    throw InvalidArgument("grouping: at least one component must take part in splits");
  }
}

LeafRanges leaves_of(std::uint64_t points, const GroupingOptions& options) {
  return options.height >= 0 ? LeafRanges::of_height(points, options.height)
                             : LeafRanges::of_leaf_size(points, options.leaf_size);
}

Grouping unsorted_groups(const LeafRanges& leaves, std::size_t points) {
  Grouping grouping;
  grouping.height = leaves.height();
  grouping.original_id = Array<std::uint32_t>(points);
  std::iota(grouping.original_id.begin(), grouping.original_id.end(), 0U);
  grouping.group_begin = begins_of_filled_leaves(leaves, points);
  return grouping;
}

Array<std::uint32_t> begins_of_filled_leaves(const LeafRanges& leaves, std::size_t points) {
  // More leaves than points: every leaf holds one point or none.
  if (leaves.leaves() >= points) {
    Array<std::uint32_t> begin(points + 1);
    std::iota(begin.begin(), begin.end(), 0u);
    return begin;
  }
  Array<std::uint32_t> begin(leaves.leaves() + 1);
  for (std::size_t leaf = 0; leaf < begin.size(); ++leaf) begin[leaf] = static_cast<std::uint32_t>(leaves.begin(leaf));
  return begin;
}

}  // namespace rthiss
