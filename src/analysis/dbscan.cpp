#include <rthiss/clustering.hpp>

#include <rthiss/errors.hpp>

#include <algorithm>
#include <vector>

#include "analysis/analysis_run.hpp"
#include "analysis/disjoint_sets.hpp"
#include "result/counts_sink.hpp"

namespace rthiss {

namespace {

constexpr std::size_t kRowGrain = 256;

/// Roots that a point that is no core point has found; the numbers of rows end below these.
constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::uint32_t kSeveral = ~std::uint32_t{0} - 1;

std::span<const std::uint32_t> row_of(const NeighborChunk& chunk, std::size_t r) {
  return chunk.neighbor_ids.span().subspan(chunk.row_begin[r], chunk.row_begin[r + 1] - chunk.row_begin[r]);
}

/// Unites core points that are neighbours, and looks what core points the others reach.
class ClusterSink final : public ResultSink {
 public:
  ClusterSink(const Array<bool>& core, DisjointSets& sets, Array<std::uint32_t>& reached, const AnalysisRun& run)
      : core_(core), sets_(sets), reached_(reached), run_(run) {}

  void consume(NeighborChunk&& chunk) override {
    const std::size_t rows = chunk.query_ids.size();
    for_rows(rows, [&](std::size_t r) {
      const std::uint32_t query = chunk.query_ids[r];
      if (!core_[query]) return;
      for (const std::uint32_t id : row_of(chunk, r)) {
        if (id >= query) break;  // the other direction has it
        if (core_[id]) sets_.unite(query, id);
      }
    });
    // Roots only ever merge: one root now is one root in the end. Several may be one later, unless this is the end.
    const bool complete = rows == core_.size();
    for_rows(rows, [&](std::size_t r) {
      const std::uint32_t query = chunk.query_ids[r];
      if (core_[query]) return;
      std::uint32_t reached = kNone;
      for (const std::uint32_t id : row_of(chunk, r)) {
        if (!core_[id]) continue;
        const std::uint32_t root = sets_.find(id);
        if (reached == kNone || (complete && root < reached)) {
          reached = root;
        } else if (!complete && root != reached) {
          reached = kSeveral;
          break;
        }
      }
      reached_[query] = reached;
    });
  }

 private:
  template <typename Body>
  void for_rows(std::size_t rows, const Body& body) const {
    run_.pool().for_ranges(0, rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
      run_.stop_if_cancelled();
      for (std::size_t r = begin; r < end; ++r) body(r);
    });
  }

  const Array<bool>& core_;
  DisjointSets& sets_;
  Array<std::uint32_t>& reached_;
  const AnalysisRun& run_;
};

/// For border points, once all sets are final: the lowest root in reach.
class BorderSink final : public ResultSink {
 public:
  BorderSink(const Array<bool>& core, DisjointSets& sets, Array<std::uint32_t>& reached)
      : core_(core), sets_(sets), reached_(reached) {}

  void consume(NeighborChunk&& chunk) override {
    for (std::size_t r = 0; r < chunk.query_ids.size(); ++r) {
      std::uint32_t lowest = kNone;
      for (const std::uint32_t id : row_of(chunk, r)) {
        if (core_[id]) lowest = std::min(lowest, sets_.find(id));
      }
      reached_[chunk.query_ids[r]] = lowest;
    }
  }

 private:
  const Array<bool>& core_;
  DisjointSets& sets_;
  Array<std::uint32_t>& reached_;
};

/// Numbers the sets of core points by their roots, which are their lowest ids.
void label_points(Clustering& result, DisjointSets& sets, const Array<std::uint32_t>& reached) {
  const std::size_t n = result.core.size();
  result.labels = Array<std::int64_t>(n, kNoLabel);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!result.core[i]) continue;
    ++result.core_points;
    const std::uint32_t root = sets.find(i);
    result.labels[i] = root == i ? static_cast<std::int64_t>(result.clusters++) : result.labels[root];
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    if (result.core[i]) continue;
    if (reached[i] == kNone) {
      ++result.noise_points;
    } else {
      ++result.border_points;
      result.labels[i] = result.labels[sets.find(reached[i])];
    }
  }
}

}  // namespace

Clustering dbscan(Searcher& searcher, double radius, std::uint64_t min_points, Observer* observer) {
  if (min_points == 0) throw InvalidArgument("min_points is 0; give at least 1 (the point itself counts)");
  AnalysisRun run(searcher, observer);
  run.options().distances = false;
  const std::size_t n = run.points().rows();
  Clustering result;
  result.core = Array<bool>(n);
  std::uint64_t pairs = 0;
  {
    run.options().include_self = true;
    CountsSink counts;
    run.self_join(radius, counts);
    pairs = counts.pairs();
    for (std::size_t i = 0; i < n; ++i) result.core[i] = counts.counts()[i] >= min_points;
  }
  run.options().include_self = false;
  DisjointSets sets(n);
  Array<std::uint32_t> reached(n, kNone);
  ClusterSink clusters(result.core, sets, reached, run);
  run.self_join(radius, clusters);

  std::vector<std::uint32_t> border;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (reached[i] == kSeveral) border.push_back(i);
  }
  if (!border.empty()) {
    BorderSink again(result.core, sets, reached);
    run.search(nullptr, border, {.radius = radius}, again);
  }
  label_points(result, sets, reached);
  run.statistics().queries = n;
  run.statistics().pairs = pairs;
  run.statistics().self_pairs = n - run.points().ignored_rows().size();
  return result;
}

}  // namespace rthiss
