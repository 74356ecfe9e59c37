#pragma once

#include <rthiss/options.hpp>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rthiss::cli {

/// --metric and --cosine: what "near" means.
struct MetricFlags {
  Metric metric;
  std::optional<double> similarity;  ///< of --cosine
};

/// --metric euclidean|cosine.
void add_metric_option(CLI::App& command, MetricFlags& flags);
/// --cosine T, which stands for a radius.
void add_cosine_option(CLI::App& command, MetricFlags& flags);
/// What --json writes as `metric`.
[[nodiscard]] std::string_view metric_name(const Metric& metric);

/// --radius R, parsed exactly.
CLI::Option* add_radius_option(CLI::App& command, std::optional<double>& radius);
/// --selectivity S, > 0 and finite.
CLI::Option* add_selectivity_option(CLI::App& command, std::optional<double>& selectivity);

// Single options that several commands share; each writes into `options`.
void add_threads_option(CLI::App& command, SearchOptions& options);
void add_seed_option(CLI::App& command, SearchOptions& options);
void add_nonfinite_option(CLI::App& command, SearchOptions& options);
void add_memory_limit_option(CLI::App& command, SearchOptions& options);
void add_include_self_option(CLI::App& command, SearchOptions& options);

/// --device, --device-memory-limit, --shared-memory, --mask: of engine "cuda".
void add_device_options(CLI::App& command, SearchOptions& options);

/// --engine, --index, --preset, --projection, --kd-tree-height, --grouping, --primitive, those of the device,
/// --threads, --memory-limit, --nonfinite, --seed.
void add_search_options(CLI::App& command, SearchOptions& options);

/// After parsing: puts RTHISS_ENGINE and RTHISS_INDEX in the place of "auto" and checks names and combinations that
/// need no data. Throws UsageError, with the names that there are.
void complete_search_options(SearchOptions& options);

/// Dispatches vector code to the instruction set that RTHISS_SIMD names. Throws UnsupportedError.
void apply_simd_environment();

/// --json FILE.
void add_json_option(CLI::App& command, std::string& path);

}  // namespace rthiss::cli
