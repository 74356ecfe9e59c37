#pragma once

#include <rthiss/points_view.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace rthiss::io::fuzz {

inline std::span<const std::byte> as_bytes(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

/// Stops the fuzzer unless every element of the view lies within `bytes`.
inline void require_inside(const PointsView& view, std::span<const std::byte> bytes) {
  if (view.columns == 0) std::abort();
  if (view.rows == 0) return;
  const std::byte* begin = bytes.data();
  const std::byte* end = begin + bytes.size();
  const auto* first = static_cast<const std::byte*>(view.data);
  // All strides of the readers are positive, so the last element of the last row is the farthest.
  const __int128 reach = static_cast<__int128>(view.rows - 1) * view.row_stride +
                         static_cast<__int128>(view.columns - 1) * view.column_stride + size_of(view.dtype);
  if (view.row_stride <= 0 || view.column_stride <= 0 || first < begin || reach > end - first) std::abort();
}

}  // namespace rthiss::io::fuzz
