#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <mutex>

namespace rthiss::cuda {

/// A few page-locked buffers through which large transfers go in pieces: locking pages costs far more than copying
/// them, so these are made once a process and kept.
class PinnedRing {
 public:
  static constexpr std::size_t kBuffers = 8;
  static constexpr std::size_t kBytes = std::size_t{8} << 20;  ///< of each buffer

  /// Exclusive use of the ring. Made by one thread at a time; waits for the one before.
  class Lease {
   public:
    Lease();
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    [[nodiscard]] std::byte* buffer(std::size_t i) const { return ring_.buffers_[i]; }
    /// Waits until the copies that were marked for buffer `i` are done.
    void wait(std::size_t i) const;
    /// Marks the end of the copies that use buffer `i` in `stream` so far.
    void mark(std::size_t i, cudaStream_t stream) const;

   private:
    PinnedRing& ring_;
    std::unique_lock<std::mutex> lock_;
  };

 private:
  PinnedRing() = default;
  static PinnedRing& instance();
  void prepare();

  std::mutex mutex_;
  int device_ = -1;  // that the events belong to
  std::array<std::byte*, kBuffers> buffers_{};
  std::array<cudaEvent_t, kBuffers> events_{};
};

}  // namespace rthiss::cuda
