#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <system_error>

#include "io/npy_header.hpp"
#include "io/result_file_sink.hpp"
#include "io/result_zip.hpp"

namespace rthiss::io {

// Arrays are written as they lie in memory.
static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::size_t kBlockValues = std::size_t{1} << 16;

/// Writes integers as type T through a small block.
template <typename T, typename U>
void write_as(ZipWriter& zip, std::span<const U> values) {
  if constexpr (sizeof(T) == sizeof(U)) {
    zip.write(values.data(), values.size_bytes());
  } else {
    std::array<T, 4096> block;
    while (!values.empty()) {
      const std::size_t count = std::min(block.size(), values.size());
      std::transform(values.begin(), values.begin() + count, block.begin(), [](U v) { return static_cast<T>(v); });
      zip.write(block.data(), count * sizeof(T));
      values = values.subspan(count);
    }
  }
}

void begin_array(ZipWriter& zip, const std::string& name, const std::string& header, std::uint64_t bytes) {
  zip.begin_member(name + ".npy", header.size() + bytes);
  zip.write(header.data(), header.size());
}

template <typename Index>
void write_structure(ZipWriter& zip, ResultRows& rows, std::string_view descr) {
  begin_array(zip, "indices", make_npy_header(descr, std::array{rows.pairs()}), rows.pairs() * sizeof(Index));
  rows.for_windows([&](std::uint64_t first, std::uint64_t last) { write_as<Index>(zip, rows.ids(first, last)); });
  zip.end_member();
  const Array<std::uint64_t>& row_begin = rows.row_begin();
  begin_array(zip, "indptr", make_npy_header(descr, std::array{std::uint64_t{row_begin.size()}}),
              row_begin.size() * sizeof(Index));
  write_as<Index>(zip, row_begin.span());
  zip.end_member();
}

}  // namespace

bool fits_int32(const ResultShape& shape, std::uint64_t pairs) noexcept {
  constexpr std::uint64_t kLimit = std::numeric_limits<std::int32_t>::max();
  return shape.queries <= kLimit && shape.points <= kLimit && pairs <= kLimit;
}

NpzSink::NpzSink(const std::filesystem::path& path) : RowFileSink(path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    throw InvalidArgument(fmt::format(
        "'{}': the format npz needs a regular file; pairs, pairs-csv and counts can go to a pipe", path.native()));
  }
}

std::uint64_t NpzSink::file_bytes(const ResultShape& shape, std::uint64_t pairs) const {
  constexpr std::uint64_t kHeaders = 4096;  // of five members and of the archive
  const std::uint64_t index = fits_int32(shape, pairs) ? sizeof(std::int32_t) : sizeof(std::int64_t);
  return kHeaders + (shape.queries + 1) * index + pairs * (index + sizeof(double));
}

void NpzSink::write(ResultRows& rows, OutputFile& file) {
  ZipWriter zip(file);
  if (fits_int32(rows.shape(), rows.pairs())) {
    write_structure<std::int32_t>(zip, rows, "<i4");
  } else {
    write_structure<std::int64_t>(zip, rows, "<i8");
  }
  const std::string format_header = make_npy_header("|S3", {});
  begin_array(zip, "format", format_header, 3);
  zip.write("csr", 3);
  zip.end_member();
  const std::array<std::int64_t, 2> extents{static_cast<std::int64_t>(rows.shape().queries),
                                            static_cast<std::int64_t>(rows.shape().points)};
  begin_array(zip, "shape", make_npy_header("<i8", std::array{std::uint64_t{2}}), sizeof(extents));
  zip.write(extents.data(), sizeof(extents));
  zip.end_member();

  const std::uint64_t data_bytes = rows.pairs() * sizeof(double);
  begin_array(zip, "data", make_npy_header("<f8", std::array{rows.pairs()}), data_bytes);
  if (rows.shape().has_distances) {
    rows.for_windows([&](std::uint64_t first, std::uint64_t last) {
      const std::span<const double> distances = rows.distances(first, last);
      zip.write(distances.data(), distances.size_bytes());
    });
  } else {
    const Array<double> ones(kBlockValues, 1.0);
    zip.write_repeated(std::as_bytes(ones.span()), data_bytes);
  }
  zip.end_member();
  zip.finish();
}

}  // namespace rthiss::io
