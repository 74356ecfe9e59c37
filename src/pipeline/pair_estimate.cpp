#include "pipeline/pair_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rthiss {

PairEstimate PairEstimate::from_means(std::span<const double> means, std::uint64_t queries, std::uint64_t all) {
  double mean = 0.0, squares = 0.0;
  double taken = 0.0;
  for (const double value : means) {
    taken += 1.0;
    const double before = value - mean;
    mean += before / taken;
    squares += before * (value - mean);
  }
  if (taken < 2.0) return bound(all);
  const double error = std::sqrt(squares / (taken - 1.0) / taken);
  const auto pairs = [&](double per_query) {
    return static_cast<std::uint64_t>(std::min(per_query * static_cast<double>(queries), static_cast<double>(all)));
  };
  return {pairs(mean), pairs(mean + 3.0 * error + 1.0)};
}

std::string PairEstimate::describe() const {
  return fmt::format("about {} ordered pairs, at most {}", expected, upper);
}

}  // namespace rthiss
