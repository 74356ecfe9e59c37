#include "io/exact_rows.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <concepts>
#include <limits>

namespace rthiss::io {

namespace {

template <typename T>
T load(const PointsView& view, const std::byte* address) {
  return view.byte_swapped ? load_element<T, true>(address) : load_element<T, false>(address);
}

template <std::integral T>
void check_integers(const PointsView& view, std::uint64_t row, const std::byte* first) {
  // 2^63 or 2^64: the conversion back of what was rounded up to it would be undefined.
  constexpr double kBeyond = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2.0;
  for (std::uint64_t column = 0; column < view.columns; ++column) {
    const T value = load<T>(view, first + static_cast<std::int64_t>(column) * view.column_stride);
    const auto widened = static_cast<double>(value);
    if (widened >= kBeyond || static_cast<T>(widened) != value) {
      throw InvalidArgument(
          fmt::format("row {}, column {}: {} {} is no float64 value; write it as .npy, which keeps "
                      "the type",
                      row, column, name_of(view.dtype), value));
    }
  }
}

}  // namespace

ExactRows::ExactRows(const PointsView& view)
    : view_(view), read_(element_reader<double>(view.dtype, view.byte_swapped)), row_(view.columns) {}

std::span<const double> ExactRows::row(std::uint64_t i) {
  const std::byte* first = static_cast<const std::byte*>(view_.data) + static_cast<std::int64_t>(i) * view_.row_stride;
  if (view_.dtype == DType::kInt64) check_integers<std::int64_t>(view_, i, first);
  if (view_.dtype == DType::kUInt64) check_integers<std::uint64_t>(view_, i, first);
  read_(first, view_.column_stride, row_.size(), row_.data());
  return row_;
}

}  // namespace rthiss::io
