#pragma once

#include <rthiss/observer.hpp>
#include <rthiss/options.hpp>
#include <rthiss/result_sink.hpp>
#include <rthiss/statistics.hpp>

#include <span>
#include <string>

#include "batching/batch_plan.hpp"
#include "dataset/dataset.hpp"
#include "engine/engine.hpp"
#include "pipeline/pair_estimate.hpp"
#include "pipeline/prepared_points.hpp"

namespace rthiss {

/// The algorithm, once for all engines and indexes:
///
///   points -> projection -> groups -> bounds -> index -+-> first intersection test -> batch plan
///   queries (grouped) ---------------------------------+
///   per batch: count -> order by length -> fill -> refine -> compact -> sink
class SearchPipeline {
 public:
  /// `kept`: of this engine and the points of every run; may be null.
  SearchPipeline(const Engine& engine, const SearchOptions& options, Observer* observer, KeptPoints* kept);

  /// `queries` null: self-join. Fills `statistics`. The sink gets begin, its rows or counts, and finish.
  void run(const Dataset& points, const Dataset* queries, double radius, ResultSink& sink,
           SearchStatistics& statistics);

 private:
  struct State;

  void prepare(State& state, const Dataset& points, const Dataset* queries, double radius, bool counts_only,
               SearchStatistics& statistics);
  /// Whether the kept points serve this search; they are then the state's.
  [[nodiscard]] bool take_kept(State& state, StageSetup& setup, const FilterSpace& space, double out_radius) const;
  void prepare_set(State& state, Side side, SearchStatistics& statistics) const;
  /// Counts, fills and refines; gives the number of pairs found.
  std::uint64_t refine(State& state, BatchSlot& slot, const CandidateRange& range, const RefineRequest& request,
                       SearchStatistics& statistics);
  void hand_on(State& state, BatchSlot& slot, ResultSink& sink, SearchStatistics& statistics) const;
  [[nodiscard]] BatchPlan plan_lists(State& state, const ResultSink& sink, SearchStatistics& statistics);
  void count_all(State& state, std::span<std::uint64_t> counts, SearchStatistics& statistics);
  void list_all(State& state, ResultSink& sink, SearchStatistics& statistics);
  [[nodiscard]] PairEstimate estimate_pairs(State& state, SearchStatistics& statistics);
  /// Empty, or why a result of that many pairs is refused.
  [[nodiscard]] std::string check_limits(const ResultSink& sink, const ResultShape& shape, std::uint64_t pairs,
                                         std::uint64_t budget) const;

  const Engine& engine_;
  const SearchOptions& options_;
  Observer* observer_;
  KeptPoints* kept_;
};

}  // namespace rthiss
