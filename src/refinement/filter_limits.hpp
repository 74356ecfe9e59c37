#pragma once

#include <cmath>
#include <limits>

#include "dataset/filter_space.hpp"
#include "distance/pair_decider.hpp"

namespace rthiss {

/// float32 limits for computed squared distances, from the exact threshold and everything that a filter may be wrong
/// by.
///
/// A filter computes s from loaded rows whose images are off by at most `error` in all, with a relative error of at
/// most `units` 2^-24 and an absolute one of `absolute`. Then
///   s > out(...)  proves  scale |x - y| > scale sqrt(out_above):  no neighbour,
///   s <= in(...)  proves  scale |x - y| <= scale sqrt(in_below):  a neighbour,
/// because |sqrt(s_exact) - scale |x - y|| <= error. All steps are in double with factors for their own rounding, and
/// the last conversion to float32 is directed.
class FilterLimits {
 public:
  FilterLimits(const FilterThreshold& threshold, const FilterSpace& space) : no_underflow_(space.no_underflow) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    out_radius_ = threshold.accepts_everything ? kInfinity
                                               : std::sqrt(threshold.out_above) * space.scale * (1.0 + kSlack) +
                                                     (threshold.out_above > 0 ? 0x1p-1000 : 0.0);
    in_radius_ = threshold.accepts_everything ? kInfinity
                 : threshold.in_below >= 0.0  ? std::sqrt(threshold.in_below) * space.scale * (1.0 - kSlack)
                                              : -1.0;
    if (threshold.accepts_nothing) {
      out_radius_ = 0.0;
      in_radius_ = -1.0;
    }
  }

  /// In the filter's space: no neighbour is farther.
  [[nodiscard]] double out_radius() const noexcept { return out_radius_; }
  /// In the filter's space: everything nearer is a neighbour; negative when nothing can be proven in. On a fine grid
  /// the scale may carry it to infinity: it is then above 2^1023, and no image of a FilterSpace is longer than 2^128
  /// sqrt(d).
  [[nodiscard]] double in_radius() const noexcept { return in_radius_; }

  /// Absolute error of `width` squares that may underflow; 0 for rows of the FilterSpace where they cannot.
  [[nodiscard]] double row_underflow(std::size_t width) const noexcept {
    return no_underflow_ ? 0.0 : projected_underflow(width);
  }
  /// The same for values of a projection.
  [[nodiscard]] static double projected_underflow(std::size_t width) noexcept {
    return static_cast<double>(width + 4) * 0x1p-148;
  }

  [[nodiscard]] float out(double error, double units, double absolute) const {
    const double reach = out_radius_ + error;
    // (1 + u)^units - 1 is at most this; rows too long for float32 sums prove nothing.
    const double relative = units < 0x1p23 ? units * 0x1p-24 / (1.0 - units * 0x1p-24) : 1.0;
    if (relative >= 1.0) return std::numeric_limits<float>::infinity();
    // The square of a reach below 2^-500 may underflow.
    const double tiny = reach > 0.0 ? 0x1p-1000 : 0.0;
    return float_above((reach * reach * (1.0 + relative) + absolute) * (1.0 + kSlack) + tiny);
  }

  /// Negative when nothing can be proven in. A square that overflows is above all sums of images, as in_radius() is.
  [[nodiscard]] float in(double error, double units, double absolute) const {
    const double reach = in_radius_ - error;
    if (!(reach >= 0.0)) return -1.0F;
    const double limit = reach * reach * (1.0 - units * 0x1p-24) * (1.0 - kSlack) - absolute;
    return limit >= 0.0 ? float_below(limit) : -1.0F;
  }

  [[nodiscard]] static float float_above(double value) {
    const auto rounded = static_cast<float>(value);
    return static_cast<double>(rounded) < value ? std::nextafter(rounded, std::numeric_limits<float>::infinity())
                                                : rounded;
  }
  [[nodiscard]] static float float_below(double value) {
    const auto rounded = static_cast<float>(value);
    return static_cast<double>(rounded) > value ? std::nextafter(rounded, -std::numeric_limits<float>::infinity())
                                                : rounded;
  }

 private:
  static constexpr double kSlack = 0x1p-49;

  double out_radius_ = 0.0;
  double in_radius_ = -1.0;
  bool no_underflow_;
};

}  // namespace rthiss
