#pragma once

#include <rthiss/observer.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/distance_histogram.hpp"
#include "analysis/sampled_rows.hpp"
#include "common/parallel.hpp"
#include "dataset/dataset.hpp"

namespace rthiss {

/// Between what, and how much of it, distances are sampled. The referenced objects outlive the sampling.
struct DistanceSampling {
  const Dataset* points = nullptr;
  const Dataset* queries = nullptr;
  bool self_join = false;  ///< a row is not its own neighbour
  const RowImage* image = nullptr;
  const ThreadPool* pool = nullptr;
  Observer* observer = nullptr;
  double operations = 2e11;  ///< most products of sampled queries, sampled points and columns
  std::uint64_t seed = 1;
};

/// What was sampled, and the distances of its pairs. They steer; nothing is decided by them.
struct SampledDistances {
  std::vector<std::uint32_t> queries, points;
  std::vector<DistanceHistogram> histograms;  ///< [queries] distances in the image space
  std::vector<double> weights;                ///< [queries] neighbours that one counted distance stands for
  double largest_error = 0;                   ///< of an image, as a distance in the image space

  /// Distances of about `image_distance` cannot be told apart with images of this precision.
  [[nodiscard]] bool needs_double(double image_distance) const noexcept;
};

/// Rows of a data set that may be neighbours of a usable query.
[[nodiscard]] std::uint64_t usable_rows(const Dataset& data) noexcept;

/// Distances of the rows `queries` to all usable points, or to a seeded sample of them where all pass the operations;
/// in float32, or in float64 at a sixteenth of the operations. Throws Cancelled.
[[nodiscard]] SampledDistances sample_distances(const DistanceSampling& sampling, std::vector<std::uint32_t> queries,
                                                bool in_double);

}  // namespace rthiss
