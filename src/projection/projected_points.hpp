#pragma once

#include <rthiss/array.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace rthiss {

/// Images of all points under a Projection. Host memory. Every value is finite.
///
/// Contract (tests/projection): there is an exact contraction phi with |values[i] - phi(x_i)| <= error[i] for every
/// point, in the Euclidean norm over all `width` values; so scale * |x - y| >= |values[i] - values[j]| - error[i] -
/// error[j], also for any choice of the values. A point whose image overflows has error +inf.
struct ProjectedPoints {
  std::size_t points = 0;
  std::size_t components = 0;  ///< k
  std::size_t width = 0;       ///< k, or k + 1 where the last value is the norm of the rest
  std::size_t stride = 0;      ///< floats from a row to the next, a multiple of 16; padding is 0
  Array<float> values;         ///< [points x stride], row-major
  Array<float> error;          ///< [points]
};

}  // namespace rthiss
