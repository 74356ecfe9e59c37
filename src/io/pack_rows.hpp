#pragma once

#include <rthiss/points_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rthiss::io {

/// Copies rows [begin, end) of the given columns, in their order, to `out` without gaps, bit by bit; the byte order of
/// each element is turned where `reverse` is set.
void pack_rows(const PointsView& view, std::uint64_t begin, std::uint64_t end, std::span<const std::uint64_t> columns,
               bool reverse, std::byte* out);

}  // namespace rthiss::io
