#pragma once

#include <rthiss/rthiss.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/lattice.hpp"
#include "support/pair_table.hpp"
#include "support/sample_rows.hpp"
#include "support/tested_engines.hpp"
#include "support/typed_points.hpp"

/// What tests of analyses share: rows, ways to search, and answers read off a table of exact values.
namespace rthiss::test {

/// Ways that divide the work differently.
inline std::vector<SearchOptions> different_ways(Metric metric = {}) {
  std::vector<SearchOptions> ways;
  for (const int threads : {1, 3}) {
    for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{1} << 15}) {
      SearchOptions options = default_options();
      options.threads = threads;
      options.memory_limit = memory;
      options.kd_tree_height = 5;
      options.metric = metric;
      options.seed = static_cast<std::uint64_t>(threads) + memory;
      ways.push_back(options);
    }
  }
  SearchOptions other = default_options();
  other.metric = metric;
  other.preset = "paper";
  ways.push_back(other);
  other.preset = "auto";
  other.engine = tested_engines().back();
  other.index = "exhaustive";
  ways.push_back(other);
  return ways;
}

inline std::string describe(const SearchOptions& options) {
  return fmt::format("engine {} index {} preset {} threads {} memory {} seed {}", options.engine, options.index,
                     options.preset, options.threads, options.memory_limit, options.seed);
}

/// Ids within the radius, ascending.
inline std::vector<std::uint32_t> near_ids(const PairTable& table, std::size_t query, double radius, bool drop_self) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t j = 0; j < table.points; ++j) {
    if (table.within(query, j, radius) && !(drop_self && j == query)) ids.push_back(j);
  }
  return ids;
}

/// The first k of `ids` by (distance, id), nearest first.
inline std::vector<std::uint32_t> nearest_ids(const PairTable& table, std::size_t query, std::vector<std::uint32_t> ids,
                                              std::size_t k) {
  std::stable_sort(ids.begin(), ids.end(), [&](std::uint32_t a, std::uint32_t b) {
    const double first = table.value(query, a), second = table.value(query, b);
    return table.similarity ? first > second : first < second;
  });
  ids.resize(std::min(ids.size(), k));
  return ids;
}

/// At least one row.
inline TypedPoints typed_points(const Rows& rows, DType dtype, Layout layout) {
  return typed_points(rows, rows.front().size(), dtype, layout);
}

inline TypedPoints double_points(const Rows& rows, std::size_t columns) {
  return typed_points(rows, columns, DType::kFloat64);
}

}  // namespace rthiss::test
