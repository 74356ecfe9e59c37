#include "engine/cuda/devices.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace rthiss::cuda {

namespace {

DeviceList look() {
  DeviceList list;
  (void)cudaDriverGetVersion(&list.driver);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  if (list.driver == 0) {
    list.problem = "no NVIDIA driver was found (libcuda.so.1); install one, or choose engine 'cpu'";
  } else if (status == cudaErrorInsufficientDriver) {
    list.problem = fmt::format(
        "the NVIDIA driver is too old: it supports CUDA {}, and this program was built with CUDA {}; install a newer "
        "driver (docs/cuda.md), or choose engine 'cpu'",
        version_text(list.driver), version_text(toolkit_version()));
  } else if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    list.problem = "the NVIDIA driver shows no device (CUDA_VISIBLE_DEVICES may hide it); choose engine 'cpu'";
  } else if (status != cudaSuccess) {
    list.problem = fmt::format("the NVIDIA driver failed: {} ({}); choose engine 'cpu'", cudaGetErrorString(status),
                               cudaGetErrorName(status));
  }
  for (int number = 0; list.problem.empty() && number < count; ++number) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, number) != cudaSuccess) continue;
    list.devices.push_back({number, properties.name, properties.major, properties.minor, properties.totalGlobalMem});
  }
  if (list.problem.empty() && list.devices.empty()) {
    list.problem = "the NVIDIA driver tells nothing of its devices; choose engine 'cpu'";
  }
  return list;
}

}  // namespace

const DeviceList& list_devices() {
  static const DeviceList list = look();
  return list;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

int toolkit_version() { return CUDART_VERSION; }

std::string describe_devices() {
  const DeviceList& list = list_devices();
  if (list.devices.empty()) return list.problem;
  std::string text;
  for (const DeviceInfo& device : list.devices) {
    fmt::format_to(std::back_inserter(text), "device {}: {}, {} MiB, compute capability {}.{}; ", device.number,
                   device.name, device.memory >> 20, device.major, device.minor);
  }
  return text + fmt::format("driver for CUDA {}, built with CUDA {}", version_text(list.driver),
                            version_text(toolkit_version()));
}

}  // namespace rthiss::cuda
