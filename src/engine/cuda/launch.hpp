#pragma once

#include <algorithm>
#include <cstddef>

#include "engine/cuda/cuda_check.hpp"
#include "engine/cuda/device_array.hpp"

namespace rthiss::cuda {

inline constexpr unsigned kWholeWarp = 0xFFFFFFFFU;

/// Blocks of `threads` that cover `items`, one each. Enough for 2^32 rows with a warp each.
[[nodiscard]] inline unsigned blocks_for(std::size_t items, unsigned threads) {
  return static_cast<unsigned>((items + threads - 1) / threads);
}

/// Blocks of a loop that strides over the grid.
[[nodiscard]] inline unsigned grid_for(std::size_t items, unsigned threads) {
  return static_cast<unsigned>(std::clamp<std::size_t>((items + threads - 1) / threads, 1, 16384));
}

/// A small host array on the device. The copy is done when this returns.
template <typename T>
[[nodiscard]] DeviceArray<T> copy_to_device(const T* values, std::size_t count, DeviceMemory& memory, Stream stream,
                                            const char* what) {
  DeviceArray<T> target(memory, count, stream, what);
  if (count == 0) return target;
  check(cudaMemcpyAsync(target.data(), values, count * sizeof(T), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return target;
}

template <typename T>
void copy_to_host(const T* source, std::size_t count, T* target, Stream stream) {
  if (count == 0) return;
  check(cudaMemcpyAsync(target, source, count * sizeof(T), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace rthiss::cuda
