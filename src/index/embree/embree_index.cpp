#include "index/embree/embree_index.hpp"

#include <rthiss/array.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "common/floating_point_scope.hpp"
#include "common/parallel.hpp"
#include "index/allowed_groups.hpp"
#include "index/candidate_test.hpp"
#include "index/embree/embree_scene.hpp"
#include "index/scene_space.hpp"

namespace rthiss {
namespace {

constexpr std::size_t kAxes = 3;

/// What the exact test needs of a group, in one place; axes beyond the tested components are [0, 0].
struct GroupBox {
  float low[kAxes] = {}, high[kAxes] = {};
  float error = 0.0f;
};

/// A block at work. The bits of `found` stand for groups: Embree reports them in no order, and a bit map sorts
/// without comparing.
struct BlockQuery {
  const GroupBox* groups = nullptr;
  const CandidateThreshold* threshold = nullptr;
  GroupBox block;
  float reach = 0.0f;
  OpenGroups open;
  std::span<const GroupInterval> allowed;  ///< of the block
  Array<std::uint64_t> found;              ///< all 0 between queries
  Array<std::uint32_t> ids;
  std::size_t first_word = 0, last_word = 0;  ///< words of `found` that may not be 0: [first, last]

  [[nodiscard]] bool is_allowed(std::uint32_t group) const noexcept {
    const auto after = std::upper_bound(allowed.begin(), allowed.end(), group,
                                        [](std::uint32_t id, const GroupInterval& part) { return id < part.begin; });
    return after != allowed.begin() && group < std::prev(after)->end;
  }

  [[nodiscard]] bool is_near(const GroupBox& group) const noexcept {
    float sum = 0.0f;
    for (std::size_t a = 0; a < kAxes; ++a) {
      const float gap = std::max({0.0f, block.low[a] - group.high[a], group.low[a] - block.high[a]});
      sum = threshold->squared() ? sum + gap * gap : std::max(sum, gap);
    }
    return sum <= (*threshold)(reach, group.error);
  }

  void mark(std::uint32_t group) noexcept {
    const std::size_t word = group / 64;
    found[word] |= std::uint64_t{1} << (group % 64);
    first_word = std::min(first_word, word);
    last_word = std::max(last_word, word);
  }

  [[nodiscard]] std::span<const std::uint32_t> take_ids() {
    std::size_t count = 0;
    for (std::size_t word = first_word; word <= last_word && word < found.size(); ++word) {
      for (std::uint64_t bits = found[word]; bits != 0; bits &= bits - 1) {
        ids[count++] = static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      }
      found[word] = 0;
    }
    first_word = found.size();
    last_word = 0;
    return {ids.data(), count};
  }
};

bool mark_near_group(RTCPointQueryFunctionArguments* arguments) {
  auto& query = *static_cast<BlockQuery*>(arguments->userPtr);
  const std::uint32_t group = arguments->primID;
  if (query.is_allowed(group) && query.is_near(query.groups[group])) query.mark(group);
  return false;  // the radius of the query stays
}

/// A block of several points is a box, which a point query of radius 0 cannot hold. So the query stands at the centre
/// of the block's box and its radius is half of the diagonal: that ball holds the box, and every widened group box that
/// the block's box touches is reported; the exact test then sorts out what only the ball touches. A block of one point
/// without error has the paper's query of radius 0, but for a margin against Embree's own rounding.
class EmbreeIndex final : public GroupIndex {
 public:
  [[nodiscard]] std::string describe() const override {
    return embree_version() + ": point queries on widened boxes in three components";
  }

  void build(const GroupBounds& bounds, const CandidateTest& test, const ThreadPool& pool) override {
    components_ = std::min(kAxes, tested_components(test, bounds));
    threshold_.emplace(test, components_);
    groups_ = Array<GroupBox>(bounds.groups);
    pool.for_ranges(0, bounds.groups, 1024, [&](std::size_t begin, std::size_t end) {
      for (std::size_t group = begin; group < end; ++group) groups_[group] = box_of(bounds, test, group);
    });
    space_ = SceneSpace(greatest_bound(test.radius));
    Array<RTCBounds> boxes(bounds.groups);
    pool.for_ranges(0, bounds.groups, 1024, [&](std::size_t begin, std::size_t end) {
      for (std::size_t group = begin; group < end; ++group) boxes[group] = scene_box(groups_[group], test.radius);
    });
    if (!boxes.empty()) scene_.build(boxes.data(), boxes.size());
  }

  void visit(const CandidateRange& range, const ThreadPool& pool, const Visitor& visitor) const override {
    check_range(range, groups_.size(), components_);
    const std::size_t blocks = range.block_end - range.block_begin;
    const std::size_t chunk = blocks_per_task(blocks, pool.threads());
    std::vector<std::optional<BlockQuery>> queries(static_cast<std::size_t>(pool.threads()));
    pool.for_tasks((blocks + chunk - 1) / chunk, [&](std::size_t task, int worker) {
      auto& query = queries[static_cast<std::size_t>(worker)];
      if (!query) query = make_query();
      const std::size_t end = std::min(blocks, (task + 1) * chunk);
      for (std::size_t i = task * chunk; i < end; ++i) {
        const auto block = static_cast<std::uint32_t>(range.block_begin + i);
        query->allowed = query->open.find(range, block);
        if (!groups_.empty()) find(*range.blocks, block, *query);
        visitor(block, query->take_ids(), worker);
      }
    });
  }

  /// Embree's own share is an estimate: eight-wide nodes of 256 bytes with about four children, and leaves.
  [[nodiscard]] std::uint64_t estimated_bytes(std::size_t groups, std::size_t) const override {
    return groups * (sizeof(GroupBox) + sizeof(RTCBounds) + 128);
  }

 private:
  [[nodiscard]] GroupBox box_of(const GroupBounds& bounds, const CandidateTest& test, std::size_t group) const {
    GroupBox box;
    for (std::size_t c = 0; c < components_; ++c) {
      const FloatInterval interval = tested_interval(test, bounds, c, group);
      box.low[c] = interval.low;
      box.high[c] = interval.high;
    }
    box.error = bounds.error[group];
    return box;
  }

  [[nodiscard]] double greatest_bound(double radius) const {
    double greatest = 0.0;
    for (const GroupBox& box : groups_) {
      const double widening = SceneSpace::widening(radius + static_cast<double>(box.error));
      for (std::size_t a = 0; a < kAxes; ++a) {
        const double bound =
            std::max(std::abs(static_cast<double>(box.low[a])), std::abs(static_cast<double>(box.high[a]))) + widening;
        if (std::isfinite(bound)) greatest = std::max(greatest, bound);
      }
    }
    return round_up(greatest);
  }

  [[nodiscard]] RTCBounds scene_box(const GroupBox& box, double radius) const {
    const double widening = SceneSpace::widening(radius + static_cast<double>(box.error));
    float low[kAxes], high[kAxes];
    for (std::size_t a = 0; a < kAxes; ++a) {
      low[a] = std::max(space_.low(static_cast<double>(box.low[a]), widening), -SceneSpace::kEverywhere);
      high[a] = std::min(space_.high(static_cast<double>(box.high[a]), widening), SceneSpace::kEverywhere);
    }
    return {low[0], low[1], low[2], 0.0f, high[0], high[1], high[2], 0.0f};
  }

  [[nodiscard]] BlockQuery make_query() const {
    BlockQuery query;
    query.groups = groups_.data();
    query.threshold = &*threshold_;
    query.found = Array<std::uint64_t>((groups_.size() + 63) / 64, 0);
    query.ids = Array<std::uint32_t>(groups_.size());
    query.first_word = query.found.size();
    return query;
  }

  void find(const GroupBounds& blocks, std::uint32_t block, BlockQuery& query) const {
    for (std::size_t c = 0; c < components_; ++c) {
      query.block.low[c] = blocks.low[c * blocks.stride + block];
      query.block.high[c] = blocks.high[c * blocks.stride + block];
    }
    const float error = blocks.error[block];
    query.reach = threshold_->reach(error);
    const double widening = error > 0.0f ? SceneSpace::widening(static_cast<double>(error)) : 0.0;
    float centre[kAxes];
    double square = 0.0;
    for (std::size_t a = 0; a < kAxes; ++a) {
      constexpr float limit = SceneSpace::kQueryLimit;
      const float low = std::clamp(space_.low(static_cast<double>(query.block.low[a]), widening), -limit, limit);
      const float high = std::clamp(space_.high(static_cast<double>(query.block.high[a]), widening), -limit, limit);
      centre[a] = 0.5f * (low + high);
      const double half = std::max(static_cast<double>(high) - static_cast<double>(centre[a]),
                                   static_cast<double>(centre[a]) - static_cast<double>(low));
      square += half * half;
    }
    // Embree rounds a few times where it squares and compares: far less than these margins.
    const float radius = round_up_to_float(std::sqrt(square) * (1.0 + 0x1p-18) + 0x1p-40);
    scene_.query(centre, radius, mark_near_group, &query);
  }

  std::size_t components_ = 0;
  std::optional<CandidateThreshold> threshold_;
  Array<GroupBox> groups_;
  SceneSpace space_;
  EmbreeScene scene_;
};

}  // namespace

std::unique_ptr<GroupIndex> make_embree_index() { return std::make_unique<EmbreeIndex>(); }

std::string embree_version() { return "Embree " RTC_VERSION_STRING; }

}  // namespace rthiss
