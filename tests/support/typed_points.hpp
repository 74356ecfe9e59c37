#pragma once

#include <rthiss/points_view.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/exact_oracle.hpp"

namespace rthiss::test {

enum class Layout { kPlain, kReversed, kStrided, kFortran, kByteSwapped };

/// Rows in memory as a caller may hold them, and their values as stored.
struct TypedPoints {
  std::vector<std::byte> memory;
  PointsView view;
  Rows values;
};

/// Of a value that float16 holds and that is not subnormal there.
inline std::uint16_t half_bits(double value) {
  if (value == 0.0) return std::signbit(value) ? 0x8000 : 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const auto significand = static_cast<std::uint16_t>(std::ldexp(fraction, 11));
  return static_cast<std::uint16_t>((std::signbit(value) ? 0x8000 : 0) | ((exponent + 14) << 10) |
                                    (significand & 0x3FF));
}

/// Writes `value` as an element and returns what the element holds.
inline double store_element(double value, DType dtype, std::byte* to) {
  const auto put = [to](auto element) {
    std::memcpy(to, &element, sizeof element);
    return static_cast<double>(element);
  };
  switch (dtype) {
    case DType::kBool:
      return put(static_cast<std::uint8_t>(value != 0.0));
    case DType::kInt8:
      return put(static_cast<std::int8_t>(value));
    case DType::kUInt8:
      return put(static_cast<std::uint8_t>(value));
    case DType::kInt16:
      return put(static_cast<std::int16_t>(value));
    case DType::kUInt16:
      return put(static_cast<std::uint16_t>(value));
    case DType::kInt32:
      return put(static_cast<std::int32_t>(value));
    case DType::kUInt32:
      return put(static_cast<std::uint32_t>(value));
    case DType::kInt64:
      return put(static_cast<std::int64_t>(value));
    case DType::kUInt64:
      return put(static_cast<std::uint64_t>(value));
    case DType::kFloat16:
      put(half_bits(value));
      return value;
    case DType::kBFloat16: {
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(value)) & 0xFFFF0000U;
      put(static_cast<std::uint16_t>(bits >> 16));
      return std::bit_cast<float>(bits);
    }
    case DType::kFloat32:
      return put(static_cast<float>(value));
    case DType::kFloat64:
      break;
  }
  return put(value);
}

/// `values` rounded to the type (integers: cut off; float16: must be held).
inline TypedPoints typed_points(const Rows& values, std::size_t columns, DType dtype, Layout layout = Layout::kPlain) {
  TypedPoints points;
  const auto rows = static_cast<std::int64_t>(values.size());
  const auto width = static_cast<std::int64_t>(columns);
  const auto item = static_cast<std::int64_t>(size_of(dtype));
  PointsView& view = points.view;
  view = PointsView::row_major(nullptr, values.size(), columns, dtype);
  std::int64_t first = 0;
  switch (layout) {
    case Layout::kPlain:
      break;
    case Layout::kReversed:
      view.row_stride = -item * width;
      first = rows == 0 ? 0 : item * width * (rows - 1);
      break;
    case Layout::kStrided:
      view.column_stride = 3 * item;
      view.row_stride = item * (3 * width + 1);
      first = item;
      break;
    case Layout::kFortran:
      view.column_stride = item * rows;
      view.row_stride = item;
      break;
    case Layout::kByteSwapped:
      view.byte_swapped = true;
      break;
  }
  // What lies between the elements must not matter.
  points.memory.assign(static_cast<std::size_t>(item * (3 * width + 2) * (rows + 1)), std::byte{0xFF});
  std::byte* const base = points.memory.data() + first;
  view.data = base;
  points.values = values;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < width; ++k) {
      std::byte* const at = base + i * view.row_stride + k * view.column_stride;
      double& value = points.values[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)];
      value = store_element(value, dtype, at);
      if (view.byte_swapped) std::reverse(at, at + item);
    }
  }
  return points;
}

}  // namespace rthiss::test
