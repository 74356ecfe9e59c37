#pragma once

#include <rthiss/neighbor_lists.hpp>
#include <rthiss/neighborhood.hpp>
#include <rthiss/observer.hpp>
#include <rthiss/options.hpp>
#include <rthiss/points_view.hpp>
#include <rthiss/result_sink.hpp>
#include <rthiss/statistics.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rthiss {

struct SearcherAccess;

/// Finds, for every query, all points within a radius, exactly (docs/exactness.md).
///
/// The points stay with the caller and must outlive the searcher unchanged. All calls are synchronous. One searcher
/// may be used by one thread at a time. `radius` is the plain distance; with a cosine metric it is the bound on the
/// cosine distance or similarity. Throws InvalidArgument (a NaN or negative radius, non-finite data, no columns,
/// dimension mismatch), UnsupportedError, OutOfMemory, Cancelled.
class Searcher {
 public:
  /// `points`: [n x d], host memory, n < 2^32 - 1, d >= 1.
  explicit Searcher(PointsView points, SearchOptions options = {});
  ~Searcher();
  Searcher(Searcher&&) noexcept;
  Searcher& operator=(Searcher&&) noexcept;

  /// All ordered pairs (i, j), i != j (or with (i, i) under include_self), within the radius.
  [[nodiscard]] NeighborLists self_join(double radius, Observer* observer = nullptr);
  void self_join(double radius, ResultSink& sink, Observer* observer = nullptr);

  /// For each row of `queries` [m x d] all points within the radius; equal rows are ordinary neighbours.
  [[nodiscard]] NeighborLists radius_search(PointsView queries, double radius, Observer* observer = nullptr);
  void radius_search(PointsView queries, double radius, ResultSink& sink, Observer* observer = nullptr);

  /// The same with a radius for each query, a shell between two radii, or the nearest within the radius. Throws
  /// InvalidArgument also where `radii` has not one radius for each query or holds a bad one (named by its place), for
  /// a bad min_radius, and for max_neighbors = 0.
  /// A result that grows past memory_limit or max_results is refused while it grows, not beforehand.
  [[nodiscard]] NeighborLists self_join(const Neighborhood& neighborhood, Observer* observer = nullptr);
  void self_join(const Neighborhood& neighborhood, ResultSink& sink, Observer* observer = nullptr);
  [[nodiscard]] NeighborLists radius_search(PointsView queries, const Neighborhood& neighborhood,
                                            Observer* observer = nullptr);
  void radius_search(PointsView queries, const Neighborhood& neighborhood, ResultSink& sink,
                     Observer* observer = nullptr);

  /// Of the last search; of all searches that the last call of knn, dbscan, ... was made of.
  [[nodiscard]] const SearchStatistics& statistics() const noexcept;
  [[nodiscard]] const SearchOptions& options() const noexcept;

 private:
  friend struct SearcherAccess;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A thing that can be chosen by name, and whether it can be used here.
struct Availability {
  std::string name;
  bool available = false;
  std::string detail;  ///< version, or why it is absent and what to do
};

[[nodiscard]] std::vector<Availability> engines();
[[nodiscard]] std::vector<Availability> indexes();

}  // namespace rthiss
