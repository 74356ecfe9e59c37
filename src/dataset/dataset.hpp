#pragma once

#include <rthiss/array.hpp>
#include <rthiss/options.hpp>
#include <rthiss/points_view.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dataset/read_elements.hpp"
#include "dataset/value_grid.hpp"

namespace rthiss {

class ThreadPool;

/// Does float32 hold every value of the type?
[[nodiscard]] bool held_by_float(DType dtype) noexcept;

/// A checked view of the caller's rows: finite (or marked), shape and dtype usable, and what is known of the values.
/// Rows are read as float64, into which every accepted value widens exactly.
class Dataset {
 public:
  /// Checks `view` and scans it once, in parallel. `role` ("points", "queries") opens the error messages.
  /// Throws InvalidArgument: no columns; rows >= 2^32 - 1; NaN or infinity (row and column named) under
  /// NonFinite::kError; an int64 or uint64 value beyond 2^53 (row and column named).
  Dataset(PointsView view, NonFinite policy, std::string_view role, const ThreadPool& pool);

  [[nodiscard]] std::uint64_t rows() const noexcept { return view_.rows; }
  [[nodiscard]] std::size_t columns() const noexcept { return view_.columns; }
  [[nodiscard]] DType dtype() const noexcept { return view_.dtype; }
  [[nodiscard]] const PointsView& view() const noexcept { return view_; }
  [[nodiscard]] const ValueGrid& grid() const noexcept { return grid_; }

  /// Rows that hold a NaN or an infinity, ascending; only under NonFinite::kIgnore. They are nobody's neighbours.
  [[nodiscard]] const Array<std::uint32_t>& ignored_rows() const noexcept { return ignored_; }

  /// Cosine metrics have no direction for a row of zeros: throws InvalidArgument naming the first, or under
  /// NonFinite::kIgnore adds them to the ignored rows.
  void refuse_zero_rows(NonFinite policy, std::string_view role, const ThreadPool& pool);

  /// Writes row `i`, widened, to `out` [columns].
  void read_row(std::uint64_t i, double* out) const noexcept;
  /// Element (i, j), widened.
  [[nodiscard]] double value(std::uint64_t i, std::size_t j) const noexcept;

 private:
  template <typename Real>
  void scan(NonFinite policy, std::string_view role, const ThreadPool& pool);
  [[nodiscard]] const std::byte* element(std::uint64_t i, std::size_t j) const noexcept {
    return static_cast<const std::byte*>(view_.data) + static_cast<std::int64_t>(i) * view_.row_stride +
           static_cast<std::int64_t>(j) * view_.column_stride;
  }

  PointsView view_;
  ElementReader<double> read_;
  ValueGrid grid_;
  Array<std::uint32_t> ignored_;
};

}  // namespace rthiss
