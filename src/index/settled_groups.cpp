#include "index/settled_groups.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rthiss {

namespace {

/// May a part of a box be within the radius of all of another? Not where the boxes themselves are farther apart. Only
/// saves work: no decision hangs on it.
bool touches(const BoxCorners& a, const BoxCorners& b, std::size_t components, double radius) {
  double sum = 0.0;
  for (std::size_t k = 0; k < components; ++k) {
    const double gap = std::max({0.0, static_cast<double>(a.low[k]) - static_cast<double>(b.high[k]),
                                 static_cast<double>(b.low[k]) - static_cast<double>(a.high[k])});
    sum += gap * gap;
    if (sum > radius * radius) return false;
  }
  return true;
}

}  // namespace

SettledGroups::SettledGroups(const GroupBounds& groups, double in_radius, bool with_rest)
    : groups_(groups.groups),
      width_(groups.components),
      components_(groups.components - (with_rest ? 1 : 0)),
      in_radius_(in_radius) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (std::size_t below = groups_, per_node = kFanout; below > 1; per_node *= kFanout) {
    const Level* const children = levels_.empty() ? nullptr : &levels_.back();
    Level level;
    level.nodes = (below + kFanout - 1) / kFanout;
    level.groups_per_node = per_node;
    level.low = Array<float>(level.nodes * width_, kInfinity);
    level.high = Array<float>(level.nodes * width_, -kInfinity);
    level.error = Array<float>(level.nodes, 0.0F);
    for (std::size_t child = 0; child < below; ++child) {
      const std::size_t node = child / kFanout;
      for (std::size_t k = 0; k < width_; ++k) {
        const float low =
            children != nullptr ? children->low[child * width_ + k] : groups.low[k * groups.stride + child];
        const float high =
            children != nullptr ? children->high[child * width_ + k] : groups.high[k * groups.stride + child];
        level.low[node * width_ + k] = std::min(level.low[node * width_ + k], low);
        level.high[node * width_ + k] = std::max(level.high[node * width_ + k], high);
      }
      level.error[node] =
          std::max(level.error[node], children != nullptr ? children->error[child] : groups.error[child]);
    }
    below = level.nodes;
    levels_.push_back(std::move(level));
  }
}

std::span<const GroupInterval> SettledGroups::Finder::find(const SettledGroups& settled, const GroupBounds& blocks,
                                                           std::uint32_t block, GroupInterval part) {
  found_.clear();
  if (part.empty() || settled.levels_.empty()) return found_;
  low_.resize(settled.width_);
  high_.resize(settled.width_);
  for (std::size_t k = 0; k < settled.width_; ++k) {
    low_[k] = blocks.low[k * blocks.stride + block];
    high_[k] = blocks.high[k * blocks.stride + block];
  }
  error_ = static_cast<double>(blocks.error[block]);
  // No point is nearer to all corners of the block than half of its diagonal.
  const BoxCorners own{low_.data(), high_.data()};
  double diagonal = 0.0;
  for (std::size_t k = 0; k < settled.components_; ++k) {
    const double side = static_cast<double>(own.high[k]) - static_cast<double>(own.low[k]);
    diagonal += side * side;
  }
  if (0.25 * diagonal > settled.in_radius_ * settled.in_radius_) return found_;
  descend(settled, settled.levels_.size() - 1, 0, part);
  return found_;
}

void SettledGroups::Finder::descend(const SettledGroups& settled, std::size_t level, std::size_t node,
                                    GroupInterval part) {
  const Level& own = settled.levels_[level];
  const auto begin = static_cast<std::uint32_t>(node * own.groups_per_node);
  const auto end = static_cast<std::uint32_t>(std::min(settled.groups_, (node + 1) * own.groups_per_node));
  if (begin >= part.end || end <= part.begin) return;
  const BoxCorners block{low_.data(), high_.data()}, box = settled.box(own, node);
  const bool with_rest = settled.width_ != settled.components_;
  if (farthest_within(block, box, settled.components_, with_rest,
                      farthest_limit(settled.in_radius_, error_ + static_cast<double>(own.error[node])))) {
    const GroupInterval found{std::max(begin, part.begin), std::min(end, part.end)};
    if (!found_.empty() && found_.back().end == found.begin) {
      found_.back().end = found.end;
    } else {
      found_.push_back(found);
    }
    return;
  }
  if (level == 0 || !touches(block, box, settled.components_, settled.in_radius_)) return;
  const std::size_t last = std::min(settled.levels_[level - 1].nodes, (node + 1) * kFanout);
  for (std::size_t child = node * kFanout; child < last; ++child) descend(settled, level - 1, child, part);
}

}  // namespace rthiss
