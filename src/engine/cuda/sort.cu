#include "engine/cuda/sort.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "engine/cuda/cuda_check.hpp"
#include "engine/cuda/launch.hpp"

namespace rthiss::cuda {

namespace {

/// CUB's two calls: how much scratch, then the work.
template <typename Call>
void with_scratch(const char* name, DeviceMemory& memory, Stream stream, const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), name);
  DeviceArray<std::uint8_t> scratch(memory, bytes == 0 ? 1 : bytes, stream, "the scratch of a sort");
  check(call(scratch.data(), bytes), name);
}

template <typename Key>
void sort_any(const Key* keys, Key* sorted_keys, const std::uint32_t* values, std::uint32_t* sorted_values,
              std::uint64_t count, int begin_bit, int end_bit, DeviceMemory& memory, Stream stream) {
  if (count == 0) return;
  with_scratch("cub::DeviceRadixSort::SortPairs", memory, stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values, count, begin_bit,
                                           end_bit, stream);
  });
}

__global__ void iota_kernel(std::uint32_t* values, std::uint64_t count) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    values[i] = static_cast<std::uint32_t>(i);
  }
}

}  // namespace

void sort_pairs(const std::uint64_t* keys, std::uint64_t* sorted_keys, const std::uint32_t* values,
                std::uint32_t* sorted_values, std::uint64_t count, int begin_bit, int end_bit, DeviceMemory& memory,
                Stream stream) {
  sort_any(keys, sorted_keys, values, sorted_values, count, begin_bit, end_bit, memory, stream);
}

void sort_pairs(const std::uint32_t* keys, std::uint32_t* sorted_keys, const std::uint32_t* values,
                std::uint32_t* sorted_values, std::uint64_t count, int begin_bit, int end_bit, DeviceMemory& memory,
                Stream stream) {
  sort_any(keys, sorted_keys, values, sorted_values, count, begin_bit, end_bit, memory, stream);
}

void sort_pairs_falling(const std::uint32_t* keys, std::uint32_t* sorted_keys, const std::uint32_t* values,
                        std::uint32_t* sorted_values, std::uint64_t count, DeviceMemory& memory, Stream stream) {
  if (count == 0) return;
  with_scratch("cub::DeviceRadixSort::SortPairsDescending", memory, stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairsDescending(scratch, bytes, keys, sorted_keys, values, sorted_values, count, 0,
                                                     32, stream);
  });
}

void exclusive_sums(const std::uint32_t* values, std::uint64_t* sums, std::uint64_t count, DeviceMemory& memory,
                    Stream stream) {
  with_scratch("cub::DeviceScan::ExclusiveScan", memory, stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(scratch, bytes, values, sums, ::cuda::std::plus<>{}, std::uint64_t{0},
                                          count + 1, stream);
  });
}

void fill_iota(std::uint32_t* values, std::uint64_t count, Stream stream) {
  if (count == 0) return;
  iota_kernel<<<grid_for(count, 256), 256, 0, stream>>>(values, count);
  check_launch("fill with numbers");
}

}  // namespace rthiss::cuda
