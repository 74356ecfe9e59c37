#pragma once

#include <optional>
#include <string>

#include "options.hpp"
#include "output_target.hpp"
#include "progress.hpp"

namespace rthiss::cli {

/// The options of a command that searches.
struct SearchCommand {
  std::string name;
  bool counts_only = false;
  std::string points, queries;
  std::optional<double> radius, selectivity;
  std::string radii;
  std::optional<double> min_radius;
  std::optional<std::uint64_t> max_neighbors;
  MetricFlags metric;
  SearchOptions options;
  OutputTarget output;
  ProgressMode progress = ProgressMode::kAuto;
  bool explain = false;
};

/// Adds what `join` and `count` share.
void add_shared_options(CLI::App& command, SearchCommand& search);

/// --progress auto|on|off.
void add_progress_option(CLI::App& command, ProgressMode& mode);

/// Reads, searches, stores, reports. Returns the exit code.
[[nodiscard]] int run_search(SearchCommand& search);

}  // namespace rthiss::cli
