#pragma once

#include <rthiss/errors.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

#include "common/host_device.hpp"
#include "geometry/rounding.hpp"
#include "index/group_index.hpp"

namespace rthiss {

/// The float32 form of CandidateTest that bvh and embree share, with its proof.
///
/// u = 2^-24. Boxes hold every image exactly, an image x' of a point x is within error(x) of its exact place, and the
/// exact map shrinks distances. So where some point of a group lies within `radius` of some query of a block, the
/// exact least distance of their boxes in any k components, sqrt(S), is at most R = radius + e_block + e_group, and so
/// is the greatest gap of an axis, M.
///
/// What is computed. gap = max(0, block_low - high, low - block_high): one rounding, exact where it is subnormal, +inf
/// only above the largest float. s = sum of gap^2 in any order, fused or not: by (1 + u)^2 from the gaps, (1 + u) from
/// the product, (1 + u)^(k - 1) from the sum, 2^-150 for each product that underflows,
///   s <= S (1 + u)^(k + 2) + k 2^-149 <= S (1 + (k + 3) u) + k 2^-149            for k <= 4096,
/// and the greatest computed gap is at most M (1 + u).
///
/// The threshold. r = RU(radius) >= radius, a = fl(r + e_block), b = fl(a + e_group) >= R (1 - u)^2,
/// c = RU(1 + (k + 12) u), f = 2^-126 >= (k + 4) 2^-149 (a normal number: subnormal operands are slow):
///   T = fl(fl(fl(b b) c) + f) >= (R^2 (1 + (k + 12) u) (1 - u)^6 - 2^-148 + f) (1 - u)
///                             >= R^2 (1 + (k + 12) u) (1 - 7 u) + k 2^-149
///                             >= R^2 (1 + (k + 3) u) + k 2^-149,
/// the last since (12 - 7 - 3) u >= 7 (k + 12) u^2. So S <= R^2 gives s <= T. For the overlap of widened boxes,
/// fl(fl(b c) + f) >= R (1 + 12 u) (1 - 4 u) >= R (1 + u), so M <= R gives max gap <= T.
///
/// An infinite error or an overflow of b or b^2 makes T = +inf, and s <= T holds whatever s is (finite boxes give no
/// NaN; a box [-inf, inf] has gap 0). Where a gap or s overflows while T is finite, the exact value is above
/// 2^128 (1 - k u) while R^2 or R is below it by the factor c: the refusal is right. The same test on a box that
/// encloses several groups' boxes, with the greatest of their errors, refuses none that it would list.
class CandidateThreshold {
 public:
  /// `components` <= 4096 take part. Throws InvalidArgument for more, and for a radius that is negative or NaN.
  CandidateThreshold(const CandidateTest& test, std::size_t components) : squared_(test.box_distance) {
    if (!(test.radius >= 0.0)) throw InvalidArgument("index: the radius must be at least 0");
    if (components > kGreatestComponents) {
      throw InvalidArgument("index: " + std::to_string(components) + " components; at most " +
                            std::to_string(kGreatestComponents) + " can be tested");
    }
    radius_ = round_up_to_float(test.radius);
    factor_ = round_up_to_float(1.0 + (static_cast<double>(components) + 12.0) * 0x1p-24);
  }

  /// Greatest gap (without squares: `squared()` false) or sum of squared gaps that lists a group.
  [[nodiscard]] RTHISS_HOST_DEVICE float operator()(float reach, float group_error) const {
    const float sum = reach + group_error;
    return (squared_ ? sum * sum : sum) * factor_ + floor();
  }
  /// The block's part of the sum.
  [[nodiscard]] RTHISS_HOST_DEVICE float reach(float block_error) const { return radius_ + block_error; }
  [[nodiscard]] RTHISS_HOST_DEVICE bool squared() const { return squared_; }
  [[nodiscard]] RTHISS_HOST_DEVICE float factor() const { return factor_; }              ///< c of the proof
  [[nodiscard]] RTHISS_HOST_DEVICE static constexpr float floor() { return 0x1p-126f; }  ///< f of the proof

 private:
  static constexpr std::size_t kGreatestComponents = 4096;

  float radius_ = 0.0f, factor_ = 1.0f;
  bool squared_;
};

/// Components that a test looks at: those asked for, as far as the bounds have them; a sphere has three.
[[nodiscard]] inline std::size_t tested_components(const CandidateTest& test, const GroupBounds& bounds) {
  const std::size_t components = std::min(test.components, bounds.components);
  return test.sphere_boxes ? std::min<std::size_t>(components, 3) : components;
}

struct FloatInterval {
  float low, high;
};

/// The group's box along one axis: tight, or that of its sphere, an ulp wider so that rounding is covered.
[[nodiscard]] inline FloatInterval tested_interval(const CandidateTest& test, const GroupBounds& bounds,
                                                   std::size_t component, std::size_t group) {
  const std::size_t at = component * bounds.stride + group;
  if (!test.sphere_boxes) return {bounds.low[at], bounds.high[at]};
  const float center = bounds.sphere_center[at], radius = bounds.sphere_radius[group];
  return {add_down(center, -radius), add_up(center, radius)};
}

}  // namespace rthiss
