#include <rthiss/knn.hpp>

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/analysis_run.hpp"
#include "analysis/knn_radius.hpp"
#include "analysis/sampled_distances.hpp"
#include "pipeline/searcher_access.hpp"

namespace rthiss {

namespace {

/// Takes rows of at most k neighbours; those with k are done and go to their place, nearest first.
class NearestSink final : public ResultSink {
 public:
  NearestSink(NearestNeighbors& result, bool similarity, const ThreadPool& pool)
      : result_(result), similarity_(similarity), pool_(pool) {}

  void consume(NeighborChunk&& chunk) override {
    const std::uint64_t k = result_.k;
    pool_.for_ranges(0, chunk.query_ids.size(), 64, [&](std::size_t begin, std::size_t end) {
      std::vector<std::pair<double, std::uint32_t>> row(k);
      for (std::size_t r = begin; r < end; ++r) {
        const std::uint64_t first = chunk.row_begin[r];
        if (chunk.row_begin[r + 1] - first != k) continue;
        // -0 for +0 and back is no matter: a similarity of zero has no sign to lose that compares.
        for (std::uint64_t i = 0; i < k; ++i) {
          const double value = chunk.distances[first + i];
          row[i] = {similarity_ ? -value : value, chunk.neighbor_ids[first + i]};
        }
        std::sort(row.begin(), row.end());
        const std::uint64_t place = chunk.query_ids[r] * k;
        for (std::uint64_t i = 0; i < k; ++i) {
          result_.ids[place + i] = row[i].second;
          result_.distances[place + i] = similarity_ ? -row[i].first : row[i].first;
        }
      }
    });
  }

 private:
  NearestNeighbors& result_;
  bool similarity_;
  const ThreadPool& pool_;
};

void check_k(std::uint64_t k, std::uint64_t available, bool self_join, std::uint64_t ignored) {
  if (k <= available) return;
  throw InvalidArgument(fmt::format("k is {}, but there are only {} {}points{}", k, available,
                                    self_join ? "other " : "",
                                    ignored == 0 ? "" : fmt::format(" beside {} that are ignored", ignored)));
}

void check_limits(std::uint64_t queries, std::uint64_t k, std::uint64_t max_results, std::uint64_t memory_limit) {
  const std::uint64_t places = queries * k;  // both below 2^32
  if (max_results != 0 && places > max_results) {
    throw OutOfMemory(fmt::format("the result has {} neighbours, over the limit of {}; raise max_results or lower k",
                                  places, max_results));
  }
  constexpr std::uint64_t kPlaceBytes = sizeof(std::uint32_t) + sizeof(double);
  if (places > memory_limit / kPlaceBytes) {
    throw OutOfMemory(
        fmt::format("the result has {} neighbours of {} bytes, over the limit of {}; raise memory_limit, "
                    "lower k, or search for fewer queries at a time",
                    places, kPlaceBytes, memory_limit));
  }
}

NearestNeighbors find_nearest(Searcher& searcher, const Dataset* other_queries, std::uint64_t k, AnalysisRun& run) {
  const Dataset& points = run.points();
  const Dataset& queries = other_queries != nullptr ? *other_queries : points;
  const bool self_join = other_queries == nullptr;
  if (k == 0) throw InvalidArgument("k is 0; give at least 1");
  if (queries.columns() != points.columns()) {
    throw InvalidArgument(fmt::format("queries have {} columns, points have {}", queries.columns(), points.columns()));
  }
  const std::uint64_t usable = usable_rows(points);
  const bool drop_self = self_join && !run.options().include_self;
  std::vector<std::uint32_t> left = sample_rows(queries, queries.rows(), 0);  // all that are not ignored
  if (!left.empty()) check_k(k, usable - (drop_self ? 1 : 0), drop_self, points.rows() - usable);
  if (queries.rows() != 0) check_limits(queries.rows(), k, searcher.options().max_results, run.memory_limit());

  NearestNeighbors result;
  result.queries = queries.rows();
  result.k = k;
  result.ids = Array<std::uint32_t>(queries.rows() * k, kNoNeighbor);
  result.distances = Array<double>(queries.rows() * k, std::numeric_limits<double>::quiet_NaN());

  const Metric metric = run.options().metric;
  run.options().distances = true;
  const RowImage image = RowImage::choose(points, queries, metric.kind != Metric::Kind::kEuclidean);
  DistanceSampling sampling{&points, &queries, drop_self, &image, &run.pool(), run.observer()};
  sampling.seed = run.options().seed;
  KnnRadius radii(sampling, k, metric);
  NearestSink sink(result, metric.kind == Metric::Kind::kCosineSimilarity, run.pool());
  std::uint64_t rounds = 0;
  std::uint64_t self_pairs = 0;
  while (!left.empty()) {
    const double radius = radii.next(left);
    std::optional<std::span<const std::uint32_t>> subset;
    if (rounds > 0) subset = left;
    run.search(other_queries, subset, {.radius = radius, .max_neighbors = k}, sink);
    ++rounds;
    run.statistics().chosen.emplace_back(fmt::format("radius_{}", rounds),
                                         fmt::format("{} for {} queries", radius, left.size()));
    std::erase_if(left, [&](std::uint32_t query) { return result.ids[query * k] != kNoNeighbor; });
  }
  std::uint64_t found = 0;
  for (std::uint64_t query = 0; query < result.queries; ++query) {
    const auto row = result.row(query);
    if (row[0] == kNoNeighbor) continue;
    found += k;
    if (self_join && !drop_self) self_pairs += std::find(row.begin(), row.end(), query) != row.end() ? 1 : 0;
  }
  run.statistics().queries = queries.rows();
  run.statistics().pairs = found;
  run.statistics().self_pairs = self_pairs;
  return result;
}

}  // namespace

NearestNeighbors knn(Searcher& searcher, std::uint64_t k, Observer* observer) {
  AnalysisRun run(searcher, observer);
  return find_nearest(searcher, nullptr, k, run);
}

NearestNeighbors knn(Searcher& searcher, PointsView queries, std::uint64_t k, Observer* observer) {
  AnalysisRun run(searcher, observer);
  const Dataset rows = SearcherAccess::read_queries(searcher, queries);
  return find_nearest(searcher, &rows, k, run);
}

}  // namespace rthiss
