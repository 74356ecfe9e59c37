#pragma once

#include <cstddef>
#include <utility>

#include "engine/cuda/device_memory.hpp"

namespace rthiss::cuda {

/// Owner of an array on the device, allocated and released in the order of one stream. Elements start undefined.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(DeviceMemory& memory, std::size_t size, Stream stream, const char* what)
      : memory_(&memory), stream_(stream), size_(size) {
    if (size_ != 0) data_ = static_cast<T*>(memory.allocate(size_ * sizeof(T), stream, what));
  }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) memory_->release(data_, size_ * sizeof(T), stream_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

 private:
  void swap(DeviceArray& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(stream_, other.stream_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  DeviceMemory* memory_ = nullptr;
  Stream stream_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rthiss::cuda
