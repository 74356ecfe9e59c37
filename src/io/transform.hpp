#pragma once

#include <rthiss/array.hpp>
#include <rthiss/points_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rthiss::io {

/// Points [rows x columns] in memory of their own, C order. `view` points into `data`, which stays where it is when the
/// object is moved.
struct OwnedPoints {
  Array<std::byte> data;
  PointsView view;
};

/// Reads a selection such as "0,3,5-9": numbers from 0 and closed ranges, in the order wanted. Throws InvalidArgument,
/// naming the piece: malformed, a range that runs backwards, a column that is not among `columns`, one named twice
/// (it would count twice in every distance).
[[nodiscard]] std::vector<std::uint64_t> parse_columns(std::string_view selection, std::uint64_t columns);

/// The given columns in their order; the dtype and every bit of the values stay.
[[nodiscard]] OwnedPoints select_columns(const PointsView& points, std::span<const std::uint64_t> columns);

/// Every column moved and scaled into [0, 1] as float64: (x - min) / (max - min) with each operation rounded once, so
/// the least value of a column becomes 0 and the greatest 1. A column whose values are all equal becomes 0. Where
/// max - min overflows, all three values are halved first. Throws InvalidArgument (row and column): NaN or infinity, an
/// integer that float64 does not hold.
[[nodiscard]] OwnedPoints normalise_columns(const PointsView& points);

}  // namespace rthiss::io
