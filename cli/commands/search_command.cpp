#include "commands/search_command.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>
#include <rthiss/searcher.hpp>

#include <algorithm>
#include <chrono>

#include "common/parallel.hpp"
#include "dataset/dataset.hpp"
#include "errors.hpp"
#include "estimate.hpp"
#include "exit_codes.hpp"
#include "input.hpp"
#include "number_text.hpp"
#include "report.hpp"
#include "result/checksum.hpp"
#include "result/counts_sink.hpp"
#include "value_parsers.hpp"

namespace rthiss::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void check(SearchCommand& search) {
  const int criteria = static_cast<int>(search.radius.has_value()) + static_cast<int>(search.selectivity.has_value()) +
                       static_cast<int>(search.metric.similarity.has_value()) + static_cast<int>(!search.radii.empty());
  if (criteria != 1) throw UsageError("give exactly one of --radius, --radii, --selectivity and --cosine");
  if (!search.queries.empty() && search.options.include_self) {
    throw UsageError("--include-self is for self-joins; with --queries equal rows are neighbours anyway");
  }
  search.options.metric = search.metric.metric;
  complete_search_options(search.options);
  search.output.check();
  if (search.options.distances && !search.output.holds_distances()) {
    throw UsageError("--distances needs --output in the format npz or pairs-csv; the others hold none");
  }
}

/// --min-radius and --max-neighbors.
void add_neighborhood_options(CLI::App& command, SearchCommand& search) {
  command
      .add_option_function<std::string>(
          "--min-radius",
          [&search](const std::string& text) { search.min_radius = parse_number("--min-radius", text); },
          "Only rows farther than this (with --cosine: less similar)")
      ->type_name("R");
  command
      .add_option_function<std::string>(
          "--max-neighbors",
          [&search](const std::string& text) {
            search.max_neighbors = parse_integer("--max-neighbors", text, 1, ~std::uint64_t{0});
          },
          "Of the rows within the radius only the K nearest, equal distances by number")
      ->type_name("K");
}

/// A file of one column, as numbers.
std::vector<double> read_radii(const std::string& path, const SearchOptions& options) {
  const Input input = read_input(path, "", options);
  const PointsView& view = input.points_view();
  if (view.columns != 1) {
    throw InvalidArgument(fmt::format("'{}' has {} columns; radii need exactly one", path, view.columns));
  }
  const ThreadPool pool(options.threads);
  const Dataset values(view, NonFinite::kIgnore, "radii", pool);
  std::vector<double> radii(values.rows());
  for (std::size_t i = 0; i < radii.size(); ++i) radii[i] = values.value(i, 0);
  return radii;
}

std::string spread_of(const Array<std::uint64_t>& counts) {
  std::vector<std::uint64_t> sorted(counts.begin(), counts.end());
  if (sorted.empty()) return "no queries";
  std::sort(sorted.begin(), sorted.end());
  return fmt::format("neighbours of a row: least {}, median {}, most {}", with_commas(sorted.front()),
                     with_commas(sorted[sorted.size() / 2]), with_commas(sorted.back()));
}

/// What the sink knows that the statistics do not.
std::string sink_note(const ResultSink& sink) {
  if (const auto* counts = dynamic_cast<const CountsSink*>(&sink)) return spread_of(counts->counts());
  if (const auto* checksum = dynamic_cast<const ChecksumSink*>(&sink)) {
    return fmt::format("checksum of the pairs {:016x}", checksum->checksum().sum);
  }
  return {};
}

std::unique_ptr<ResultSink> choose_sink(const SearchCommand& search, const ThreadPool& pool) {
  if (!search.output.path.empty()) return search.output.make_sink();
  if (search.counts_only) return std::make_unique<CountsSink>();
  return std::make_unique<ChecksumSink>(&pool);
}

}  // namespace

void add_progress_option(CLI::App& command, ProgressMode& mode) {
  command
      .add_option_function<std::string>(
          "--progress",
          [&mode](const std::string& name) {
            mode = name == "on" ? ProgressMode::kOn : name == "off" ? ProgressMode::kOff : ProgressMode::kAuto;
          },
          "A line on stderr with stage, pairs, rate and time left; auto: where stderr is a terminal")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->default_str("auto");
}

void add_shared_options(CLI::App& command, SearchCommand& search) {
  command.add_option("DATA", search.points, "Rows to search in; '-': standard input")->required();
  command.add_option("--queries,-q", search.queries, "Rows whose neighbours are wanted (default: DATA itself)")
      ->type_name("FILE");
  add_radius_option(command, search.radius);
  command.add_option("--radii", search.radii, "A radius for each query: a file of one column")->type_name("FILE");
  add_neighborhood_options(command, search);
  add_metric_option(command, search.metric);
  add_cosine_option(command, search.metric);
  add_include_self_option(command, search.options);
  add_search_options(command, search.options);
  command.add_option("--output,-o", search.output.path, "Where the result goes; '-': standard output")
      ->type_name("FILE");
  add_json_option(command, search.output.json);
  command.add_flag("--explain", search.explain, "Say what was chosen, and the figures behind it");
  add_progress_option(command, search.progress);
}

int run_search(SearchCommand& search) {
  check(search);
  const Input input = read_input(search.points, search.queries, search.options);
  const PointsView* const queries = input.queries_view();

  const std::vector<double> radii =
      search.radii.empty() ? std::vector<double>() : read_radii(search.radii, search.options);
  if (!search.radii.empty() && radii.size() != input.query_count()) {
    throw InvalidArgument(
        fmt::format("'{}' has {} radii for {} queries", search.radii, radii.size(), input.query_count()));
  }

  SearchReport report;
  report.radii = search.radii;
  report.min_radius = search.min_radius;
  report.max_neighbors = search.max_neighbors;
  report.command = search.name;
  report.dtype = name_of(input.points_view().dtype);
  report.metric = search.options.metric;
  report.similarity = search.metric.similarity;
  report.self_join = queries == nullptr;
  report.includes_self = search.options.include_self;
  report.explain = search.explain;
  report.radius = search.radius.value_or(0);

  const ThreadPool pool(search.options.threads);  // of the sink
  std::unique_ptr<ResultSink> sink = choose_sink(search, pool);
  {
    ProgressLine progress(search.progress);
    auto begin = Clock::now();
    std::string estimated;
    double estimate_seconds = 0;
    if (search.selectivity) {
      const RadiusEstimate estimate = estimate_for(input, *search.selectivity, search.options, false, &progress);
      report.radius = estimate.radius;
      estimated = fmt::format("{} for selectivity {}, 95 % interval {} to {}, from {} queries and {} points",
                              exact_text(estimate.radius), exact_text(*search.selectivity), exact_text(estimate.low),
                              exact_text(estimate.high), estimate.sampled_queries, estimate.sampled_points);
      progress.log("radius " + estimated);
      estimate_seconds = seconds_since(begin);
      begin = Clock::now();
    }
    Searcher searcher(input.points_view(), search.options);
    const double scan_seconds = seconds_since(begin);
    const Neighborhood neighborhood{search.metric.similarity.value_or(report.radius), radii, search.min_radius,
                                    search.max_neighbors};
    if (queries == nullptr) {
      searcher.self_join(neighborhood, *sink, &progress);
    } else {
      searcher.radius_search(*queries, neighborhood, *sink, &progress);
    }
    report.statistics = searcher.statistics();
    report.statistics.seconds[static_cast<std::size_t>(Stage::kRead)] += input.seconds + scan_seconds;
    report.statistics.seconds[static_cast<std::size_t>(Stage::kPlan)] += estimate_seconds;
    report.statistics.seconds_total += input.seconds + scan_seconds + estimate_seconds;
    if (!estimated.empty()) report.statistics.chosen.emplace_back("radius", estimated);
  }
  report.output = search.output.path;
  report.output_bytes = search.output.file_bytes();
  if (std::string note = sink_note(*sink); !note.empty()) report.notes.push_back(std::move(note));
  search.output.report(summary_text(report), json_text(report));
  return kDone;
}

}  // namespace rthiss::cli
