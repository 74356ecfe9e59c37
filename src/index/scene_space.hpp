#pragma once

#include <algorithm>
#include <cmath>

#include "common/host_device.hpp"
#include "geometry/rounding.hpp"

namespace rthiss {

/// Coordinates of the scene: those of the projection times a power of two, so that every widened box lies within
/// [-1, 1]. Embree drops boxes beyond 1.8e18 without a word, and squares distances in float32; OptiX may flush
/// subnormals. Here none of that can hurt.
///
/// Boxes are widened by more than the exact test asks for, so that a ray tracer never hides a group that
/// CandidateThreshold lists: with R = radius + e_block + e_group, a listed group has no gap above
/// sqrt(T) (1 + u) <= R (1 + 2^-13) + 2^-62 (for k <= 4096), and block and group together are widened by that.
class SceneSpace {
 public:
  /// Of any group that cannot be bounded; reaches every query box, as those are cut off at +-kQueryLimit.
  static constexpr float kEverywhere = 8.0f;
  static constexpr float kQueryLimit = 4.0f;

  SceneSpace() = default;
  /// `greatest`: largest magnitude of any finite bound of a widened box.
  explicit SceneSpace(double greatest) {
    int exponent = 0;
    std::frexp(greatest, &exponent);
    scale_ = std::ldexp(1.0, -std::max(exponent, -900));
  }

  /// What `reach`, a part of R, adds to a box.
  [[nodiscard]] RTHISS_HOST_DEVICE static double widening(double reach) { return reach * (1.0 + 0x1p-12) + 0x1p-61; }

  [[nodiscard]] RTHISS_HOST_DEVICE float low(double bound, double widening) const {
    return round_down_to_float(round_down(bound - widening) * scale_);
  }
  [[nodiscard]] RTHISS_HOST_DEVICE float high(double bound, double widening) const {
    return round_up_to_float(round_up(bound + widening) * scale_);
  }

  /// A coordinate of a single query, without error; far ones are cut off.
  [[nodiscard]] RTHISS_HOST_DEVICE static float query(float value, double scale) {
    return fminf(fmaxf(static_cast<float>(static_cast<double>(value) * scale), -kQueryLimit), kQueryLimit);
  }
  [[nodiscard]] double scale() const { return scale_; }

 private:
  double scale_ = 1.0;
};

}  // namespace rthiss
