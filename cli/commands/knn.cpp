#include <rthiss/knn.hpp>

#include <fmt/format.h>

#include <memory>

#include "commands/analysis_command.hpp"
#include "commands/commands.hpp"
#include "errors.hpp"
#include "table_files.hpp"
#include "value_parsers.hpp"

namespace rthiss::cli {

namespace {

constexpr std::string_view kFormats[] = {"npy", "ivecs", "npz", "csv"};

struct KnnCommand : AnalysisCommand {
  std::uint64_t k = 0;
  std::string distances;
};

int run_knn(KnnCommand& command) {
  const std::string format = table_format(command.output, kFormats);
  if (!command.distances.empty() && !command.distances.ends_with(".npy")) {
    throw UsageError("--distances-output: only .npy files hold them; or use --output with .npz or .csv");
  }
  if (!command.queries.empty() && command.options.include_self) {
    throw UsageError("--include-self is for self-joins; with --queries equal rows are neighbours anyway");
  }
  return run_analysis(command, [&](Searcher& searcher, const Input& input, Observer* observer, SearchReport& report,
                                   nlohmann::ordered_json& found) {
    const PointsView* const queries = input.queries_view();
    const NearestNeighbors nearest =
        queries == nullptr ? knn(searcher, command.k, observer) : knn(searcher, *queries, command.k, observer);
    report.statistics = searcher.statistics();
    report.k = command.k;
    store_result(
        [&] {
          if (!command.output.path.empty()) {
            write_nearest(command.output.path, format, nearest, input.points_view().rows);
          }
          if (!command.distances.empty()) write_distances(command.distances, nearest);
        },
        report);
    found["k"] = command.k;
  });
}

}  // namespace

void add_knn(CLI::App& program, Action& action) {
  CLI::App* const command = program.add_subcommand("knn", "The k nearest rows of each row, exactly");
  auto knn = std::make_shared<KnnCommand>();
  knn->name = "knn";
  add_analysis_options(*command, *knn, "npy (ids, nearest first), ivecs, npz (SciPy's CSR of distances) or csv");
  command->add_option("--queries,-q", knn->queries, "Rows whose neighbours are wanted (default: DATA itself)")
      ->type_name("FILE");
  command
      ->add_option_function<std::string>(
          "-k,--neighbors",
          [knn](const std::string& text) { knn->k = parse_integer("-k", text, 1, ~std::uint64_t{0}); },
          "How many neighbours of each row")
      ->type_name("K")
      ->required();
  add_metric_option(*command, knn->metric);
  add_include_self_option(*command, knn->options);
  command->add_option("--distances-output", knn->distances, "Also the distances, float64 [rows x k], as .npy")
      ->type_name("FILE");
  command->callback([knn, &action] { action = [knn] { return run_knn(*knn); }; });
}

}  // namespace rthiss::cli
