#pragma once

#include <rthiss/array.hpp>

#include <cstddef>
#include <cstdint>

#include "grouping/grouping.hpp"
#include "projection/projected_points.hpp"

namespace rthiss {

/// Bounds of groups (of points or of queries) in the projection. No radius in it. Host memory.
/// Dimension-major, so that one vector register holds one component of several groups; padding groups (up to `stride`)
/// have low = +inf and high = -inf and never come near anything.
struct GroupBounds {
  std::size_t groups = 0;
  std::size_t components = 0;  ///< components bounded: all values of the projection, the norm of the rest included
  std::size_t stride = 0;      ///< groups rounded up to a multiple of 16
  Array<float> low, high;      ///< [components x stride] tight box: every image inside, in exact comparison
  Array<float> error;          ///< [stride] largest projection error of the group's points
  Array<float> sphere_center;  ///< [3 x stride] in the first three components (missing ones are 0)
  Array<float> sphere_radius;  ///< [stride] rounded up: every image inside
};

/// One entry a group of `grouping`.
[[nodiscard]] GroupBounds bound_groups(const ProjectedPoints& points, const Grouping& grouping, const ThreadPool& pool);

}  // namespace rthiss
