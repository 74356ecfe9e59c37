#pragma once

#include <rthiss/neighborhood.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace rthiss::python {

/// A `Neighborhood` that owns its radii: it may outlive the caller's array.
class OwnedNeighborhood {
 public:
  OwnedNeighborhood(double radius, std::vector<double> radii, std::optional<double> min_radius,
                    std::optional<std::uint64_t> max_neighbors)
      : radii_(std::move(radii)) {
    plain_.radius = radius;
    plain_.min_radius = min_radius;
    plain_.max_neighbors = max_neighbors;
  }

  [[nodiscard]] Neighborhood view() const noexcept {
    Neighborhood neighborhood = plain_;
    neighborhood.radii = radii_;
    return neighborhood;
  }

 private:
  Neighborhood plain_;
  std::vector<double> radii_;
};

}  // namespace rthiss::python
