#pragma once

#include <rthiss/options.hpp>
#include <rthiss/points_view.hpp>
#include <rthiss/statistics.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "progress.hpp"
#include "result/checksum.hpp"

namespace rthiss::cli {

/// What a timed run hands out.
enum class BenchResult : std::uint8_t {
  kLists,   ///< all neighbours in host memory
  kCounts,  ///< the number of neighbours of each query
};

struct BenchSettings {
  int repeats = 3;  ///< >= 1
  int warm_up = 1;
  std::optional<double> time_limit;  ///< seconds of one run
  BenchResult result = BenchResult::kLists;
};

/// One way to do the search.
struct BenchVariant {
  std::string name;
  SearchOptions options;
  bool swapped = false;  ///< queries and points change places: as many pairs, each turned around
  std::string problem;   ///< why it cannot be run; empty: try
};

/// One search, to be done in several ways.
struct BenchCase {
  std::string set;
  PointsView points;
  std::optional<PointsView> queries;  ///< none: self-join
  double radius = 0;
  std::optional<double> selectivity;  ///< that the radius was estimated for
};

/// What was measured of one variant.
struct BenchRow {
  std::string variant;
  std::string problem;                   ///< why there are no figures; empty: measured
  bool timed_out = false;                ///< `problem` is the time limit
  std::vector<double> seconds;           ///< of the timed runs, in their order
  std::optional<double> first_seconds;   ///< of the first warm-up run
  std::optional<PairChecksum> checksum;  ///< of the rows of a warm-up run; none with counts
  bool repeatable = true;                ///< all runs found the same number of pairs
  SearchStatistics statistics;           ///< of the median run
  bool swapped = false;

  [[nodiscard]] bool measured() const noexcept { return problem.empty(); }
  /// Of the median run; the upper one of two.
  [[nodiscard]] double median() const;
};

/// Runs one variant: warm-up, then the timed runs, each from rows in host memory to the result in host memory, with a
/// new searcher. What is not supported here, does not fit or takes too long becomes the row's `problem`; other errors
/// pass through, Cancelled after a signal among them.
[[nodiscard]] BenchRow run_variant(const BenchCase& bench, const BenchVariant& variant, const BenchSettings& settings,
                                   ProgressLine& progress);

/// What differs between rows that must agree (numbers of pairs, checksums), as text; empty where all agree.
[[nodiscard]] std::string find_difference(const std::vector<BenchRow>& rows);

}  // namespace rthiss::cli
