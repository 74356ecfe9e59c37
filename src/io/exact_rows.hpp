#pragma once

#include <rthiss/points_view.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "dataset/read_elements.hpp"

namespace rthiss::io {

/// Reads the rows of a view as float64 without changing a value.
class ExactRows {
 public:
  explicit ExactRows(const PointsView& view);

  /// Row `i` [columns], valid until the next call. Throws InvalidArgument (row and column) for an integer of 64 bits
  /// that float64 does not hold.
  [[nodiscard]] std::span<const double> row(std::uint64_t i);

 private:
  PointsView view_;
  ElementReader<double> read_;
  std::vector<double> row_;
};

}  // namespace rthiss::io
