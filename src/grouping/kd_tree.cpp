#include <rthiss/errors.hpp>

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "common/parallel.hpp"
#include "grouping/grouping.hpp"
#include "grouping/leaf_order.hpp"
#include "grouping/leaves.hpp"
#include "grouping/split_key.hpp"
#include "grouping/split_rows.hpp"

namespace rthiss {
namespace {

/// A subtree of at most this many points works on a copy of its rows that stays in a core's own cache.
constexpr std::size_t kSubtreePoints = 8192;
constexpr std::size_t kRowGrain = 4096;

struct Node {
  std::uint64_t first_leaf, last_leaf;
  std::size_t begin, end;  ///< positions
  int depth;

  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
  [[nodiscard]] bool is_final() const noexcept { return last_leaf - first_leaf <= 1 || size() <= 1; }
};

class KdTreeBuilder {
 public:
  KdTreeBuilder(SplitRows rows, LeafRanges leaves, SplitRule rule, std::uint32_t* ids, std::size_t points,
                const ThreadPool& pool)
      : rows_(rows), leaves_(leaves), rule_(rule), ids_(ids), points_(points), pool_(pool) {}

  void build() {
    const std::vector<Node> subtrees = split_to_subtrees();
    pool_.for_tasks(subtrees.size(), [&](std::size_t task, int) { build_subtree(subtrees[task]); });
  }

 private:
  [[nodiscard]] std::uint64_t middle_of(const Node& node) const {
    return LeafRanges::middle(node.first_leaf, node.last_leaf);
  }

  [[nodiscard]] std::size_t cycled_component(int depth) const {
    return static_cast<std::size_t>(depth) % rows_.components;
  }

  /// Splits level by level, with all threads on each level, until every node is small.
  [[nodiscard]] std::vector<Node> split_to_subtrees() {
    const std::size_t small =
        std::clamp<std::size_t>(points_ / (4 * static_cast<std::size_t>(pool_.threads())), 1024, kSubtreePoints);
    std::vector<Node> done;
    std::vector<Node> level{{0, leaves_.leaves(), 0, points_, 0}};
    while (true) {
      std::vector<Node> large;
      for (const Node& node : level) (node.size() <= small || node.is_final() ? done : large).push_back(node);
      if (large.empty()) break;
      if (keys_.empty()) keys_ = Array<std::uint64_t>(points_);
      for (const Node& node : large) make_keys(node);
      pool_.for_tasks(large.size(), [&](std::size_t task, int) { select_median(large[task]); });
      level.clear();
      for (const Node& node : large) {
        const std::uint64_t middle = middle_of(node);
        const std::size_t split = leaves_.begin(middle);
        level.push_back({node.first_leaf, middle, node.begin, split, node.depth + 1});
        level.push_back({middle, node.last_leaf, split, node.end, node.depth + 1});
      }
    }
    std::stable_sort(done.begin(), done.end(), [](const Node& a, const Node& b) { return a.size() > b.size(); });
    return done;
  }

  void make_keys(const Node& node) {
    const std::size_t component = rule_ == SplitRule::kCycle ? cycled_component(node.depth) : widest_component(node);
    pool_.for_ranges(node.begin, node.end, kRowGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) keys_[i] = split_key(rows_.row(ids_[i])[component], ids_[i]);
    });
  }

  [[nodiscard]] std::size_t widest_component(const Node& node) const {
    SplitExtent extent(rows_.width);
    std::mutex mutex;
    pool_.for_ranges(node.begin, node.end, kRowGrain, [&](std::size_t begin, std::size_t end) {
      SplitExtent part(rows_.width);
      part.add(rows_, ids_ + begin, end - begin);
      const std::lock_guard lock(mutex);
      extent.add(part);
    });
    return extent.widest(rows_.components);
  }

  void select_median(const Node& node) {
    const std::size_t split = leaves_.begin(middle_of(node));
    std::nth_element(&keys_[node.begin], keys_.data() + split, keys_.data() + node.end);
    for (std::size_t i = node.begin; i < node.end; ++i) ids_[i] = static_cast<std::uint32_t>(keys_[i]);
  }

  struct Subtree {
    SplitRows rows;
    std::size_t offset;    ///< position of the first point
    std::uint32_t* order;  ///< [size] local rows
    std::uint64_t* keys;   ///< [size]
    SplitExtent* scratch;
  };

  /// Local row numbers rise with the ids, so that ties fall the same way as in the levels above.
  void build_subtree(const Node& root) {
    const std::size_t size = root.size();
    std::uint32_t* const ids = ids_ + root.begin;
    std::sort(ids, ids + size);
    if (root.is_final()) return;
    Array<float> values(size * rows_.width);
    for (std::size_t i = 0; i < size; ++i) std::copy_n(rows_.row(ids[i]), rows_.width, &values[i * rows_.width]);
    Array<std::uint32_t> order(size);
    std::iota(order.begin(), order.end(), 0u);
    Array<std::uint64_t> keys(size);
    SplitExtent scratch(rows_.width);
    const Subtree subtree{
        {values.data(), rows_.width, rows_.components}, root.begin, order.data(), keys.data(), &scratch};
    split_subtree(subtree, root);
    for (std::uint32_t& local : order) local = ids[local];
    std::copy_n(order.data(), size, ids);
  }

  void split_subtree(const Subtree& subtree, const Node& node) const {
    const std::size_t size = node.size();
    std::uint32_t* const order = subtree.order + (node.begin - subtree.offset);
    if (node.is_final()) {
      std::sort(order, order + size);
      return;
    }
    std::size_t component = 0;
    if (rule_ == SplitRule::kCycle) {
      component = cycled_component(node.depth);
    } else {
      SplitExtent& extent = *subtree.scratch;
      extent.reset();
      extent.add(subtree.rows, order, size);
      component = extent.widest(rows_.components);
    }
    for (std::size_t i = 0; i < size; ++i) {
      subtree.keys[i] = split_key(subtree.rows.row(order[i])[component], order[i]);
    }
    const std::uint64_t middle = middle_of(node);
    const std::size_t split = leaves_.begin(middle);
    std::nth_element(subtree.keys, subtree.keys + (split - node.begin), subtree.keys + size);
    for (std::size_t i = 0; i < size; ++i) order[i] = static_cast<std::uint32_t>(subtree.keys[i]);
    split_subtree(subtree, {node.first_leaf, middle, node.begin, split, node.depth + 1});
    split_subtree(subtree, {middle, node.last_leaf, split, node.end, node.depth + 1});
  }

  SplitRows rows_;
  LeafRanges leaves_;
  SplitRule rule_;
  std::uint32_t* ids_;
  std::size_t points_;
  const ThreadPool& pool_;
  Array<std::uint64_t> keys_;
};

Array<float> compact_rows(const ProjectedPoints& points, std::size_t components, std::size_t width,
                          const ThreadPool& pool) {
  Array<float> rows(points.points * width);
  pool.for_ranges(0, points.points, kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::copy_n(&points.values[i * points.stride], components, &rows[i * width]);
      std::fill(&rows[i * width] + components, &rows[i * width] + width, 0.0f);
    }
  });
  return rows;
}

}  // namespace

Grouping build_kd_tree(const ProjectedPoints& points, const GroupingOptions& options, const ThreadPool& pool) {
  check_grouping(points.points, points.width, options);
  const std::size_t n = points.points;
  const LeafRanges leaves = leaves_of(n, options);
  Grouping grouping = unsorted_groups(leaves, n);
  if (n == 0) return grouping;

  const std::size_t components = std::min(options.split_components, points.width);
  const std::size_t width = SplitRows::padded_width(components);
  Array<float> compact;
  SplitRows rows{points.values.data(), points.stride, components};
  if (width != points.stride) {
    compact = compact_rows(points, components, width, pool);
    rows = {compact.data(), width, components};
  }
  KdTreeBuilder(rows, leaves, options.split, grouping.original_id.data(), n, pool).build();
  if (options.order == GroupOrder::kMorton) order_leaves_by_morton_code(points, grouping, pool);
  return grouping;
}

}  // namespace rthiss
