#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "generate/generated_points.hpp"

namespace rthiss {
class ThreadPool;
}

namespace rthiss::generate {

/// A data set of the benchmarks, the same bytes on every machine.
struct Workload {
  std::string_view name;
  std::string_view description;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  DType dtype = DType::kFloat32;
  std::string_view sha256_start;  ///< first 16 digits of the SHA-256 at full size
};

[[nodiscard]] std::span<const Workload> workloads() noexcept;
/// Null when there is none of that name.
[[nodiscard]] const Workload* find_workload(std::string_view name) noexcept;

/// Makes a workload with `rows` rows instead of its own number. Where values are scaled to their range over all rows
/// (susylike5m18, embed1m128) fewer rows are not a prefix of the whole. Memory: the result only.
/// Throws InvalidArgument (no such workload, and which there are; too few rows to scale), std::bad_alloc.
[[nodiscard]] GeneratedPoints generate_workload(std::string_view name, std::optional<std::uint64_t> rows,
                                                const ThreadPool& pool);

}  // namespace rthiss::generate
