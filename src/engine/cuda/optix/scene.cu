#include "engine/cuda/optix/scene.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <rthiss/errors.hpp>
#include <string>
#include <utility>

#include "engine/cuda/launch.hpp"
#include "engine/cuda/optix/library.hpp"
#include "geometry/rounding.hpp"
#include "index/scene_space.hpp"

namespace rthiss::cuda::optix {

namespace {

constexpr unsigned kThreads = 256;

/// What a look at all rows gives: magnitudes as bits, which are ordered like the numbers that are not negative.
struct Extent {
  unsigned long long greatest;  // of a float64
  std::uint32_t query_error;    // of a float32
  std::uint32_t loose;
};

__global__ void query_kernel(BoxSet queries, std::uint32_t* loose, Extent* extent) {
  const std::uint64_t q = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const float error = q < queries.count ? queries.error[q] : 0.0F;
  std::uint32_t bits = 0;
  if (error < std::numeric_limits<float>::infinity()) {
    bits = __float_as_uint(error);
  } else {
    loose[atomicAdd(&extent->loose, 1U)] = static_cast<std::uint32_t>(q);
  }
  for (int offset = 16; offset > 0; offset /= 2) bits = max(bits, __shfl_xor_sync(kWholeWarp, bits, offset));
  if (threadIdx.x % 32 == 0) atomicMax(&extent->query_error, bits);
}

struct BoxRule {
  double reach;  // radius and the greatest error of a query
  std::uint32_t axes;
  bool sphere_boxes;
};

__device__ FloatInterval interval_of(const BoxSet& groups, const BoxRule& rule, std::uint64_t g, std::uint32_t a) {
  if (!rule.sphere_boxes) return {groups.low[g * groups.stride + a], groups.high[g * groups.stride + a]};
  return {add_down(groups.sphere[g * 4 + a], -groups.sphere[g * 4 + 3]),
          add_up(groups.sphere[g * 4 + a], groups.sphere[g * 4 + 3])};
}

__device__ double widening_of(const BoxSet& groups, const BoxRule& rule, std::uint64_t g) {
  return SceneSpace::widening(rule.reach + static_cast<double>(groups.error[g]));
}

__global__ void extent_kernel(BoxSet groups, BoxRule rule, Extent* extent) {
  const std::uint64_t g = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (g >= groups.count) return;
  const double widening = widening_of(groups, rule, g);
  double greatest = 0.0;
  for (std::uint32_t a = 0; a < rule.axes; ++a) {
    const FloatInterval interval = interval_of(groups, rule, g, a);
    const double bound =
        fmax(fabs(static_cast<double>(interval.low)), fabs(static_cast<double>(interval.high))) + widening;
    if (bound < std::numeric_limits<double>::infinity()) greatest = fmax(greatest, bound);
  }
  atomicMax(&extent->greatest, static_cast<unsigned long long>(__double_as_longlong(round_up(greatest))));
}

/// Two units in the last place, and enough that no bound is subnormal.
__device__ double outward(double bound, double sign) { return bound + sign * (fabs(bound) * 0x1p-22 + 0x1p-60); }

__global__ void box_kernel(BoxSet groups, BoxRule rule, SceneSpace space, abi::Box* boxes) {
  const std::uint64_t g = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (g >= groups.count) return;
  const double widening = widening_of(groups, rule, g);
  constexpr float kEverywhere = SceneSpace::kEverywhere;
  abi::Box box;
  for (std::uint32_t a = 0; a < 3; ++a) {
    float low = -1.0F, high = 1.0F;  // an axis without component: all queries stand at 0
    if (a < rule.axes) {
      const FloatInterval interval = interval_of(groups, rule, g, a);
      low = round_down_to_float(outward(space.low(static_cast<double>(interval.low), widening), -1.0));
      high = round_up_to_float(outward(space.high(static_cast<double>(interval.high), widening), 1.0));
    }
    // Comparisons that a NaN fails.
    box.low[a] = low > -kEverywhere ? low : -kEverywhere;
    box.high[a] = high < kEverywhere ? high : kEverywhere;
  }
  boxes[g] = box;
}

[[nodiscard]] abi::DevicePointer address(const void* pointer) {
  return static_cast<abi::DevicePointer>(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace

DeviceArray<abi::Box> scene_boxes(const CandidateSets& sets, const CandidateTest& test, std::uint32_t axes,
                                  Scene& scene, DeviceMemory& memory, Stream stream) {
  scene.axes = axes;
  DeviceArray<Extent> extent(memory, 1, stream, "the extent of the scene");
  check(cudaMemsetAsync(extent.data(), 0, extent.bytes(), stream), "cudaMemsetAsync");
  Extent seen{};
  if (sets.queries.count != 0) {
    DeviceArray<std::uint32_t> loose(memory, sets.queries.count, stream, "queries without bound");
    query_kernel<<<blocks_for(sets.queries.count, kThreads), kThreads, 0, stream>>>(sets.queries, loose.data(),
                                                                                    extent.data());
    check_launch("errors of queries");
    copy_to_host(extent.data(), 1, &seen, stream);
    scene.loose_count = seen.loose;
    if (seen.loose != 0) scene.loose_queries = std::move(loose);
  }
  DeviceArray<abi::Box> boxes(memory, sets.groups.count, stream, "the boxes of the scene");
  if (boxes.empty()) return boxes;
  const double error = static_cast<double>(std::bit_cast<float>(seen.query_error));
  const BoxRule rule{round_up(test.radius + error), axes, test.sphere_boxes};
  const unsigned blocks = blocks_for(sets.groups.count, kThreads);
  extent_kernel<<<blocks, kThreads, 0, stream>>>(sets.groups, rule, extent.data());
  check_launch("extent of the scene");
  copy_to_host(extent.data(), 1, &seen, stream);
  const SceneSpace space(std::bit_cast<double>(std::uint64_t{seen.greatest}));
  scene.scale = space.scale();
  box_kernel<<<blocks, kThreads, 0, stream>>>(sets.groups, rule, space, boxes.data());
  check_launch("boxes of the scene");
  return boxes;
}

Scene build_scene(const DeviceContext& optix, const CandidateSets& sets, const CandidateTest& test, std::uint32_t axes,
                  DeviceMemory& memory, Stream stream) {
  if (sets.groups.count >= optix.most_primitives) {
    throw UnsupportedError("index 'optix': " + std::to_string(sets.groups.count) +
                           " groups, and OptiX takes fewer than " + std::to_string(optix.most_primitives) +
                           " in a scene; make larger groups or choose index 'bvh'");
  }
  Scene scene;
  const DeviceArray<abi::Box> boxes = scene_boxes(sets, test, axes, scene, memory, stream);
  if (boxes.empty()) return scene;
  const abi::FunctionTable& functions = library().functions;
  const abi::DevicePointer box_address = address(boxes.data());
  const std::uint32_t flags = abi::kGeometryDisableAnyHit;
  abi::BuildInput input{};
  input.type = abi::kBuildInputCustomPrimitives;
  input.primitives.boxes = &box_address;
  input.primitives.count = sets.groups.count;
  input.primitives.flags = &flags;
  input.primitives.record_count = 1;
  abi::BuildOptions options{};
  options.flags = abi::kBuildAllowCompaction | abi::kBuildPreferFastTrace;
  options.operation = abi::kOperationBuild;
  abi::BufferSizes sizes{};
  check_optix(functions.accel_compute_memory_usage(optix.context, &options, &input, 1, &sizes),
              "estimating the scene's memory");
  DeviceArray<unsigned char> temporary(memory, sizes.temporary, stream, "building the OptiX scene");
  DeviceArray<unsigned char> loose(memory, sizes.output, stream, "the OptiX scene");
  DeviceArray<std::uint64_t> compact_size(memory, 1, stream, "the size of the OptiX scene");
  const abi::EmitRequest emit{address(compact_size.data()), abi::kEmitCompactedSize};
  check_optix(functions.accel_build(optix.context, stream, &options, &input, 1, address(temporary.data()),
                                    temporary.size(), address(loose.data()), loose.size(), &scene.handle, &emit, 1),
              "building the scene");
  std::uint64_t bytes = 0;
  copy_to_host(compact_size.data(), 1, &bytes, stream);
  if (bytes < loose.size()) {
    scene.structure = DeviceArray<unsigned char>(memory, bytes, stream, "the OptiX scene");
    check_optix(functions.accel_compact(optix.context, stream, scene.handle, address(scene.structure.data()), bytes,
                                        &scene.handle),
                "compacting the scene");
  } else {
    scene.structure = std::move(loose);
  }
  scene.records = copy_to_device(&optix.records[0][0], sizeof optix.records, memory, stream, "OptiX records");
  return scene;
}

}  // namespace rthiss::cuda::optix
