#include "radius.hpp"

#include <rthiss/radius_estimate.hpp>

#include <memory>
#include <optional>

#include "job.hpp"
#include "points.hpp"

namespace rthiss::python {

namespace {

using namespace nanobind::literals;

/// (radius, low, high, sampled queries, sampled points, ((k, radius, low, median, high), ...)).
nb::tuple estimate(const Points& points, const Points* queries, const SearchOptions& options, double selectivity,
                   bool curve, nb::object progress, nb::object log) {
  RadiusEstimateOptions wanted;
  wanted.selectivity = selectivity;
  wanted.metric = options.metric.kind;
  wanted.nonfinite = options.nonfinite;
  wanted.seed = options.seed;
  wanted.threads = options.threads;
  wanted.curve = curve;
  std::optional<Points> asked;
  if (queries != nullptr) asked = *queries;
  const auto result = std::make_shared<RadiusEstimate>();
  run(
      [points, asked, wanted, result](Observer& observer) {
        *result = estimate_radius(points.view, asked ? &asked->view : nullptr, wanted, &observer);
      },
      {std::move(progress), std::move(log)});
  nb::list steps;
  for (const CurvePoint& point : result->curve) {
    steps.append(nb::make_tuple(point.k, point.radius, point.low, point.median, point.high));
  }
  return nb::make_tuple(result->radius, result->low, result->high, result->sampled_queries, result->sampled_points,
                        steps);
}

}  // namespace

void bind_radius(nb::module_& module) {
  module.def("estimate_radius", &estimate, "points"_a, "queries"_a.none(), "options"_a, "selectivity"_a, "curve"_a,
             "progress"_a.none(), "log"_a.none());
}

}  // namespace rthiss::python
