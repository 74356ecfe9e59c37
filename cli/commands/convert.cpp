#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "errors.hpp"
#include "exit_codes.hpp"
#include "input.hpp"
#include "interruption.hpp"
#include "io/points_writer.hpp"
#include "io/transform.hpp"
#include "number_text.hpp"
#include "options.hpp"
#include "output_target.hpp"

namespace rthiss::cli {

namespace {

struct ConvertCommand {
  std::string input, output, columns;
  std::string format;
  std::string json;
  bool normalise = false;
  SearchOptions options;
};

int run_convert(const ConvertCommand& convert) {
  const std::string target = convert.output == "-" ? "/dev/stdout" : convert.output;
  check_points_format(target, convert.format);
  if (convert.output == "-" && convert.json == "-") {
    throw UsageError("OUT and --json cannot both go to standard output");
  }
  const Input input = read_input(convert.input, {}, convert.options);
  PointsView view = input.points_view();
  std::optional<io::OwnedPoints> selected, normalised;
  if (!convert.columns.empty()) {
    std::vector<std::uint64_t> columns;
    try {
      columns = io::parse_columns(convert.columns, view.columns);
    } catch (const InvalidArgument& error) {
      throw UsageError(fmt::format("--columns: {}", error.what()));
    }
    view = selected.emplace(io::select_columns(view, columns)).view;
  }
  stop_if_interrupted();
  if (convert.normalise) view = normalised.emplace(io::normalise_columns(view)).view;
  stop_if_interrupted();
  io::write_points(view, target, convert.format);

  nlohmann::ordered_json object;
  object["schema"] = 1;
  object["command"] = "convert";
  object["n"] = view.rows;
  object["d"] = view.columns;
  object["dtype"] = name_of(view.dtype);
  object["input_format"] = input.points->format();
  object["output"] = convert.output;
  OutputTarget report;
  report.path = convert.output;
  report.json = convert.json;
  report.report(fmt::format("written      {}: {} rows x {} ({})\n", convert.output, with_commas(view.rows),
                            view.columns, name_of(view.dtype)),
                object.dump(2) + "\n");
  return kDone;
}

}  // namespace

void add_convert(CLI::App& program, Action& action) {
  CLI::App* const command = program.add_subcommand("convert", "Rewrites rows in another format; no value changes");
  auto convert = std::make_shared<ConvertCommand>();
  command->add_option("IN", convert->input, "Rows in any format that can be read; '-': standard input")->required();
  command->add_option("OUT", convert->output, "The file to write; '-': standard output")->required();
  command->add_option("--format", convert->format, "npy, fvecs, bvecs, ivecs or csv (default: by the extension of OUT)")
      ->type_name("NAME");
  command->add_option("--columns", convert->columns, "Only these columns in this order, as 0,3,5-9 (numbered from 0)")
      ->type_name("LIST");
  command->add_flag("--normalise,--normalize", convert->normalise,
                    "Move and scale every column into [0, 1], as float64");
  add_memory_limit_option(*command, convert->options);
  add_json_option(*command, convert->json);
  command->callback([convert, &action] { action = [convert] { return run_convert(*convert); }; });
}

}  // namespace rthiss::cli
