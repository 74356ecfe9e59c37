#pragma once

#include <rthiss/knn.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "output_target.hpp"

namespace rthiss::cli {

/// The format of a table: by name, else by the extension of the path. Throws UsageError where it is none of `known`
/// (names that are extensions too), and for what OutputTarget cannot have.
[[nodiscard]] std::string table_format(const OutputTarget& output, std::span<const std::string_view> known);

/// .npy, int64 [values].
void write_integers(const std::string& path, std::span<const std::int64_t> values);
/// Text, complete or not at all.
void write_text(const std::string& path, std::string_view text);

/// "npy": int64 [queries x k] ids, nearest first, -1 for none. "ivecs": the same as int32. "csv": a line
/// query,neighbor,distance each, nearest first. "npz": SciPy's CSR matrix of distances, ids ascending.
void write_nearest(const std::string& path, std::string_view format, const NearestNeighbors& nearest,
                   std::uint64_t points);
/// .npy, float64 [queries x k], NaN for none.
void write_distances(const std::string& path, const NearestNeighbors& nearest);

}  // namespace rthiss::cli
