#pragma once

#include <rthiss/options.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_run.hpp"

namespace rthiss::cli {

/// What the variants of an experiment are made from.
struct ExperimentRequest {
  SearchOptions options;  ///< as given, the preset filled in
  bool preset_given = false;
  std::vector<int> heights;  ///< of experiment `height`
};

/// A figure of a row, as a column of the table.
struct BenchColumn {
  std::string_view title;
  std::string (*text)(const BenchRow& row);
};

/// An experiment of the paper: ways to do one search that differ in one thing.
struct Experiment {
  std::string_view name;
  std::string_view description;
  std::string_view figure;               ///< of the paper
  std::vector<std::string_view> varies;  ///< options that it sets itself, and so refuses
  bool needs_cuda = false;
  std::vector<BenchVariant> (*variants)(const ExperimentRequest& request);
  std::vector<BenchColumn> columns;  ///< beside variant, seconds and pairs
};

[[nodiscard]] std::span<const Experiment> experiments();

}  // namespace rthiss::cli
