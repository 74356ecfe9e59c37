#pragma once

#include "grouping/grouping.hpp"
#include "grouping/leaf_ranges.hpp"

namespace rthiss {

/// Throws InvalidArgument for sizes and heights that no grouping takes.
void check_grouping(std::uint64_t points, std::size_t width, const GroupingOptions& options);

[[nodiscard]] LeafRanges leaves_of(std::uint64_t points, const GroupingOptions& options);

/// Groups that are the filled leaves, of points in the caller's order.
[[nodiscard]] Grouping unsorted_groups(const LeafRanges& leaves, std::size_t points);

/// First positions of the leaves that hold a point, and the number of points.
[[nodiscard]] Array<std::uint32_t> begins_of_filled_leaves(const LeafRanges& leaves, std::size_t points);

}  // namespace rthiss
