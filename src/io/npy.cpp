#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/formats.hpp"
#include "io/input_error.hpp"
#include "io/npy_header.hpp"

namespace rthiss::io {

PointsView parse_npy(std::span<const std::byte> bytes, std::string_view path) {
  const NpyHeader header = parse_npy_header(bytes, path);
  const std::string shape = fmt::format("({}{})", fmt::join(header.shape, ", "), header.shape.size() == 1 ? "," : "");
  if (header.shape.size() == 1) {
    refuse_input(path, 0,
                 fmt::format("shape {} is one-dimensional; reshape it to (n, 1) if it holds n numbers, to "
                             "(1, d) if it is one point",
                             shape));
  }
  if (header.shape.size() != 2) {
    refuse_input(path, 0, fmt::format("shape {} is not two-dimensional; reshape it to (points, columns)", shape));
  }
  const std::uint64_t rows = header.shape[0];
  const std::uint64_t columns = header.shape[1];
  if (columns == 0) refuse_input(path, 0, fmt::format("shape {} has no columns", shape));
  if (columns > kMaxColumns) refuse_input(path, 0, fmt::format("shape {} has more than 2^32 - 1 columns", shape));
  const std::uint64_t item = size_of(header.dtype);
  const std::uint64_t available = bytes.size() - header.data_offset;
  std::uint64_t needed = 0;
  if (__builtin_mul_overflow(rows, columns, &needed) || __builtin_mul_overflow(needed, item, &needed) ||
      needed > available) {
    refuse_input(path, bytes.size(),
                 fmt::format("shape {} of {} needs more data than the {} bytes after the header", shape,
                             name_of(header.dtype), available));
  }
  if (needed < available) {
    refuse_input(path, header.data_offset + needed,
                 fmt::format("{} bytes follow the data of shape {}", available - needed, shape));
  }
  PointsView view = PointsView::row_major(bytes.data() + header.data_offset, rows, columns, header.dtype);
  view.byte_swapped = header.byte_swapped;
  if (header.fortran_order) {
    view.row_stride = static_cast<std::int64_t>(item);
    view.column_stride = static_cast<std::int64_t>(item * rows);
  }
  return view;
}

}  // namespace rthiss::io
