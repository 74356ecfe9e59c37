#pragma once

#include <rthiss/options.hpp>
#include <rthiss/points_view.hpp>

#include <optional>
#include <string>

#include "io/points_reader.hpp"

namespace rthiss::cli {

/// The files that a command reads, open while it lives.
struct Input {
  std::optional<io::PointsFile> points;
  std::optional<io::PointsFile> queries;  ///< empty: the points are their own queries
  double seconds = 0;                     ///< that reading took

  [[nodiscard]] const PointsView& points_view() const { return points->view(); }
  /// Null for a self-join.
  [[nodiscard]] const PointsView* queries_view() const { return queries ? &queries->view() : nullptr; }
  [[nodiscard]] std::uint64_t query_count() const { return queries ? queries->view().rows : points->view().rows; }
};

/// Reads within the memory limit. Throws as io::read_points does, UsageError when both are standard input, and
/// InvalidArgument when the numbers of columns differ.
[[nodiscard]] Input read_input(const std::string& points, const std::string& queries, const SearchOptions& options);

}  // namespace rthiss::cli
