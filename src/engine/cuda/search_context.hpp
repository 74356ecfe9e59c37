#pragma once

#include "engine/cuda/cuda_check.hpp"
#include "engine/cuda/device_memory.hpp"

namespace rthiss::cuda {

/// The calling thread works on a device, in a stream of its own, while this lives; afterwards the thread is back on the
/// device that it had before.
class SearchContext {
 public:
  explicit SearchContext(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~SearchContext() {
    (void)cudaStreamSynchronize(stream_);
    (void)cudaStreamDestroy(stream_);
    (void)cudaSetDevice(before_);
  }
  SearchContext(const SearchContext&) = delete;
  SearchContext& operator=(const SearchContext&) = delete;

  [[nodiscard]] Stream stream() const noexcept { return stream_; }
  /// Waits for everything in the stream.
  void finish() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  int before_ = 0;
  Stream stream_ = nullptr;
};

}  // namespace rthiss::cuda
