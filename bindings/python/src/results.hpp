#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <rthiss/array.hpp>
#include <rthiss/knn.hpp>
#include <rthiss/neighbor_lists.hpp>
#include <rthiss/result_sink.hpp>
#include <rthiss/statistics.hpp>

#include <cstdint>
#include <initializer_list>
#include <utility>

namespace rthiss::python {

namespace nb = nanobind;

/// A NumPy array of `To` that takes over elements of `From`, which are bit for bit the same: all of them fit both
/// types. `shape`: by default one dimension.
template <typename To, typename From>
[[nodiscard]] nb::object adopt(Array<From>&& elements, std::initializer_list<std::size_t> shape = {}) {
  static_assert(sizeof(To) == sizeof(From));
  auto* const owner = new Array<From>(std::move(elements));
  const nb::capsule capsule(owner, [](void* held) noexcept { delete static_cast<Array<From>*>(held); });
  static const To nothing{};
  const void* const data = owner->empty() ? static_cast<const void*>(&nothing) : owner->data();
  const std::initializer_list<std::size_t> flat = {owner->size()};
  return nb::cast(nb::ndarray<nb::numpy, To>(const_cast<void*>(data), shape.size() != 0 ? shape : flat, capsule));
}

/// Ids as a NumPy array of int64.
[[nodiscard]] nb::object widen(Array<std::uint32_t>&& ids);

/// (indptr int64 [m + 1], indices int32 or int64 [nnz], distances float64 [nnz], or None unless `distances`). `points`:
/// how many rows were searched; indices are int32 where that and nnz are below 2^31. Takes the memory over where the
/// width is the same.
[[nodiscard]] nb::tuple to_python(NeighborLists&& lists, std::uint64_t points, bool distances);
/// The same after the ids of the queries (int32 or int64 by the same rule as the indices).
[[nodiscard]] nb::tuple to_python(NeighborChunk&& chunk, std::uint64_t points, bool distances);
/// (distances float64 [m x k], indices int32 or int64 [m x k]); -1 where a query has no neighbours at all.
[[nodiscard]] nb::tuple to_python(NearestNeighbors&& nearest, std::uint64_t points);
/// What a search did, under the keys of the program's --json.
[[nodiscard]] nb::dict to_python(const SearchStatistics& statistics);

}  // namespace rthiss::python
