#pragma once

#include <rthiss/options.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace rthiss {

/// Queries that are searched with one radius, the loosest of theirs; each query's own radius then sorts out.
struct RadiusClass {
  double radius = 0;                   ///< or similarity
  std::vector<std::uint32_t> queries;  ///< ascending
};

/// Divides `queries` (ascending) by their `radii` [all queries] into few classes of similar radii: a class costs a
/// search of its own, and a radius looser than needed costs pairs that are thrown away.
[[nodiscard]] std::vector<RadiusClass> divide_by_radius(std::span<const double> radii,
                                                        std::span<const std::uint32_t> queries, Metric metric);

}  // namespace rthiss
