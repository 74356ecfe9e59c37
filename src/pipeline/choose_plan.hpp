#pragma once

#include <rthiss/options.hpp>
#include <rthiss/statistics.hpp>

#include "engine/engine.hpp"
#include "engine/search_plan.hpp"
#include "pipeline/cost_model.hpp"

namespace rthiss {

/// What it takes to see whether a plan suits another radius. Empty where plans do not depend on the radius.
struct PlanGrounds {
  Sample sample;
  Projection projection;  ///< the plan's, before it was shortened
  bool may_be_complete = false;
  bool bytes = false;
};

/// `radius` in the filter's space. Adds to `statistics.chosen` what was decided and why.
[[nodiscard]] SearchPlan choose_plan(const SearchOptions& options, const PlanTraits& traits, const Dataset& points,
                                     const FilterSpace& space, double radius, const ThreadPool& pool,
                                     SearchStatistics& statistics, PlanGrounds& grounds);

/// Whether to search with a plan that another radius was the reason for: because a better one would save less than it
/// costs to prepare the points anew. `pairs`: of the search.
[[nodiscard]] bool plan_suits(const SearchPlan& plan, const PlanGrounds& grounds, double radius, std::uint64_t points,
                              double pairs, const ThreadPool& pool);

}  // namespace rthiss
