#pragma once

#include <rthiss/array.hpp>

#include <cstdint>

#include "dataset/dataset.hpp"

namespace rthiss {

class ThreadPool;

/// The float32 space in which filters compute: scale * (x - center), or x / |x| under a cosine metric.
///
/// `load` returns a bound on |out - exact image| in the Euclidean norm, so a filter that finds a distance s between two
/// loaded rows knows: |s_exact - |out_x - out_y|| <= error_x + error_y, where s_exact = scale * |x - y| (or the chord
/// |x/|x| - y/|y||). An error of 0 means that the row is held exactly.
struct FilterSpace {
  Array<double> center;    ///< [d], or empty for zero
  double scale = 1.0;      ///< a power of two
  bool normalize = false;  ///< cosine metrics
  /// The images are integers (the data lie on a grid and scale is 1 / its step), every |difference| < 2^25, held
  /// exactly.
  bool integers = false;
  /// The images are integers 0 ... 255 and rows of bytes serve as well.
  bool bytes = false;
  /// Squares of differences of images cannot underflow float32 (see docs/exactness.md); else bounds need an absolute
  /// term.
  bool no_underflow = false;

  /// Chosen for both sets of a search; `radius` is the Euclidean radius (ignored under cosine metrics).
  [[nodiscard]] static FilterSpace choose(const Dataset& points, const Dataset* queries, bool cosine, double radius,
                                          const ThreadPool& pool);

  /// Whether images of equal rows are equal.
  [[nodiscard]] bool same_images(const FilterSpace& other) const;

  /// Image of row `i` of `data` [d]; `scratch` [d] doubles. A row whose image overflows float32, and an ignored row, is
  /// all zero with error +inf: no image holds a NaN or an infinity.
  [[nodiscard]] float load(const Dataset& data, std::uint64_t i, float* out, double* scratch) const;
};

}  // namespace rthiss
