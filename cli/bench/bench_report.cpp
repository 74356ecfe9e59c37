#include "bench/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "number_text.hpp"
#include "report.hpp"

namespace rthiss::cli {

namespace {

using Cells = std::vector<std::string>;

/// The least median of the measured rows; 0 without any.
double least_median(const std::vector<BenchRow>& rows) {
  double least = 0;
  for (const BenchRow& row : rows) {
    if (row.measured() && (least == 0 || row.median() < least)) least = row.median();
  }
  return least;
}

Cells titles_of(const Experiment& experiment) {
  Cells titles{"variant", "seconds", "least", "most", "of best", "pairs"};
  for (const BenchColumn& column : experiment.columns) titles.emplace_back(column.title);
  return titles;
}

Cells cells_of(const Experiment& experiment, const BenchRow& row, double best) {
  const auto [least, most] = std::minmax_element(row.seconds.begin(), row.seconds.end());
  Cells cells{row.variant,
              fmt::format("{:.4f}", row.median()),
              fmt::format("{:.4f}", *least),
              fmt::format("{:.4f}", *most),
              fmt::format("{:.2f}", best > 0 ? row.median() / best : 1.0),
              with_commas(row.statistics.pairs)};
  for (const BenchColumn& column : experiment.columns) cells.push_back(column.text(row));
  return cells;
}

void append_line(std::string& text, const Cells& cells, const std::vector<std::size_t>& widths) {
  fmt::format_to(std::back_inserter(text), "  {:<{}}", cells[0], widths[0]);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "  {:>{}}", cells[i], widths[i]);
  }
  text += '\n';
}

void append_table(std::string& text, const Experiment& experiment, const std::vector<BenchRow>& rows) {
  const double best = least_median(rows);
  std::vector<Cells> lines{titles_of(experiment)};
  for (const BenchRow& row : rows) {
    lines.push_back(row.measured() ? cells_of(experiment, row, best) : Cells{row.variant});
  }
  std::vector<std::size_t> widths(lines[0].size(), 0);
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  append_line(text, lines[0], widths);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].measured()) {
      append_line(text, lines[i + 1], widths);
    } else {
      fmt::format_to(std::back_inserter(text), "  {:<{}}  {}: {}\n", rows[i].variant, widths[0],
                     rows[i].timed_out ? "stopped" : "not available", rows[i].problem);
    }
  }
}

nlohmann::ordered_json json_of(const BenchRow& row) {
  nlohmann::ordered_json object;
  object["variant"] = row.variant;
  object["status"] = row.measured() ? "measured" : row.timed_out ? "time_limit" : "unavailable";
  if (!row.measured()) {
    object["problem"] = row.problem;
    return object;
  }
  const SearchStatistics& s = row.statistics;
  const auto [least, most] = std::minmax_element(row.seconds.begin(), row.seconds.end());
  object["seconds"] = {{"median", row.median()}, {"least", *least}, {"most", *most}, {"runs", row.seconds}};
  object["seconds"]["first"] = row.first_seconds ? nlohmann::ordered_json(*row.first_seconds) : nullptr;
  object["stages"] = stage_seconds_json(s);
  object["pairs"] = s.pairs;
  object["checksum"] =
      row.checksum ? nlohmann::ordered_json(fmt::format("{:016x}", row.checksum->sum)) : nlohmann::ordered_json();
  object["selectivity"] = selectivity_of(s);
  object["points"] = s.points;
  object["queries"] = s.queries;
  append_method_json(object, s);
  object["brute_force"] = s.queries * s.points;
  object["peak_bytes"] = {{"host", s.peak_bytes_host}, {"device", s.peak_bytes_device}};
  return object;
}

}  // namespace

std::string bench_text(const Experiment& experiment, const std::vector<BenchBlock>& blocks) {
  std::string text =
      fmt::format("{}: {} ({} of the paper)\n", experiment.name, experiment.description, experiment.figure);
  for (const BenchBlock& block : blocks) {
    const BenchCase& bench = block.bench;
    fmt::format_to(
        std::back_inserter(text), "\n{}: {} x {} ({}){}, radius {}{}\n", bench.set, with_commas(bench.points.rows),
        bench.points.columns, name_of(bench.points.dtype),
        bench.queries ? fmt::format(", {} queries", with_commas(bench.queries->rows)) : std::string(),
        exact_text(bench.radius),
        bench.selectivity ? fmt::format(" for {} neighbours", exact_text(*bench.selectivity)) : std::string());
    append_table(text, experiment, block.rows);
    if (!block.difference.empty()) text += "  RESULTS DIFFER: " + block.difference + "\n";
  }
  return text;
}

std::string bench_json(const Experiment& experiment, const BenchSettings& settings,
                       const std::vector<BenchBlock>& blocks) {
  nlohmann::ordered_json object;
  object["schema"] = 1;
  object["command"] = "bench";
  object["experiment"] = experiment.name;
  object["figure"] = experiment.figure;
  object["result"] = settings.result == BenchResult::kLists ? "lists" : "counts";
  object["repeats"] = settings.repeats;
  object["warm_up"] = settings.warm_up;
  object["time_limit"] = settings.time_limit ? nlohmann::ordered_json(*settings.time_limit) : nlohmann::ordered_json();
  nlohmann::ordered_json& cases = object["cases"] = nlohmann::ordered_json::array();
  bool equal = true;
  for (const BenchBlock& block : blocks) {
    const BenchCase& bench = block.bench;
    nlohmann::ordered_json one;
    one["set"] = bench.set;
    one["n"] = bench.points.rows;
    one["queries"] = bench.queries ? bench.queries->rows : bench.points.rows;
    one["d"] = bench.points.columns;
    one["dtype"] = name_of(bench.points.dtype);
    one["self_join"] = !bench.queries.has_value();
    one["radius"] = json_number(bench.radius);
    one["wanted_selectivity"] =
        bench.selectivity ? nlohmann::ordered_json(*bench.selectivity) : nlohmann::ordered_json();
    one["equal"] = block.difference.empty();
    nlohmann::ordered_json& rows = one["rows"] = nlohmann::ordered_json::array();
    for (const BenchRow& row : block.rows) rows.push_back(json_of(row));
    cases.push_back(std::move(one));
    equal = equal && block.difference.empty();
  }
  object["equal"] = equal;
  return object.dump(2) + "\n";
}

}  // namespace rthiss::cli
