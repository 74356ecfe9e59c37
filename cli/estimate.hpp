#pragma once

#include <rthiss/radius_estimate.hpp>
#include "input.hpp"

namespace rthiss::cli {

/// The radius for a wanted selectivity; UsageError where the data cannot have so many neighbours.
[[nodiscard]] RadiusEstimate estimate_for(const Input& input, double selectivity, const SearchOptions& options,
                                          bool curve, Observer* observer);

/// The same for rows in memory; `queries` null: self-join.
[[nodiscard]] RadiusEstimate estimate_for(const PointsView& points, const PointsView* queries, double selectivity,
                                          const SearchOptions& options, bool curve, Observer* observer);

}  // namespace rthiss::cli
