#pragma once

#include <cstddef>

#include "common/host_device.hpp"

namespace rthiss {

/// Arithmetic of a ball tree's splits, the same on host and device to the last bit: sums in the order of the
/// components, without FMA. A node is split at the median of the projection onto the line from one far row to another:
/// `a` is the row farthest from the node's row of lowest id, `b` the row farthest from `a`; ties go to the lowest id.
[[nodiscard]] RTHISS_HOST_DEVICE inline float ball_distance(const float* x, const float* y, std::size_t components) {
  float sum = 0.0F;
  for (std::size_t k = 0; k < components; ++k) {
    const float difference = x[k] - y[k];
    const float square = difference * difference;
    sum = sum + square;
  }
  return sum;
}

[[nodiscard]] RTHISS_HOST_DEVICE inline float ball_place(const float* x, const float* a, const float* b,
                                                         std::size_t components) {
  float sum = 0.0F;
  for (std::size_t k = 0; k < components; ++k) {
    const float product = x[k] * (b[k] - a[k]);
    sum = sum + product;
  }
  return sum == sum ? sum : 0.0F;  // inf - inf: any place is right
}

}  // namespace rthiss
