#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rthiss::io {

/// A stored member of a zip archive in memory.
struct ZipMember {
  std::string name;
  std::span<const std::byte> data;
  std::uint64_t data_offset = 0;  ///< of `data` in the archive
};

/// The members of an archive as SciPy and ZipWriter make them (zip64 included). Every offset and size is checked
/// against the archive, and every member against its CRC-32. Throws InvalidArgument with `path` and the byte offset; so
/// are compressed members refused.
[[nodiscard]] std::vector<ZipMember> read_zip(std::span<const std::byte> archive, std::string_view path);

}  // namespace rthiss::io
