#include "engine/cuda/group_order.hpp"

#include <algorithm>
#include <limits>

#include "engine/cuda/launch.hpp"
#include "engine/cuda/ordered_bits.cuh"
#include "engine/cuda/sort.hpp"
#include "geometry/morton_code.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 256;

/// Centres of the groups' boxes in double, as ordered bits [groups x 3], and their extent. One warp a group.
__global__ void centre_kernel(const float* values, std::uint32_t stride, std::uint32_t axes, const std::uint32_t* ids,
                              const std::uint32_t* begin, std::uint32_t groups, unsigned long long* centres,
                              unsigned long long* low, unsigned long long* high) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t group = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (group >= groups) return;
  for (std::uint32_t a = 0; a < 3; ++a) {
    float least = a < axes ? std::numeric_limits<float>::infinity() : 0.0F;
    float greatest = a < axes ? -std::numeric_limits<float>::infinity() : 0.0F;
    for (std::uint32_t i = begin[group] + lane; a < axes && i < begin[group + 1]; i += 32) {
      const float value = values[std::size_t{ids[i]} * stride + a];
      least = fminf(least, value);
      greatest = fmaxf(greatest, value);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      least = fminf(least, __shfl_xor_sync(kWholeWarp, least, offset));
      greatest = fmaxf(greatest, __shfl_xor_sync(kWholeWarp, greatest, offset));
    }
    if (lane != 0) continue;
    const unsigned long long centre = ordered_bits((static_cast<double>(least) + static_cast<double>(greatest)) / 2);
    centres[group * 3 + a] = centre;
    atomicMin(&low[a], centre);
    atomicMax(&high[a], centre);
  }
}

__global__ void code_kernel(const unsigned long long* centres, const unsigned long long* low,
                            const unsigned long long* high, std::uint32_t groups, std::uint64_t* codes) {
  const std::uint32_t group = blockIdx.x * blockDim.x + threadIdx.x;
  if (group >= groups) return;
  std::uint32_t cell[3];
  for (int a = 0; a < 3; ++a) {
    cell[a] = morton_cell(from_ordered_bits(centres[std::size_t{group} * 3 + a]), from_ordered_bits(low[a]),
                          from_ordered_bits(high[a]));
  }
  codes[group] = morton_code(cell[0], cell[1], cell[2]);
}

/// One warp copies a group to its new place.
__global__ void move_kernel(const std::uint32_t* ids, const std::uint32_t* old_begin, const std::uint32_t* order,
                            const std::uint32_t* new_begin, std::uint32_t groups, std::uint32_t* moved) {
  const std::uint64_t group = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (group >= groups) return;
  const std::uint32_t source = old_begin[order[group]], target = new_begin[group];
  const std::uint32_t size = new_begin[group + 1] - target;
  for (std::uint32_t i = threadIdx.x % 32; i < size; i += 32) moved[target + i] = ids[source + i];
}

}  // namespace

void order_groups_by_morton_code(const float* values, std::uint32_t rows, std::uint32_t stride, std::uint32_t width,
                                 DeviceGrouping& grouping, DeviceMemory& memory, Stream stream) {
  const std::uint32_t groups = grouping.groups();
  std::vector<std::uint32_t>& begin = grouping.begin_host;
  const DeviceArray<std::uint32_t> old_begin = copy_to_device(begin.data(), begin.size(), memory, stream, "the groups");
  DeviceArray<unsigned long long> centres(memory, std::size_t{groups} * 3, stream, "the centres of groups");
  DeviceArray<unsigned long long> extent(memory, 6, stream, "the extent of the centres");
  check(cudaMemsetAsync(extent.data(), 0xFF, 3 * sizeof(unsigned long long), stream), "cudaMemsetAsync");
  check(cudaMemsetAsync(extent.data() + 3, 0, 3 * sizeof(unsigned long long), stream), "cudaMemsetAsync");
  centre_kernel<<<blocks_for(std::size_t{groups} * 32, kThreads), kThreads, 0, stream>>>(
      values, stride, std::min<std::uint32_t>(3, width), grouping.original_id.data(), old_begin.data(), groups,
      centres.data(), extent.data(), extent.data() + 3);
  check_launch("centres of groups");
  DeviceArray<std::uint64_t> codes(memory, groups, stream, "the codes of groups");
  code_kernel<<<blocks_for(groups, kThreads), kThreads, 0, stream>>>(centres.data(), extent.data(), extent.data() + 3,
                                                                     groups, codes.data());
  check_launch("codes of groups");

  const auto size_of = [&](std::uint32_t group) { return begin[group + 1] - begin[group]; };
  const bool last_is_short = size_of(groups - 1) < size_of(0) && size_of(groups - 2) == size_of(0);
  DeviceArray<std::uint32_t> numbers(memory, groups, stream, "the order of groups");
  DeviceArray<std::uint32_t> order(memory, groups, stream, "the order of groups");
  DeviceArray<std::uint64_t> sorted(memory, groups, stream, "the codes of groups");
  fill_iota(numbers.data(), groups, stream);
  fill_iota(order.data(), groups, stream);
  sort_pairs(codes.data(), sorted.data(), numbers.data(), order.data(), groups - (last_is_short ? 1 : 0), 0,
             3 * kMortonBitsPerAxis, memory, stream);

  std::vector<std::uint32_t> order_host(groups), moved_begin(groups + std::size_t{1}, 0);
  copy_to_host(order.data(), groups, order_host.data(), stream);
  for (std::uint32_t i = 0; i < groups; ++i) moved_begin[i + 1] = moved_begin[i] + size_of(order_host[i]);
  const DeviceArray<std::uint32_t> new_begin =
      copy_to_device(moved_begin.data(), moved_begin.size(), memory, stream, "the groups");
  DeviceArray<std::uint32_t> moved(memory, rows, stream, "the order of rows");
  move_kernel<<<blocks_for(std::size_t{groups} * 32, kThreads), kThreads, 0, stream>>>(
      grouping.original_id.data(), old_begin.data(), order.data(), new_begin.data(), groups, moved.data());
  check_launch("move groups");
  grouping.original_id = std::move(moved);
  begin = std::move(moved_begin);
}

}  // namespace rthiss::cuda
