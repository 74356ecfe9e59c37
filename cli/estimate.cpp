#include "estimate.hpp"

#include <fmt/format.h>

#include "errors.hpp"

namespace rthiss::cli {

RadiusEstimate estimate_for(const Input& input, double selectivity, const SearchOptions& options, bool curve,
                            Observer* observer) {
  return estimate_for(input.points_view(), input.queries_view(), selectivity, options, curve, observer);
}

RadiusEstimate estimate_for(const PointsView& points, const PointsView* queries, double selectivity,
                            const SearchOptions& options, bool curve, Observer* observer) {
  const std::uint64_t query_count = queries != nullptr ? queries->rows : points.rows;
  const std::uint64_t others = queries != nullptr || points.rows == 0 ? points.rows : points.rows - 1;
  if (query_count == 0 || selectivity > static_cast<double>(others)) {
    throw UsageError(fmt::format("--selectivity: {} neighbours a query cannot be had: {} queries, {} other rows",
                                 selectivity, query_count, others));
  }
  RadiusEstimateOptions estimate;
  estimate.selectivity = selectivity;
  estimate.metric = options.metric.kind;
  estimate.nonfinite = options.nonfinite;
  estimate.seed = options.seed;
  estimate.threads = options.threads;
  estimate.curve = curve;
  return estimate_radius(points, queries, estimate, observer);
}

}  // namespace rthiss::cli
