#pragma once

#include <rthiss/array.hpp>
#include <rthiss/observer.hpp>
#include <rthiss/searcher.hpp>

#include <cstdint>
#include <optional>

namespace rthiss {

/// The label of rows that are in no cluster, component or group.
inline constexpr std::int64_t kNoLabel = -1;

/// DBSCAN's view of a set of points. Host memory.
struct Clustering {
  Array<std::int64_t> labels;  ///< [n] 0-based cluster, or kNoLabel: noise
  Array<bool> core;            ///< [n] core points
  std::uint64_t clusters = 0;
  std::uint64_t core_points = 0;
  std::uint64_t border_points = 0;
  std::uint64_t noise_points = 0;  ///< ignored rows too
};

/// DBSCAN. A point is a core point if at least `min_points` points are within the radius, itself counted. Core points
/// within the radius of one another are in one cluster. A point that is no core point joins, of the clusters with a
/// core point within the radius, the lowest-numbered one; without any it is noise. Clusters are numbered by their
/// lowest core id. So labels depend neither on the order of work nor on threads or batches, and they are exact.
///
/// Streamed: one counting pass, one pass over the pairs, and one more search for the border points that may belong to
/// several clusters. Memory: 21 bytes a point beside what a search takes in bounded memory; pairs are never kept.
///
/// Of the searcher's options `include_self`, `distances` and `max_results` have no meaning here and no effect. Rows
/// that are ignored as non-finite are noise. Throws InvalidArgument: min_points = 0; and what Searcher throws.
/// `searcher.statistics()` then sums up all passes; its `pairs` are the ordered pairs within the radius, self pairs
/// included.
[[nodiscard]] Clustering dbscan(Searcher& searcher, double radius, std::uint64_t min_points,
                                Observer* observer = nullptr);

/// Two rows of one component that are not within the radius of one another.
struct FarPair {
  std::uint32_t first = 0, second = 0;
  double distance = 0;  ///< correctly rounded; the similarity with that metric
};

/// Connected components of the graph that joins rows within the radius. Host memory.
///
/// A component is no clique: two of its rows may be farther apart than the radius, joined by a chain of others. How
/// many components are like that, and one such pair, is told.
struct Components {
  Array<std::int64_t> labels;    ///< [n] 0-based component, numbered by lowest row; kNoLabel: ignored rows
  Array<std::uint32_t> sizes;    ///< [components] rows
  std::uint64_t components = 0;  ///< single rows included
  std::uint64_t chained = 0;     ///< components with a pair of rows that is not within the radius
  std::optional<FarPair> far;    ///< in the first such component; where chained > 0
};

/// Streamed: one pass over the pairs, one row more for `far`. Memory: 24 bytes a row beside what a search takes in
/// bounded memory. Options, statistics and errors as of `dbscan`.
[[nodiscard]] Components connected_components(Searcher& searcher, double radius, Observer* observer = nullptr);

}  // namespace rthiss
