#include <rthiss/clustering.hpp>

#include <fmt/format.h>

#include <iterator>
#include <memory>

#include "commands/analysis_command.hpp"
#include "commands/commands.hpp"
#include "commands/far_pair_text.hpp"
#include "errors.hpp"
#include "number_text.hpp"
#include "table_files.hpp"
#include "value_parsers.hpp"

namespace rthiss::cli {

namespace {

constexpr std::string_view kFormats[] = {"npy", "csv"};

struct ClusterCommand : AnalysisCommand {
  std::optional<std::uint64_t> min_points;
  bool components = false;
};

/// `kind`: what a row is, for the third column; empty: there is none.
template <typename Kind>
void write_labels(const ClusterCommand& command, const std::string& format, const Array<std::int64_t>& labels,
                  std::string_view header, const Kind& kind) {
  if (command.output.path.empty()) return;
  if (format == "npy") return write_integers(command.output.path, labels.span());
  std::string text(header);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{},{}{}\n", i, labels[i], kind(i));
  }
  write_text(command.output.path, text);
}

void find_clusters(const ClusterCommand& command, const std::string& format, Searcher& searcher, Observer* observer,
                   SearchReport& report, nlohmann::ordered_json& json) {
  const Clustering found = dbscan(searcher, command.value(), *command.min_points, observer);
  report.statistics = searcher.statistics();
  report.includes_self = true;
  store_result(
      [&] {
        write_labels(command, format, found.labels, "row,cluster,kind\n", [&found](std::size_t i) {
          return found.core[i] ? ",core" : found.labels[i] == kNoLabel ? ",noise" : ",border";
        });
      },
      report);
  report.notes.push_back(fmt::format("{} clusters; {} core, {} border and {} noise points", with_commas(found.clusters),
                                     with_commas(found.core_points), with_commas(found.border_points),
                                     with_commas(found.noise_points)));
  json["min_points"] = *command.min_points;
  json["clusters"] = found.clusters;
  json["core_points"] = found.core_points;
  json["border_points"] = found.border_points;
  json["noise_points"] = found.noise_points;
}

void find_components(const ClusterCommand& command, const std::string& format, Searcher& searcher, Observer* observer,
                     SearchReport& report, nlohmann::ordered_json& json) {
  const Components found = connected_components(searcher, command.value(), observer);
  report.statistics = searcher.statistics();
  store_result([&] { write_labels(command, format, found.labels, "row,component\n", [](std::size_t) { return ""; }); },
               report);
  std::uint32_t largest = 0;
  for (const std::uint32_t size : found.sizes) largest = std::max(largest, size);
  report.notes.push_back(
      fmt::format("{} components, the largest of {} rows", with_commas(found.components), with_commas(largest)));
  report.notes.push_back(far_pair_text("components", found.chained, found.far));
  json["components"] = found.components;
  json["largest"] = largest;
  json["chained"] = found.chained;
  json["far_pair"] = far_pair_json(found.far);
}

int run_cluster(ClusterCommand& command) {
  check_radius_options(command);
  if (command.components == command.min_points.has_value()) {
    throw UsageError("give one of --min-points M (DBSCAN) and --components");
  }
  const std::string format = table_format(command.output, kFormats);
  return run_analysis(command, [&](Searcher& searcher, const Input&, Observer* observer, SearchReport& report,
                                   nlohmann::ordered_json& found) {
    if (command.components) {
      find_components(command, format, searcher, observer, report, found);
    } else {
      find_clusters(command, format, searcher, observer, report, found);
    }
  });
}

}  // namespace

void add_cluster(CLI::App& program, Action& action) {
  CLI::App* const command = program.add_subcommand("cluster", "DBSCAN, or connected components, exactly");
  auto cluster = std::make_shared<ClusterCommand>();
  cluster->name = "cluster";
  add_analysis_options(*command, *cluster, "npy (a label each, -1 for none) or csv");
  add_radius_options(*command, *cluster);
  command
      ->add_option_function<std::string>(
          "--min-points,-m",
          [cluster](const std::string& text) {
            cluster->min_points = parse_integer("--min-points", text, 1, ~std::uint64_t{0});
          },
          "DBSCAN: points within the radius that make a core point, itself counted")
      ->type_name("M");
  command->add_flag("--components", cluster->components, "Connected components of all rows instead");
  command->callback([cluster, &action] { action = [cluster] { return run_cluster(*cluster); }; });
}

}  // namespace rthiss::cli
