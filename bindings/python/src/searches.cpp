#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "join_stream.hpp"
#include "owned_neighborhood.hpp"
#include "results.hpp"
#include "search_index.hpp"

namespace rthiss::python {

namespace {

using namespace nanobind::literals;

using Radii = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// ((indptr, indices, distances), statistics). `queries` null: self-join.
nb::tuple search(const SearchIndex& index, const Points* queries, const OwnedNeighborhood& neighborhood,
                 bool include_self, bool distances, nb::object progress, nb::object log) {
  std::optional<Points> asked;
  if (queries != nullptr) asked = *queries;
  auto [lists, statistics] =
      index.with_searcher({include_self, distances},
                          [asked, neighborhood](Searcher& searcher, Observer& observer) {
                            return asked ? searcher.radius_search(asked->view, neighborhood.view(), &observer)
                                         : searcher.self_join(neighborhood.view(), &observer);
                          },
                          {std::move(progress), std::move(log)});
  return nb::make_tuple(to_python(std::move(lists), index.points().view.rows, distances), to_python(statistics));
}

void start_stream(JoinStream* self, const SearchIndex& index, const OwnedNeighborhood& neighborhood, bool include_self,
                  bool distances, std::uint64_t memory_limit) {
  SearchOptions options = index.options();
  options.include_self = include_self;
  options.distances = distances;
  options.memory_limit = memory_limit;
  new (self) JoinStream(index.points(), options, neighborhood);
}

void bind_neighborhood(nb::module_& module) {
  nb::class_<OwnedNeighborhood>(module, "Neighborhood")
      .def(
          "__init__",
          [](OwnedNeighborhood* self, double radius, const std::optional<Radii>& radii,
             std::optional<double> min_radius, std::optional<std::uint64_t> max_neighbors) {
            std::vector<double> own;
            if (radii) own.assign(radii->data(), radii->data() + radii->size());
            new (self) OwnedNeighborhood(radius, std::move(own), min_radius, max_neighbors);
          },
          "radius"_a, "radii"_a.none(), "min_radius"_a.none(), "max_neighbors"_a.none());
}

}  // namespace

void bind_searches(nb::module_& module) {
  bind_neighborhood(module);
  nb::class_<SearchIndex>(module, "SearchIndex")
      .def(
          "__init__",
          [](SearchIndex* self, const Points& points, const SearchOptions& options, nb::object progress,
             nb::object log) {
            new (self) SearchIndex(points, options, {std::move(progress), std::move(log)});
          },
          "points"_a, "options"_a, "progress"_a.none(), "log"_a.none())
      .def("search", &search, "queries"_a.none(), "neighborhood"_a, "include_self"_a, "distances"_a,
           "progress"_a.none(), "log"_a.none());

  nb::class_<JoinStream>(module, "JoinStream")
      .def("__init__", &start_stream, "index"_a, "neighborhood"_a, "include_self"_a, "distances"_a, "memory_limit"_a)
      .def(
          "next",
          [](JoinStream& self, nb::object progress, nb::object log) {
            return self.next({std::move(progress), std::move(log)});
          },
          "progress"_a.none(), "log"_a.none())
      .def("close", &JoinStream::close);
}

}  // namespace rthiss::python
