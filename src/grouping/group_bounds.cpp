#include "grouping/group_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/parallel.hpp"
#include "geometry/rounding.hpp"

namespace rthiss {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// Groups that share a cache line of every array belong to one task.
constexpr std::size_t kLane = 16;

/// Upper bound of the distance whose computed square is `square`. The square of the difference of two floats loses at
/// most three roundings of 2^-53 in double, the sum of three of them two more, the root one; none of them overflows,
/// and the least nonzero square, 2^-298, is far from underflow.
[[nodiscard]] float radius_above(double square) noexcept {
  return round_up_to_float(std::sqrt(square) * (1.0 + 0x1p-48));
}

class GroupBounder {
 public:
  GroupBounder(const ProjectedPoints& points, const Grouping& grouping, GroupBounds& bounds)
      : points_(points), grouping_(grouping), bounds_(bounds), low_(points.width), high_(points.width) {}

  void bound(std::size_t group) {
    bound_box(group);
    bound_sphere(group);
  }

 private:
  [[nodiscard]] const float* row(std::size_t position) const {
    return &points_.values[static_cast<std::size_t>(grouping_.original_id[position]) * points_.stride];
  }

  void bound_box(std::size_t group) {
    const std::size_t width = points_.width;
    std::fill(low_.begin(), low_.end(), kInfinity);
    std::fill(high_.begin(), high_.end(), -kInfinity);
    float* const low = low_.data();
    float* const high = high_.data();
    float error = 0.0f;
    for (std::size_t i = grouping_.group_begin[group]; i < grouping_.group_begin[group + 1]; ++i) {
      const float* const values = row(i);
      for (std::size_t c = 0; c < width; ++c) {
        low[c] = values[c] < low[c] ? values[c] : low[c];
        high[c] = values[c] > high[c] ? values[c] : high[c];
      }
      error = std::max(error, points_.error[grouping_.original_id[i]]);
    }
    for (std::size_t c = 0; c < width; ++c) {
      bounds_.low[c * bounds_.stride + group] = low[c];
      bounds_.high[c * bounds_.stride + group] = high[c];
    }
    bounds_.error[group] = error;
  }

  void bound_sphere(std::size_t group) {
    const std::size_t axes = std::min<std::size_t>(3, points_.width);
    float center[3] = {0.0f, 0.0f, 0.0f};
    for (std::size_t a = 0; a < axes; ++a) center[a] = 0.5f * low_[a] + 0.5f * high_[a];
    double greatest = 0.0;
    for (std::size_t i = grouping_.group_begin[group]; i < grouping_.group_begin[group + 1]; ++i) {
      const float* const values = row(i);
      double square = 0.0;
      for (std::size_t a = 0; a < axes; ++a) {
        const double difference = static_cast<double>(values[a]) - static_cast<double>(center[a]);
        square += difference * difference;
      }
      greatest = std::max(greatest, square);
    }
    for (std::size_t a = 0; a < 3; ++a) bounds_.sphere_center[a * bounds_.stride + group] = center[a];
    bounds_.sphere_radius[group] = radius_above(greatest);
  }

  const ProjectedPoints& points_;
  const Grouping& grouping_;
  GroupBounds& bounds_;
  Array<float> low_, high_;  // of the group at hand, contiguous
};

}  // namespace

GroupBounds bound_groups(const ProjectedPoints& points, const Grouping& grouping, const ThreadPool& pool) {
  GroupBounds bounds;
  bounds.groups = grouping.groups();
  bounds.components = points.width;
  bounds.stride = (bounds.groups + kLane - 1) / kLane * kLane;
  bounds.low = Array<float>(bounds.components * bounds.stride);
  bounds.high = Array<float>(bounds.components * bounds.stride);
  bounds.error = Array<float>(bounds.stride);
  bounds.sphere_center = Array<float>(3 * bounds.stride);
  bounds.sphere_radius = Array<float>(bounds.stride);
  pool.for_ranges(0, bounds.stride / kLane, 4, [&](std::size_t begin, std::size_t end) {
    GroupBounder bounder(points, grouping, bounds);
    for (std::size_t group = begin * kLane; group < std::min(end * kLane, bounds.groups); ++group) bounder.bound(group);
  });
  for (std::size_t group = bounds.groups; group < bounds.stride; ++group) {
    for (std::size_t c = 0; c < bounds.components; ++c) {
      bounds.low[c * bounds.stride + group] = kInfinity;
      bounds.high[c * bounds.stride + group] = -kInfinity;
    }
    bounds.error[group] = 0.0f;
    for (std::size_t a = 0; a < 3; ++a) bounds.sphere_center[a * bounds.stride + group] = 0.0f;
    bounds.sphere_radius[group] = 0.0f;
  }
  return bounds;
}

}  // namespace rthiss
