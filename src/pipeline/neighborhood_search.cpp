#include "pipeline/neighborhood_search.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "batching/memory.hpp"
#include "pipeline/neighborhood_sink.hpp"
#include "pipeline/radius_classes.hpp"
#include "pipeline/search_pipeline.hpp"

namespace rthiss {

namespace {

/// Throws InvalidArgument for what the metric has no such radius of; `place` opens the message.
void check_radius(double value, Metric metric, const std::string& place) {
  if (metric.kind == Metric::Kind::kCosineSimilarity) {
    if (value >= -1.0 && value <= 1.0) return;
    throw InvalidArgument(fmt::format("{} is {}; give a cosine similarity from -1 to 1", place, value));
  }
  if (value >= 0.0) return;
  throw InvalidArgument(fmt::format("{} is {}; give a number >= 0", place, value));
}

void check(const NeighborhoodRequest& request, Metric metric) {
  const Neighborhood& wanted = request.neighborhood;
  const Dataset& queries = request.queries != nullptr ? *request.queries : *request.points;
  if (queries.columns() != request.points->columns()) {
    throw InvalidArgument(
        fmt::format("queries have {} columns, points have {}", queries.columns(), request.points->columns()));
  }
  if (wanted.radii.empty()) {
    check_radius(wanted.radius, metric, "the radius");
  } else if (wanted.radii.size() != queries.rows()) {
    throw InvalidArgument(fmt::format("{} radii for {} queries; give one for each query, or one for all",
                                      wanted.radii.size(), queries.rows()));
  }
  for (std::size_t i = 0; i < wanted.radii.size(); ++i) {
    check_radius(wanted.radii[i], metric, fmt::format("the radius of query {}", i));
  }
  if (wanted.min_radius) check_radius(*wanted.min_radius, metric, "min_radius");
  if (wanted.max_neighbors && *wanted.max_neighbors == 0) {
    throw InvalidArgument("max_neighbors is 0; give at least 1, or none for all neighbours");
  }
}

/// Copies of some rows, as they are stored.
struct GatheredRows {
  Array<std::byte> bytes;
  PointsView view;

  GatheredRows(const PointsView& source, std::span<const std::uint32_t> rows, const ThreadPool& pool) {
    const std::size_t item = size_of(source.dtype);
    const std::size_t row_bytes = item * source.columns;
    bytes = Array<std::byte>(rows.size() * row_bytes);
    view = PointsView::row_major(bytes.data(), rows.size(), source.columns, source.dtype);
    view.byte_swapped = source.byte_swapped;
    pool.for_ranges(0, rows.size(), 64, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        const auto* const from =
            static_cast<const std::byte*>(source.data) + static_cast<std::int64_t>(rows[r]) * source.row_stride;
        std::byte* const to = bytes.data() + r * row_bytes;
        if (source.column_stride == static_cast<std::int64_t>(item)) {
          std::memcpy(to, from, row_bytes);
          continue;
        }
        for (std::size_t k = 0; k < source.columns; ++k) {
          std::memcpy(to + k * item, from + static_cast<std::int64_t>(k) * source.column_stride, item);
        }
      }
    });
  }
};

class NeighborhoodSearch {
 public:
  NeighborhoodSearch(const Engine& engine, const SearchOptions& options, const NeighborhoodRequest& request,
                     SearchStatistics& statistics, Observer* observer, KeptPoints* kept)
      : engine_(engine),
        options_(options),
        request_(request),
        statistics_(statistics),
        observer_(observer),
        kept_(kept) {
    // Values are worked out for what is left in the end, and limits hold for that.
    plain_options_ = options;
    plain_options_.distances = false;
    plain_options_.max_results = 0;
  }

  void run(ResultSink& inner) {
    check(request_, options_.metric);
    const std::uint64_t budget = options_.memory_limit != 0 ? options_.memory_limit : default_memory_budget();
    NeighborhoodSink sink({request_.points, &queries(), &request_.neighborhood, &options_, &engine_.pool(), observer_,
                           request_.queries == nullptr, budget},
                          inner);
    const Neighborhood& wanted = request_.neighborhood;
    if (wanted.radii.empty()) {
      if (request_.subset) {
        search_part(*request_.subset, wanted.radius, sink);
      } else {
        search_all(wanted.radius, sink);
      }
    } else {
      std::vector<std::uint32_t> all;
      if (!request_.subset) {
        all.resize(queries().rows());
        std::iota(all.begin(), all.end(), 0U);
      }
      const std::vector<RadiusClass> classes =
          divide_by_radius(wanted.radii, request_.subset.value_or(all), options_.metric);
      if (classes.size() == 1 && !request_.subset) {
        search_all(classes.front().radius, sink);
      } else {
        for (const RadiusClass& part : classes) search_part(part.queries, part.radius, sink);
        if (classes.empty()) search_all(0.0, sink);  // no queries
      }
      statistics_.chosen.emplace_back("radius_classes", std::to_string(classes.size()));
    }
    sink.finish_all();
    statistics_.queries = queries().rows();
    statistics_.pairs = sink.pairs();
    statistics_.self_pairs = sink.self_pairs();
  }

 private:
  [[nodiscard]] const Dataset& queries() const {
    return request_.queries != nullptr ? *request_.queries : *request_.points;
  }

  void search_all(double radius, NeighborhoodSink& sink) {
    sink.start_part({}, radius);
    search(request_.queries, radius, sink);
  }

  void search_part(std::span<const std::uint32_t> rows, double radius, NeighborhoodSink& sink) {
    if (rows.empty()) return;
    const GatheredRows gathered(queries().view(), rows, engine_.pool());
    Dataset part(gathered.view, options_.nonfinite, "queries", engine_.pool());
    if (options_.metric.kind != Metric::Kind::kEuclidean) {
      part.refuse_zero_rows(options_.nonfinite, "queries", engine_.pool());
    }
    sink.start_part(rows, radius);
    search(&part, radius, sink);
  }

  void search(const Dataset* rows, double radius, NeighborhoodSink& sink) {
    SearchStatistics own;
    SearchPipeline(engine_, plain_options_, observer_, kept_).run(*request_.points, rows, radius, sink, own);
    add_statistics(statistics_, own);
  }

  const Engine& engine_;
  const SearchOptions& options_;
  const NeighborhoodRequest& request_;
  SearchStatistics& statistics_;
  Observer* observer_;
  KeptPoints* kept_;
  SearchOptions plain_options_;
};

}  // namespace

void search_neighborhood(const Engine& engine, const SearchOptions& options, const NeighborhoodRequest& request,
                         ResultSink& sink, SearchStatistics& statistics, Observer* observer, KeptPoints* kept) {
  NeighborhoodSearch(engine, options, request, statistics, observer, kept).run(sink);
}

void add_statistics(SearchStatistics& sum, const SearchStatistics& other) {
  SearchStatistics total = other;
  total.queries += sum.queries;
  total.pairs += sum.pairs;
  total.self_pairs += sum.self_pairs;
  total.batches += sum.batches;
  total.batch_sizes += sum.batch_sizes;
  total.candidates_query_group += sum.candidates_query_group;
  total.comparisons += sum.comparisons;
  total.accepted_whole += sum.accepted_whole;
  total.decided += sum.decided;
  for (std::size_t i = 0; i < total.seconds.size(); ++i) total.seconds[i] += sum.seconds[i];
  total.seconds_total += sum.seconds_total;
  total.peak_bytes_host = std::max(total.peak_bytes_host, sum.peak_bytes_host);
  total.peak_bytes_device = std::max(total.peak_bytes_device, sum.peak_bytes_device);
  // The choices of the first search stand; later ones add what they alone say.
  total.chosen = sum.chosen;
  for (const auto& choice : other.chosen) {
    const bool known = std::any_of(sum.chosen.begin(), sum.chosen.end(),
                                   [&choice](const auto& before) { return before.first == choice.first; });
    if (!known) total.chosen.push_back(choice);
  }
  sum = std::move(total);
}

}  // namespace rthiss
