#include "io/points_writer.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "common/floating_point_scope.hpp"
#include "io/exact_rows.hpp"
#include "io/npy_header.hpp"
#include "io/output_file.hpp"
#include "io/pack_rows.hpp"

namespace rthiss::io {

namespace {

constexpr bool kLittleEndian = std::endian::native == std::endian::little;

bool is_packed_little_endian(const PointsView& points) {
  const auto item = static_cast<std::int64_t>(size_of(points.dtype));
  return points.column_stride == item && points.row_stride == item * static_cast<std::int64_t>(points.columns) &&
         (item == 1 || points.byte_swapped != kLittleEndian);
}

void write_npy(const PointsView& points, OutputFile& file) {
  const std::array shape = {points.rows, points.columns};
  const std::string header = make_npy_header(npy_descr(points.dtype), shape);
  const std::uint64_t row_bytes = points.columns * size_of(points.dtype);
  file.reserve(header.size() + points.rows * row_bytes);
  file.write(header);
  if (is_packed_little_endian(points)) {
    file.write(points.data, points.rows * row_bytes);
    return;
  }
  std::vector<std::uint64_t> columns(points.columns);
  std::iota(columns.begin(), columns.end(), std::uint64_t{0});
  const std::uint64_t step = std::max<std::uint64_t>(1, OutputFile::kBufferBytes / row_bytes);
  std::vector<std::byte> block(std::min(step, points.rows) * row_bytes);
  for (std::uint64_t row = 0; row < points.rows; row += step) {
    const std::uint64_t end = std::min(points.rows, row + step);
    pack_rows(points, row, end, columns, points.byte_swapped == kLittleEndian, block.data());
    file.write(block.data(), (end - row) * row_bytes);
  }
}

template <std::unsigned_integral T>
void append_little_endian(T value, std::byte*& out) {
  for (std::size_t i = 0; i < sizeof(T); ++i) *out++ = static_cast<std::byte>(value >> (8 * i) & 0xff);
}

// Comparing says whether a value survives; NaN and infinity do so only in floating point.
template <typename T>
bool holds(double value) {
  if constexpr (std::floating_point<T>) {
    return !std::isfinite(value) || (std::abs(value) <= static_cast<double>(std::numeric_limits<T>::max()) &&
                                     static_cast<double>(static_cast<T>(value)) == value);
  } else {
    return value >= static_cast<double>(std::numeric_limits<T>::min()) &&
           value <= static_cast<double>(std::numeric_limits<T>::max()) && std::trunc(value) == value;
  }
}

template <typename T>
void write_vecs(const PointsView& points, std::string_view format, OutputFile& file) {
  using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint32_t>;
  if (points.rows == 0) {
    throw InvalidArgument(
        fmt::format("no rows to write to '{}': a .{} file cannot say how many columns they have; "
                    "write .npy or .csv",
                    file.path().native(), format));
  }
  if (points.columns > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    throw InvalidArgument(fmt::format("{} columns are too many for a .{} file", points.columns, format));
  }
  file.reserve(points.rows * (4 + points.columns * sizeof(T)));
  ExactRows rows(points);
  std::vector<std::byte> record(4 + points.columns * sizeof(T));
  for (std::uint64_t i = 0; i < points.rows; ++i) {
    std::byte* out = record.data();
    append_little_endian(static_cast<std::uint32_t>(points.columns), out);
    const std::span<const double> row = rows.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (!holds<T>(row[j])) {
        throw InvalidArgument(fmt::format("row {}, column {}: a .{} file cannot hold {} exactly; write .npy or .csv", i,
                                          j, format, row[j]));
      }
      append_little_endian(std::bit_cast<Bits>(static_cast<T>(row[j])), out);
    }
    file.write(record.data(), record.size());
  }
}

void write_csv(const PointsView& points, OutputFile& file) {
  constexpr std::size_t kLongest = 32;  // "-2.2250738585072014e-308" and a delimiter
  if (points.rows == 0) {
    for (std::uint64_t j = 0; j < points.columns; ++j) file.write(fmt::format("{}x{}", j == 0 ? "" : ",", j));
    file.write("\n");
    return;
  }
  ExactRows rows(points);
  std::vector<char> line(points.columns * kLongest);
  for (std::uint64_t i = 0; i < points.rows; ++i) {
    char* out = line.data();
    for (const double value : rows.row(i)) {
      out = std::to_chars(out, out + kLongest - 1, value).ptr;
      *out++ = ',';
    }
    out[-1] = '\n';
    file.write(line.data(), static_cast<std::size_t>(out - line.data()));
  }
}

std::string format_of(const std::filesystem::path& path) {
  const std::string extension = path.extension().native();
  if (extension == ".txt") return "csv";
  return extension.empty() ? extension : extension.substr(1);
}

}  // namespace

void write_points(const PointsView& points, const std::filesystem::path& path, std::string_view format) {
  const std::string kind = format.empty() ? format_of(path) : std::string(format);
  const bool known = kind == "npy" || kind == "fvecs" || kind == "bvecs" || kind == "ivecs" || kind == "csv";
  if (!known) {
    throw InvalidArgument(
        fmt::format("cannot write points to '{}': format '{}' is none of npy, fvecs, bvecs, ivecs, "
                    "csv",
                    path.native(), kind));
  }
  if (points.columns == 0) throw InvalidArgument(fmt::format("points without columns for '{}'", path.native()));
  const FloatingPointScope scope;
  OutputFile file(path);
  if (kind == "npy") {
    write_npy(points, file);
  } else if (kind == "fvecs") {
    write_vecs<float>(points, kind, file);
  } else if (kind == "bvecs") {
    write_vecs<std::uint8_t>(points, kind, file);
  } else if (kind == "ivecs") {
    write_vecs<std::int32_t>(points, kind, file);
  } else {
    write_csv(points, file);
  }
  file.commit();
}

}  // namespace rthiss::io
