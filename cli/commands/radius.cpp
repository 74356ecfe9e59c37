#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/search_command.hpp"
#include "errors.hpp"
#include "estimate.hpp"
#include "exit_codes.hpp"
#include "input.hpp"
#include "number_text.hpp"

namespace rthiss::cli {

namespace {

struct RadiusCommand {
  std::string points, queries;
  std::optional<double> selectivity;
  MetricFlags metric;
  SearchOptions options;
  OutputTarget output;
  ProgressMode progress = ProgressMode::kAuto;
  bool curve = false;
};

std::string summary_of(const RadiusCommand& command, const PointsView& view, const RadiusEstimate& estimate) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "radius       {}\n", exact_text(estimate.radius));
  fmt::format_to(out, "interval     {} to {} (95 %)\n", exact_text(estimate.low), exact_text(estimate.high));
  fmt::format_to(out, "for          {} neighbours of a query in the mean, {} distance, {} rows x {} ({})\n",
                 exact_text(*command.selectivity), metric_name(command.metric.metric), with_commas(view.rows),
                 view.columns, name_of(view.dtype));
  fmt::format_to(out, "sample       {} queries, {} points, distances in {}\n", with_commas(estimate.sampled_queries),
                 with_commas(estimate.sampled_points), estimate.in_double ? "float64" : "float32");
  if (estimate.curve.empty()) return text;
  fmt::format_to(out, "\n{:>12} {:>14} {:>44}\n", "", "radius for k", "distance to the k-th neighbour of a query");
  fmt::format_to(out, "{:>12} {:>14} {:>14} {:>14} {:>14}\n", "k", "in the mean", "10 %", "median", "90 %");
  for (const CurvePoint& point : estimate.curve) {
    fmt::format_to(out, "{:>12} {:>14.6g} {:>14.6g} {:>14.6g} {:>14.6g}\n", point.k, point.radius, point.low,
                   point.median, point.high);
  }
  return text;
}

std::string json_of(const RadiusCommand& command, const Input& input, const RadiusEstimate& estimate,
                    double estimate_seconds) {
  const PointsView& view = input.points_view();
  nlohmann::ordered_json object;
  object["schema"] = 1;
  object["command"] = "radius";
  object["n"] = view.rows;
  object["queries"] = input.query_count();
  object["d"] = view.columns;
  object["dtype"] = name_of(view.dtype);
  object["metric"] = metric_name(command.metric.metric);
  object["selectivity"] = *command.selectivity;
  object["radius"] = json_number(estimate.radius);
  object["interval"] = {json_number(estimate.low), json_number(estimate.high)};
  object["sample"] = {{"queries", estimate.sampled_queries},
                      {"points", estimate.sampled_points},
                      {"seed", command.options.seed},
                      {"arithmetic", estimate.in_double ? "float64" : "float32"}};
  if (command.curve) {
    nlohmann::ordered_json& curve = object["curve"] = nlohmann::ordered_json::array();
    for (const CurvePoint& point : estimate.curve) {
      curve.push_back({{"k", point.k},
                       {"radius", json_number(point.radius)},
                       {"low", json_number(point.low)},
                       {"median", json_number(point.median)},
                       {"high", json_number(point.high)}});
    }
  }
  object["seconds"] = {{"total", input.seconds + estimate_seconds}, {"read", input.seconds}};
  return object.dump(2) + "\n";
}

int run_radius(RadiusCommand& command) {
  command.options.metric = command.metric.metric;
  const Input input = read_input(command.points, command.queries, command.options);
  const auto begin = std::chrono::steady_clock::now();
  RadiusEstimate estimate;
  {
    ProgressLine progress(command.progress);
    estimate = estimate_for(input, *command.selectivity, command.options, command.curve, &progress);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  command.output.report(summary_of(command, input.points_view(), estimate), json_of(command, input, estimate, seconds));
  return kDone;
}

}  // namespace

void add_radius(CLI::App& program, Action& action) {
  CLI::App* const command =
      program.add_subcommand("radius", "Estimates the radius at which rows have a wanted number of neighbours");
  auto radius = std::make_shared<RadiusCommand>();
  command->add_option("DATA", radius->points, "Rows to search in; '-': standard input")->required();
  command->add_option("--queries,-q", radius->queries, "Rows whose neighbours are wanted (default: DATA itself)")
      ->type_name("FILE");
  add_selectivity_option(*command, radius->selectivity)->required();
  add_metric_option(*command, radius->metric);
  command->add_flag("--curve", radius->curve, "Also the k-distance curve");
  add_threads_option(*command, radius->options);
  add_memory_limit_option(*command, radius->options);
  add_nonfinite_option(*command, radius->options);
  add_seed_option(*command, radius->options);
  add_json_option(*command, radius->output.json);
  add_progress_option(*command, radius->progress);
  command->callback([radius, &action] { action = [radius] { return run_radius(*radius); }; });
}

}  // namespace rthiss::cli
