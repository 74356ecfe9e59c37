#pragma once

#include <rthiss/array.hpp>
#include <rthiss/observer.hpp>
#include <rthiss/points_view.hpp>
#include <rthiss/searcher.hpp>

#include <cstdint>
#include <span>

namespace rthiss {

/// The id that stands where a query has no neighbours at all (a row that `NonFinite::kIgnore` takes out).
inline constexpr std::uint32_t kNoNeighbor = ~std::uint32_t{0};

/// The k nearest points of each query, nearest first. Host memory.
struct NearestNeighbors {
  std::uint64_t queries = 0;
  std::uint64_t k = 0;
  Array<std::uint32_t> ids;  ///< [queries x k] row-major, each row ascending by (distance, id)
  Array<double> distances;   ///< [queries x k] correctly rounded; similarities (descending) with that metric

  [[nodiscard]] std::span<const std::uint32_t> row(std::uint64_t query) const noexcept {
    return ids.span().subspan(query * k, k);
  }
  [[nodiscard]] std::span<const double> row_distances(std::uint64_t query) const noexcept {
    return distances.span().subspan(query * k, k);
  }
};

/// Finds the exact k nearest of all points, of each point of `searcher`: by searches within radii that grow, where only
/// the queries that have not found k yet go on to the next radius.
///
/// Neighbours are the first k by (distance, id), where the distance is the correctly rounded one that is handed out
/// (docs/exactness.md): exact distances that round to the same double are ordered by id. A row is not its own
/// neighbour, unless the searcher's options have `include_self`; equal rows are ordinary neighbours at distance 0. A
/// row that is ignored as non-finite has `kNoNeighbor` and NaN in all places. The result depends neither on threads nor
/// on batches nor on the seed. Every option of the searcher applies; `distances` are there always, and `max_results` is
/// compared with queries * k.
///
/// Memory: the result, 12 bytes for each of queries * k, beside what a radius search takes.
/// Throws InvalidArgument: k = 0, or more than there are (other) points that are not ignored, where there are queries
/// at all; OutOfMemory: the result passes memory_limit or max_results; and what Searcher throws.
/// `searcher.statistics()` then sums up all searches; its `pairs` are queries * k.
[[nodiscard]] NearestNeighbors knn(Searcher& searcher, std::uint64_t k, Observer* observer = nullptr);

/// The same for each row of `queries` [m x d]; equal rows are ordinary neighbours.
[[nodiscard]] NearestNeighbors knn(Searcher& searcher, PointsView queries, std::uint64_t k,
                                   Observer* observer = nullptr);

}  // namespace rthiss
