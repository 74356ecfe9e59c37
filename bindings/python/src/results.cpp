#include "results.hpp"

#include <rthiss/observer.hpp>

#include <limits>
#include <string>
#include <utility>

namespace rthiss::python {

namespace {

nb::object adopt_ids(Array<std::uint32_t>&& ids, bool narrow) {
  return narrow ? adopt<std::int32_t>(std::move(ids)) : widen(std::move(ids));
}

nb::object adopt_distances(Array<double>&& distances, bool present) {
  return present ? adopt<double>(std::move(distances)) : nb::none();
}

bool fits_int32(std::uint64_t points, std::uint64_t pairs) {
  constexpr std::uint64_t kLimit = std::numeric_limits<std::int32_t>::max();
  return points <= kLimit && pairs <= kLimit;
}

}  // namespace

nb::object widen(Array<std::uint32_t>&& ids) {
  Array<std::int64_t> wide(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) wide[i] = ids[i];
  return adopt<std::int64_t>(std::move(wide));
}

nb::tuple to_python(NeighborLists&& lists, std::uint64_t points, bool distances) {
  const bool narrow = fits_int32(points, lists.pairs());
  return nb::make_tuple(adopt<std::int64_t>(std::move(lists.begin)), adopt_ids(std::move(lists.ids), narrow),
                        adopt_distances(std::move(lists.distances), distances));
}

nb::tuple to_python(NeighborChunk&& chunk, std::uint64_t points, bool distances) {
  const bool narrow = fits_int32(points, chunk.row_begin.back());
  return nb::make_tuple(adopt_ids(std::move(chunk.query_ids), narrow), adopt<std::int64_t>(std::move(chunk.row_begin)),
                        adopt_ids(std::move(chunk.neighbor_ids), narrow),
                        adopt_distances(std::move(chunk.distances), distances));
}

nb::tuple to_python(NearestNeighbors&& nearest, std::uint64_t points) {
  const std::size_t m = nearest.queries, k = nearest.k;
  nb::object distances = adopt<double>(std::move(nearest.distances), {m, k});
  if (fits_int32(points, 0)) {
    static_assert(static_cast<std::int32_t>(kNoNeighbor) == -1);
    return nb::make_tuple(distances, adopt<std::int32_t>(std::move(nearest.ids), {m, k}));
  }
  Array<std::int64_t> wide(nearest.ids.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    wide[i] = nearest.ids[i] == kNoNeighbor ? -1 : static_cast<std::int64_t>(nearest.ids[i]);
  }
  return nb::make_tuple(distances, adopt<std::int64_t>(std::move(wide), {m, k}));
}

nb::dict to_python(const SearchStatistics& statistics) {
  nb::dict seconds;
  seconds["total"] = statistics.seconds_total;
  for (int stage = 0; stage < kStageCount; ++stage) {
    const std::string name(name_of(static_cast<Stage>(stage)));
    seconds[name.c_str()] = statistics.seconds[static_cast<std::size_t>(stage)];
  }
  nb::dict decided;
  decided["filter"] = statistics.decided.filter;
  decided["double"] = statistics.decided.in_double;
  decided["double_double"] = statistics.decided.double_double;
  decided["exact"] = statistics.decided.exact;
  nb::dict chosen;
  for (const auto& [name, figures] : statistics.chosen) chosen[name.c_str()] = figures.c_str();
  nb::dict all;
  all["n"] = statistics.points;
  all["queries"] = statistics.queries;
  all["d"] = statistics.columns;
  all["pairs"] = statistics.pairs;
  all["engine"] = statistics.engine.c_str();
  all["index"] = statistics.index.c_str();
  all["preset"] = statistics.preset.c_str();
  all["projection"] = statistics.projection.c_str();
  all["groups"] = statistics.groups;
  all["threads"] = statistics.threads;
  all["batches"] = statistics.batches;
  all["comparisons"] = statistics.comparisons;
  all["accepted_whole"] = statistics.accepted_whole;
  all["decided"] = decided;
  all["seconds"] = seconds;
  all["chosen"] = chosen;
  return all;
}

}  // namespace rthiss::python
