#include <fmt/format.h>
#include <rthiss/searcher.hpp>
#include <rthiss/version.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "batching/memory.hpp"
#include "commands/commands.hpp"
#include "common/parallel.hpp"
#include "exit_codes.hpp"
#include "input.hpp"
#include "number_text.hpp"
#include "options.hpp"
#include "output_target.hpp"
#include "simd/targets.hpp"
#include "value_ranges.hpp"

namespace rthiss::cli {

namespace {

struct InfoCommand {
  std::string points;
  SearchOptions options;
  OutputTarget output;
};

constexpr std::size_t kMostColumnLines = 24;

void say_machine(std::string& text, nlohmann::ordered_json& object) {
  const auto out = std::back_inserter(text);
  const auto say_all = [&](std::string_view title, const std::vector<Availability>& all) {
    fmt::format_to(out, "{}\n", title);
    for (const Availability& one : all) {
      fmt::format_to(out, "  {:<12} {:<4} {}\n", one.name, one.available ? "yes" : "no", one.detail);
      object[std::string(title)].push_back({{"name", one.name}, {"available", one.available}, {"detail", one.detail}});
    }
  };
  fmt::format_to(out, "rthiss {}\n", RTHISS_VERSION_STRING);
  object["version"] = RTHISS_VERSION_STRING;
  say_all("engines", engines());
  say_all("indexes", indexes());
  const std::vector<std::string> targets = simd::supported_targets();
  fmt::format_to(out, "instruction sets {} (in use: {})\n", fmt::join(targets, ", "), simd::active_target());
  object["simd"] = {{"active", simd::active_target()}, {"supported", targets}};
  const int threads = ThreadPool(0).threads();
  fmt::format_to(out, "threads {}\n", threads);
  object["threads"] = threads;
  if (const auto memory = free_memory_bytes()) {
    fmt::format_to(out, "free memory {}\n", size_text(*memory));
    object["free_memory"] = *memory;
  }
}

void say_file(const std::string& path, const io::PointsFile& file, int threads, std::string& text,
              nlohmann::ordered_json& object) {
  const PointsView& view = file.view();
  const ValueRanges ranges = measure_ranges(view, ThreadPool(threads));
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "file {}\n", path);
  fmt::format_to(out, "  format       {}{}\n", file.format(), file.mapped() ? ", mapped" : "");
  fmt::format_to(out, "  shape        {} x {}\n", with_commas(view.rows), with_commas(view.columns));
  fmt::format_to(out, "  dtype        {}{}\n", name_of(view.dtype),
                 view.byte_swapped ? ", in the other byte order" : "");
  object["file"] = {{"path", path},
                    {"format", file.format()},
                    {"mapped", file.mapped()},
                    {"rows", view.rows},
                    {"columns", view.columns},
                    {"dtype", name_of(view.dtype)},
                    {"byte_swapped", view.byte_swapped}};
  nlohmann::ordered_json& details = object["file"];
  details["nonfinite_rows"] = ranges.nonfinite_rows;
  fmt::format_to(out, "  non-finite   {} rows\n", with_commas(ranges.nonfinite_rows));
  const auto [low, high] = ranges.whole();
  if (low <= high) {
    fmt::format_to(out, "  range        {} to {}\n", exact_text(low), exact_text(high));
    details["range"] = {low, high};
  }
  std::uint64_t constant = 0;
  nlohmann::ordered_json& columns = details["column_ranges"] = nlohmann::ordered_json::array();
  for (std::size_t j = 0; j < ranges.low.size(); ++j) {
    if (ranges.low[j] > ranges.high[j]) {
      columns.push_back(nullptr);
      continue;
    }
    constant += ranges.low[j] == ranges.high[j] ? 1 : 0;
    columns.push_back({ranges.low[j], ranges.high[j]});
    if (ranges.low.size() <= kMostColumnLines) {
      fmt::format_to(out, "  column {:<5} {} to {}\n", j, exact_text(ranges.low[j]), exact_text(ranges.high[j]));
    }
  }
  fmt::format_to(out, "  constant     {} columns\n", with_commas(constant));
  details["constant_columns"] = constant;
}

int run_info(const InfoCommand& info) {
  std::string text;
  nlohmann::ordered_json object;
  object["schema"] = 1;
  object["command"] = "info";
  say_machine(text, object);
  if (!info.points.empty()) {
    const Input input = read_input(info.points, {}, info.options);
    say_file(info.points, *input.points, info.options.threads, text, object);
  }
  info.output.report(text, object.dump(2) + "\n");
  return kDone;
}

}  // namespace

void add_info(CLI::App& program, Action& action) {
  CLI::App* const command = program.add_subcommand("info", "What this machine offers, and what is in a file");
  auto info = std::make_shared<InfoCommand>();
  command->add_option("DATA", info->points, "A file of rows to describe");
  add_threads_option(*command, info->options);
  add_memory_limit_option(*command, info->options);
  add_json_option(*command, info->output.json);
  command->callback([info, &action] { action = [info] { return run_info(*info); }; });
}

}  // namespace rthiss::cli
