#include "engine/cuda/launch.hpp"
#include "engine/cuda/refine/pair_rows.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 256;

__global__ void cursor_kernel(const std::uint64_t* row_begin, const std::uint32_t* rank, std::uint32_t rows,
                              unsigned long long* cursor) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows) cursor[i] = row_begin[rank[i]];
}

__global__ void __launch_bounds__(kThreads)
    place_kernel(const OpenPair* pairs, std::uint64_t count, const PairRule rule, const std::uint32_t* point_ids,
                 unsigned long long* cursor, std::uint32_t* neighbours) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    const OpenPair pair = pairs[i];
    neighbours[atomicAdd(cursor + (pair.query - rule.row_begin), 1ULL)] = __ldg(point_ids + pair.point);
    if (rule.mirrored(pair.query, pair.point)) {
      neighbours[atomicAdd(cursor + (pair.point - rule.row_begin), 1ULL)] = __ldg(point_ids + pair.query);
    }
  }
}

}  // namespace

void place_pairs(std::vector<PairPart>& parts, const DeviceTask& task, const PairRule& rule,
                 const std::uint64_t* row_begin, const std::uint32_t* rank, std::uint32_t rows,
                 std::uint32_t* neighbours, DeviceMemory& memory, Stream stream) {
  if (rows == 0) return;
  DeviceArray<unsigned long long> cursor(memory, rows, stream, "the rows of a batch");
  cursor_kernel<<<blocks_for(rows, kThreads), kThreads, 0, stream>>>(row_begin, rank, rows, cursor.data());
  check_launch("begin rows");
  for (PairPart& part : parts) {
    if (part.count != 0) {
      place_kernel<<<grid_for(part.count, kThreads), kThreads, 0, stream>>>(
          part.pairs.data(), part.count, rule, task.points.original_id, cursor.data(), neighbours);
      check_launch("place pairs");
    }
    part.pairs = DeviceArray<OpenPair>();
  }
  parts.clear();
}

}  // namespace rthiss::cuda
