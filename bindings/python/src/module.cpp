#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <rthiss/errors.hpp>
#include <rthiss/searcher.hpp>
#include <rthiss/version.hpp>

#include <optional>

#include "analyses.hpp"
#include "errors.hpp"
#include "job.hpp"
#include "points.hpp"
#include "radius.hpp"
#include "search_index.hpp"

namespace rthiss::python {

namespace {

using namespace nanobind::literals;

Metric::Kind metric_of(const std::string& name) {
  if (name == "euclidean") return Metric::Kind::kEuclidean;
  if (name == "cosine") return Metric::Kind::kCosineDistance;
  if (name == "cosine_similarity") return Metric::Kind::kCosineSimilarity;
  throw InvalidArgument(
      fmt::format("unknown metric '{}'; known: euclidean, cosine (distance), cosine_similarity", name));
}

NonFinite nonfinite_of(const std::string& name) {
  if (name == "error") return NonFinite::kError;
  if (name == "ignore") return NonFinite::kIgnore;
  throw InvalidArgument(fmt::format("unknown value '{}' of nonfinite; known: error, ignore", name));
}

void bind_options(nb::module_& module) {
  nb::class_<SearchOptions>(module, "Options")
      .def(
          "__init__",
          [](SearchOptions* self, const std::string& metric, std::string engine, std::string index, std::string preset,
             int threads, std::uint64_t memory_limit, std::uint64_t max_results, const std::string& nonfinite,
             std::uint64_t seed) {
            SearchOptions options;
            options.metric.kind = metric_of(metric);
            options.engine = std::move(engine);
            options.index = std::move(index);
            options.preset = std::move(preset);
            options.threads = threads;
            options.memory_limit = memory_limit;
            options.max_results = max_results;
            options.nonfinite = nonfinite_of(nonfinite);
            options.seed = seed;
            new (self) SearchOptions(std::move(options));
          },
          nb::kw_only(), "metric"_a, "engine"_a, "index"_a, "preset"_a, "threads"_a, "memory_limit"_a, "max_results"_a,
          "nonfinite"_a, "seed"_a);
}

void bind_points(nb::module_& module) {
  nb::class_<Points>(module, "Points")
      .def_prop_ro("rows", [](const Points& points) { return points.view.rows; })
      .def_prop_ro("columns", [](const Points& points) { return points.view.columns; })
      .def_prop_ro("dtype", [](const Points& points) { return std::string(name_of(points.view.dtype)); })
      .def("copied", &Points::copied, nb::call_guard<nb::gil_scoped_release>());
  module.def("points_at", &points_at, "owner"_a, "address"_a, "rows"_a, "columns"_a, "dtype"_a, "row_stride"_a,
             "column_stride"_a, "byte_swapped"_a);
  module.def(
      "points_from_dlpack",
      [](nb::object array, const std::string& role) -> std::optional<Points> {
        Points points = points_from_dlpack(std::move(array), role);
        if (points.owner == nullptr) return std::nullopt;
        return points;
      },
      "array"_a, "role"_a);
}

nb::list availability_of(const std::vector<Availability>& all) {
  nb::list list;
  for (const Availability& entry : all) {
    list.append(nb::make_tuple(entry.name.c_str(), entry.available, entry.detail.c_str()));
  }
  return list;
}

}  // namespace

}  // namespace rthiss::python

NB_MODULE(_core, module) {
  using namespace rthiss::python;
  module.attr("version") = RTHISS_VERSION_STRING;
  register_exceptions();
  bind_options(module);
  bind_points(module);
  bind_searches(module);
  bind_radius(module);
  bind_analyses(module);
  module.def("engines", [] { return availability_of(rthiss::engines()); });
  module.def("indexes", [] { return availability_of(rthiss::indexes()); });
  module.def("stop_all_jobs", &stop_all_jobs);
}
