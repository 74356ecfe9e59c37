#pragma once

#include <rthiss/result_sink.hpp>

#include <future>
#include <utility>
#include <vector>

#include "engine/cuda/device_types.hpp"

namespace rthiss::cuda {

/// The rows of one batch on their way to host memory, in a thread and a stream of their own: meanwhile the device works
/// on the next batch, and the sink on the one before.
class ChunkTransfer {
 public:
  /// On the calling thread's device.
  ChunkTransfer();
  /// Waits for what is under way.
  ~ChunkTransfer();
  ChunkTransfer(const ChunkTransfer&) = delete;
  ChunkTransfer& operator=(const ChunkTransfer&) = delete;

  /// `chunk` is written by what `writer` holds so far; its memory goes back to `writer` once it is copied. `parts`:
  /// earlier parts of the same rows. `task` outlives the transfer.
  void start(DeviceChunk chunk, Stream writer, std::vector<NeighborChunk> parts, const DeviceTask& task);
  /// The rows, or what went wrong on the way.
  [[nodiscard]] NeighborChunk finish() { return rows_.get(); }
  /// Memory for the next rows: fresh pages cost more than the copy into them.
  void reuse(NeighborChunk&& rows) { spare_ = std::move(rows); }

 private:
  int device_ = 0;
  Stream stream_ = nullptr;
  cudaEvent_t written_ = nullptr;
  NeighborChunk spare_;
  std::future<NeighborChunk> rows_;
};

}  // namespace rthiss::cuda
