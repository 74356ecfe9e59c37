#include <fmt/format.h>

#include <bit>
#include <optional>

#include "io/formats.hpp"
#include "io/input_error.hpp"

namespace rthiss::io {

namespace {

std::optional<DType> type_of(std::byte code) noexcept {
  switch (std::to_integer<int>(code)) {
    case 0x08:
      return DType::kUInt8;
    case 0x09:
      return DType::kInt8;
    case 0x0b:
      return DType::kInt16;
    case 0x0c:
      return DType::kInt32;
    case 0x0d:
      return DType::kFloat32;
    case 0x0e:
      return DType::kFloat64;
    default:
      return std::nullopt;
  }
}

constexpr std::size_t kMagicBytes = 4;

}  // namespace

bool looks_like_idx(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= kMagicBytes && bytes[0] == std::byte{0} && bytes[1] == std::byte{0} &&
         type_of(bytes[2]).has_value() && bytes[3] != std::byte{0};
}

PointsView parse_idx(std::span<const std::byte> bytes, std::string_view path) {
  if (!looks_like_idx(bytes)) {
    refuse_input(path, 0,
                 "not an IDX file (it begins with 0, 0, a type of 8, 9, 11, 12, 13 or 14, and a number of "
                 "dimensions)");
  }
  const DType dtype = *type_of(bytes[2]);
  const auto dimensions = std::to_integer<std::size_t>(bytes[3]);
  if (dimensions == 1) {
    refuse_input(path, 3, "an IDX file of one dimension holds labels, not points; two or more are needed");
  }
  const std::size_t data_offset = kMagicBytes + 4 * dimensions;
  if (bytes.size() < data_offset) {
    refuse_input(path, bytes.size(), fmt::format("the file ends inside the sizes of its {} dimensions", dimensions));
  }
  const auto size_at = [&](std::size_t i) {
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      value = value << 8 | std::to_integer<std::uint64_t>(bytes[kMagicBytes + 4 * i + k]);
    }
    return value;
  };
  const std::uint64_t rows = size_at(0);
  std::uint64_t columns = 1;
  bool too_large = false;
  for (std::size_t i = 1; i < dimensions; ++i) {
    if (size_at(i) == 0) refuse_input(path, kMagicBytes + 4 * i, fmt::format("dimension {} is 0: no columns", i));
    too_large = too_large || __builtin_mul_overflow(columns, size_at(i), &columns);
  }
  const std::uint64_t item = size_of(dtype);
  const std::uint64_t available = bytes.size() - data_offset;
  std::uint64_t needed = 0;
  if (too_large || columns > kMaxColumns) {
    refuse_input(path, kMagicBytes, "the sizes in the header make more than 2^32 - 1 columns");
  }
  if (__builtin_mul_overflow(rows, columns, &needed) || __builtin_mul_overflow(needed, item, &needed) ||
      needed > available) {
    refuse_input(path, bytes.size(),
                 fmt::format("the sizes in the header need more data than the {} bytes after it", available));
  }
  if (needed < available) {
    refuse_input(path, data_offset + needed, fmt::format("{} bytes follow the data", available - needed));
  }
  PointsView view = PointsView::row_major(bytes.data() + data_offset, rows, columns, dtype);
  view.byte_swapped = item > 1 && std::endian::native == std::endian::little;
  return view;
}

}  // namespace rthiss::io
