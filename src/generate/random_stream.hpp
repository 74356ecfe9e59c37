#pragma once

#include <cstdint>

namespace rthiss::generate {

/// Random numbers by position: number i of a stream is a pure function of (seed, stream, i), so that any thread can
/// make any part. Only integer arithmetic and single IEEE operations: the same bits on every machine.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream) noexcept : key_(mix(seed + (stream + 1) * kGolden)) {}

  [[nodiscard]] std::uint64_t bits(std::uint64_t i) const noexcept { return mix(key_ + (i + 1) * kGolden); }

  /// In (0, 1), a multiple of 2^-53.
  [[nodiscard]] double uniform(std::uint64_t i) const noexcept {
    return (static_cast<double>(bits(i) >> 12) + 0.5) * 0x1p-52;
  }

  /// Mean 0, variance 1, |value| < 6: a sum of twelve 16-bit pieces (Irwin-Hall). Uses bits(3i) to bits(3i + 2).
  [[nodiscard]] double normal(std::uint64_t i) const noexcept {
    std::uint64_t sum = 0;
    for (std::uint64_t k = 0; k < 3; ++k) {
      const std::uint64_t word = bits(3 * i + k);
      sum += (word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48);
    }
    return (static_cast<double>(sum) - 12 * 32767.5) * 0x1p-16;
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;

  // SplitMix64's finaliser.
  static std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::uint64_t key_;
};

}  // namespace rthiss::generate
