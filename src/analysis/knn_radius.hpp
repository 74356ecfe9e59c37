#pragma once

#include <rthiss/options.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/sampled_distances.hpp"

namespace rthiss {

/// Chooses the radii of a search for k nearest neighbours, each from distances of a sample of the queries that are
/// left. They steer how long the search takes; whatever they are, it ends and is exact.
class KnnRadius {
 public:
  /// `sampling`: its operations are set here.
  KnnRadius(const DistanceSampling& sampling, std::uint64_t k, Metric metric);

  /// The next radius (or similarity), looser than those before. `left`: the queries without k neighbours, ascending,
  /// not empty.
  [[nodiscard]] double next(std::span<const std::uint32_t> left);

 private:
  [[nodiscard]] SampledDistances sample(std::span<const std::uint32_t> left, bool in_double) const;
  /// Distance of images, or infinity.
  [[nodiscard]] double image_radius(std::span<const std::uint32_t> left);

  DistanceSampling sampling_;
  double k_;
  Metric metric_;
  double image_radius_ = -1;  // the last one
  int rounds_ = 0;
  double first_left_ = 0;
};

}  // namespace rthiss
