#include "analysis/analysis_run.hpp"

#include <rthiss/errors.hpp>

#include "batching/memory.hpp"
#include "common/peak_memory.hpp"
#include "pipeline/neighborhood_search.hpp"
#include "pipeline/search_pipeline.hpp"
#include "pipeline/searcher_access.hpp"

namespace rthiss {

AnalysisRun::AnalysisRun(Searcher& searcher, Observer* observer)
    : searcher_(searcher),
      points_(SearcherAccess::points(searcher)),
      pool_(SearcherAccess::engine(searcher).pool()),
      options_(searcher.options()),
      statistics_(SearcherAccess::statistics(searcher)),
      observer_(observer) {
  statistics_ = SearchStatistics();
  options_.max_results = 0;
}

AnalysisRun::~AnalysisRun() {
  statistics_.seconds_total = std::chrono::duration<double>(Clock::now() - begin_).count();
  statistics_.peak_bytes_host = peak_memory_bytes();
}

std::uint64_t AnalysisRun::memory_limit() const {
  return options_.memory_limit != 0 ? options_.memory_limit : default_memory_budget();
}

void AnalysisRun::search(const Dataset* queries, std::optional<std::span<const std::uint32_t>> subset,
                         const Neighborhood& neighborhood, ResultSink& sink) {
  SearchStatistics own;
  search_neighborhood(SearcherAccess::engine(searcher_), options_, {&points_, queries, subset, neighborhood}, sink, own,
                      observer_, &SearcherAccess::kept(searcher_));
  add_statistics(statistics_, own);
}

void AnalysisRun::self_join(double radius, ResultSink& sink) {
  SearchStatistics own;
  SearchPipeline(SearcherAccess::engine(searcher_), options_, observer_, &SearcherAccess::kept(searcher_))
      .run(points_, nullptr, radius, sink, own);
  add_statistics(statistics_, own);
}

void AnalysisRun::stop_if_cancelled() const {
  if (observer_ != nullptr && observer_->cancelled()) throw Cancelled();
}

}  // namespace rthiss
