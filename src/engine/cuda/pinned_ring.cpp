#include "engine/cuda/pinned_ring.hpp"

#include "engine/cuda/cuda_check.hpp"

namespace rthiss::cuda {

/// Never destroyed: at the end of the process the driver may be gone before static objects are.
PinnedRing& PinnedRing::instance() {
  static PinnedRing* const ring = new PinnedRing();
  return *ring;
}

void PinnedRing::prepare() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  for (std::byte*& buffer : buffers_) {
    if (buffer != nullptr) continue;
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, kBytes, cudaHostAllocPortable), "cudaHostAlloc");
    buffer = static_cast<std::byte*>(memory);
  }
  if (device == device_) return;
  for (cudaEvent_t& event : events_) {
    if (event != nullptr) (void)cudaEventDestroy(event);
    event = nullptr;
  }
  device_ = -1;
  for (cudaEvent_t& event : events_) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  device_ = device;
}

PinnedRing::Lease::Lease() : ring_(PinnedRing::instance()), lock_(ring_.mutex_) { ring_.prepare(); }

PinnedRing::Lease::~Lease() {
  for (const cudaEvent_t event : ring_.events_) (void)cudaEventSynchronize(event);
}

void PinnedRing::Lease::wait(std::size_t i) const {
  check(cudaEventSynchronize(ring_.events_[i]), "cudaEventSynchronize");
}

void PinnedRing::Lease::mark(std::size_t i, cudaStream_t stream) const {
  check(cudaEventRecord(ring_.events_[i], stream), "cudaEventRecord");
}

}  // namespace rthiss::cuda
