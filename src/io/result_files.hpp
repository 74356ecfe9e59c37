#pragma once

#include <rthiss/result_sink.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace rthiss::io {

/// Formats of a stored result (docs/formats.md, "Results").
enum class ResultFormat : std::uint8_t {
  kNpz,       ///< "npz": SciPy's CSR matrix
  kPairs,     ///< "pairs": .npy, [pairs x 2] int64
  kPairsCsv,  ///< "pairs-csv": text, one pair a line
  kCounts,    ///< "counts": .npy, [queries] uint64
};

/// By name or, where `name` is empty, by the extension of `path` (.npz, .npy: pairs, .csv: pairs-csv).
/// Throws InvalidArgument with the list of formats.
[[nodiscard]] ResultFormat result_format(const std::filesystem::path& path, std::string_view name);

/// A sink that writes one search's result to `path`, complete or not at all (see OutputFile). Chunks may come in any
/// order. One ordered chunk with all queries is written as it lies in memory; otherwise rows wait in a temporary file
/// beside the output, which takes 4 bytes a pair (12 with distances) of disk beside the output's own size, and memory
/// is 20 bytes a query and about 32 MiB. `counts` takes 8 bytes a query and no temporary file.
/// Throws InvalidArgument (format), IoError (path, system's reason); both before any row is computed where possible.
[[nodiscard]] std::unique_ptr<ResultSink> make_file_sink(const std::filesystem::path& path,
                                                         std::string_view format = {});

}  // namespace rthiss::io
