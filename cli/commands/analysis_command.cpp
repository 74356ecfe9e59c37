#include "commands/analysis_command.hpp"

#include "commands/search_command.hpp"
#include "errors.hpp"
#include "exit_codes.hpp"
#include "interruption.hpp"

namespace rthiss::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

void add_analysis_options(CLI::App& command, AnalysisCommand& analysis, const std::string& formats) {
  command.add_option("DATA", analysis.points, "Rows; '-': standard input")->required();
  add_search_options(command, analysis.options);
  command.add_option("--output,-o", analysis.output.path, "Where the result goes; '-': standard output")
      ->type_name("FILE");
  command.add_option("--format", analysis.output.format, formats + " (default: by the extension of --output)")
      ->type_name("NAME");
  add_json_option(command, analysis.output.json);
  command.add_flag("--explain", analysis.explain, "Say what was chosen, and the figures behind it");
  add_progress_option(command, analysis.progress);
}

void add_radius_options(CLI::App& command, AnalysisCommand& analysis) {
  add_radius_option(command, analysis.radius);
  add_metric_option(command, analysis.metric);
  add_cosine_option(command, analysis.metric);
}

void check_radius_options(const AnalysisCommand& analysis) {
  if (analysis.radius.has_value() == analysis.metric.similarity.has_value()) {
    throw UsageError("give exactly one of --radius and --cosine");
  }
}

int run_analysis(AnalysisCommand& analysis, const AnalysisWork& work) {
  analysis.options.metric = analysis.metric.metric;
  complete_search_options(analysis.options);
  const Input input = read_input(analysis.points, analysis.queries, analysis.options);
  SearchReport report;
  report.command = analysis.name;
  report.dtype = name_of(input.points_view().dtype);
  report.metric = analysis.options.metric;
  report.similarity = analysis.metric.similarity;
  report.radius = analysis.radius.value_or(0);
  report.self_join = input.queries_view() == nullptr;
  report.includes_self = analysis.options.include_self;
  report.explain = analysis.explain;
  report.output = analysis.output.path;
  nlohmann::ordered_json found = nlohmann::ordered_json::object();
  {
    ProgressLine progress(analysis.progress);
    const auto begin = Clock::now();
    Searcher searcher(input.points_view(), analysis.options);
    const double scan_seconds = seconds_since(begin);
    work(searcher, input, &progress, report, found);
    SearchStatistics& statistics = report.statistics;
    statistics.seconds[static_cast<std::size_t>(Stage::kRead)] += input.seconds + scan_seconds;
    statistics.seconds_total += input.seconds + scan_seconds;
  }
  report.output_bytes = analysis.output.file_bytes();
  nlohmann::ordered_json object = nlohmann::ordered_json::parse(json_text(report));
  object.update(found);
  analysis.output.report(summary_text(report), object.dump(2) + "\n");
  return kDone;
}

void store_result(const std::function<void()>& store, SearchReport& report) {
  stop_if_interrupted();
  const auto begin = Clock::now();
  store();
  report.statistics.seconds[static_cast<std::size_t>(Stage::kOutput)] += seconds_since(begin);
  report.statistics.seconds_total += seconds_since(begin);
}

}  // namespace rthiss::cli
