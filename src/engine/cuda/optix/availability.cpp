#include "engine/cuda/optix/availability.hpp"

#include <fmt/format.h>

#include <exception>

#include "engine/cuda/devices.hpp"
#include "engine/cuda/optix/context.hpp"
#include "engine/cuda/optix/library.hpp"

namespace rthiss::cuda::optix {

namespace {

/// Devices for computing of these generations (8.0, 9.0, 10.x) have no RT cores; of the others some have.
bool may_have_rt_cores(const DeviceInfo& device) {
  if (device.major == 8) return device.minor != 0;
  return (device.major == 7 && device.minor == 5) || device.major >= 12;
}

}  // namespace

std::string problem_of_library() { return library().problem; }

bool has_rt_cores(int device) {
  for (const DeviceInfo& info : list_devices().devices) {
    if (info.number != device || !may_have_rt_cores(info) || !library().problem.empty()) continue;
    try {
      return context_of(device).rt_core_version != 0;
    } catch (const std::exception&) {
      return false;  // `rthiss info` says why
    }
  }
  return false;
}

OptixReport describe_optix(int device) {
  if (!library().problem.empty()) return {false, library().problem};
  try {
    const DeviceContext& made = context_of(device);
    const std::string where =
        fmt::format("OptiX ABI {} on device {}, started in {:.2f} s", abi::kVersion, device, made.start_seconds);
    if (made.rt_core_version == 0) {
      return {true, where + ", which has no RT cores: OptiX runs in software there, and 'auto' stands for bvh"};
    }
    return {true, fmt::format("{}, RT cores {}.{}: 'auto' stands for optix in preset 'paper' on engine 'cuda'", where,
                              made.rt_core_version / 10, made.rt_core_version % 10)};
  } catch (const std::exception& error) {
    return {false, error.what()};
  }
}

}  // namespace rthiss::cuda::optix
