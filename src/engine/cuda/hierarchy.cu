#include "engine/cuda/hierarchy.hpp"

#include <limits>

#include "engine/cuda/hierarchy.cuh"
#include "engine/cuda/launch.hpp"
#include "geometry/rounding.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 128;

/// One warp a node, a lane a child.
__global__ void leaf_kernel(BoxSet boxes, bool sphere_boxes, std::uint32_t components, std::uint64_t count,
                            float* nodes) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t node = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (node >= count) return;
  const std::uint64_t box = node * kFanout + lane;
  float* out = nodes + node * hierarchy_node_floats(components) + lane;
  for (std::uint32_t c = 0; c < components; ++c) {
    float low = std::numeric_limits<float>::infinity(), high = -low;
    if (box < boxes.count) {
      if (sphere_boxes) {
        const float centre = boxes.sphere[box * 4 + c], radius = boxes.sphere[box * 4 + 3];
        low = add_down(centre, -radius);
        high = add_up(centre, radius);
      } else {
        low = boxes.low[box * boxes.stride + c];
        high = boxes.high[box * boxes.stride + c];
      }
    }
    out[2 * c * kFanout] = low;
    out[(2 * c + 1) * kFanout] = high;
  }
  out[2 * components * kFanout] = box < boxes.count ? boxes.error[box] : 0.0F;
}

__global__ void inner_kernel(const float* below, std::uint64_t below_count, std::uint32_t components,
                             std::uint64_t count, float* nodes) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t node = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (node >= count) return;
  const std::uint64_t child = node * kFanout + lane;
  const float* box = below + child * hierarchy_node_floats(components);
  float* out = nodes + node * hierarchy_node_floats(components) + lane;
  for (std::uint32_t c = 0; c < components; ++c) {
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (std::uint32_t i = 0; child < below_count && i < kFanout; ++i) {
      low = fminf(low, box[2 * c * kFanout + i]);
      high = fmaxf(high, box[(2 * c + 1) * kFanout + i]);
    }
    out[2 * c * kFanout] = low;
    out[(2 * c + 1) * kFanout] = high;
  }
  float error = 0.0F;
  for (std::uint32_t i = 0; child < below_count && i < kFanout; ++i) {
    error = fmaxf(error, box[2 * components * kFanout + i]);
  }
  out[2 * components * kFanout] = error;
}

enum class Pass { kCount, kList, kListByTarget };

struct Output {
  std::uint32_t* counts;       // kCount: [drivers of the range]
  std::uint32_t* per_target;   // kCount: or null
  const std::uint64_t* begin;  // kList
  std::uint64_t* cursor;       // kListByTarget
  std::uint32_t* ids;
};

/// One warp a driver.
template <Pass kPass, bool kSquared>
__global__ void __launch_bounds__(kThreads)
    traverse_kernel(BoxSet drivers, HierarchyView view, CandidateThreshold threshold, TraversalRange range,
                    Output out) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t place = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (place >= range.driver_end - range.driver_begin) return;
  const auto driver = static_cast<std::uint32_t>(range.driver_begin + place);
  DriverBox box{0.0F, 0.0F, threshold.reach(drivers.error[driver])};
  if (lane < view.components) {
    box.low = drivers.low[std::size_t{driver} * drivers.stride + lane];
    box.high = drivers.high[std::size_t{driver} * drivers.stride + lane];
  }
  std::uint32_t end = range.target_end;
  if (range.once && driver >= range.once_from && driver < end) end = driver + 1;
  std::uint32_t count = 0;
  std::uint64_t at = kPass == Pass::kList ? out.begin[place] : 0;
  traverse<kSquared>(view, box, threshold, range.target_begin, end, lane, [&](std::uint32_t first, std::uint32_t near) {
    const bool mine = (near >> lane & 1) != 0;
    if constexpr (kPass == Pass::kCount) {
      count += __popc(near);
      if (mine && out.per_target != nullptr) atomicAdd(&out.per_target[first + lane], 1U);
    } else if constexpr (kPass == Pass::kList) {
      if (mine) out.ids[at + __popc(near & ((1U << lane) - 1))] = first + lane;
      at += __popc(near);
    } else if (mine) {
      auto* cursor = reinterpret_cast<unsigned long long*>(&out.cursor[first + lane]);
      out.ids[atomicAdd(cursor, 1ULL)] = driver;
    }
  });
  if (kPass == Pass::kCount && lane == 0) out.counts[place] = count;
}

template <Pass kPass>
void launch(const BoxSet& drivers, const Hierarchy& targets, const CandidateThreshold& threshold,
            const TraversalRange& range, const Output& out, Stream stream) {
  if (range.driver_begin >= range.driver_end) return;
  const unsigned blocks = blocks_for(std::size_t{range.driver_end - range.driver_begin} * 32, kThreads);
  if (threshold.squared()) {
    traverse_kernel<kPass, true><<<blocks, kThreads, 0, stream>>>(drivers, view_of(targets), threshold, range, out);
  } else {
    traverse_kernel<kPass, false><<<blocks, kThreads, 0, stream>>>(drivers, view_of(targets), threshold, range, out);
  }
  check_launch("traverse the hierarchy");
}

}  // namespace

Hierarchy build_hierarchy(const BoxSet& boxes, const CandidateTest& test, std::uint32_t components,
                          DeviceMemory& memory, Stream stream) {
  Hierarchy out;
  out.components = components;
  const std::uint64_t total = set_levels(out, boxes.count);
  out.nodes = DeviceArray<float>(memory, total * hierarchy_node_floats(components), stream, "the hierarchy");
  for (int level = 0; level < out.levels; ++level) {
    float* nodes = out.nodes.data() + out.level_begin[level] * hierarchy_node_floats(components);
    const std::uint64_t end = level + 1 < out.levels ? out.level_begin[level + 1] : total;
    const std::uint64_t count = end - out.level_begin[level];
    const unsigned blocks = blocks_for(count * 32, kThreads);
    if (level == 0) {
      leaf_kernel<<<blocks, kThreads, 0, stream>>>(boxes, test.sphere_boxes, components, count, nodes);
    } else {
      inner_kernel<<<blocks, kThreads, 0, stream>>>(
          out.nodes.data() + out.level_begin[level - 1] * hierarchy_node_floats(components),
          out.level_begin[level] - out.level_begin[level - 1], components, count, nodes);
    }
    check_launch("build the hierarchy");
  }
  return out;
}

void count_near(const BoxSet& drivers, const Hierarchy& targets, const CandidateThreshold& threshold,
                const TraversalRange& range, std::uint32_t* counts, std::uint32_t* per_target, Stream stream) {
  launch<Pass::kCount>(drivers, targets, threshold, range, {counts, per_target, nullptr, nullptr, nullptr}, stream);
}

void list_near(const BoxSet& drivers, const Hierarchy& targets, const CandidateThreshold& threshold,
               const TraversalRange& range, const std::uint64_t* begin, std::uint32_t* ids, Stream stream) {
  launch<Pass::kList>(drivers, targets, threshold, range, {nullptr, nullptr, begin, nullptr, ids}, stream);
}

void list_near_by_target(const BoxSet& drivers, const Hierarchy& targets, const CandidateThreshold& threshold,
                         const TraversalRange& range, std::uint64_t* cursor, std::uint32_t* ids, Stream stream) {
  launch<Pass::kListByTarget>(drivers, targets, threshold, range, {nullptr, nullptr, nullptr, cursor, ids}, stream);
}

}  // namespace rthiss::cuda
