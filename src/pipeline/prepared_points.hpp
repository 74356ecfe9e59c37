#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataset/filter_space.hpp"
#include "engine/search_plan.hpp"
#include "engine/search_stages.hpp"
#include "pipeline/choose_plan.hpp"

namespace rthiss {

/// What a search made of its points that holds for another radius and other queries as well. Belongs to one engine, one
/// set of points, and options that differ in limits and in what is handed out only.
struct PreparedPoints {
  FilterSpace space;
  SearchPlan plan;
  PlanGrounds grounds;
  std::vector<std::pair<std::string, std::string>> chosen;  ///< what the plan's statistics said
  std::unique_ptr<SearchStages> stages;
};

/// Between searches in the same points: null until one is over. A search takes it, and gives it back only when it
/// ended well.
using KeptPoints = std::unique_ptr<PreparedPoints>;

}  // namespace rthiss
