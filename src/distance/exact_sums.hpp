#pragma once

#include <cstddef>

#include "distance/dyadic.hpp"

/// The exact tier's sums: no rounding, for all finite doubles.
namespace rthiss {

/// sum (x_k - y_k)^2.
[[nodiscard]] Dyadic exact_squared_distance(const double* x, const double* y, std::size_t columns);

/// sum x_k y_k, x.x and y.y.
struct ExactCosineSums {
  Dyadic xy, xx, yy;
};
[[nodiscard]] ExactCosineSums exact_cosine_sums(const double* x, const double* y, std::size_t columns);

}  // namespace rthiss
