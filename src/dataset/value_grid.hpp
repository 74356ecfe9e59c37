#pragma once

namespace rthiss {

/// What is known of all values of a data set (and its query set): they are integers times 2^exponent, or that is not
/// known (the search gives up on grids whose squares would underflow). The exponent is the largest possible one.
struct ValueGrid {
  bool on_grid = false;    ///< every value is k * 2^exponent with an integer |k| < 2^53
  int exponent = 0;        ///< of the grid; 0 when all values are zero
  double max_abs = 0.0;    ///< largest |value|, exact (also when not on a grid)
  double max_steps = 0.0;  ///< largest |k| = max_abs / 2^exponent when on a grid

  /// The grid that holds the values of both; not on a grid where none with |k| < 2^53 does.
  [[nodiscard]] static ValueGrid common(const ValueGrid& a, const ValueGrid& b);
};

}  // namespace rthiss
