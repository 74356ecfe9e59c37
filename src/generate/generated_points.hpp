#pragma once

#include <rthiss/array.hpp>
#include <rthiss/points_view.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace rthiss::generate {

/// Rows that this program made. [rows x columns], row-major, host memory, owning.
struct GeneratedPoints {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::variant<Array<float>, Array<double>> values;

  [[nodiscard]] DType dtype() const noexcept { return values.index() == 0 ? DType::kFloat32 : DType::kFloat64; }
  [[nodiscard]] const void* data() const noexcept {
    return std::visit([](const auto& array) { return static_cast<const void*>(array.data()); }, values);
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return rows * columns * size_of(dtype()); }
  [[nodiscard]] PointsView view() const noexcept { return PointsView::row_major(data(), rows, columns, dtype()); }
};

/// SHA-256 of the values as little-endian bytes, row after row; 64 hexadecimal digits.
[[nodiscard]] std::string sha256_of(const GeneratedPoints& points);

}  // namespace rthiss::generate
