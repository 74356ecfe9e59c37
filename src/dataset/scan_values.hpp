#pragma once

#include <cstddef>
#include <cstdint>

#include "dataset/value_grid.hpp"

namespace rthiss {

/// What one pass over some values learned: largest magnitude, and the coarsest grid 2^exponent that holds them all.
/// Exponents are looked for in [lowest exponent, ...): -126 for float32, -537 for float64. A finer grid counts as none
/// (its squares would underflow).
class ValueScan {
 public:
  /// Takes in `count` values, unless one of them is NaN or infinite: then false, and the scan is as before.
  [[nodiscard]] bool add(const float* values, std::size_t count);
  [[nodiscard]] bool add(const double* values, std::size_t count);

  /// Takes in integers of which the largest magnitude and the bits of all magnitudes, or-ed together, are known.
  void add_integers(std::uint64_t largest, std::uint64_t all_bits);

  void merge(const ValueScan& other);
  [[nodiscard]] ValueGrid grid() const;

 private:
  template <typename Real>
  bool add_values(const Real* values, std::size_t count, int lowest_exponent);
  /// Gives the search for a grid up where the values cannot have one with fewer than 2^53 steps.
  void check_steps();

  static constexpr int kNoValue = 5000;  ///< exponent while all values are zero

  double max_abs_ = 0.0;
  int exponent_ = kNoValue;
  bool grid_lost_ = false;
};

}  // namespace rthiss
