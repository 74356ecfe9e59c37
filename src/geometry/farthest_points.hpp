#pragma once

#include <cstddef>

namespace rthiss {

/// Two corners of a box of images under a Projection, value by value.
struct BoxCorners {
  const float* low = nullptr;
  const float* high = nullptr;
};

/// The limit for `farthest_within`, from the radius within which everything is a neighbour and the projection errors of
/// both boxes; negative where nothing can be proven. Its factor covers sums of up to 2^12 roundings of float64; there
/// are at most 128 components.
[[nodiscard]] inline double farthest_limit(double in_radius, double error) {
  const double reach = in_radius - error;
  return reach >= 0.0 ? reach * reach * (1.0 - 0x1p-40) : -1.0;
}

/// Is the square of the largest distance that the boxes allow at most `limit`? With the norm of the rest as the value
/// after the components, the rests of two points may point in opposite directions, so they add.
[[nodiscard]] inline bool farthest_within(const BoxCorners& a, const BoxCorners& b, std::size_t components,
                                          bool with_rest, double limit) {
  if (!(limit >= 0.0)) return false;
  // The first components alone tell nearly always; four sums at a time for the compiler's vectors.
  double sums[4] = {};
  const auto add_widest = [&](std::size_t k, double& sum) {
    const double up = static_cast<double>(a.high[k]) - static_cast<double>(b.low[k]);
    const double down = static_cast<double>(b.high[k]) - static_cast<double>(a.low[k]);
    const double widest = up > down ? up : down;
    sum += widest * widest;
  };
  std::size_t k = 0;
  for (; k + 4 <= components; k += 4) {
    for (std::size_t i = 0; i < 4; ++i) add_widest(k + i, sums[i]);
    if (sums[0] + sums[1] + sums[2] + sums[3] > limit) return false;
  }
  for (; k < components; ++k) add_widest(k, sums[k % 4]);
  double sum = sums[0] + sums[1] + sums[2] + sums[3];
  if (with_rest) {
    const double rest = static_cast<double>(a.high[components]) + static_cast<double>(b.high[components]);
    sum += rest * rest;
  }
  return sum <= limit;
}

}  // namespace rthiss
