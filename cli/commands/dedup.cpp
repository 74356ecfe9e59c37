#include <rthiss/near_duplicates.hpp>

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <vector>

#include "commands/analysis_command.hpp"
#include "commands/commands.hpp"
#include "commands/far_pair_text.hpp"
#include "errors.hpp"
#include "number_text.hpp"
#include "table_files.hpp"

namespace rthiss::cli {

namespace {

constexpr std::string_view kFormats[] = {"npy", "csv"};

struct DedupCommand : AnalysisCommand {
  std::string groups;
};

void write_result(const DedupCommand& command, const std::string& format, const NearDuplicates& found) {
  if (!command.groups.empty()) write_integers(command.groups, found.labels.span());
  if (command.output.path.empty()) return;
  if (format == "npy") {
    const std::vector<std::int64_t> keep(found.keep.begin(), found.keep.end());
    return write_integers(command.output.path, keep);
  }
  std::string text = "row,group,keep\n";
  std::size_t kept = 0;
  for (std::size_t i = 0; i < found.labels.size(); ++i) {
    const bool keep = kept < found.keep.size() && found.keep[kept] == i;
    kept += keep ? 1 : 0;
    fmt::format_to(std::back_inserter(text), "{},{},{}\n", i, found.labels[i], keep ? 1 : 0);
  }
  write_text(command.output.path, text);
}

int run_dedup(DedupCommand& command) {
  check_radius_options(command);
  const std::string format = table_format(command.output, kFormats);
  if (!command.groups.empty() && !command.groups.ends_with(".npy")) {
    throw UsageError("--groups: only .npy files; or use --output with .csv, which holds the groups too");
  }
  return run_analysis(command, [&](Searcher& searcher, const Input& input, Observer* observer, SearchReport& report,
                                   nlohmann::ordered_json& json) {
    const NearDuplicates found = near_duplicates(searcher, command.value(), observer);
    report.statistics = searcher.statistics();
    store_result([&] { write_result(command, format, found); }, report);
    const std::uint64_t removed = input.points_view().rows - found.keep.size();
    report.notes.push_back(fmt::format("{} rows to keep, {} to remove; {} groups of near duplicates with {} rows",
                                       with_commas(found.keep.size()), with_commas(removed), with_commas(found.groups),
                                       with_commas(found.grouped_rows)));
    report.notes.push_back(far_pair_text("groups", found.chained, found.far));
    json["keep"] = found.keep.size();
    json["remove"] = removed;
    json["groups_found"] = found.groups;
    json["grouped_rows"] = found.grouped_rows;
    json["chained"] = found.chained;
    json["far_pair"] = far_pair_json(found.far);
  });
}

}  // namespace

void add_dedup(CLI::App& program, Action& action) {
  CLI::App* const command =
      program.add_subcommand("dedup", "Groups of near duplicates, and a list of rows to keep, exactly");
  auto dedup = std::make_shared<DedupCommand>();
  dedup->name = "dedup";
  add_analysis_options(*command, *dedup, "npy (ids to keep) or csv (every row with its group)");
  add_radius_options(*command, *dedup);
  command->add_option("--groups", dedup->groups, "Also the group of each row, int64, -1 for none, as .npy")
      ->type_name("FILE");
  command->callback([dedup, &action] { action = [dedup] { return run_dedup(*dedup); }; });
}

}  // namespace rthiss::cli
