#pragma once

#include <string>
#include <string_view>

#include "engine/cuda/optix/abi.hpp"

namespace rthiss::cuda::optix {

/// The driver's OptiX library, or why it cannot be used.
struct Library {
  abi::FunctionTable functions{};
  std::string problem;  ///< empty: usable
};

/// Loads libnvoptix.so.1 once a process. It stays loaded.
[[nodiscard]] const Library& library();

/// Throws DeviceError that names the call and what to do.
void check_optix(abi::Result result, std::string_view call, std::string_view log = {});

}  // namespace rthiss::cuda::optix
