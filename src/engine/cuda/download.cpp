#include "engine/cuda/download.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/cuda/cuda_check.hpp"
#include "engine/cuda/pinned_ring.hpp"

namespace rthiss::cuda {

namespace {

constexpr std::size_t kCopyGrain = std::size_t{256} << 10;

}  // namespace

void download(const void* source, void* target, std::size_t bytes, const ThreadPool& pool, Stream stream) {
  if (bytes == 0) return;
  const PinnedRing::Lease ring;
  const std::size_t pieces = (bytes + PinnedRing::kBytes - 1) / PinnedRing::kBytes;
  const auto size_of = [&](std::size_t piece) {
    return std::min(PinnedRing::kBytes, bytes - piece * PinnedRing::kBytes);
  };
  const auto start = [&](std::size_t piece) {
    const std::size_t turn = piece % PinnedRing::kBuffers;
    check(cudaMemcpyAsync(ring.buffer(turn), static_cast<const std::byte*>(source) + piece * PinnedRing::kBytes,
                          size_of(piece), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync (result)");
    ring.mark(turn, stream);
  };
  for (std::size_t piece = 0; piece < std::min(pieces, PinnedRing::kBuffers); ++piece) start(piece);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t turn = piece % PinnedRing::kBuffers;
    ring.wait(turn);
    std::byte* const out = static_cast<std::byte*>(target) + piece * PinnedRing::kBytes;
    pool.for_ranges(0, size_of(piece), kCopyGrain, [&](std::size_t begin, std::size_t end) {
      std::memcpy(out + begin, ring.buffer(turn) + begin, end - begin);
    });
    if (piece + PinnedRing::kBuffers < pieces) start(piece + PinnedRing::kBuffers);
  }
}

NeighborChunk download(const DeviceChunk& chunk, NeighborChunk&& spare, const ThreadPool& pool, Stream stream) {
  NeighborChunk out = std::move(spare);
  out.query_ids.reset(chunk.rows);
  out.row_begin.reset(std::size_t{chunk.rows} + 1);
  out.neighbor_ids.reset(chunk.pairs);
  out.distances.reset(chunk.values.size());
  download(chunk.query_ids.data(), out.query_ids.data(), chunk.query_ids.bytes(), pool, stream);
  download(chunk.row_begin.data(), out.row_begin.data(), chunk.row_begin.bytes(), pool, stream);
  download(chunk.neighbours.data(), out.neighbor_ids.data(), chunk.pairs * sizeof(std::uint32_t), pool, stream);
  download(chunk.values.data(), out.distances.data(), chunk.values.bytes(), pool, stream);
  return out;
}

}  // namespace rthiss::cuda
