#pragma once

#include "engine/cuda/current_device.hpp"
#include "engine/cuda/device_memory.hpp"

namespace rthiss::cuda {

/// The calling thread works on a device, in a stream of its own, while this lives.
class SearchContext {
 public:
  explicit SearchContext(int device) : device_(device) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~SearchContext() {
    (void)cudaStreamSynchronize(stream_);
    (void)cudaStreamDestroy(stream_);
  }
  SearchContext(const SearchContext&) = delete;
  SearchContext& operator=(const SearchContext&) = delete;

  [[nodiscard]] Stream stream() const noexcept { return stream_; }
  /// Waits for everything in the stream.
  void finish() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  CurrentDevice device_;
  Stream stream_ = nullptr;
};

}  // namespace rthiss::cuda
