#pragma once

#include <nanobind/nanobind.h>
#include <rthiss/neighbor_lists.hpp>
#include <rthiss/result_sink.hpp>
#include <rthiss/statistics.hpp>

#include <cstdint>

namespace rthiss::python {

namespace nb = nanobind;

/// (indptr int64 [m + 1], indices int32 or int64 [nnz], distances float64 [nnz], or None unless `distances`). `points`:
/// how many rows were searched; indices are int32 where that and nnz are below 2^31. Takes the memory over where the
/// width is the same.
[[nodiscard]] nb::tuple to_python(NeighborLists&& lists, std::uint64_t points, bool distances);
/// The same after the ids of the queries (int32 or int64 by the same rule as the indices).
[[nodiscard]] nb::tuple to_python(NeighborChunk&& chunk, std::uint64_t points, bool distances);
/// What a search did, under the keys of the program's --json.
[[nodiscard]] nb::dict to_python(const SearchStatistics& statistics);

}  // namespace rthiss::python
