#pragma once

#include <rthiss/options.hpp>
#include <rthiss/statistics.hpp>

#include "engine/engine.hpp"
#include "engine/search_plan.hpp"

namespace rthiss {

/// `radius` in the filter's space. Adds to `statistics.chosen` what was decided and why.
[[nodiscard]] SearchPlan choose_plan(const SearchOptions& options, const PlanTraits& traits, const Dataset& points,
                                     const FilterSpace& space, double radius, const ThreadPool& pool,
                                     SearchStatistics& statistics);

}  // namespace rthiss
