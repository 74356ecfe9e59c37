#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rthiss::cuda {

using Stream = cudaStream_t;

/// Device memory of one engine: a private, stream-ordered pool under a limit. Other users of the device keep what they
/// have, and get back what this one no longer needs when it ends. Calls are thread-safe.
class DeviceMemory {
 public:
  /// `limit` bytes at most; 0: what the device has free.
  DeviceMemory(int device, std::uint64_t limit);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Usable in `stream` from here on. Throws OutOfDeviceMemory that says what was wanted for what, and what is free.
  [[nodiscard]] void* allocate(std::size_t bytes, Stream stream, const char* what);
  /// The memory is free for others when `stream` has come this far.
  void release(void* memory, std::size_t bytes, Stream stream) noexcept;

  /// Bytes that may still be allocated.
  [[nodiscard]] std::uint64_t available() const;
  [[nodiscard]] std::uint64_t in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }
  void reset_peak() noexcept { peak_.store(in_use(), std::memory_order_relaxed); }

 private:
  int device_;
  std::uint64_t limit_;
  cudaMemPool_t pool_ = nullptr;
  std::atomic<std::uint64_t> in_use_{0}, peak_{0};
};

}  // namespace rthiss::cuda
