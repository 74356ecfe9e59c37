#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace rthiss::generate {

/// SHA-256 (FIPS 180-4) of bytes that come in pieces.
class Sha256 {
 public:
  void update(const void* data, std::size_t bytes) noexcept;
  /// 64 lower-case hexadecimal digits; ends the digest.
  [[nodiscard]] std::string finish();

 private:
  static constexpr std::size_t kBlock = 64;
  void process(const unsigned char* block) noexcept;

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, kBlock> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t total_bytes_ = 0;
};

[[nodiscard]] std::string sha256_of(const void* data, std::size_t bytes);

}  // namespace rthiss::generate
