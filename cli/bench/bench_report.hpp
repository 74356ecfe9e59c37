#pragma once

#include <string>
#include <vector>

#include "bench/bench_run.hpp"
#include "bench/experiments.hpp"

namespace rthiss::cli {

/// The variants of one case.
struct BenchBlock {
  BenchCase bench;
  std::vector<BenchRow> rows;
  std::string difference;  ///< between the rows' results; empty: they agree
};

/// A table for each case.
[[nodiscard]] std::string bench_text(const Experiment& experiment, const std::vector<BenchBlock>& blocks);

/// One object, schema 1 (docs/benchmarks.md). Ends with a newline.
[[nodiscard]] std::string bench_json(const Experiment& experiment, const BenchSettings& settings,
                                     const std::vector<BenchBlock>& blocks);

}  // namespace rthiss::cli
