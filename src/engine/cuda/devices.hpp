#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rthiss::cuda {

/// A device as the driver names it.
struct DeviceInfo {
  int number = 0;
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  std::uint64_t memory = 0;  ///< bytes
};

/// What can be used here, or why nothing can.
struct DeviceList {
  std::vector<DeviceInfo> devices;
  std::string problem;  ///< a sentence where `devices` is empty
  int driver = 0;       ///< CUDA version of the driver, 1000 major + 10 minor; 0: none
};

/// Looks once a process (the first look starts the driver) and makes no context.
[[nodiscard]] const DeviceList& list_devices();

/// "13.0" for 13000.
[[nodiscard]] std::string version_text(int version);
/// Of the toolkit that this library was built with.
[[nodiscard]] int toolkit_version();
/// One line: devices, driver, toolkit; or the problem.
[[nodiscard]] std::string describe_devices();

}  // namespace rthiss::cuda
