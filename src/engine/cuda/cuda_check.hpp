#pragma once

#include <cuda_runtime_api.h>

#include <rthiss/errors.hpp>
#include <string_view>

namespace rthiss::cuda {

/// Device memory that cannot be had now; smaller batches may still fit. Becomes OutOfMemory where nothing is left to
/// halve.
class OutOfDeviceMemory : public OutOfMemory {
 public:
  using OutOfMemory::OutOfMemory;
};

/// Throws DeviceError that names `call`, the driver's words and what to do; OutOfDeviceMemory where memory was short.
[[noreturn]] void throw_cuda_error(cudaError_t status, std::string_view call);

inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) [[unlikely]]
    throw_cuda_error(status, call);
}

/// After a kernel launch: its configuration was accepted.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace rthiss::cuda
