#pragma once

#include <rthiss/array.hpp>
#include <rthiss/neighbor_lists.hpp>

#include <cstdint>
#include <filesystem>

#include "io/result_files.hpp"

namespace rthiss::io {

/// A result read back from a file.
struct StoredResult {
  ResultFormat format = ResultFormat::kNpz;
  /// Of npz, pairs and pairs-csv. Distances where the file holds them; an npz whose data are all exactly 1.0 counts as
  /// one without, since the format cannot tell.
  NeighborLists lists;
  Array<std::uint64_t> counts;  ///< [queries], of counts only
};

/// Reads any file that `make_file_sink` writes, known by its contents. It must be the result of a search with `queries`
/// queries over `points` points. Everything is checked before it is used: sizes against the file, checksums, ids
/// against the search, the order of rows and of ids within them.
/// Memory: 8 bytes a query, 4 bytes a pair (12 with distances); the file itself is mapped.
/// Throws IoError (the file cannot be read), InvalidArgument (path, byte offset, what is wrong).
[[nodiscard]] StoredResult read_result(const std::filesystem::path& path, std::uint64_t queries, std::uint64_t points);

}  // namespace rthiss::io
