#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "io/file_bytes.hpp"

namespace rthiss::io {

[[nodiscard]] bool looks_like_gzip(std::span<const std::byte> bytes) noexcept;

/// Inflates a whole .gz file of one or more members into memory, checksums verified. Throws InvalidArgument with the
/// byte offset in the compressed file: damaged, cut off, or followed by something else; OutOfMemory beyond
/// `memory_limit` bytes.
[[nodiscard]] FileBytes inflate_gzip(std::span<const std::byte> bytes, std::uint64_t memory_limit,
                                     std::string_view path);

}  // namespace rthiss::io
