#include "io/transform.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "common/floating_point_scope.hpp"
#include "io/exact_rows.hpp"
#include "io/pack_rows.hpp"

namespace rthiss::io {

namespace {

std::uint64_t parse_column(std::string_view text, std::string_view piece, std::uint64_t columns) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) {
    throw InvalidArgument(
        fmt::format("column selection: '{}' is neither a column number nor a range such as 5-9", piece));
  }
  if (error == std::errc::result_out_of_range || value >= columns) {
    throw InvalidArgument(
        fmt::format("column selection: there is no column {}; the {} columns are numbered from 0", text, columns));
  }
  return value;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

std::vector<Range> find_ranges(const PointsView& points, ExactRows& rows) {
  std::vector<Range> ranges(points.columns);
  for (std::uint64_t i = 0; i < points.rows; ++i) {
    const std::span<const double> row = rows.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (!std::isfinite(row[j])) {
        throw InvalidArgument(fmt::format("row {}, column {}: {} cannot be normalised", i, j, row[j]));
      }
      ranges[j].low = std::min(ranges[j].low, row[j]);
      ranges[j].high = std::max(ranges[j].high, row[j]);
    }
  }
  return ranges;
}

}  // namespace

std::vector<std::uint64_t> parse_columns(std::string_view selection, std::uint64_t columns) {
  std::vector<std::uint64_t> result;
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t begin = 0; begin <= selection.size();) {
    const std::size_t end = std::min(selection.find(',', begin), selection.size());
    const std::string_view piece = selection.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t dash = std::min(piece.find('-'), piece.size());
    const std::uint64_t first = parse_column(piece.substr(0, dash), piece, columns);
    const std::uint64_t last = dash == piece.size() ? first : parse_column(piece.substr(dash + 1), piece, columns);
    if (last < first) throw InvalidArgument(fmt::format("column selection: the range '{}' runs backwards", piece));
    for (std::uint64_t column = first; column <= last; ++column) {
      if (!seen.insert(column).second) {
        throw InvalidArgument(fmt::format("column selection: column {} is named twice", column));
      }
      result.push_back(column);
    }
  }
  return result;
}

OwnedPoints select_columns(const PointsView& points, std::span<const std::uint64_t> columns) {
  for (const std::uint64_t column : columns) {
    if (column >= points.columns) {
      throw InvalidArgument(fmt::format("there is no column {} among {}", column, points.columns));
    }
  }
  OwnedPoints result;
  result.data = Array<std::byte>(points.rows * columns.size() * size_of(points.dtype));
  pack_rows(points, 0, points.rows, columns, points.byte_swapped, result.data.data());
  result.view = PointsView::row_major(result.data.data(), points.rows, columns.size(), points.dtype);
  return result;
}

OwnedPoints normalise_columns(const PointsView& points) {
  const FloatingPointScope scope;
  ExactRows rows(points);
  const std::vector<Range> ranges = find_ranges(points, rows);
  OwnedPoints result;
  result.data = Array<std::byte>(points.rows * points.columns * sizeof(double));
  auto* out = reinterpret_cast<double*>(result.data.data());
  result.view = PointsView::row_major(out, points.rows, points.columns);
  for (std::uint64_t i = 0; i < points.rows; ++i) {
    const std::span<const double> row = rows.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto& [low, high] = ranges[j];
      const double scale = std::isfinite(high - low) ? 1.0 : 0.5;
      const double width = high * scale - low * scale;
      *out++ = width == 0.0 ? 0.0 : (row[j] * scale - low * scale) / width;
    }
  }
  return result;
}

}  // namespace rthiss::io
