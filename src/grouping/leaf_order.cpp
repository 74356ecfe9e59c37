#include "grouping/leaf_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "geometry/morton_code.hpp"

namespace rthiss {
namespace {

constexpr std::size_t kAxes = 3;
using Centre = std::array<double, kAxes>;

/// In double, where the centre of two floats is a rounding at most and never overflows.
Centre centre_of(const ProjectedPoints& points, const Grouping& grouping, std::size_t group) {
  Centre centre{};
  for (std::size_t axis = 0; axis < std::min(kAxes, points.width); ++axis) {
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (std::size_t i = grouping.group_begin[group]; i < grouping.group_begin[group + 1]; ++i) {
      const float value = points.values[grouping.original_id[i] * points.stride + axis];
      low = std::min(low, value);
      high = std::max(high, value);
    }
    centre[axis] = (static_cast<double>(low) + static_cast<double>(high)) / 2;
  }
  return centre;
}

}  // namespace

void order_leaves_by_morton_code(const ProjectedPoints& points, Grouping& grouping, const ThreadPool& pool) {
  const std::size_t groups = grouping.groups();
  if (groups < 2) return;
  std::vector<Centre> centres(groups);
  pool.for_ranges(0, groups, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t group = begin; group < end; ++group) centres[group] = centre_of(points, grouping, group);
  });
  Centre low = centres[0], high = centres[0];
  for (const Centre& centre : centres) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      low[axis] = std::min(low[axis], centre[axis]);
      high[axis] = std::max(high[axis], centre[axis]);
    }
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order(groups);
  pool.for_ranges(0, groups, 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t group = begin; group < end; ++group) {
      std::array<std::uint32_t, kAxes> cell{};
      for (std::size_t a = 0; a < kAxes; ++a) cell[a] = morton_cell(centres[group][a], low[a], high[a]);
      order[group] = {morton_code(cell[0], cell[1], cell[2]), static_cast<std::uint32_t>(group)};
    }
  });
  const auto size_of = [&](std::size_t group) { return grouping.group_begin[group + 1] - grouping.group_begin[group]; };
  const bool last_is_short = size_of(groups - 1) < size_of(0) && size_of(groups - 2) == size_of(0);
  std::sort(order.begin(), order.end() - (last_is_short ? 1 : 0));

  Array<std::uint32_t> ids(grouping.original_id.size());
  Array<std::uint32_t> begins(groups + 1);
  begins[0] = 0;
  for (std::size_t i = 0; i < groups; ++i) begins[i + 1] = begins[i] + size_of(order[i].second);
  pool.for_ranges(0, groups, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::copy_n(&grouping.original_id[grouping.group_begin[order[i].second]], begins[i + 1] - begins[i],
                  &ids[begins[i]]);
    }
  });
  grouping.original_id = std::move(ids);
  grouping.group_begin = std::move(begins);
}

}  // namespace rthiss
