#pragma once

#include <cstdint>

#include "support/exact_oracle.hpp"

namespace rthiss::test {

/// Pseudo-random integers in [0, limit): all squared distances are small integers, exact in any arithmetic.
inline Rows lattice(std::uint32_t rows, std::uint32_t columns, std::uint32_t limit) {
  Rows result(rows, std::vector<double>(columns));
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::uint32_t j = 0; j < columns; ++j) {
      std::uint32_t h = i * 2654435761U + j * 40503U + 12345U;
      h ^= h >> 15;
      h *= 2246822519U;
      h ^= h >> 13;
      h *= 3266489917U;
      h ^= h >> 16;
      result[i][j] = h % limit;
    }
  }
  return result;
}

}  // namespace rthiss::test
