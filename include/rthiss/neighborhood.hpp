#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace rthiss {

/// Which points are a query's neighbours, beyond one radius for all: a radius for each query, a shell between two
/// radii, and the nearest within. Everything here is decided exactly, by the rule of docs/exactness.md.
///
/// A radius is what it is for `Searcher`: a plain distance, or with a cosine metric the bound on the cosine distance or
/// similarity. "Within r" means distance <= r, or similarity >= r.
struct Neighborhood {
  /// Within which points are neighbours.
  double radius = 0;

  /// [queries] in place of `radius`: one for each query, in the caller's order; empty: `radius` holds for all. In a
  /// self-join the relation is then not symmetric: j is a neighbour of i where it is within the radius of i. The values
  /// must stay until the call returns.
  std::span<const double> radii{};

  /// The inner radius of a shell: min_radius < distance <= radius. Open inside, closed outside, so that shells that
  /// follow one another hold every pair once; 0 leaves out equal rows. (Similarity: radius <= similarity < min_radius.)
  /// At or above the radius, rows are empty.
  std::optional<double> min_radius{};

  /// At most this many neighbours of a query, the first by (distance, id); at least 1. The distance that orders is the
  /// one that is handed out, correctly rounded: exact distances that round to the same double are ordered by id.
  /// (Similarity: the largest first.) Rows of the result ascend by id all the same.
  std::optional<std::uint64_t> max_neighbors{};

  /// Nothing but one radius.
  [[nodiscard]] bool is_plain() const noexcept { return radii.empty() && !min_radius && !max_neighbors; }
};

}  // namespace rthiss
