#pragma once

#include <string>

namespace rthiss::cuda::optix {

/// Why index "optix" cannot be used with the device, as far as can be told without starting OptiX; empty: it may be.
[[nodiscard]] std::string problem_of_library();

/// Has the device RT cores, and does OptiX run there? Devices of generations that have none are not asked; others are,
/// which starts OptiX on them.
[[nodiscard]] bool has_rt_cores(int device);

struct OptixReport {
  bool usable = false;
  std::string text;  ///< RT-core version, or why OptiX is not used
};

/// Starts OptiX on the device and waits for it.
[[nodiscard]] OptixReport describe_optix(int device);

}  // namespace rthiss::cuda::optix
