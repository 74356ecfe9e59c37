#pragma once

#include <rthiss/options.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataset/dataset.hpp"

namespace rthiss {

/// `wanted` of the numbers 0 .. all - 1 (all of them where there are fewer), ascending, every choice equally likely for
/// a random seed, the same for a seed everywhere.
[[nodiscard]] std::vector<std::uint32_t> sample_places(std::uint64_t all, std::uint64_t wanted, std::uint64_t seed);

/// The same among the usable rows of `data`.
[[nodiscard]] std::vector<std::uint32_t> sample_rows(const Dataset& data, std::uint64_t wanted, std::uint64_t seed);

/// Rows for approximate distances: scale * (x - center), or x / |x| under a cosine metric.
struct RowImage {
  std::vector<double> center;  ///< [d], or empty for zero
  double scale = 1;            ///< a power of two that brings the largest |value| to at most 1
  bool normalize = false;

  /// Centred where float32 does not hold the values.
  [[nodiscard]] static RowImage choose(const Dataset& points, const Dataset& queries, bool cosine);
  /// Writes the image of row i [d] in float64.
  void load(const Dataset& data, std::uint32_t i, double* out) const;

  /// Distance of two images to what the caller calls a radius, and back. Chord c of unit vectors: 1 - cos = c^2 / 2.
  [[nodiscard]] double to_radius(double distance) const noexcept;
  [[nodiscard]] double to_image_distance(double radius) const noexcept;
};

}  // namespace rthiss
