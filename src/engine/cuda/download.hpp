#pragma once

#include <rthiss/result_sink.hpp>

#include "common/parallel.hpp"
#include "engine/cuda/device_types.hpp"

namespace rthiss::cuda {

/// Copies `bytes` from the device to host memory through the pinned ring; all threads copy out of it, so that
/// the first touch of the pages is shared.
void download(const void* source, void* target, std::size_t bytes, const ThreadPool& pool, Stream stream);

/// The rows in host memory, with the values that the chunk has; in the memory of `spare` where that is large enough.
[[nodiscard]] NeighborChunk download(const DeviceChunk& chunk, NeighborChunk&& spare, const ThreadPool& pool,
                                     Stream stream);

}  // namespace rthiss::cuda
