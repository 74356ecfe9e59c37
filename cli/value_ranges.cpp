#include "value_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "common/parallel.hpp"
#include "dataset/read_elements.hpp"
#include "interruption.hpp"

namespace rthiss::cli {

std::pair<double, double> ValueRanges::whole() const {
  double least = HUGE_VAL, greatest = -HUGE_VAL;
  for (const double value : low) least = std::min(least, value);
  for (const double value : high) greatest = std::max(greatest, value);
  return {least, greatest};
}

ValueRanges measure_ranges(const PointsView& points, const ThreadPool& pool) {
  const ElementReader<double> read = element_reader<double>(points.dtype, points.byte_swapped);
  const auto make_empty = [&points] {
    ValueRanges ranges;
    ranges.low.assign(points.columns, HUGE_VAL);
    ranges.high.assign(points.columns, -HUGE_VAL);
    return ranges;
  };
  ValueRanges all = make_empty();
  std::mutex mutex;
  const std::size_t grain = std::max<std::size_t>(1, (std::size_t{1} << 20) / points.columns);
  pool.for_ranges(0, points.rows, grain, [&](std::size_t begin, std::size_t end) {
    stop_if_interrupted();
    ValueRanges here = make_empty();
    std::vector<double> row(points.columns);
    for (std::size_t i = begin; i < end; ++i) {
      read(static_cast<const std::byte*>(points.data) + static_cast<std::int64_t>(i) * points.row_stride,
           points.column_stride, points.columns, row.data());
      bool finite = true;
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (!std::isfinite(row[j])) {
          finite = false;
          continue;
        }
        here.low[j] = std::min(here.low[j], row[j]);
        here.high[j] = std::max(here.high[j], row[j]);
      }
      here.nonfinite_rows += finite ? 0 : 1;
    }
    const std::lock_guard lock(mutex);
    for (std::size_t j = 0; j < row.size(); ++j) {
      all.low[j] = std::min(all.low[j], here.low[j]);
      all.high[j] = std::max(all.high[j], here.high[j]);
    }
    all.nonfinite_rows += here.nonfinite_rows;
  });
  return all;
}

}  // namespace rthiss::cli
