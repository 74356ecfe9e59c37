#include "engine/cuda/bounds.hpp"

#include <limits>

#include "engine/cuda/launch.hpp"
#include "geometry/rounding.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 256;

/// One warp a group, a lane for each value (more than 32 go in turns).
__global__ void box_kernel(const float* values, const float* errors, std::uint32_t stride, std::uint32_t width,
                           const std::uint32_t* begin, std::uint32_t groups, float* low, float* high, float* error) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t group = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (group >= groups) return;
  const std::uint32_t first = begin[group], last = begin[group + 1];
  for (std::uint32_t c = lane; c < stride; c += 32) {
    float least = c < width ? std::numeric_limits<float>::infinity() : 0.0F;
    float greatest = c < width ? -std::numeric_limits<float>::infinity() : 0.0F;
    for (std::uint32_t i = first; c < width && i < last; ++i) {
      const float value = values[std::size_t{i} * stride + c];
      least = fminf(least, value);
      greatest = fmaxf(greatest, value);
    }
    low[group * stride + c] = least;
    high[group * stride + c] = greatest;
  }
  float largest = 0.0F;
  for (std::uint32_t i = first + lane; i < last; i += 32) largest = fmaxf(largest, errors[i]);
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, offset));
  }
  if (lane == 0) error[group] = largest;
}

/// The sphere about the box's centre, with the rounding of GroupBounds: three roundings of a square, two of their sum
/// and one of the root are below the factor.
__global__ void sphere_kernel(const float* values, std::uint32_t stride, std::uint32_t width,
                              const std::uint32_t* begin, std::uint32_t groups, const float* low, const float* high,
                              float* sphere) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t group = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (group >= groups) return;
  const std::uint32_t axes = width < 3 ? width : 3;
  float centre[3] = {};
  for (std::uint32_t a = 0; a < axes; ++a) {
    centre[a] = 0.5F * low[group * stride + a] + 0.5F * high[group * stride + a];
  }
  double greatest = 0.0;
  for (std::uint32_t i = begin[group] + lane; i < begin[group + 1]; i += 32) {
    double square = 0.0;
    for (std::uint32_t a = 0; a < axes; ++a) {
      const double difference =
          static_cast<double>(values[std::size_t{i} * stride + a]) - static_cast<double>(centre[a]);
      square += difference * difference;
    }
    greatest = fmax(greatest, square);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    greatest = fmax(greatest, __shfl_xor_sync(kWholeWarp, greatest, offset));
  }
  if (lane != 0) return;
  for (int a = 0; a < 3; ++a) sphere[group * 4 + a] = centre[a];
  sphere[group * 4 + 3] = round_up_to_float(sqrt(greatest) * (1.0 + 0x1p-48));
}

}  // namespace

DeviceBounds bound_groups(const float* values, const float* errors, std::uint32_t stride, std::uint32_t width,
                          const std::uint32_t* group_begin, std::uint32_t groups, bool spheres, DeviceMemory& memory,
                          Stream stream) {
  DeviceBounds out;
  out.low = DeviceArray<float>(memory, std::size_t{groups} * stride, stream, "the boxes of groups");
  out.high = DeviceArray<float>(memory, std::size_t{groups} * stride, stream, "the boxes of groups");
  out.error = DeviceArray<float>(memory, groups, stream, "the errors of groups");
  if (groups == 0) return out;
  const unsigned blocks = blocks_for(std::size_t{groups} * 32, kThreads);
  box_kernel<<<blocks, kThreads, 0, stream>>>(values, errors, stride, width, group_begin, groups, out.low.data(),
                                              out.high.data(), out.error.data());
  check_launch("boxes of groups");
  if (spheres) {
    out.sphere = DeviceArray<float>(memory, std::size_t{groups} * 4, stream, "the spheres of groups");
    sphere_kernel<<<blocks, kThreads, 0, stream>>>(values, stride, width, group_begin, groups, out.low.data(),
                                                   out.high.data(), out.sphere.data());
    check_launch("spheres of groups");
  }
  return out;
}

}  // namespace rthiss::cuda
