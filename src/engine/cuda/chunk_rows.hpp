#pragma once

#include <cstdint>

#include "engine/cuda/device_array.hpp"

namespace rthiss::cuda {

/// Rows of a batch in the order of a NeighborChunk, by ascending original id.
struct RowOrder {
  DeviceArray<std::uint32_t> query_ids;  ///< [rows] ascending original ids
  DeviceArray<std::uint32_t> rank;       ///< [rows] row of the chunk at each position of the batch
};

/// `original_id` [rows] of the batch's positions.
[[nodiscard]] RowOrder order_rows(const std::uint32_t* original_id, std::uint32_t rows, DeviceMemory& memory,
                                  Stream stream);

/// row_begin [rows + 1] of the chunk from the counts by position.
[[nodiscard]] DeviceArray<std::uint64_t> begin_rows(const std::uint32_t* counts, const RowOrder& order,
                                                    std::uint32_t rows, DeviceMemory& memory, Stream stream);

/// The ids of every row in ascending order.
[[nodiscard]] DeviceArray<std::uint32_t> sort_rows(DeviceArray<std::uint32_t> ids, const std::uint64_t* row_begin,
                                                   std::uint32_t rows, DeviceMemory& memory, Stream stream);

}  // namespace rthiss::cuda
