#include "engine/cuda/chunk_transfer.hpp"

#include <utility>

#include "engine/cuda/chunk_parts.hpp"
#include "engine/cuda/current_device.hpp"
#include "engine/cuda/download.hpp"

namespace rthiss::cuda {

ChunkTransfer::ChunkTransfer() {
  check(cudaGetDevice(&device_), "cudaGetDevice");
  check(cudaEventCreateWithFlags(&written_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  const cudaError_t status = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  if (status != cudaSuccess) {
    (void)cudaEventDestroy(written_);
    throw_cuda_error(status, "cudaStreamCreateWithFlags");
  }
}

ChunkTransfer::~ChunkTransfer() {
  if (rows_.valid()) rows_.wait();
  (void)cudaStreamDestroy(stream_);
  (void)cudaEventDestroy(written_);
}

void ChunkTransfer::start(DeviceChunk chunk, Stream writer, std::vector<NeighborChunk> parts, const DeviceTask& task) {
  check(cudaEventRecord(written_, writer), "cudaEventRecord");
  check(cudaStreamWaitEvent(stream_, written_), "cudaStreamWaitEvent");
  rows_ = std::async(std::launch::async, [this, &task, chunk = std::move(chunk), parts = std::move(parts)]() mutable {
    const CurrentDevice current(device_);
    NeighborChunk rows = download(chunk, std::move(spare_), *task.pool, stream_);
    chunk = DeviceChunk();
    if (!parts.empty()) {
      parts.push_back(std::move(rows));
      rows = join_parts(parts);
      parts.clear();
    }
    if (!rows.distances.empty()) fill_open_values(task, rows);
    return rows;
  });
}

}  // namespace rthiss::cuda
