#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "bench/bench_report.hpp"
#include "bench/bench_run.hpp"
#include "bench/bench_set.hpp"
#include "bench/experiments.hpp"
#include "commands/commands.hpp"
#include "commands/search_command.hpp"
#include "errors.hpp"
#include "estimate.hpp"
#include "exit_codes.hpp"
#include "interruption.hpp"
#include "number_text.hpp"
#include "value_parsers.hpp"

namespace rthiss::cli {

namespace {

constexpr int kMostRuns = 1000;
constexpr int kMostHeight = 31;
constexpr std::uint64_t kMostLowColumns = 3;

struct BenchCommand {
  std::vector<std::string> sets;
  std::string queries;
  std::vector<double> radii, selectivities;
  ExperimentRequest request;
  BenchSettings settings;
  OutputTarget output;
  ProgressMode progress = ProgressMode::kAuto;
};

/// The paper's defaults of each experiment, where nothing else was asked for.
void complete(const Experiment& experiment, BenchCommand& command) {
  SearchOptions& options = command.request.options;
  if (!command.request.preset_given) options.preset = "paper";
  complete_search_options(options);
  if (experiment.needs_cuda) {
    if (options.preset != "paper") {
      throw UsageError(
          fmt::format("bench {}: an ablation of --preset paper, not of {}", experiment.name, options.preset));
    }
    if (options.engine == "auto") options.engine = "cuda";
  }
  if (command.request.heights.empty()) command.request.heights = {10, 11, 12, 13, 14, 15, 16, 17, 18};
  if (command.sets.empty()) command.sets = {"uniform:1000000x3", "exponential:1000000x3"};
  if (!command.radii.empty() && !command.selectivities.empty()) {
    throw UsageError("give --radius or --selectivity, not both");
  }
}

/// Every other row asks for the rest.
void split_rows(PointsView& points, std::optional<PointsView>& queries) {
  queries = points;
  queries->data = static_cast<const char*>(points.data) + points.row_stride;
  queries->rows = points.rows / 2;
  points.rows -= queries->rows;
  points.row_stride *= 2;
  queries->row_stride *= 2;
}

/// The numbers of neighbours to find radii for; those of the experiment as far as the set has so many rows.
std::vector<double> selectivities_of(const Experiment& experiment, const BenchCommand& command, std::uint64_t points) {
  if (!command.selectivities.empty()) return command.selectivities;
  constexpr double kSmall = 256;  // the paper's smallest, 2^8
  if (experiment.name != "selectivity") return {kSmall};
  std::vector<double> wanted;
  for (int power = 6; power <= 12; ++power) {
    const auto neighbours = std::uint64_t{1} << power;
    if (power == 6 || neighbours < points) wanted.push_back(static_cast<double>(neighbours));
  }
  return wanted;
}

std::vector<BenchCase> cases_of(const Experiment& experiment, const BenchCommand& command, const BenchSet& set,
                                const BenchSet* queries, ProgressLine& progress) {
  BenchCase bench;
  bench.set = set.name();
  bench.points = set.view();
  if (queries != nullptr) bench.queries = queries->view();
  if (experiment.name == "semi-join" && queries == nullptr) {
    if (bench.points.rows < 2) throw InvalidArgument(fmt::format("'{}' has no two rows to split", set.name()));
    split_rows(bench.points, bench.queries);
  }
  if (experiment.name == "low-dimension" && bench.points.columns > kMostLowColumns) {
    throw InvalidArgument(fmt::format("'{}' has {} columns; bench low-dimension takes at most {}", set.name(),
                                      bench.points.columns, kMostLowColumns));
  }
  std::vector<BenchCase> cases;
  for (const double radius : command.radii) {
    cases.push_back(bench);
    cases.back().radius = radius;
  }
  if (!cases.empty()) return cases;
  for (const double wanted : selectivities_of(experiment, command, bench.points.rows)) {
    cases.push_back(bench);
    cases.back().selectivity = wanted;
    cases.back().radius = estimate_for(bench.points, bench.queries ? &*bench.queries : nullptr, wanted,
                                       command.request.options, false, &progress)
                              .radius;
  }
  return cases;
}

/// Where no variant at all can be run, the first one's reason ends the program.
void check_measured(const std::vector<BenchBlock>& blocks) {
  const BenchRow* refused = nullptr;
  for (const BenchBlock& block : blocks) {
    for (const BenchRow& row : block.rows) {
      if (row.measured() || row.timed_out) return;
      if (refused == nullptr) refused = &row;
    }
  }
  if (refused != nullptr) throw UnsupportedError(refused->problem);
}

int run_bench(const Experiment& experiment, BenchCommand& command) {
  complete(experiment, command);
  const std::vector<BenchVariant> variants = experiment.variants(command.request);
  std::optional<BenchSet> queries;
  if (!command.queries.empty()) queries.emplace(command.queries, command.request.options);
  std::vector<std::unique_ptr<BenchSet>> sets;  // the report speaks of their views
  std::vector<BenchBlock> blocks;
  {
    ProgressLine progress(command.progress);
    for (const std::string& name : command.sets) {
      sets.push_back(std::make_unique<BenchSet>(name, command.request.options));
      for (BenchCase& bench : cases_of(experiment, command, *sets.back(), queries ? &*queries : nullptr, progress)) {
        stop_if_interrupted();
        BenchBlock block;
        for (const BenchVariant& variant : variants) {
          block.rows.push_back(run_variant(bench, variant, command.settings, progress));
        }
        block.difference = find_difference(block.rows);
        block.bench = std::move(bench);
        blocks.push_back(std::move(block));
      }
    }
  }
  check_measured(blocks);
  command.output.report(bench_text(experiment, blocks), bench_json(experiment, command.settings, blocks));
  int code = kDone;
  for (const BenchBlock& block : blocks) {
    if (block.difference.empty()) continue;
    fmt::print(stderr, "rthiss: bench {}: {}\n", experiment.name, block.difference);
    code = kInternal;
  }
  return code;
}

/// An option whose value is a list; `take` gets its parts one by one.
void add_list(CLI::App& command, const std::string& names, const std::string& type, const std::string& description,
              const std::function<void(const std::string&)>& take) {
  command
      .add_option_function<std::string>(
          names,
          [take](const std::string& text) {
            for (std::size_t begin = 0; begin <= text.size();) {
              const std::size_t end = std::min(text.find(',', begin), text.size());
              take(text.substr(begin, end - begin));
              begin = end + 1;
            }
          },
          description)
      ->type_name(type);
}

void add_run_options(CLI::App& command, BenchCommand& bench) {
  BenchSettings& settings = bench.settings;
  command
      .add_option_function<std::string>(
          "--repeats",
          [&settings](const std::string& text) {
            settings.repeats = static_cast<int>(parse_integer("--repeats", text, 1, kMostRuns));
          },
          "Timed runs of each variant, whose median counts")
      ->type_name("N")
      ->default_str("3");
  command
      .add_option_function<std::string>(
          "--warm-up",
          [&settings](const std::string& text) {
            settings.warm_up = static_cast<int>(parse_integer("--warm-up", text, 0, kMostRuns));
          },
          "Runs before those, which also take a checksum of the pairs")
      ->type_name("N")
      ->default_str("1");
  command
      .add_option_function<std::string>(
          "--time-limit",
          [&settings](const std::string& text) { settings.time_limit = parse_radius("--time-limit", text); },
          "Stop a run after so many seconds and go on with the next variant")
      ->type_name("S");
  command
      .add_option_function<std::string>(
          "--result",
          [&settings](const std::string& name) {
            settings.result = name == "counts" ? BenchResult::kCounts : BenchResult::kLists;
          },
          "What a timed run hands out: all neighbours in host memory, or their number for each row")
      ->check(CLI::IsMember({"lists", "counts"}))
      ->default_str("lists");
}

void add_radii_options(CLI::App& command, BenchCommand& bench) {
  add_list(command, "--radius,-r", "R,...", "Radii, one case each",
           [&bench](const std::string& text) { bench.radii.push_back(parse_radius("--radius", text)); });
  add_list(command, "--selectivity", "S,...",
           "Mean numbers of neighbours to find radii for (default: 256; experiment selectivity: 64 to 4096)",
           [&bench](const std::string& text) {
             const double wanted = parse_number("--selectivity", text);
             if (!(wanted > 0) || wanted > 0xffffffff) {
               throw UsageError(fmt::format("--selectivity: {} is not a number above 0 that rows could have", text));
             }
             bench.selectivities.push_back(wanted);
           });
}

void add_experiment(CLI::App& parent, const Experiment& experiment, Action& action) {
  CLI::App* const command = parent.add_subcommand(std::string(experiment.name), std::string(experiment.description));
  auto bench = std::make_shared<BenchCommand>();
  CLI::Option* const sets = command->add_option(
      "DATA", bench->sets,
      "Files of rows, workloads of 'rthiss generate' (WORKLOAD or WORKLOAD:ROWS), uniform:ROWSxCOLUMNS or "
      "exponential:ROWSxCOLUMNS");
  if (experiment.name != "low-dimension") sets->required();
  command->add_option("--queries,-q", bench->queries, "Rows whose neighbours are wanted, named like DATA")
      ->type_name("DATA");
  add_radii_options(*command, *bench);
  add_run_options(*command, *bench);
  if (experiment.name == "height") {
    add_list(*command, "--heights", "H,...", "Heights of the kd-tree (default: 10 to 18)",
             [bench](const std::string& text) {
               bench->request.heights.push_back(static_cast<int>(parse_integer("--heights", text, 0, kMostHeight)));
             });
  }
  add_search_options(*command, bench->request.options);
  // What the experiment sets itself is no option of it.
  for (const std::string_view option : experiment.varies) {
    command->remove_option(command->get_option(std::string(option)));
  }
  CLI::Option* const preset = command->get_option("--preset");
  preset->description("auto or paper (default: paper; experiments that compare the presets: both)");
  add_json_option(*command, bench->output.json);
  add_progress_option(*command, bench->progress);
  command->callback([bench, preset, &experiment, &action] {
    bench->request.preset_given = preset->count() > 0;
    action = [bench, &experiment] { return run_bench(experiment, *bench); };
  });
}

}  // namespace

void add_bench(CLI::App& program, Action& action) {
  CLI::App* const command = program.add_subcommand("bench", "Repeats the experiments of the RT-HiSS paper");
  command->require_subcommand(1);
  for (const Experiment& experiment : experiments()) add_experiment(*command, experiment, action);
}

}  // namespace rthiss::cli
