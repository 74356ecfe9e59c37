#pragma once

#include <rthiss/observer.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rthiss {

/// Pairs decided by each tier of the exactness rule.
struct TierCounts {
  std::uint64_t filter = 0;
  std::uint64_t in_double = 0;
  std::uint64_t double_double = 0;
  std::uint64_t exact = 0;

  TierCounts& operator+=(const TierCounts& other) noexcept {
    filter += other.filter;
    in_double += other.in_double;
    double_double += other.double_double;
    exact += other.exact;
    return *this;
  }
  [[nodiscard]] std::uint64_t total() const noexcept { return filter + in_double + double_double + exact; }
};

/// How evenly the batches are filled: entries of the candidate lists of each. All 0 where rows are decided in the
/// traversal, which keeps no lists.
struct BatchSizes {
  std::uint64_t batches = 0;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  double mean = 0;
  double squares = 0;  ///< sum of squared differences from the mean

  BatchSizes& operator+=(const BatchSizes& other) noexcept;
  /// Standard deviation over the batches; 0 without any.
  [[nodiscard]] double deviation() const noexcept;
};

/// What a search did.
struct SearchStatistics {
  std::uint64_t queries = 0;
  std::uint64_t points = 0;
  std::uint64_t columns = 0;
  std::uint64_t pairs = 0;       ///< ordered pairs found, as counted by the result (with self pairs if included)
  std::uint64_t self_pairs = 0;  ///< how many of them are (i, i)
  std::string engine, index, preset, projection;
  std::uint64_t groups = 0;
  int kd_tree_height = 0;
  int threads = 0;
  std::vector<int> devices;  ///< that worked; empty on an engine of the host
  std::uint64_t batches = 0;
  BatchSizes batch_sizes;
  std::uint64_t candidates_query_group = 0;  ///< (query, group) candidates that the index let through
  std::uint64_t comparisons = 0;             ///< pairs really computed; equals decided.total()
  std::uint64_t accepted_whole = 0;          ///< pairs accepted with their whole pair of groups
  TierCounts decided;
  std::array<double, kStageCount> seconds{};  ///< by Stage
  double seconds_total = 0;
  std::uint64_t peak_bytes_host = 0;
  std::uint64_t peak_bytes_device = 0;
  std::vector<std::pair<std::string, std::string>> chosen;  ///< what `auto` decided, with its figures
};

}  // namespace rthiss
