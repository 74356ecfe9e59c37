#pragma once

#include "grouping/grouping.hpp"

namespace rthiss {

/// Groups of consecutive rows along a space-filling curve through the first three components; ties by id.
[[nodiscard]] Grouping group_along_curve(const ProjectedPoints& points, const GroupingOptions& options,
                                         const ThreadPool& pool);

/// Balanced splits along the line between two far rows of each node; ties by id.
[[nodiscard]] Grouping build_ball_tree(const ProjectedPoints& points, const GroupingOptions& options,
                                       const ThreadPool& pool);

/// By the method that the options name.
[[nodiscard]] Grouping group_points(const ProjectedPoints& points, const GroupingOptions& options,
                                    const ThreadPool& pool);

}  // namespace rthiss
