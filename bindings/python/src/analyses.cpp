#include "analyses.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <rthiss/clustering.hpp>
#include <rthiss/knn.hpp>
#include <rthiss/near_duplicates.hpp>

#include <optional>

#include "results.hpp"
#include "search_index.hpp"

namespace rthiss::python {

namespace {

using namespace nanobind::literals;

/// ((distances [m x k], indices [m x k]), statistics). `queries` null: of the points themselves.
nb::tuple find_nearest(const SearchIndex& index, const Points* queries, std::uint64_t k, nb::object progress,
                       nb::object log) {
  std::optional<Points> asked;
  if (queries != nullptr) asked = *queries;
  auto [nearest, statistics] =
      index.with_searcher({},
                          [asked, k](Searcher& searcher, Observer& observer) {
                            return asked ? knn(searcher, asked->view, k, &observer) : knn(searcher, k, &observer);
                          },
                          {std::move(progress), std::move(log)});
  return nb::make_tuple(to_python(std::move(nearest), index.points().view.rows), to_python(statistics));
}

nb::object far_pair(const std::optional<FarPair>& far) {
  return far ? nb::object(nb::make_tuple(far->first, far->second, far->distance)) : nb::none();
}

/// (labels, core, clusters).
nb::tuple find_clusters(const SearchIndex& index, double radius, std::uint64_t min_points, nb::object progress,
                        nb::object log) {
  auto [clustering, statistics] = index.with_searcher({},
                                                      [radius, min_points](Searcher& searcher, Observer& observer) {
                                                        return dbscan(searcher, radius, min_points, &observer);
                                                      },
                                                      {std::move(progress), std::move(log)});
  return nb::make_tuple(adopt<std::int64_t>(std::move(clustering.labels)), adopt<bool>(std::move(clustering.core)),
                        clustering.clusters);
}

/// (labels, sizes, chained, far pair).
nb::tuple find_components(const SearchIndex& index, double radius, nb::object progress, nb::object log) {
  auto [components, statistics] = index.with_searcher(
      {},
      [radius](Searcher& searcher, Observer& observer) { return connected_components(searcher, radius, &observer); },
      {std::move(progress), std::move(log)});
  return nb::make_tuple(adopt<std::int64_t>(std::move(components.labels)), widen(std::move(components.sizes)),
                        components.chained, far_pair(components.far));
}

/// (labels, keep, groups, chained, far pair).
nb::tuple find_near_duplicates(const SearchIndex& index, double radius, nb::object progress, nb::object log) {
  auto [duplicates, statistics] = index.with_searcher(
      {}, [radius](Searcher& searcher, Observer& observer) { return near_duplicates(searcher, radius, &observer); },
      {std::move(progress), std::move(log)});
  return nb::make_tuple(adopt<std::int64_t>(std::move(duplicates.labels)), widen(std::move(duplicates.keep)),
                        duplicates.groups, duplicates.chained, far_pair(duplicates.far));
}

}  // namespace

void bind_analyses(nb::module_& module) {
  module.def("knn", &find_nearest, "index"_a, "queries"_a.none(), "k"_a, "progress"_a.none(), "log"_a.none());
  module.def("dbscan", &find_clusters, "index"_a, "radius"_a, "min_points"_a, "progress"_a.none(), "log"_a.none());
  module.def("connected_components", &find_components, "index"_a, "radius"_a, "progress"_a.none(), "log"_a.none());
  module.def("near_duplicates", &find_near_duplicates, "index"_a, "radius"_a, "progress"_a.none(), "log"_a.none());
}

}  // namespace rthiss::python
