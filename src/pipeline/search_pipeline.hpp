#pragma once

#include <rthiss/observer.hpp>
#include <rthiss/options.hpp>
#include <rthiss/result_sink.hpp>
#include <rthiss/statistics.hpp>

#include <span>
#include <string>

#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "index/group_index.hpp"
#include "pipeline/pair_estimate.hpp"
#include "pipeline/search_plan.hpp"

namespace rthiss {

/// The algorithm, once for all engines and indexes:
///
///   points -> projection -> groups -> bounds -> index -+-> first intersection test -> batch plan
///   queries (grouped) ---------------------------------+
///   per batch: count -> order by length -> fill -> refine -> compact -> sink
class SearchPipeline {
 public:
  SearchPipeline(const Engine& engine, const SearchOptions& options, Observer* observer);

  /// `queries` null: self-join. Fills `statistics`. The sink gets begin, its rows or counts, and finish.
  void run(const Dataset& points, const Dataset* queries, double radius, ResultSink& sink,
           SearchStatistics& statistics);

 private:
  struct State;

  void prepare(State& state, const Dataset& points, const Dataset* queries, double radius,
               SearchStatistics& statistics);
  [[nodiscard]] PreparedSet prepare_set(const State& state, const Dataset& data, SearchStatistics& statistics) const;
  [[nodiscard]] CandidateLists find_candidates(const State& state, const CandidateRange& range,
                                               SearchStatistics& statistics) const;
  void refine(State& state, const CandidateRange& range, const RefinementResult& result, SearchStatistics& statistics);
  void count_all(State& state, std::span<std::uint64_t> counts, SearchStatistics& statistics);
  void list_all(State& state, ResultSink& sink, SearchStatistics& statistics);
  [[nodiscard]] PairEstimate estimate_pairs(State& state, SearchStatistics& statistics);
  /// Empty, or why a result of that many pairs is refused.
  [[nodiscard]] std::string check_limits(const ResultSink& sink, const ResultShape& shape, std::uint64_t pairs,
                                         std::uint64_t budget) const;

  const Engine& engine_;
  const SearchOptions& options_;
  Observer* observer_;
};

}  // namespace rthiss
