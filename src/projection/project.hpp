#pragma once

#include "dataset/filter_space.hpp"
#include "projection/projected_points.hpp"
#include "projection/projection.hpp"

namespace rthiss {

class ThreadPool;

/// Images of all rows of `data` with their error bounds (docs/exactness.md, "Projection").
[[nodiscard]] ProjectedPoints project_points(const Dataset& data, const FilterSpace& space,
                                             const Projection& projection, const ThreadPool& pool);

/// The first `components` values and the norm of the others: a contraction of the same points.
[[nodiscard]] ProjectedPoints shorten(const ProjectedPoints& points, std::size_t components, const ThreadPool& pool);

}  // namespace rthiss
