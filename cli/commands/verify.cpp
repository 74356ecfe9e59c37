#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/search_command.hpp"
#include "errors.hpp"
#include "exit_codes.hpp"
#include "input.hpp"
#include "io/result_reader.hpp"
#include "number_text.hpp"
#include "value_parsers.hpp"
#include "verification.hpp"

namespace rthiss::cli {

namespace {

struct VerifyCommand {
  std::string points, result, queries;
  std::optional<double> radius;
  MetricFlags metric;
  SearchOptions options;
  OutputTarget output;
  ProgressMode progress = ProgressMode::kAuto;
  bool all = false;
  std::optional<std::uint64_t> sample;
};

constexpr std::uint64_t kMostDefaultRows = 1000;
constexpr std::uint64_t kLeastDefaultRows = 20;
/// Components compared by default: some tens of seconds of the exact tiers.
constexpr double kDefaultWork = 2e10;

std::uint64_t default_sample(const PointsView& points) {
  const double row = std::max(1.0, static_cast<double>(points.rows) * static_cast<double>(points.columns));
  const double rows = std::min(static_cast<double>(kMostDefaultRows), kDefaultWork / row);
  return std::max(kLeastDefaultRows, static_cast<std::uint64_t>(rows));
}

std::string summary_of(const VerifyCommand& command, const Verification& found, std::uint64_t rows, double seconds) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "verify       {}: {}\n", command.result, found.correct() ? "equal to the exact answer" : "WRONG");
  fmt::format_to(out, "checked      {} of {} rows, {} pairs\n", with_commas(found.rows_checked), with_commas(rows),
                 with_commas(found.pairs_checked));
  if (!found.correct()) {
    fmt::format_to(out, "found        {} pairs missing, {} pairs too many, {} wrong distances, {} wrong counts\n",
                   with_commas(found.missing_pairs), with_commas(found.extra_pairs), with_commas(found.wrong_distances),
                   with_commas(found.wrong_counts));
    for (const std::string& example : found.examples) fmt::format_to(out, "             {}\n", example);
  }
  fmt::format_to(out, "time         {:.3f} s\n", seconds);
  return text;
}

std::string json_of(const VerifyCommand& command, const Input& input, const Verification& found, double seconds) {
  nlohmann::ordered_json object;
  object["schema"] = 1;
  object["command"] = "verify";
  object["n"] = input.points_view().rows;
  object["queries"] = input.query_count();
  object["d"] = input.points_view().columns;
  object["dtype"] = name_of(input.points_view().dtype);
  if (command.metric.similarity) {
    object["radius"] = nullptr;
    object["cosine"] = *command.metric.similarity;
  } else {
    object["radius"] = json_number(*command.radius);
  }
  object["metric"] = metric_name(command.metric.metric);
  object["includes_self"] = command.options.include_self;
  object["correct"] = found.correct();
  object["rows_checked"] = found.rows_checked;
  object["pairs_checked"] = found.pairs_checked;
  object["missing_pairs"] = found.missing_pairs;
  object["extra_pairs"] = found.extra_pairs;
  object["wrong_distances"] = found.wrong_distances;
  object["wrong_counts"] = found.wrong_counts;
  object["examples"] = found.examples;
  object["seconds"] = {{"total", seconds}};
  return object.dump(2) + "\n";
}

void check(VerifyCommand& command) {
  if (command.radius.has_value() == command.metric.similarity.has_value()) {
    throw UsageError("give exactly one of --radius and --cosine");
  }
  if (!command.queries.empty() && command.options.include_self) {
    throw UsageError("--include-self is for self-joins");
  }
  if (command.points == "-" && command.result == "-") {
    throw UsageError("DATA and RESULT cannot both come from standard input");
  }
  command.options.metric = command.metric.metric;
}

int run_verify(VerifyCommand& command) {
  check(command);
  const auto begin = std::chrono::steady_clock::now();
  const Input input = read_input(command.points, command.queries, command.options);
  const io::StoredResult stored = io::read_result(command.result, input.query_count(), input.points_view().rows);
  if (!command.all && !command.sample) command.sample = default_sample(input.points_view());
  Verification found;
  {
    ProgressLine progress(command.progress);
    found = verify_result(stored, input.points_view(), input.queries_view(),
                          command.metric.similarity.value_or(command.radius.value_or(0)), command.options,
                          command.all ? std::nullopt : command.sample, &progress);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  command.output.report(summary_of(command, found, input.query_count(), seconds),
                        json_of(command, input, found, seconds));
  return found.correct() ? kDone : kBadInput;
}

}  // namespace

void add_verify(CLI::App& program, Action& action) {
  CLI::App* const command =
      program.add_subcommand("verify", "Compares a stored result with the exact oracle; exit code 3 where it is wrong");
  auto verify = std::make_shared<VerifyCommand>();
  command->add_option("DATA", verify->points, "The rows that were searched")->required();
  command->add_option("RESULT", verify->result, "What 'join' or 'count' wrote (npz, pairs, pairs-csv, counts)")
      ->required();
  command->add_option("--queries,-q", verify->queries, "The queries of the search (default: DATA itself)")
      ->type_name("FILE");
  add_radius_option(*command, verify->radius);
  add_metric_option(*command, verify->metric);
  add_cosine_option(*command, verify->metric);
  add_include_self_option(*command, verify->options);
  CLI::Option* const all = command->add_flag("--all", verify->all, "Check every row, not only a sample");
  command
      ->add_option_function<std::string>(
          "--sample",
          [verify](const std::string& text) { verify->sample = parse_integer("--sample", text, 1, 0xfffffffe); },
          "Rows to check (default: up to 1000, as the size of the data allows)")
      ->type_name("N")
      ->excludes(all);
  add_threads_option(*command, verify->options);
  add_memory_limit_option(*command, verify->options);
  add_nonfinite_option(*command, verify->options);
  add_seed_option(*command, verify->options);
  add_json_option(*command, verify->output.json);
  add_progress_option(*command, verify->progress);
  command->callback([verify, &action] { action = [verify] { return run_verify(*verify); }; });
}

}  // namespace rthiss::cli
