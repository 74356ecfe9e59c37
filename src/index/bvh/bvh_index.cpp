#include "index/bvh/bvh_index.hpp"

#include <rthiss/array.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "common/parallel.hpp"
#include "index/allowed_groups.hpp"
#include "index/bvh/bvh_traversal.hpp"

namespace rthiss {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Nodes of each level, leaves first; none for no groups.
std::vector<std::size_t> nodes_per_level(std::size_t groups) {
  std::vector<std::size_t> nodes;
  while (groups > 0) {
    groups = (groups + kBvhFanout - 1) / kBvhFanout;
    nodes.push_back(groups);
    if (groups == 1) break;
  }
  return nodes;
}

class BvhIndex final : public GroupIndex {
 public:
  [[nodiscard]] std::string describe() const override {
    return "bvh: implicit 16-ary hierarchy over the boxes of the groups";
  }

  void build(const GroupBounds& bounds, const CandidateTest& test, const ThreadPool& pool) override {
    groups_ = bounds.groups;
    view_ = {};
    view_.components = tested_components(test, bounds);
    threshold_.emplace(test, view_.components);
    const std::vector<std::size_t> nodes = nodes_per_level(groups_);
    std::size_t total = 0;
    for (const std::size_t count : nodes) {
      view_.level_begin[view_.levels++] = total;
      total += count;
    }
    nodes_ = Array<float>(total * bvh_node_floats(view_.components));
    view_.nodes = nodes_.data();
    for (int level = 0; level < view_.levels; ++level) {
      pool.for_ranges(0, nodes[static_cast<std::size_t>(level)], 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          if (level == 0) {
            fill_leaf(i, bounds, test);
          } else {
            fill_inner(level, i, nodes[static_cast<std::size_t>(level) - 1]);
          }
        }
      });
    }
  }

  void visit(const CandidateRange& range, const ThreadPool& pool, const Visitor& visitor) const override {
    check_range(range, groups_, view_.components);
    const std::size_t blocks = range.block_end - range.block_begin;
    const std::size_t chunk = blocks_per_task(blocks, pool.threads());
    const BvhTraversal find_near = best_bvh_traversal();
    std::vector<Scratch> scratch(static_cast<std::size_t>(pool.threads()));
    pool.for_tasks((blocks + chunk - 1) / chunk, [&](std::size_t task, int worker) {
      Scratch& mine = scratch[static_cast<std::size_t>(worker)];
      mine.prepare(groups_, view_.components);
      const std::size_t end = std::min(blocks, (task + 1) * chunk);
      for (std::size_t i = task * chunk; i < end; ++i) {
        const auto block = static_cast<std::uint32_t>(range.block_begin + i);
        const BvhQuery query = mine.load(*range.blocks, block, view_.components, *threshold_);
        std::size_t count = 0;
        for (const GroupInterval part : mine.open.find(range, block)) {
          count += find_near(view_, query, *threshold_, part.begin, part.end, mine.ids.data() + count);
        }
        visitor(block, {mine.ids.data(), count}, worker);
      }
    });
  }

  [[nodiscard]] std::uint64_t estimated_bytes(std::size_t groups, std::size_t components) const override {
    std::uint64_t nodes = 0;
    for (const std::size_t count : nodes_per_level(groups)) nodes += count;
    return nodes * bvh_node_floats(components) * sizeof(float);
  }

 private:
  struct Scratch {
    OpenGroups open;
    Array<std::uint32_t> ids;
    Array<float> box;

    void prepare(std::size_t groups, std::size_t components) {
      if (!ids.empty()) return;
      ids = Array<std::uint32_t>(groups + kBvhIdPadding);
      box = Array<float>(2 * components);
    }

    [[nodiscard]] BvhQuery load(const GroupBounds& blocks, std::uint32_t block, std::size_t components,
                                const CandidateThreshold& threshold) {
      for (std::size_t c = 0; c < components; ++c) {
        box[c] = blocks.low[c * blocks.stride + block];
        box[components + c] = blocks.high[c * blocks.stride + block];
      }
      return {box.data(), box.data() + components, threshold.reach(blocks.error[block])};
    }
  };

  [[nodiscard]] float* node(int level, std::size_t index) {
    return &nodes_[(view_.level_begin[level] + index) * bvh_node_floats(view_.components)];
  }

  void fill_leaf(std::size_t index, const GroupBounds& bounds, const CandidateTest& test) {
    float* const out = node(0, index);
    float* const errors = out + 2 * kBvhFanout * view_.components;
    for (std::size_t lane = 0; lane < kBvhFanout; ++lane) {
      const std::size_t group = index * kBvhFanout + lane;
      const bool there = group < bounds.groups;
      for (std::size_t c = 0; c < view_.components; ++c) {
        const FloatInterval interval =
            there ? tested_interval(test, bounds, c, group) : FloatInterval{kInfinity, -kInfinity};
        out[2 * kBvhFanout * c + lane] = interval.low;
        out[2 * kBvhFanout * c + kBvhFanout + lane] = interval.high;
      }
      errors[lane] = there ? bounds.error[group] : 0.0f;
    }
  }

  void fill_inner(int level, std::size_t index, std::size_t children) {
    float* const out = node(level, index);
    float* const errors = out + 2 * kBvhFanout * view_.components;
    for (std::size_t lane = 0; lane < kBvhFanout; ++lane) {
      const std::size_t child = index * kBvhFanout + lane;
      const float* const in = child < children ? node(level - 1, child) : nullptr;
      for (std::size_t c = 0; c < view_.components; ++c) {
        const float* const lows = in + 2 * kBvhFanout * c;
        const float* const highs = lows + kBvhFanout;
        out[2 * kBvhFanout * c + lane] = in ? *std::min_element(lows, lows + kBvhFanout) : kInfinity;
        out[2 * kBvhFanout * c + kBvhFanout + lane] = in ? *std::max_element(highs, highs + kBvhFanout) : -kInfinity;
      }
      const float* const child_errors = in + 2 * kBvhFanout * view_.components;
      errors[lane] = in ? *std::max_element(child_errors, child_errors + kBvhFanout) : 0.0f;
    }
  }

  std::size_t groups_ = 0;
  BvhView view_;
  Array<float> nodes_;
  std::optional<CandidateThreshold> threshold_;
};

}  // namespace

std::unique_ptr<GroupIndex> make_bvh_index() { return std::make_unique<BvhIndex>(); }

}  // namespace rthiss
