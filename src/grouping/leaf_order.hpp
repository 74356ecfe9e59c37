#pragma once

#include "grouping/grouping.hpp"

namespace rthiss {

/// Reorders the groups by the Morton code of their box centres in the first three components, ties by the order in
/// which they stood. A last group that is smaller than the others stays last, so that full leaves stay addressable by
/// arithmetic.
void order_leaves_by_morton_code(const ProjectedPoints& points, Grouping& grouping, const ThreadPool& pool);

}  // namespace rthiss
