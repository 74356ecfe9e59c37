#include "bench/bench_run.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>
#include <rthiss/searcher.hpp>

#include <algorithm>
#include <chrono>
#include <memory>

#include "common/parallel.hpp"
#include "interruption.hpp"
#include "number_text.hpp"
#include "result/counts_sink.hpp"
#include "result/csr_sink.hpp"

namespace rthiss::cli {

namespace {

using Clock = std::chrono::steady_clock;

/// Passes news on and stops a run at its time limit.
class RunObserver final : public Observer {
 public:
  RunObserver(ProgressLine& line, std::optional<double> limit) : line_(line) {
    if (limit) end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*limit));
  }
  void stage_begin(Stage stage) override { line_.stage_begin(stage); }
  void progress(const Progress& progress) override { line_.progress(progress); }
  [[nodiscard]] bool cancelled() const override { return line_.cancelled() || (end_ && Clock::now() > *end_); }

 private:
  ProgressLine& line_;
  std::optional<Clock::time_point> end_;
};

struct Run {
  double seconds = 0;
  SearchStatistics statistics;
};

Run run_once(const BenchCase& bench, const BenchVariant& variant, ResultSink& sink, Observer& observer) {
  PointsView points = bench.points;
  std::optional<PointsView> queries = bench.queries;
  if (variant.swapped) std::swap(points, *queries);
  const auto begin = Clock::now();
  Searcher searcher(points, variant.options);
  const double scan_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (queries) {
    searcher.radius_search(*queries, bench.radius, sink, &observer);
  } else {
    searcher.self_join(bench.radius, sink, &observer);
  }
  Run run{std::chrono::duration<double>(Clock::now() - begin).count(), searcher.statistics()};
  run.statistics.seconds[static_cast<std::size_t>(Stage::kRead)] += scan_seconds;
  run.statistics.seconds_total = run.seconds;
  return run;
}

std::unique_ptr<ResultSink> make_sink(BenchResult result, const ThreadPool& pool) {
  if (result == BenchResult::kCounts) return std::make_unique<CountsSink>();
  return std::make_unique<CsrSink>(&pool);
}

void measure(const BenchCase& bench, const BenchVariant& variant, const BenchSettings& settings, ProgressLine& progress,
             BenchRow& row) {
  const ThreadPool pool(variant.options.threads);
  std::vector<Run> runs;
  std::optional<std::uint64_t> pairs;
  const auto note = [&](const Run& run) {
    row.repeatable = row.repeatable && pairs.value_or(run.statistics.pairs) == run.statistics.pairs;
    pairs = run.statistics.pairs;
  };
  for (int i = 0; i < settings.warm_up; ++i) {
    RunObserver observer(progress, settings.time_limit);
    Run run;
    if (settings.result == BenchResult::kLists) {
      ChecksumSink sink(&pool);
      run = run_once(bench, variant, sink, observer);
      row.checksum = sink.checksum();
    } else {
      CountsSink sink;
      run = run_once(bench, variant, sink, observer);
    }
    note(run);
    if (i == 0) row.first_seconds = run.seconds;
  }
  for (int i = 0; i < settings.repeats; ++i) {
    RunObserver observer(progress, settings.time_limit);
    const std::unique_ptr<ResultSink> sink = make_sink(settings.result, pool);
    runs.push_back(run_once(bench, variant, *sink, observer));
    note(runs.back());
    row.seconds.push_back(runs.back().seconds);
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.seconds < b.seconds; });
  row.statistics = std::move(runs[runs.size() / 2].statistics);
}

}  // namespace

double BenchRow::median() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0.0 : sorted[sorted.size() / 2];
}

BenchRow run_variant(const BenchCase& bench, const BenchVariant& variant, const BenchSettings& settings,
                     ProgressLine& progress) {
  BenchRow row;
  row.variant = variant.name;
  row.swapped = variant.swapped;
  row.problem = variant.problem;
  // The library makes as many groups as there are rows then, which would be measured under another's name.
  const int height = variant.options.kd_tree_height.value_or(0);
  if (row.measured() && std::uint64_t{1} << height > std::max<std::uint64_t>(1, bench.points.rows)) {
    row.problem = fmt::format("2^{} groups are more than {} rows", height, bench.points.rows);
  }
  if (!row.measured()) return row;
  try {
    measure(bench, variant, settings, progress, row);
  } catch (const UnsupportedError& error) {
    row.problem = error.what();
  } catch (const OutOfMemory& error) {
    row.problem = error.what();
  } catch (const Cancelled&) {
    stop_if_interrupted();
    row.timed_out = true;
    row.problem = fmt::format("a run took more than {} s", exact_text(*settings.time_limit));
  }
  return row;
}

std::string find_difference(const std::vector<BenchRow>& rows) {
  const BenchRow* first = nullptr;
  for (const BenchRow& row : rows) {
    if (!row.repeatable) return fmt::format("runs of '{}' found different numbers of pairs", row.variant);
    if (!row.measured()) continue;
    if (first == nullptr) first = &row;
    if (row.statistics.pairs != first->statistics.pairs) {
      return fmt::format("'{}' found {} pairs, '{}' {}", first->variant, first->statistics.pairs, row.variant,
                         row.statistics.pairs);
    }
    if (row.checksum && first->checksum && row.swapped == first->swapped && *row.checksum != *first->checksum) {
      return fmt::format("'{}' and '{}' found different pairs: checksums {:016x} and {:016x}", first->variant,
                         row.variant, first->checksum->sum, row.checksum->sum);
    }
  }
  return {};
}

}  // namespace rthiss::cli
