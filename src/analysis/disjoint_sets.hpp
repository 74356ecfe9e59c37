#pragma once

#include <rthiss/array.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace rthiss {

/// Union-find over 0 .. n - 1, 4 bytes each. Every root is the lowest number of its set, whatever the order of the
/// unions. Any number of threads may call `unite` and `find` at once; what `find` says is final once no union runs.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t n) : parent_(n) {
    for (std::size_t i = 0; i < n; ++i) parent_[i] = static_cast<std::uint32_t>(i);
  }

  [[nodiscard]] std::uint32_t find(std::uint32_t i) noexcept {
    for (;;) {
      std::uint32_t above = at(i).load(std::memory_order_relaxed);
      if (above == i) return i;
      const std::uint32_t higher = at(above).load(std::memory_order_relaxed);
      // Halve the path; whoever was faster has set something at least as high.
      if (higher != above) at(i).compare_exchange_weak(above, higher, std::memory_order_relaxed);
      i = higher;
    }
  }

  void unite(std::uint32_t a, std::uint32_t b) noexcept {
    for (;;) {
      a = find(a);
      b = find(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      std::uint32_t root = a;
      if (at(a).compare_exchange_strong(root, b, std::memory_order_relaxed)) return;
    }
  }

 private:
  [[nodiscard]] std::atomic_ref<std::uint32_t> at(std::uint32_t i) noexcept { return std::atomic_ref(parent_[i]); }

  Array<std::uint32_t> parent_;
};

}  // namespace rthiss
