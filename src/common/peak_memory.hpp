#pragma once

#include <cstdint>

namespace rthiss {

/// Largest resident size of this process so far, in bytes; 0 where the system does not tell.
[[nodiscard]] std::uint64_t peak_memory_bytes() noexcept;

}  // namespace rthiss
