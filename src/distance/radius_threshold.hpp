#pragma once

#include <optional>

#include "distance/double_double.hpp"
#include "distance/dyadic.hpp"

namespace rthiss {

/// The rule distance <= radius as a threshold on the exact sum of squares s: s < m^2, or s == m^2 where the radius has
/// an even significand; m is the midpoint between the radius and the next double above it (2^1024 above the largest).
class RadiusThreshold {
 public:
  /// `radius`: finite, not negative.
  explicit RadiusThreshold(double radius);

  /// m^2, exactly. Never a double itself: m has 54 significant bits and is odd, so that m^2 has 107 or more; where the
  /// radius is subnormal m^2 is below 2^-2040.
  [[nodiscard]] const Dyadic& m_squared() const { return m_squared_; }
  /// below < m^2 < above, neighbouring doubles (0 and +infinity included).
  [[nodiscard]] double below() const { return below_; }
  [[nodiscard]] double above() const { return above_; }

  /// The exact decision.
  [[nodiscard]] bool within(const Dyadic& s) const;

  /// m^2 / 4^exponent to a relative error of 2^-105, and that exponent; the value lies in [1, 4].
  [[nodiscard]] DoubleDouble leading() const { return leading_; }
  [[nodiscard]] int leading_exponent() const { return leading_exponent_; }

  /// The largest integer L with: L * 4^grid_exponent is within, if L < 2^53.
  [[nodiscard]] std::optional<double> grid_limit(int grid_exponent) const;

 private:
  Dyadic m_squared_;
  double below_;
  double above_;
  DoubleDouble leading_;
  int leading_exponent_;
  bool tie_is_within_;
};

}  // namespace rthiss
