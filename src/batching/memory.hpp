#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace rthiss {

/// Bytes that this process may still take: the least of what /proc/meminfo calls available and what is left under the
/// memory limits of its control group and every group above it (cgroup v2 and v1; reclaimable file pages count as
/// free). `root` stands for "/". Nothing where the system tells none of these.
[[nodiscard]] std::optional<std::uint64_t> free_memory_bytes(const std::filesystem::path& root = "/");

/// Half of the free memory; 1 GiB where it is not known.
[[nodiscard]] std::uint64_t default_memory_budget();

/// The value in bytes of a line such as "MemAvailable:  123 kB".
[[nodiscard]] std::optional<std::uint64_t> meminfo_field(std::string_view text, std::string_view name);

}  // namespace rthiss
