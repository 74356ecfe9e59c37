#include "engine/cuda/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/cuda/cuda_check.hpp"

namespace rthiss::cuda {

namespace {

/// The driver and the modules need some memory of their own while kernels run.
constexpr std::uint64_t kReserve = std::uint64_t{256} << 20;

}  // namespace

DeviceMemory::DeviceMemory(int device, std::uint64_t limit) : device_(device), limit_(limit) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  check(cudaMemPoolCreate(&pool_, &properties), "cudaMemPoolCreate");
  // What a batch releases the next one takes again, without a way through the driver.
  std::uint64_t keep = ~std::uint64_t{0};
  const cudaError_t status = cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
  if (status != cudaSuccess) {
    (void)cudaMemPoolDestroy(pool_);
    throw_cuda_error(status, "cudaMemPoolSetAttribute");
  }
}

DeviceMemory::~DeviceMemory() { (void)cudaMemPoolDestroy(pool_); }

void* DeviceMemory::allocate(std::size_t bytes, Stream stream, const char* what) {
  const std::uint64_t used = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  void* memory = nullptr;
  cudaError_t status = cudaErrorMemoryAllocation;
  if (limit_ == 0 || used <= limit_) status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
  if (status != cudaSuccess) {
    in_use_.fetch_sub(bytes, std::memory_order_relaxed);
    (void)cudaGetLastError();
    if (status != cudaErrorMemoryAllocation) throw_cuda_error(status, "cudaMallocFromPoolAsync");
    const std::uint64_t free = available();
    throw OutOfDeviceMemory(fmt::format(
        "device {}: {} bytes wanted for {}, {} can be had{}; raise device_memory_limit, end other programs on the "
        "device, or choose engine 'cpu'",
        device_, bytes, what, free, limit_ != 0 ? fmt::format(" under the limit of {}", limit_) : std::string()));
  }
  std::uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
  return memory;
}

void DeviceMemory::release(void* memory, std::size_t bytes, Stream stream) noexcept {
  (void)cudaFreeAsync(memory, stream);
  in_use_.fetch_sub(bytes, std::memory_order_relaxed);
}

std::uint64_t DeviceMemory::available() const {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  // The pool's own idle memory counts as used for the device, but can be had.
  std::uint64_t reserved = 0, used = 0;
  check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved), "cudaMemPoolGetAttribute");
  check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used), "cudaMemPoolGetAttribute");
  std::uint64_t room = free + (reserved - std::min(reserved, used));
  room -= std::min(room, kReserve);
  if (limit_ != 0) room = std::min(room, limit_ - std::min(limit_, in_use()));
  return room;
}

}  // namespace rthiss::cuda
