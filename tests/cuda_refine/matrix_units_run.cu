#include "matrix_units_run.hpp"

#include "engine/cuda/cuda_check.hpp"
#include "engine/cuda/refine/matrix_units.cuh"

namespace rthiss::test {
namespace {

/// One warp a dot product: it stands on the diagonal of the first 8 x 8 sums, all of which are equal.
__global__ void dot_kernel(const std::uint32_t* a, const std::uint32_t* b, const float* start, std::uint32_t words,
                           float* sums) {
  const std::uint32_t lane = threadIdx.x, pair = blockIdx.x;
  float sum[4] = {start[pair], start[pair], start[pair], start[pair]};
  for (std::uint32_t k = 0; k < words; k += 8) {
    const std::uint32_t* const x = a + pair * words + k + lane % 4;
    const std::uint32_t* const y = b + pair * words + k + lane % 4;
    const std::uint32_t left[4] = {x[0], x[0], x[4], x[4]};
    cuda::multiply_add(sum, left, y[0], y[4], sum);
  }
  if (lane == 0) sums[pair] = sum[0];
}

template <typename T>
T* to_device(const void* values, std::size_t bytes) {
  void* target = nullptr;
  cuda::check(cudaMalloc(&target, bytes), "cudaMalloc");
  cuda::check(cudaMemcpy(target, values, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  return static_cast<T*>(target);
}

}  // namespace

std::vector<float> dot_in_matrix_units(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b,
                                       const std::vector<float>& start, std::uint32_t width) {
  std::vector<float> sums(start.size());
  auto* const x = to_device<std::uint32_t>(a.data(), a.size() * 2);
  auto* const y = to_device<std::uint32_t>(b.data(), b.size() * 2);
  auto* const s = to_device<float>(start.data(), start.size() * 4);
  auto* const out = to_device<float>(sums.data(), sums.size() * 4);
  dot_kernel<<<static_cast<unsigned>(start.size()), 32>>>(x, y, s, width / 2, out);
  cuda::check_launch("dot products");
  cuda::check(cudaMemcpy(sums.data(), out, sums.size() * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (void* pointer : {static_cast<void*>(x), static_cast<void*>(y), static_cast<void*>(s), static_cast<void*>(out)}) {
    cuda::check(cudaFree(pointer), "cudaFree");
  }
  return sums;
}

bool has_device() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

}  // namespace rthiss::test
