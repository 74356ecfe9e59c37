#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

#include "support/exact_oracle.hpp"

/// Families of rows that tests search in. Same arguments, same rows.
namespace rthiss::test {

/// Uniform in [low, high).
inline Rows uniform_rows(std::size_t n, std::size_t d, double low, double high, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  Rows rows(n, std::vector<double>(d));
  for (auto& row : rows) {
    for (double& value : row) value = low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
  }
  return rows;
}

/// Eight tight clusters.
inline Rows clustered_rows(std::size_t n, std::size_t d, double spread = 0.01, unsigned seed = 2) {
  const Rows centers = uniform_rows(8, d, -1.0, 1.0, seed);
  Rows rows = uniform_rows(n, d, -spread, spread, seed + 1);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < d; ++k) rows[i][k] += centers[(i * 5) % 8][k];
  }
  return rows;
}

/// `value(row, column, old value)` for every element.
template <typename Change>
Rows changed(Rows rows, const Change& value) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < rows[i].size(); ++k) rows[i][k] = value(i, k, rows[i][k]);
  }
  return rows;
}

inline Rows scaled_rows(Rows rows, double factor, double offset = 0.0) {
  return changed(std::move(rows), [=](std::size_t, std::size_t, double v) { return v * factor + offset; });
}

/// Whole numbers in [low, high).
inline Rows integer_rows(std::size_t n, std::size_t d, double low, double high, unsigned seed = 3) {
  return changed(uniform_rows(n, d, low, high, seed), [](std::size_t, std::size_t, double v) { return std::floor(v); });
}

/// The first rows of `a`, then those of `b`.
inline Rows joined(Rows a, const Rows& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace rthiss::test
