#pragma once

#include <rthiss/observer.hpp>
#include <rthiss/options.hpp>
#include <rthiss/searcher.hpp>
#include <rthiss/statistics.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "common/floating_point_scope.hpp"
#include "common/parallel.hpp"
#include "dataset/dataset.hpp"

namespace rthiss {

/// One analysis by several searches of a searcher, whose statistics sum them up. While it lives the floating-point
/// state is the library's.
class AnalysisRun {
 public:
  /// Forgets the statistics of the last search.
  AnalysisRun(Searcher& searcher, Observer* observer);
  /// Completes the statistics.
  ~AnalysisRun();
  AnalysisRun(const AnalysisRun&) = delete;
  AnalysisRun& operator=(const AnalysisRun&) = delete;

  [[nodiscard]] const Dataset& points() const noexcept { return points_; }
  [[nodiscard]] const ThreadPool& pool() const noexcept { return pool_; }
  /// The searcher's, without `max_results`: what an analysis keeps is no list of pairs. May be changed.
  [[nodiscard]] SearchOptions& options() noexcept { return options_; }
  [[nodiscard]] SearchStatistics& statistics() noexcept { return statistics_; }
  [[nodiscard]] Observer* observer() const noexcept { return observer_; }
  /// Bytes that results may take.
  [[nodiscard]] std::uint64_t memory_limit() const;

  /// A search in the points; `queries` null: self-join, `subset`: only these queries.
  void search(const Dataset* queries, std::optional<std::span<const std::uint32_t>> subset,
              const Neighborhood& neighborhood, ResultSink& sink);
  /// A self-join with one radius.
  void self_join(double radius, ResultSink& sink);

  void stop_if_cancelled() const;

 private:
  using Clock = std::chrono::steady_clock;

  FloatingPointScope scope_;
  Clock::time_point begin_ = Clock::now();
  Searcher& searcher_;
  const Dataset& points_;
  const ThreadPool& pool_;
  SearchOptions options_;
  SearchStatistics& statistics_;
  Observer* observer_;
};

}  // namespace rthiss
