#pragma once

#include <rthiss/array.hpp>
#include <rthiss/options.hpp>

#include <cstddef>
#include <cstdint>

#include "projection/projected_points.hpp"

namespace rthiss {

class ThreadPool;

/// Which points belong together: the leaves of a kd-tree, in the order in which they are stored.
struct Grouping {
  Array<std::uint32_t> original_id;  ///< [n] row of the caller that stands at each position
  Array<std::uint32_t> group_begin;  ///< [groups + 1] positions
  int height = 0;                    ///< of the tree

  [[nodiscard]] std::size_t groups() const noexcept { return group_begin.empty() ? 0 : group_begin.size() - 1; }
};

enum class SplitRule : std::uint8_t {
  kCycle,   ///< component = depth mod number of split components (the paper's tree)
  kWidest,  ///< component with the widest range of the node's points
};

enum class GroupOrder : std::uint8_t {
  kTree,    ///< leaves from left to right
  kMorton,  ///< by Morton code of the box centres in the first three components (paper, section IV-C)
};

struct GroupingOptions {
  SplitRule split = SplitRule::kWidest;
  GroupOrder order = GroupOrder::kTree;
  std::size_t split_components = 16;  ///< the first that many values take part in splits
  int height = -1;                    ///< >= 0: 2^height leaves, sizes differing by at most one (empty leaves dropped)
  std::size_t leaf_size = 64;         ///< height < 0: every leaf but the last holds exactly this many points
  GroupingMethod method = GroupingMethod::kKdTree;
};

/// Median splits, ties by original id, so that every engine builds identical groups. O(n log n), parallel.
[[nodiscard]] Grouping build_kd_tree(const ProjectedPoints& points, const GroupingOptions& options,
                                     const ThreadPool& pool);

}  // namespace rthiss
