#include "report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "number_text.hpp"
#include "options.hpp"

namespace rthiss::cli {

namespace {

constexpr int kSchema = 1;

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string criterion_text(const SearchReport& report) {
  if (report.k) return fmt::format("{} nearest by {} distance", *report.k, metric_name(report.metric));
  std::string text;
  if (report.similarity) {
    text = fmt::format("cosine similarity >= {}", exact_text(*report.similarity));
  } else if (!report.radii.empty()) {
    text = fmt::format("{} distance <= that of each query in {}", metric_name(report.metric), report.radii);
  } else {
    text = fmt::format("{} distance <= {}", metric_name(report.metric), exact_text(report.radius));
  }
  if (report.min_radius) {
    text += fmt::format(" and {} {}", report.similarity ? "<" : ">", exact_text(*report.min_radius));
  }
  if (report.max_neighbors) text += fmt::format(", the nearest {}", *report.max_neighbors);
  return text;
}

std::string time_text(const SearchStatistics& statistics) {
  std::string text = fmt::format("{:.3f} s", statistics.seconds_total);
  const char* separator = ": ";
  for (int i = 0; i < kStageCount; ++i) {
    const double seconds = statistics.seconds[static_cast<std::size_t>(i)];
    if (seconds < 0.0005) continue;
    text += fmt::format("{}{} {:.3f}", separator, name_of(static_cast<Stage>(i)), seconds);
    separator = ", ";
  }
  return text;
}

std::string tiers_text(const TierCounts& decided) {
  const std::uint64_t all = decided.total();
  return fmt::format("filter {:.6g} %, double {:.6g} %, double-double {:.6g} %, exact {:.6g} %",
                     100 * ratio(decided.filter, all), 100 * ratio(decided.in_double, all),
                     100 * ratio(decided.double_double, all), 100 * ratio(decided.exact, all));
}

}  // namespace

double selectivity_of(const SearchStatistics& statistics) {
  return ratio(statistics.pairs - statistics.self_pairs, statistics.queries);
}

nlohmann::ordered_json stage_seconds_json(const SearchStatistics& statistics) {
  nlohmann::ordered_json seconds;
  seconds["total"] = statistics.seconds_total;
  for (int i = 0; i < kStageCount; ++i) {
    seconds[std::string(name_of(static_cast<Stage>(i)))] = statistics.seconds[static_cast<std::size_t>(i)];
  }
  return seconds;
}

void append_method_json(nlohmann::ordered_json& object, const SearchStatistics& s) {
  object["engine"] = s.engine;
  object["index"] = s.index;
  object["preset"] = s.preset;
  object["projection"] = s.projection;
  object["groups"] = s.groups;
  object["kd_tree_height"] = s.kd_tree_height;
  object["threads"] = s.threads;
  object["devices"] = s.devices;
  object["batches"] = s.batches;
  object["batch_candidates"] = {{"least", s.batch_sizes.least},
                                {"mean", s.batch_sizes.mean},
                                {"most", s.batch_sizes.most},
                                {"deviation", s.batch_sizes.deviation()}};
  object["candidates"] = {{"query_group", s.candidates_query_group}, {"comparisons", s.comparisons}};
  object["accepted_whole"] = s.accepted_whole;
  object["decided"] = {{"filter", s.decided.filter},
                       {"double", s.decided.in_double},
                       {"double_double", s.decided.double_double},
                       {"exact", s.decided.exact}};
}

std::string summary_text(const SearchReport& report) {
  const SearchStatistics& s = report.statistics;
  std::string text;
  const auto line = [&text](std::string_view label, std::string_view value) {
    fmt::format_to(std::back_inserter(text), "{:<12} {}\n", label, value);
  };
  line(report.command, report.self_join
                           ? fmt::format("{} rows x {} ({}), {}", with_commas(s.points), s.columns, report.dtype,
                                         criterion_text(report))
                           : fmt::format("{} queries in {} rows x {} ({}), {}", with_commas(s.queries),
                                         with_commas(s.points), s.columns, report.dtype, criterion_text(report)));
  const std::string_view self = !report.self_join      ? ""
                                : report.includes_self ? ", each row with itself included"
                                                       : ", a row with itself not counted";
  line("pairs", fmt::format("{} ordered{}", with_commas(s.pairs), self));
  line("selectivity", fmt::format("{:.6g} neighbours a query", selectivity_of(s)));
  for (const std::string& note : report.notes) line("", note);
  line("time", time_text(s));
  line("computed", fmt::format("{} pairs, {:.4g} % of all; {} accepted in whole groups; {} candidates (query, group)",
                               with_commas(s.comparisons),
                               100 * static_cast<double>(s.comparisons) /
                                   std::max(1.0, static_cast<double>(s.queries) * static_cast<double>(s.points)),
                               with_commas(s.accepted_whole), with_commas(s.candidates_query_group)));
  line("ratio", fmt::format("{:.4g} computed pairs for each pair found", ratio(s.comparisons, s.pairs)));
  line("decided by", tiers_text(s.decided));
  line("chosen", fmt::format("engine {}, index {}, preset {}, projection {}, {} groups (height {}), {} threads, {} {}",
                             s.engine, s.index, s.preset, s.projection, with_commas(s.groups), s.kd_tree_height,
                             s.threads, with_commas(s.batches), s.batches == 1 ? "batch" : "batches"));
  if (report.explain) {
    for (const auto& [key, value] : s.chosen) line("", fmt::format("{}: {}", key, value));
  }
  line("memory",
       fmt::format("{} at its peak", size_text(s.peak_bytes_host)) +
           (s.devices.empty() ? std::string() : fmt::format("; {} on the device", size_text(s.peak_bytes_device))));
  if (!report.output.empty()) {
    line("written", report.output_bytes == 0 ? report.output
                                             : fmt::format("{}, {}", report.output, size_text(report.output_bytes)));
  }
  return text;
}

std::string json_text(const SearchReport& report) {
  const SearchStatistics& s = report.statistics;
  nlohmann::ordered_json object;
  object["schema"] = kSchema;
  object["command"] = report.command;
  object["n"] = s.points;
  object["queries"] = s.queries;
  object["d"] = s.columns;
  object["dtype"] = report.dtype;
  if (report.similarity) {
    object["radius"] = nullptr;
    object["cosine"] = *report.similarity;
  } else if (report.k || !report.radii.empty()) {
    object["radius"] = nullptr;
  } else {
    object["radius"] = json_number(report.radius);
  }
  if (!report.radii.empty()) object["radii"] = report.radii;
  if (report.min_radius) object["min_radius"] = json_number(*report.min_radius);
  if (report.max_neighbors) object["max_neighbors"] = *report.max_neighbors;
  object["metric"] = metric_name(report.metric);
  object["includes_self"] = report.includes_self;
  object["pairs"] = s.pairs;
  object["selectivity"] = selectivity_of(s);
  append_method_json(object, s);
  object["seconds"] = stage_seconds_json(s);
  object["peak_bytes"] = {{"host", s.peak_bytes_host}, {"device", s.peak_bytes_device}};
  object["chosen"] = nlohmann::ordered_json::object();
  for (const auto& [key, value] : s.chosen) object["chosen"][key] = value;
  return object.dump(2) + "\n";
}

}  // namespace rthiss::cli
