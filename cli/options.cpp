#include "options.hpp"

#include <fmt/format.h>
#include <rthiss/searcher.hpp>

#include <cmath>
#include <cstdlib>
#include <map>

#include "engine/registry.hpp"
#include "errors.hpp"
#include "simd/targets.hpp"
#include "value_parsers.hpp"

namespace rthiss::cli {

namespace {

constexpr int kMostThreads = 4096;
constexpr int kMostHeight = 31;
constexpr int kMostDevices = 1023;

const std::map<std::string, GroupingMethod> kGroupings = {{"kd-tree", GroupingMethod::kKdTree},
                                                          {"morton", GroupingMethod::kMorton},
                                                          {"hilbert", GroupingMethod::kHilbert},
                                                          {"ball", GroupingMethod::kBall}};
const std::map<std::string, SharedMemory> kSharedMemories = {{"none", SharedMemory::kNone},
                                                             {"query", SharedMemory::kQuery},
                                                             {"primitive", SharedMemory::kPrimitive},
                                                             {"both", SharedMemory::kBoth}};
const std::map<std::string, ResultMask> kMasks = {
    {"compressed", ResultMask::kCompressed}, {"plain", ResultMask::kPlain}, {"pairs", ResultMask::kPairs}};

void check_name(std::string_view what, const std::string& name, const std::vector<std::string>& all) {
  std::string known = "auto";
  for (const std::string& one : all) {
    if (one == name) return;
    known += ", " + one;
  }
  if (name != "auto") throw UsageError(fmt::format("{}: '{}' is none of {}", what, name, known));
}

/// An environment variable in the place of "auto"; returns what to call the choice in messages.
std::string_view take_environment(const char* variable, std::string_view option, std::string& choice) {
  const char* const value = std::getenv(variable);
  if (choice != "auto" || value == nullptr || *value == '\0') return option;
  choice = value;
  return variable;
}

}  // namespace

void add_metric_option(CLI::App& command, MetricFlags& flags) {
  command
      .add_option_function<std::string>(
          "--metric",
          [&flags](const std::string& name) {
            flags.metric.kind = name == "cosine" ? Metric::Kind::kCosineDistance : Metric::Kind::kEuclidean;
          },
          "Distance: euclidean, or cosine (1 - cosine of the angle)")
      ->check(CLI::IsMember({"euclidean", "cosine"}))
      ->default_str("euclidean");
}

void add_cosine_option(CLI::App& command, MetricFlags& flags) {
  command
      .add_option_function<std::string>(
          "--cosine",
          [&flags](const std::string& text) {
            const double similarity = parse_number("--cosine", text);
            if (!(std::abs(similarity) <= 1)) {
              throw UsageError(fmt::format("--cosine: {} is not from -1 to 1", text));
            }
            flags.metric.kind = Metric::Kind::kCosineSimilarity;
            flags.similarity = similarity;
          },
          "Neighbours are rows whose cosine similarity is at least this, in place of a radius")
      ->type_name("T")
      ->excludes("--metric");
}

std::string_view metric_name(const Metric& metric) {
  return metric.kind == Metric::Kind::kEuclidean ? "euclidean" : "cosine";
}

CLI::Option* add_radius_option(CLI::App& command, std::optional<double>& radius) {
  return command
      .add_option_function<std::string>(
          "--radius,-r", [&radius](const std::string& text) { radius = parse_radius("--radius", text); },
          "Plain distance within which rows are neighbours, itself included; 'inf' for all")
      ->type_name("R");
}

CLI::Option* add_selectivity_option(CLI::App& command, std::optional<double>& selectivity) {
  return command
      .add_option_function<std::string>(
          "--selectivity,-s",
          [&selectivity](const std::string& text) {
            const double value = parse_number("--selectivity", text);
            if (!(value > 0) || std::isinf(value)) {
              throw UsageError(fmt::format("--selectivity: {} is not a finite number above 0", text));
            }
            selectivity = value;
          },
          "Mean number of neighbours of a query, without itself, to find the radius for")
      ->type_name("S");
}

void add_threads_option(CLI::App& command, SearchOptions& options) {
  command
      .add_option_function<std::string>(
          "--threads",
          [&options](const std::string& text) {
            options.threads = static_cast<int>(parse_integer("--threads", text, 1, kMostThreads));
          },
          "Worker threads (default: all processors that the process may use)")
      ->type_name("N");
}

void add_seed_option(CLI::App& command, SearchOptions& options) {
  command
      .add_option_function<std::string>(
          "--seed",
          [&options](const std::string& text) { options.seed = parse_integer("--seed", text, 0, ~std::uint64_t{0}); },
          "Seed of all samples; never changes what a search finds")
      ->type_name("N")
      ->default_str("1");
}

void add_nonfinite_option(CLI::App& command, SearchOptions& options) {
  command
      .add_option_function<std::string>(
          "--nonfinite",
          [&options](const std::string& name) {
            options.nonfinite = name == "ignore" ? NonFinite::kIgnore : NonFinite::kError;
          },
          "Rows with NaN or infinity (and rows of zeros under a cosine metric): error, or ignore: nobody's neighbours")
      ->check(CLI::IsMember({"error", "ignore"}))
      ->default_str("error");
}

void add_memory_limit_option(CLI::App& command, SearchOptions& options) {
  command
      .add_option_function<std::string>(
          "--memory-limit",
          [&options](const std::string& text) { options.memory_limit = parse_size("--memory-limit", text); },
          "Memory that the work may add to the input, as 8GiB (default: half of the free memory)")
      ->type_name("SIZE");
}

void add_include_self_option(CLI::App& command, SearchOptions& options) {
  command.add_flag("--include-self", options.include_self, "Self-join: keep the pairs (i, i)");
}

void add_device_options(CLI::App& command, SearchOptions& options) {
  command
      .add_option_function<std::string>(
          "--device",
          [&options](const std::string& text) {
            options.device = static_cast<int>(parse_integer("--device", text, 0, kMostDevices));
          },
          "CUDA device, as 'rthiss info' numbers them (default: 0)")
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--device-memory-limit",
          [&options](const std::string& text) {
            options.device_memory_limit = parse_size("--device-memory-limit", text);
          },
          "Memory of the device that the work may take, as 8GiB (default: what is free)")
      ->type_name("SIZE");
  command
      .add_option_function<std::string>(
          "--shared-memory", [&options](const std::string& name) { options.shared_memory = kSharedMemories.at(name); },
          "Engine cuda, preset paper: tiles in shared memory (default: both)")
      ->check(CLI::IsMember(kSharedMemories));
  command
      .add_option_function<std::string>(
          "--mask", [&options](const std::string& name) { options.mask = kMasks.at(name); },
          "Engine cuda, preset paper: bits, bytes or pairs as the result of a refinement (default: compressed)")
      ->check(CLI::IsMember(kMasks));
}

void add_search_options(CLI::App& command, SearchOptions& options) {
  command.add_option("--engine", options.engine, "auto, or an engine of 'rthiss info'")->type_name("NAME");
  command.add_option("--index", options.index, "auto, or an index of 'rthiss info'")->type_name("NAME");
  command
      .add_option("--preset", options.preset,
                  "auto: fastest by a sample of the data; paper: the published algorithm as it stands")
      ->check(CLI::IsMember({"auto", "paper"}));
  command.add_option("--projection", options.projection, "What indexes the rows")
      ->check(CLI::IsMember({"auto", "none", "variance", "pca"}));
  command
      .add_option_function<std::string>(
          "--kd-tree-height",
          [&options](const std::string& text) {
            options.kd_tree_height = static_cast<int>(parse_integer("--kd-tree-height", text, 0, kMostHeight));
          },
          "2^N groups of rows (default: chosen, or floor(ln n) with --preset paper)")
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--grouping", [&options](const std::string& name) { options.grouping = kGroupings.at(name); },
          "How rows are put into groups: kd-tree, morton or hilbert (runs along that curve), or ball (ball tree)")
      ->check(CLI::IsMember(kGroupings))
      ->default_str("kd-tree");
  command
      .add_option_function<std::string>(
          "--primitive",
          [&options](const std::string& name) {
            options.primitive = name == "point" ? Primitive::kPoint : Primitive::kGroup;
          },
          "What the index holds: groups, or single points (an ablation of the paper)")
      ->check(CLI::IsMember({"group", "point"}))
      ->default_str("group");
  add_device_options(command, options);
  add_threads_option(command, options);
  add_memory_limit_option(command, options);
  add_nonfinite_option(command, options);
  add_seed_option(command, options);
}

void complete_search_options(SearchOptions& options) {
  const std::string_view engine = take_environment("RTHISS_ENGINE", "--engine", options.engine);
  const std::string_view index = take_environment("RTHISS_INDEX", "--index", options.index);
  std::vector<std::string> engine_names;
  for (const Availability& one : engines()) engine_names.push_back(one.name);
  check_name(engine, options.engine, engine_names);
  check_name(index, options.index, index_names());
  if (options.preset == "paper" && options.projection == "pca") {
    throw UsageError("--preset paper indexes raw coordinates: --projection variance or none, not pca");
  }
}

void apply_simd_environment() {
  const char* const target = std::getenv("RTHISS_SIMD");
  if (target != nullptr && *target != '\0') simd::force_target(target);
}

void add_json_option(CLI::App& command, std::string& path) {
  command
      .add_option("--json", path, "Write what was done as one JSON object; '-': to standard output, instead of text")
      ->type_name("FILE");
}

}  // namespace rthiss::cli
