#pragma once

#include <rthiss/points_view.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace rthiss {
class ThreadPool;
}

namespace rthiss::cli {

/// The ranges of the finite values of a data set.
struct ValueRanges {
  std::vector<double> low, high;     ///< [columns]; low > high in a column without a finite value
  std::uint64_t nonfinite_rows = 0;  ///< rows that hold a NaN or an infinity

  /// Over all columns.
  [[nodiscard]] std::pair<double, double> whole() const;
};

/// One pass over all values. Integers beyond 2^53 are rounded. Throws Cancelled after a signal.
[[nodiscard]] ValueRanges measure_ranges(const PointsView& points, const ThreadPool& pool);

}  // namespace rthiss::cli
