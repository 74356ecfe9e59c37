#include "engine/cuda/cuda_check.hpp"

#include <fmt/format.h>

namespace rthiss::cuda {

void throw_cuda_error(cudaError_t status, std::string_view call) {
  (void)cudaGetLastError();  // what can be cleared must not show up at a later call
  if (status == cudaErrorMemoryAllocation) {
    throw OutOfDeviceMemory(
        fmt::format("{}: the device has too little free memory; lower device_memory_limit, end "
                    "other programs on the device, or choose another one",
                    call));
  }
  const char* advice = "run 'rthiss info', and the search again with engine 'cpu' to go on without the device";
  switch (status) {
    case cudaErrorInsufficientDriver:
      advice = "install a newer driver (docs/cuda.md), or choose engine 'cpu'";
      break;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
      advice = "choose one of the devices that 'rthiss info' lists, or engine 'cpu'";
      break;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      advice = "build for this device (CMAKE_CUDA_ARCHITECTURES, docs/cuda.md), or choose engine 'cpu'";
      break;
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
      advice = "the process can use the device no longer; start it again, and please report this";
      break;
    default:
      break;
  }
  throw DeviceError(fmt::format("{}: {} ({}); {}", call, cudaGetErrorString(status), cudaGetErrorName(status), advice));
}

}  // namespace rthiss::cuda
