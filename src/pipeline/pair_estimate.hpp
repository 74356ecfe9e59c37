#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace rthiss {

/// How many ordered pairs a search will find, from the neighbour counts of sampled blocks of queries.
struct PairEstimate {
  std::uint64_t expected = 0;
  std::uint64_t upper = 0;  ///< three standard errors above, at most all pairs

  [[nodiscard]] static PairEstimate bound(std::uint64_t all) { return {all, all}; }
  [[nodiscard]] static PairEstimate from_means(std::span<const double> means, std::uint64_t queries, std::uint64_t all);
  [[nodiscard]] std::string describe() const;
};

}  // namespace rthiss
