#pragma once

#include <rthiss/searcher.hpp>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "input.hpp"
#include "options.hpp"
#include "output_target.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace rthiss::cli {

/// The options of a command that is made of searches.
struct AnalysisCommand {
  std::string name;
  std::string points, queries;
  std::optional<double> radius;
  MetricFlags metric;
  SearchOptions options;
  OutputTarget output;
  ProgressMode progress = ProgressMode::kAuto;
  bool explain = false;

  /// The radius, or the similarity of --cosine.
  [[nodiscard]] double value() const { return metric.similarity.value_or(radius.value_or(0)); }
};

/// DATA, --engine, ..., --output, --format, --json, --explain, --progress. `formats`: for the help.
void add_analysis_options(CLI::App& command, AnalysisCommand& analysis, const std::string& formats);
/// --radius and --cosine, with --metric.
void add_radius_options(CLI::App& command, AnalysisCommand& analysis);

/// Checks that there is one criterion. Throws UsageError.
void check_radius_options(const AnalysisCommand& analysis);

/// Adds to the report's notes and to the JSON object what the work found out.
using AnalysisWork = std::function<void(Searcher&, const Input&, Observer*, SearchReport&, nlohmann::ordered_json&)>;

/// Reads, works, reports. Returns the exit code.
[[nodiscard]] int run_analysis(AnalysisCommand& analysis, const AnalysisWork& work);

/// Runs `store` as the output stage, its time counted.
void store_result(const std::function<void()>& store, SearchReport& report);

}  // namespace rthiss::cli
