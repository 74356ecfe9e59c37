#include "engine/cuda/chunk_rows.hpp"

#include <cub/device/device_segmented_sort.cuh>
#include <utility>

#include "engine/cuda/launch.hpp"
#include "engine/cuda/sort.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 256;

__global__ void rank_kernel(const std::uint32_t* position, std::uint32_t rows, std::uint32_t* rank) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows) rank[position[i]] = static_cast<std::uint32_t>(i);
}

__global__ void permute_kernel(const std::uint32_t* counts, const std::uint32_t* rank, std::uint32_t rows,
                               std::uint32_t* ordered) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows) ordered[rank[i]] = counts[i];
  if (i == 0) ordered[rows] = 0;
}

}  // namespace

RowOrder order_rows(const std::uint32_t* original_id, std::uint32_t rows, DeviceMemory& memory, Stream stream) {
  RowOrder out;
  out.query_ids = DeviceArray<std::uint32_t>(memory, rows, stream, "the rows of a batch");
  out.rank = DeviceArray<std::uint32_t>(memory, rows, stream, "the rows of a batch");
  if (rows == 0) return out;
  DeviceArray<std::uint32_t> numbers(memory, rows, stream, "the rows of a batch");
  DeviceArray<std::uint32_t> position(memory, rows, stream, "the rows of a batch");
  fill_iota(numbers.data(), rows, stream);
  sort_pairs(original_id, out.query_ids.data(), numbers.data(), position.data(), rows, 0, 32, memory, stream);
  rank_kernel<<<blocks_for(rows, kThreads), kThreads, 0, stream>>>(position.data(), rows, out.rank.data());
  check_launch("rank rows");
  return out;
}

DeviceArray<std::uint64_t> begin_rows(const std::uint32_t* counts, const RowOrder& order, std::uint32_t rows,
                                      DeviceMemory& memory, Stream stream) {
  DeviceArray<std::uint64_t> begin(memory, std::size_t{rows} + 1, stream, "the rows of a batch");
  DeviceArray<std::uint32_t> ordered(memory, std::size_t{rows} + 1, stream, "the rows of a batch");
  permute_kernel<<<blocks_for(std::size_t{rows} + 1, kThreads), kThreads, 0, stream>>>(counts, order.rank.data(), rows,
                                                                                       ordered.data());
  check_launch("order counts");
  exclusive_sums(ordered.data(), begin.data(), rows, memory, stream);
  return begin;
}

DeviceArray<std::uint32_t> sort_rows(DeviceArray<std::uint32_t> ids, const std::uint64_t* row_begin, std::uint32_t rows,
                                     DeviceMemory& memory, Stream stream) {
  if (ids.empty()) return ids;
  DeviceArray<std::uint32_t> other(memory, ids.size(), stream, "the neighbours of a batch");
  cub::DoubleBuffer<std::uint32_t> keys(ids.data(), other.data());
  const auto sort = [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSegmentedSort::SortKeys(scratch, bytes, keys, static_cast<std::int64_t>(ids.size()),
                                              static_cast<std::int64_t>(rows), row_begin, row_begin + 1, stream);
  };
  std::size_t bytes = 0;
  check(sort(nullptr, bytes), "cub::DeviceSegmentedSort::SortKeys");
  DeviceArray<std::uint8_t> scratch(memory, bytes == 0 ? 1 : bytes, stream, "the scratch of a sort");
  check(sort(scratch.data(), bytes), "cub::DeviceSegmentedSort::SortKeys");
  return keys.Current() == ids.data() ? std::move(ids) : std::move(other);
}

}  // namespace rthiss::cuda
