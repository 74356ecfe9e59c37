#pragma once

#include <rthiss/array.hpp>

#include <cstdint>

namespace rthiss {

/// Neighbours of every query in compressed sparse rows (CSR), in the caller's numbering and order. Host memory.
struct NeighborLists {
  Array<std::uint64_t> begin;  ///< [queries + 1]; row i is ids[begin[i] .. begin[i + 1])
  Array<std::uint32_t> ids;    ///< [begin.back()]; ascending within a row
  Array<double> distances;     ///< [begin.back()] correctly rounded distances, or empty when not asked for

  [[nodiscard]] std::uint64_t queries() const noexcept { return begin.empty() ? 0 : begin.size() - 1; }
  [[nodiscard]] std::uint64_t pairs() const noexcept { return begin.empty() ? 0 : begin.back(); }
  [[nodiscard]] std::span<const std::uint32_t> row(std::uint64_t query) const noexcept {
    return ids.span().subspan(begin[query], begin[query + 1] - begin[query]);
  }
};

}  // namespace rthiss
