#include <fmt/format.h>

#include <bit>

#include "io/formats.hpp"
#include "io/input_error.hpp"

namespace rthiss::io {

namespace {

constexpr std::uint64_t kPrefix = 4;

std::int32_t read_prefix(const std::byte* p) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kPrefix; ++i) value |= std::to_integer<std::uint32_t>(p[i]) << (8 * i);
  return static_cast<std::int32_t>(value);
}

}  // namespace

PointsView parse_vecs(std::span<const std::byte> bytes, DType dtype, std::string_view path) {
  if (bytes.size() < kPrefix) refuse_input(path, bytes.size(), "the file ends inside the dimension of row 0");
  const std::int32_t dimension = read_prefix(bytes.data());
  if (dimension <= 0) refuse_input(path, 0, fmt::format("row 0 has dimension {}; at least 1 is needed", dimension));
  const std::uint64_t row_bytes = kPrefix + static_cast<std::uint64_t>(dimension) * size_of(dtype);
  const std::uint64_t rows = bytes.size() / row_bytes;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::int32_t here = read_prefix(bytes.data() + row * row_bytes);
    if (here != dimension) {
      refuse_input(path, row * row_bytes,
                   fmt::format("row {} has dimension {}, row 0 has {}; all rows must have the same (rows of {} are "
                               "expected)",
                               row, here, dimension, name_of(dtype)));
    }
  }
  if (rows * row_bytes != bytes.size()) {
    refuse_input(path, bytes.size(),
                 fmt::format("row {} ends after {} of {} bytes (dimension {}, {})", rows,
                             bytes.size() - rows * row_bytes, row_bytes, dimension, name_of(dtype)));
  }
  const auto item = static_cast<std::int64_t>(size_of(dtype));
  return {.data = bytes.data() + kPrefix,
          .rows = rows,
          .columns = static_cast<std::uint64_t>(dimension),
          .dtype = dtype,
          .row_stride = static_cast<std::int64_t>(row_bytes),
          .column_stride = item,
          .byte_swapped = item > 1 && std::endian::native != std::endian::little};
}

}  // namespace rthiss::io
