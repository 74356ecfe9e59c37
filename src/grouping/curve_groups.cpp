#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "geometry/hilbert_code.hpp"
#include "grouping/group_points.hpp"
#include "grouping/leaves.hpp"

namespace rthiss {

namespace {

constexpr std::size_t kAxes = 3;
constexpr std::size_t kRowGrain = 4096;

struct Extent {
  std::array<float, kAxes> low, high;
  Extent() {
    low.fill(std::numeric_limits<float>::infinity());
    high.fill(-std::numeric_limits<float>::infinity());
  }
  void add(std::size_t axis, float value) {
    low[axis] = std::min(low[axis], value);
    high[axis] = std::max(high[axis], value);
  }
};

}  // namespace

Grouping group_along_curve(const ProjectedPoints& points, const GroupingOptions& options, const ThreadPool& pool) {
  check_grouping(points.points, points.width, options);
  const std::size_t n = points.points;
  const LeafRanges leaves = leaves_of(n, options);
  const std::size_t axes = std::min(kAxes, points.width);
  Extent extent;
  std::mutex mutex;
  pool.for_ranges(0, n, kRowGrain, [&](std::size_t begin, std::size_t end) {
    Extent part;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t a = 0; a < axes; ++a) part.add(a, points.values[i * points.stride + a]);
    }
    const std::lock_guard lock(mutex);
    for (std::size_t a = 0; a < axes; ++a) {
      extent.add(a, part.low[a]);
      extent.add(a, part.high[a]);
    }
  });
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order(n);
  pool.for_ranges(0, n, kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::array<std::uint32_t, kAxes> cell{};
      for (std::size_t a = 0; a < axes; ++a) {
        cell[a] = morton_cell(static_cast<double>(points.values[i * points.stride + a]),
                              static_cast<double>(extent.low[a]), static_cast<double>(extent.high[a]));
      }
      const std::uint64_t code = options.method == GroupingMethod::kHilbert ? hilbert_code(cell[0], cell[1], cell[2])
                                                                            : morton_code(cell[0], cell[1], cell[2]);
      order[i] = {code, static_cast<std::uint32_t>(i)};
    }
  });
  std::sort(order.begin(), order.end());
  Grouping grouping;
  grouping.height = leaves.height();
  grouping.original_id = Array<std::uint32_t>(n);
  for (std::size_t i = 0; i < n; ++i) grouping.original_id[i] = order[i].second;
  grouping.group_begin = begins_of_filled_leaves(leaves, n);
  pool.for_ranges(0, grouping.groups(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t group = begin; group < end; ++group) {
      std::sort(grouping.original_id.data() + grouping.group_begin[group],
                grouping.original_id.data() + grouping.group_begin[group + 1]);
    }
  });
  return grouping;
}

}  // namespace rthiss
