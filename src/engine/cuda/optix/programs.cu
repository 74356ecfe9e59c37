#include <cstdint>
#include <limits>

#include "engine/cuda/optix/abi.hpp"
#include "engine/cuda/optix/near_group.cuh"
#include "index/scene_space.hpp"

// The programs of OptiX's pipeline. Compiled to PTX, which the driver compiles when the context is made; never linked.
// A ray of no length stands at each query; the program of a box that holds it does all the work and reports no hit.

using rthiss::SceneSpace;
using rthiss::cuda::optix::kPayloadValues;
using rthiss::cuda::optix::LaunchParameters;

// Bytes, since a constant of a type with a constructor cannot be declared. The name is kParametersName.
extern "C" {
__constant__ alignas(LaunchParameters) unsigned char rthiss_launch[sizeof(LaunchParameters)];
}

namespace {

constexpr float kRayEnd = 1e-16F;

__device__ __forceinline__ const LaunchParameters& launch_parameters() {
  return *reinterpret_cast<const LaunchParameters*>(rthiss_launch);
}

__device__ __forceinline__ std::uint32_t launch_index() {
  std::uint32_t index;
  asm("call (%0), _optix_get_launch_index_x, ();" : "=r"(index) :);
  return index;
}

__device__ __forceinline__ std::uint32_t primitive_index() {
  std::uint32_t index;
  asm("call (%0), _optix_read_primitive_idx, ();" : "=r"(index) :);
  return index;
}

/// The payload of the ray at hand.
struct Payload {
  __device__ __forceinline__ void add(std::uint32_t index, std::uint32_t amount) {
    std::uint32_t value;
    asm volatile("call (%0), _optix_get_payload, (%1);" : "=r"(value) : "r"(index) :);
    value += amount;
    asm volatile("call _optix_set_payload, (%0, %1);" : : "r"(index), "r"(value) :);
  }
};

/// Shoots a ray along the first axis; its payload starts as 0.
__device__ __forceinline__ void trace(std::uint64_t scene, const float (&origin)[3],
                                      std::uint32_t (&carried)[kPayloadValues]) {
  constexpr std::uint32_t kFlags =
      rthiss::cuda::optix::abi::kRayDisableAnyHit | rthiss::cuda::optix::abi::kRayDisableClosestHit;
  std::uint32_t out[32];
  const std::uint32_t zero = 0, payload_type = 0, mask = 255, offset = 0, stride = 0, miss = 0;
  asm volatile(
      "call (%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,"
      "%28,%29,%30,%31), _optix_trace_typed_32, "
      "(%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,"
      "%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49,%49);"
      : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3]), "=r"(out[4]), "=r"(out[5]), "=r"(out[6]), "=r"(out[7]),
        "=r"(out[8]), "=r"(out[9]), "=r"(out[10]), "=r"(out[11]), "=r"(out[12]), "=r"(out[13]), "=r"(out[14]),
        "=r"(out[15]), "=r"(out[16]), "=r"(out[17]), "=r"(out[18]), "=r"(out[19]), "=r"(out[20]), "=r"(out[21]),
        "=r"(out[22]), "=r"(out[23]), "=r"(out[24]), "=r"(out[25]), "=r"(out[26]), "=r"(out[27]), "=r"(out[28]),
        "=r"(out[29]), "=r"(out[30]), "=r"(out[31])
      : "r"(payload_type), "l"(scene), "f"(origin[0]), "f"(origin[1]), "f"(origin[2]), "f"(1.0F), "f"(0.0F), "f"(0.0F),
        "f"(0.0F), "f"(kRayEnd), "f"(0.0F), "r"(mask), "r"(kFlags), "r"(offset), "r"(stride), "r"(miss),
        "r"(static_cast<std::uint32_t>(kPayloadValues)), "r"(zero)
      : "memory");
  for (int i = 0; i < kPayloadValues; ++i) carried[i] = out[i];
}

}  // namespace

extern "C" __global__ void __raygen__find() {
  const LaunchParameters& launch = launch_parameters();
  const std::uint32_t q = launch.first_query + launch_index();
  // Without a bound a query is near everything, and another kernel's.
  if (!(launch.queries.error[q] < std::numeric_limits<float>::infinity())) return;
  float origin[3] = {0.0F, 0.0F, 0.0F};
  for (std::uint32_t a = 0; a < launch.axes; ++a) {
    origin[a] = SceneSpace::query(launch.queries.low[std::size_t{q} * launch.queries.stride + a], launch.scale);
  }
  std::uint32_t carried[kPayloadValues];
  trace(launch.scene, origin, carried);
  rthiss::cuda::optix::finish_query(launch, q, carried);
}

extern "C" __global__ void __intersection__find() {
  const LaunchParameters& launch = launch_parameters();
  Payload payload;
  rthiss::cuda::optix::meet_group(launch, launch.first_query + launch_index(), primitive_index(), payload);
}
