#include <rthiss/searcher.hpp>

#include <chrono>
#include <optional>
#include <rthiss/errors.hpp>

#include "common/floating_point_scope.hpp"
#include "common/parallel.hpp"
#include "common/peak_memory.hpp"
#include "dataset/dataset.hpp"
#include "engine/registry.hpp"
#include "pipeline/neighborhood_search.hpp"
#include "pipeline/search_pipeline.hpp"
#include "pipeline/searcher_access.hpp"
#include "pipeline/stage_timer.hpp"
#include "result/csr_sink.hpp"

namespace rthiss {

struct Searcher::Impl {
  SearchOptions options;
  std::unique_ptr<Engine> engine;
  std::optional<Dataset> points;
  SearchStatistics statistics;
  KeptPoints kept;  // refers to the engine and the points

  Impl(PointsView view, SearchOptions given) : options(std::move(given)) {
    check_names();
    engine = make_engine(choose_engine(options, view.rows, view.columns), options);
    engine->check(options);
    (void)engine->resolve_index(options.index);
    points.emplace(view, options.nonfinite, "points", engine->pool());
    if (is_cosine()) points->refuse_zero_rows(options.nonfinite, "points", engine->pool());
  }

  [[nodiscard]] bool is_cosine() const { return options.metric.kind != Metric::Kind::kEuclidean; }

  void check_names() const {
    if (options.preset != "auto" && options.preset != "paper") {
      throw InvalidArgument("unknown preset '" + options.preset + "'; known: auto, paper");
    }
    const std::string& projection = options.projection;
    if (projection != "auto" && projection != "none" && projection != "variance" && projection != "pca") {
      throw InvalidArgument("unknown projection '" + projection + "'; known: auto, none, variance, pca");
    }
    if (options.preset == "paper" && projection == "pca") {
      throw InvalidArgument("preset 'paper' indexes raw coordinates: projection 'variance' or 'none', not 'pca'");
    }
    if (options.kd_tree_height && (*options.kd_tree_height < 0 || *options.kd_tree_height > 31)) {
      throw InvalidArgument("kd_tree_height must be from 0 to 31, not " + std::to_string(*options.kd_tree_height));
    }
  }

  [[nodiscard]] Dataset read_queries(const PointsView& view) const {
    Dataset queries(view, options.nonfinite, "queries", engine->pool());
    if (is_cosine()) queries.refuse_zero_rows(options.nonfinite, "queries", engine->pool());
    return queries;
  }

  void search(const PointsView* view, const Neighborhood& neighborhood, ResultSink& sink, Observer* observer) {
    const FloatingPointScope scope;
    const ThreadPool::InterruptScope interrupt(engine->pool(),
                                               [observer] { return observer != nullptr && observer->cancelled(); });
    const auto begin = std::chrono::steady_clock::now();
    statistics = SearchStatistics();
    std::optional<Dataset> queries;
    if (view != nullptr) {
      const StageTimer timer(Stage::kRead, statistics, observer);
      queries.emplace(read_queries(*view));
    }
    const Dataset* const others = queries ? &*queries : nullptr;
    if (neighborhood.is_plain()) {
      SearchPipeline pipeline(*engine, options, observer, &kept);
      pipeline.run(*points, others, neighborhood.radius, sink, statistics);
      if (view == nullptr && options.include_self) {
        statistics.self_pairs = points->rows() - points->ignored_rows().size();
      }
    } else {
      search_neighborhood(*engine, options, {&*points, others, std::nullopt, neighborhood}, sink, statistics, observer,
                          &kept);
    }
    statistics.seconds_total = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    statistics.peak_bytes_host = peak_memory_bytes();
  }

  NeighborLists lists(const PointsView* view, const Neighborhood& neighborhood, Observer* observer) {
    CsrSink sink(&engine->pool());
    search(view, neighborhood, sink, observer);
    return sink.take();
  }
};

Searcher::Searcher(PointsView points, SearchOptions options) {
  const FloatingPointScope scope;
  impl_ = std::make_unique<Impl>(points, std::move(options));
}
Searcher::~Searcher() = default;
Searcher::Searcher(Searcher&&) noexcept = default;
Searcher& Searcher::operator=(Searcher&&) noexcept = default;

NeighborLists Searcher::self_join(double radius, Observer* observer) {
  return self_join(Neighborhood{.radius = radius}, observer);
}
void Searcher::self_join(double radius, ResultSink& sink, Observer* observer) {
  self_join(Neighborhood{.radius = radius}, sink, observer);
}
NeighborLists Searcher::radius_search(PointsView queries, double radius, Observer* observer) {
  return radius_search(queries, Neighborhood{.radius = radius}, observer);
}
void Searcher::radius_search(PointsView queries, double radius, ResultSink& sink, Observer* observer) {
  radius_search(queries, Neighborhood{.radius = radius}, sink, observer);
}
NeighborLists Searcher::self_join(const Neighborhood& neighborhood, Observer* observer) {
  return impl_->lists(nullptr, neighborhood, observer);
}
void Searcher::self_join(const Neighborhood& neighborhood, ResultSink& sink, Observer* observer) {
  impl_->search(nullptr, neighborhood, sink, observer);
}
NeighborLists Searcher::radius_search(PointsView queries, const Neighborhood& neighborhood, Observer* observer) {
  return impl_->lists(&queries, neighborhood, observer);
}
void Searcher::radius_search(PointsView queries, const Neighborhood& neighborhood, ResultSink& sink,
                             Observer* observer) {
  impl_->search(&queries, neighborhood, sink, observer);
}
const SearchStatistics& Searcher::statistics() const noexcept { return impl_->statistics; }

const SearchOptions& Searcher::options() const noexcept { return impl_->options; }

const Engine& SearcherAccess::engine(const Searcher& searcher) { return *searcher.impl_->engine; }
const Dataset& SearcherAccess::points(const Searcher& searcher) { return *searcher.impl_->points; }
Dataset SearcherAccess::read_queries(const Searcher& searcher, const PointsView& queries) {
  return searcher.impl_->read_queries(queries);
}
KeptPoints& SearcherAccess::kept(Searcher& searcher) { return searcher.impl_->kept; }
SearchStatistics& SearcherAccess::statistics(Searcher& searcher) { return searcher.impl_->statistics; }

std::vector<Availability> engines() { return engine_availability(); }
std::vector<Availability> indexes() { return all_index_availability(); }

}  // namespace rthiss
