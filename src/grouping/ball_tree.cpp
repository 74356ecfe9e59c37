#include <algorithm>
#include <vector>

#include "common/parallel.hpp"
#include "grouping/ball_split.hpp"
#include "grouping/group_points.hpp"
#include "grouping/leaf_order.hpp"
#include "grouping/leaves.hpp"
#include "grouping/split_key.hpp"

namespace rthiss {

namespace {

struct Node {
  std::uint64_t first_leaf, last_leaf;
  std::size_t begin, end;  // positions

  [[nodiscard]] bool is_final() const noexcept { return last_leaf - first_leaf <= 1 || end - begin <= 1; }
};

class BallTreeBuilder {
 public:
  BallTreeBuilder(const ProjectedPoints& points, std::size_t components, LeafRanges leaves, std::uint32_t* ids)
      : points_(points), components_(components), leaves_(leaves), ids_(ids), keys_(points.points) {}

  /// Level by level, the nodes of a level side by side.
  void build(const ThreadPool& pool) {
    std::vector<Node> level{{0, leaves_.leaves(), 0, points_.points}};
    while (!level.empty()) {
      pool.for_tasks(level.size(), [&](std::size_t task, int) { split(level[task]); });
      std::vector<Node> next;
      for (const Node& node : level) {
        if (node.is_final()) continue;
        const std::uint64_t middle = LeafRanges::middle(node.first_leaf, node.last_leaf);
        const std::size_t at = leaves_.begin(middle);
        next.push_back({node.first_leaf, middle, node.begin, at});
        next.push_back({middle, node.last_leaf, at, node.end});
      }
      level = std::move(next);
    }
  }

 private:
  [[nodiscard]] const float* row(std::uint32_t id) const { return points_.values.data() + id * points_.stride; }

  [[nodiscard]] std::uint32_t farthest_from(std::uint32_t from, const Node& node) const {
    std::uint32_t best = ids_[node.begin];
    float most = -1.0F;
    for (std::size_t i = node.begin; i < node.end; ++i) {
      const float distance = ball_distance(row(ids_[i]), row(from), components_);
      if (distance > most || (distance == most && ids_[i] < best)) {
        most = distance;
        best = ids_[i];
      }
    }
    return best;
  }

  void split(const Node& node) {
    if (node.is_final()) return std::sort(ids_ + node.begin, ids_ + node.end);
    const std::uint32_t lowest = *std::min_element(ids_ + node.begin, ids_ + node.end);
    const std::uint32_t a = farthest_from(lowest, node);
    const std::uint32_t b = farthest_from(a, node);
    for (std::size_t i = node.begin; i < node.end; ++i) {
      keys_[i] = split_key(ball_place(row(ids_[i]), row(a), row(b), components_), ids_[i]);
    }
    const std::size_t at = leaves_.begin(LeafRanges::middle(node.first_leaf, node.last_leaf));
    std::nth_element(&keys_[node.begin], keys_.data() + at, keys_.data() + node.end);
    for (std::size_t i = node.begin; i < node.end; ++i) ids_[i] = static_cast<std::uint32_t>(keys_[i]);
  }

  const ProjectedPoints& points_;
  std::size_t components_;
  LeafRanges leaves_;
  std::uint32_t* ids_;
  Array<std::uint64_t> keys_;
};

}  // namespace

Grouping build_ball_tree(const ProjectedPoints& points, const GroupingOptions& options, const ThreadPool& pool) {
  check_grouping(points.points, points.width, options);
  const std::size_t n = points.points;
  const LeafRanges leaves = leaves_of(n, options);
  Grouping grouping = unsorted_groups(leaves, n);
  if (n == 0) return grouping;
  BallTreeBuilder(points, std::min(options.split_components, points.width), leaves, grouping.original_id.data())
      .build(pool);
  if (options.order == GroupOrder::kMorton) order_leaves_by_morton_code(points, grouping, pool);
  return grouping;
}

}  // namespace rthiss
