#pragma once

#include <rthiss/observer.hpp>
#include <rthiss/options.hpp>
#include <rthiss/points_view.hpp>

#include <cstdint>
#include <vector>

namespace rthiss {

struct RadiusEstimateOptions {
  double selectivity = 0;                          ///< wanted mean number of neighbours of a query, without itself; > 0
  Metric::Kind metric = Metric::Kind::kEuclidean;  ///< or kCosineDistance
  NonFinite nonfinite = NonFinite::kError;
  std::uint64_t seed = 1;
  int threads = 0;  ///< as in SearchOptions
  std::uint64_t sample_queries = 1024;
  double operations = 2e11;  ///< most products of sampled queries, sampled points and columns
  bool curve = false;        ///< also fill RadiusEstimate::curve
};

/// Distances at one number of neighbours k.
struct CurvePoint {
  std::uint64_t k = 0;
  double radius = 0;                     ///< at which queries have k neighbours in the mean
  double low = 0, median = 0, high = 0;  ///< distance to the k-th neighbour: 10 %, 50 % and 90 % of the queries
};

struct RadiusEstimate {
  double radius = 0;         ///< plain distance, or cosine distance
  double low = 0, high = 0;  ///< 95 % confidence interval for the radius that has exactly the wanted selectivity
  std::uint64_t sampled_queries = 0;
  std::uint64_t sampled_points = 0;
  bool in_double = false;  ///< distances were computed in float64, since float32 could not tell them apart
  std::vector<CurvePoint> curve;
};

/// Finds the radius at which queries have `selectivity` neighbours in the mean, from the distances of a seeded sample
/// of queries to all points (to a sample of them where that passes `operations`). `queries` null: self-join, a row is
/// not its own neighbour.
///
/// Accuracy: the interval is the set of radii at which the wanted mean lies within 1.96 standard errors of the sample's
/// mean; it covers the choice of queries (with the finite-population correction), and misses more often than 5 % where
/// few queries hold most of the neighbours. Distances are put into bins 0.4 % wide and interpolated within. Where many
/// pairs have one distance (integers, equal rows) the mean jumps there, and no radius may meet `selectivity`.
/// The estimate steers nothing but the caller's choice of a radius: a search at that radius is exact.
///
/// points: [n x d], queries: [m x d], host memory, as for Searcher. Throws InvalidArgument: as Searcher, or a
/// selectivity that is not above 0 or above the number of other rows; Cancelled.
[[nodiscard]] RadiusEstimate estimate_radius(const PointsView& points, const PointsView* queries,
                                             const RadiusEstimateOptions& options, Observer* observer = nullptr);

}  // namespace rthiss
