#pragma once

#include <rthiss/options.hpp>
#include <rthiss/statistics.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rthiss::cli {

/// All that is said about a search when it is done.
struct SearchReport {
  std::string_view command;
  std::string_view dtype;
  double radius = 0;                 ///< unused where `similarity` is set
  std::optional<double> similarity;  ///< of --cosine
  Metric metric;
  std::optional<std::uint64_t> k;  ///< of knn, which has no radius
  std::string radii;               ///< the file of a radius for each query, in place of `radius`
  std::optional<double> min_radius;
  std::optional<std::uint64_t> max_neighbors;
  bool self_join = true;
  bool includes_self = false;
  bool explain = false;
  SearchStatistics statistics;     ///< with the command's own reading time in it
  std::string output;              ///< path; empty: nothing was stored
  std::uint64_t output_bytes = 0;  ///< 0: not a regular file
  std::vector<std::string> notes;  ///< further lines of the summary
};

/// (pairs - self pairs) / queries; 0 without queries.
[[nodiscard]] double selectivity_of(const SearchStatistics& statistics);

/// `total` and every stage, in seconds.
[[nodiscard]] nlohmann::ordered_json stage_seconds_json(const SearchStatistics& statistics);

/// Appends how a search was done: `engine` to `decided`, as docs/formats.md lists them.
void append_method_json(nlohmann::ordered_json& object, const SearchStatistics& statistics);

/// Lines for people.
[[nodiscard]] std::string summary_text(const SearchReport& report);

/// One object, schema 1 (docs/formats.md): the same for programs. Ends with a newline.
[[nodiscard]] std::string json_text(const SearchReport& report);

}  // namespace rthiss::cli
