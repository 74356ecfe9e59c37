#include "io/pack_rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace rthiss::io {

namespace {

template <std::size_t kItem>
void pack(const PointsView& view, std::uint64_t begin, std::uint64_t end, std::span<const std::uint64_t> columns,
          bool reverse, std::byte* out) {
  const auto* data = static_cast<const std::byte*>(view.data);
  const auto copy = [&](std::uint64_t row, std::size_t k) {
    const std::byte* from = data + static_cast<std::int64_t>(row) * view.row_stride +
                            static_cast<std::int64_t>(columns[k]) * view.column_stride;
    std::byte* to = out + ((row - begin) * columns.size() + k) * kItem;
    if (reverse) {
      std::reverse_copy(from, from + kItem, to);
    } else {
      std::memcpy(to, from, kItem);
    }
  };
  if (std::abs(view.row_stride) < std::abs(view.column_stride)) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      for (std::uint64_t row = begin; row < end; ++row) copy(row, k);
    }
  } else {
    for (std::uint64_t row = begin; row < end; ++row) {
      for (std::size_t k = 0; k < columns.size(); ++k) copy(row, k);
    }
  }
}

}  // namespace

void pack_rows(const PointsView& view, std::uint64_t begin, std::uint64_t end, std::span<const std::uint64_t> columns,
               bool reverse, std::byte* out) {
  switch (size_of(view.dtype)) {
    case 1:
      return pack<1>(view, begin, end, columns, false, out);
    case 2:
      return pack<2>(view, begin, end, columns, reverse, out);
    case 4:
      return pack<4>(view, begin, end, columns, reverse, out);
    default:
      return pack<8>(view, begin, end, columns, reverse, out);
  }
}

}  // namespace rthiss::io
