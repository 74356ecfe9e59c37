#include "pipeline/choose_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <rthiss/errors.hpp>

#include "pipeline/cost_model.hpp"
#include "pipeline/tuning.hpp"

namespace rthiss {

namespace {

constexpr std::size_t kSampleRows = 1536;
constexpr std::size_t kMostComponents = 127;

SearchPlan paper_plan(const SearchOptions& options, const Dataset& points, const FilterSpace& space,
                      const ThreadPool& pool, SearchStatistics& statistics) {
  SearchPlan plan;
  const Sample sample = draw_sample(points, space, points.rows(), options.seed, pool);
  const bool sorted = options.projection != "none";
  plan.projection = choose_coordinates(sample, 3, sorted);
  plan.projection.with_rest = false;  // the paper indexes three coordinates and nothing else
  plan.coarse_components = plan.projection.components;
  plan.single_queries = true;
  plan.cascade = false;
  plan.grouping.split = SplitRule::kCycle;
  plan.grouping.order = GroupOrder::kMorton;
  plan.grouping.split_components = plan.projection.components;
  plan.grouping.height = options.kd_tree_height.value_or(
      points.rows() < 2 ? 0 : static_cast<int>(std::log(static_cast<double>(points.rows()))));
  plan.test_components = 3;
  plan.sphere_boxes = true;
  plan.box_distance = false;
  statistics.chosen.emplace_back("kd_tree_height", fmt::format("{} (floor(ln n), paper)", plan.grouping.height));
  return plan;
}

/// For an engine whose filter takes whole rows: the projection only groups rows and bounds groups.
SearchPlan whole_rows_plan(const SearchOptions& options, const PlanTraits& traits, const Dataset& points,
                           const FilterSpace& space, const ThreadPool& pool, SearchStatistics& statistics) {
  SearchPlan plan;
  const std::size_t d = points.columns();
  const Sample sample = draw_sample(points, space, kSampleRows, options.seed, pool);
  // One value less leaves room for the norm of the rest.
  const std::size_t components = d <= traits.bound_width ? d : traits.bound_width - 1;
  if (options.projection == "auto" || options.projection == "pca") {
    plan.projection = principal_components(sample, components, options.seed, pool);
  } else {
    plan.projection = choose_coordinates(sample, components, options.projection == "variance");
  }
  plan.coarse_components = plan.projection.components;
  plan.grouping.split = SplitRule::kWidest;
  plan.grouping.order = GroupOrder::kTree;
  plan.grouping.split_components = plan.projection.components;
  plan.grouping.leaf_size = traits.group_size;
  if (options.kd_tree_height) plan.grouping.height = *options.kd_tree_height;
  plan.test_components = plan.projection.width();
  statistics.chosen.emplace_back(
      "projection", fmt::format("{}: {} components for groups and boxes", plan.projection.name, components));
  return plan;
}

Projection copy_of(const Projection& projection) {
  Projection copy;
  copy.name = projection.name;
  copy.columns = projection.columns;
  copy.components = projection.components;
  copy.with_rest = projection.with_rest;
  copy.center = Array<float>(projection.center.span());
  copy.basis = Array<float>(projection.basis.span());
  copy.order = Array<std::uint32_t>(projection.order.span());
  copy.basis_defect = projection.basis_defect;
  copy.variance = Array<double>(projection.variance.span());
  return copy;
}

SearchPlan plan_of_preset(const SearchOptions& options, const PlanTraits& traits, const Dataset& points,
                          const FilterSpace& space, double radius, const ThreadPool& pool, SearchStatistics& statistics,
                          PlanGrounds& grounds) {
  if (options.preset == "paper") return paper_plan(options, points, space, pool, statistics);
  if (traits.bound_width != 0) return whole_rows_plan(options, traits, points, space, pool, statistics);

  SearchPlan plan;
  const std::size_t d = points.columns();
  Sample sample = draw_sample(points, space, kSampleRows, options.seed, pool);
  std::vector<CascadeShape> shapes;
  bool may_be_complete = false;
  if (options.projection == "auto" || options.projection == "pca") {
    Projection pca = principal_components(sample, std::min(d, kMostComponents), options.seed, pool);
    const AliveCurve curve = measure_alive(sample, pca, radius, pool);
    const CascadeShape shape = best_shape(curve, d, false, space.bytes);
    shapes.push_back(shape);
    plan.projection = std::move(pca);
    statistics.chosen.emplace_back("pca", shape.describe());
  }
  // Coordinates can win where all of them fit the dense filter: then it decides nearly everything by itself.
  if (options.projection != "pca" && (options.projection != "auto" || d <= kMostComponents)) {
    Projection coordinates = choose_coordinates(sample, std::min(d, kMostComponents), options.projection != "none");
    const AliveCurve curve = measure_alive(sample, coordinates, radius, pool);
    const CascadeShape shape = best_shape(curve, d, d <= kMostComponents, space.bytes);
    statistics.chosen.emplace_back("coordinates", shape.describe());
    if (shapes.empty() || shape.cost < shapes.front().cost) {
      plan.projection = std::move(coordinates);
      may_be_complete = d <= kMostComponents;
      shapes.assign(1, shape);
    }
  }
  const CascadeShape& shape = shapes.front();
  plan.coarse_components = shape.coarse;
  plan.use_fine = shape.fine != 0;
  plan.coarse_complete = plan.projection.is_coordinates() && shape.coarse == d;
  plan.cull_rows = shape.in_tiles < 1.0;
  grounds = {std::move(sample), copy_of(plan.projection), may_be_complete, space.bytes};
  shorten_projection(plan.projection, std::max(shape.coarse, shape.fine));
  plan.grouping.split = SplitRule::kWidest;
  plan.grouping.order = GroupOrder::kTree;
  plan.grouping.split_components = std::min<std::size_t>(shape.coarse, 16);
  if (options.kd_tree_height) plan.grouping.height = *options.kd_tree_height;
  plan.test_components = shape.coarse + (plan.coarse_complete ? 0 : 1);
  statistics.chosen.emplace_back("projection", fmt::format("{}: {}", plan.projection.name, shape.describe()));
  return plan;
}

}  // namespace

SearchPlan choose_plan(const SearchOptions& options, const PlanTraits& traits, const Dataset& points,
                       const FilterSpace& space, double radius, const ThreadPool& pool, SearchStatistics& statistics,
                       PlanGrounds& grounds) {
  SearchPlan plan = plan_of_preset(options, traits, points, space, radius, pool, statistics, grounds);
  plan.grouping.method = options.grouping;
  if (options.primitive == Primitive::kPoint) {
    plan.grouping.height = -1;
    plan.grouping.leaf_size = 1;
  }
  return plan;
}

bool plan_suits(const SearchPlan& plan, const PlanGrounds& grounds, double radius, std::uint64_t points, double pairs,
                const ThreadPool& pool) {
  if (grounds.sample.rows == 0) return true;
  const std::size_t d = grounds.sample.columns;
  const AliveCurve curve = measure_alive(grounds.sample, grounds.projection, radius, pool);
  const double best = best_shape(curve, d, grounds.may_be_complete, grounds.bytes).cost;
  const std::size_t fine = plan.use_fine ? plan.projection.components : 0;
  const double own = cost_of_shape(curve, plan.coarse_components, fine, d, grounds.may_be_complete, grounds.bytes);
  const double preparing = static_cast<double>(points) * static_cast<double>(d * plan.projection.components);
  return (own - best) * pairs <= tuning::kPrepareCost * preparing;
}

}  // namespace rthiss
