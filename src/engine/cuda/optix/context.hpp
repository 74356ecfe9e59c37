#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/cuda/optix/abi.hpp"

namespace rthiss::cuda::optix {

/// OptiX on one device: its context, and the programs of this library as a pipeline. Made once a process and kept to
/// its end; safe to use from several threads.
struct DeviceContext {
  abi::Context context = nullptr;
  abi::Pipeline pipeline = nullptr;
  /// Records of the binding table: raygen, miss, hit.
  alignas(abi::kRecordAlignment) unsigned char records[3][abi::kRecordBytes] = {};
  std::uint32_t rt_core_version = 0;  ///< 10 major + minor; 0: OptiX runs in software
  std::uint32_t most_primitives = 0;  ///< of a scene
  double start_seconds = 0.0;         ///< what it took to make
};

/// Begins to make the device's context on a thread of its own, which takes some tenths of a second.
void start_context(int device);
/// Waits for it. Throws what went wrong.
[[nodiscard]] const DeviceContext& context_of(int device);
/// Waits for whatever start_context began; a process must not end beside it.
void wait_for_context(int device) noexcept;

}  // namespace rthiss::cuda::optix
