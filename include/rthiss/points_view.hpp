#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rthiss {

/// Element types whose every value widens exactly to float64 (int64 and uint64: only values up to 2^53, checked).
enum class DType : std::uint8_t {
  kBool,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
};

/// Bytes of one element.
[[nodiscard]] std::size_t size_of(DType dtype) noexcept;

/// NumPy's name of the type ("float32", "bool", ...); "bfloat16" where NumPy has none.
[[nodiscard]] std::string_view name_of(DType dtype) noexcept;

/// A set of vectors in memory that somebody else owns. [rows x columns], host memory, any stride, either byte order.
struct PointsView {
  const void* data = nullptr;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  DType dtype = DType::kFloat32;
  std::int64_t row_stride = 0;     ///< bytes from a row to the next; negative for reversed views
  std::int64_t column_stride = 0;  ///< bytes from a column to the next
  bool byte_swapped = false;       ///< elements are stored in the byte order that is not this machine's

  /// A C-contiguous array in native byte order.
  [[nodiscard]] static PointsView row_major(const void* data, std::uint64_t rows, std::uint64_t columns,
                                            DType dtype) noexcept {
    const auto item = static_cast<std::int64_t>(size_of(dtype));
    return {data, rows, columns, dtype, item * static_cast<std::int64_t>(columns), item, false};
  }
  [[nodiscard]] static PointsView row_major(const float* data, std::uint64_t rows, std::uint64_t columns) noexcept {
    return row_major(data, rows, columns, DType::kFloat32);
  }
  [[nodiscard]] static PointsView row_major(const double* data, std::uint64_t rows, std::uint64_t columns) noexcept {
    return row_major(data, rows, columns, DType::kFloat64);
  }
  [[nodiscard]] static PointsView row_major(const std::uint8_t* data, std::uint64_t rows,
                                            std::uint64_t columns) noexcept {
    return row_major(data, rows, columns, DType::kUInt8);
  }
};

}  // namespace rthiss
