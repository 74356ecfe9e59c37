#pragma once

#include <rthiss/array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/farthest_points.hpp"
#include "grouping/group_bounds.hpp"

namespace rthiss {

/// Half-open, of group ids.
struct GroupInterval {
  std::uint32_t begin = 0, end = 0;
  [[nodiscard]] bool empty() const noexcept { return begin >= end; }
};

/// Runs of groups that lie within the radius of a query block as a whole, so that a search that only counts needs
/// neither candidates nor a refinement for them: a hierarchy over the boxes of the groups, in the order in which they
/// stand, asked for the largest distance instead of the least. Dense results cost time by their border, not by their
/// pairs.
class SettledGroups {
 public:
  /// `in_radius`: everything nearer is a neighbour, in the projection's scale. `with_rest`: the last of the bounds'
  /// components is the norm of the rest. All rows of the groups and of the blocks take part in the search.
  SettledGroups(const GroupBounds& groups, double in_radius, bool with_rest);

  /// Ascending, disjoint intervals of `part`, none two of which touch. The same for every call. Valid until the next.
  class Finder {
   public:
    std::span<const GroupInterval> find(const SettledGroups& settled, const GroupBounds& blocks, std::uint32_t block,
                                        GroupInterval part);

   private:
    void descend(const SettledGroups& settled, std::size_t level, std::size_t node, GroupInterval part);

    std::vector<float> low_, high_;
    double error_ = 0.0;
    std::vector<GroupInterval> found_;
  };

 private:
  static constexpr std::size_t kFanout = 16;

  /// Boxes of the nodes of one level, each over kFanout of the level below; those of the first are over groups.
  struct Level {
    std::size_t nodes = 0;
    std::size_t groups_per_node = 0;
    Array<float> low, high;  ///< [nodes x width]
    Array<float> error;      ///< [nodes] greatest
  };
  [[nodiscard]] BoxCorners box(const Level& level, std::size_t node) const {
    return {level.low.data() + node * width_, level.high.data() + node * width_};
  }

  std::size_t groups_;
  std::size_t width_;
  std::size_t components_;
  double in_radius_;
  std::vector<Level> levels_;
};

}  // namespace rthiss
