#pragma once

#include <rthiss/result_sink.hpp>

#include <cstdint>
#include <filesystem>

namespace rthiss::io {

/// `file_bytes` of output and `spool_bytes` of its SpoolFile, which lies in the same folder, beside what is free there.
/// An output that is a pipe or a device takes no room of its own, and its rows wait in the system's folder for
/// temporary files. The free bytes are unlimited where the system does not tell them.
[[nodiscard]] ResultCost disk_cost(const std::filesystem::path& output, std::uint64_t file_bytes,
                                   std::uint64_t spool_bytes);

/// Digits of the largest id of `count` rows.
[[nodiscard]] std::uint64_t id_digits(std::uint64_t count) noexcept;

}  // namespace rthiss::io
