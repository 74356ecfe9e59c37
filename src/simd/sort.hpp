#pragma once

#include <cstddef>
#include <cstdint>

namespace rthiss::simd {

/// Sorts ids in ascending order.
void sort_ids(std::uint32_t* ids, std::size_t count);

}  // namespace rthiss::simd
