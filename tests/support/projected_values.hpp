#pragma once

#include <cstddef>
#include <random>

#include "projection/projected_points.hpp"

namespace rthiss::test {

/// Values spread over about 2 levels + 1 steps of 1 around 0 in the first component, and less in later ones.
inline ProjectedPoints integer_values(std::size_t n, std::size_t width, float levels, unsigned seed) {
  ProjectedPoints points;
  points.points = n;
  points.components = points.width = width;
  points.stride = (width + 15) / 16 * 16;
  points.values = Array<float>(n * points.stride, 0.0f);
  points.error = Array<float>(n, 0.0f);
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < width; ++c) {
      const auto steps = static_cast<int>(levels / static_cast<float>(c + 1));
      points.values[i * points.stride + c] =
          static_cast<float>(std::uniform_int_distribution<int>(-steps, steps)(random));
    }
    points.error[i] = static_cast<float>(random() % 100) * 1e-3f;
  }
  return points;
}

}  // namespace rthiss::test
