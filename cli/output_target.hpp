#pragma once

#include <rthiss/result_sink.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace rthiss::cli {

/// --output and --json of a command: where the result, the JSON object and the text summary go.
struct OutputTarget {
  std::string path;    ///< --output; empty: no result is stored; "-": standard output
  std::string format;  ///< --format; empty: by the extension
  std::string json;    ///< --json; empty: none; "-": standard output

  /// Throws UsageError: two of them on standard output, a format without an output, an output without a format.
  void check() const;
  /// After check(): whether the result's format has room for distances.
  [[nodiscard]] bool holds_distances() const;
  /// Throws UsageError: format and path do not go together; IoError: the file cannot be made.
  [[nodiscard]] std::unique_ptr<ResultSink> make_sink() const;
  /// Bytes of the result file; 0 where it is no regular file.
  [[nodiscard]] std::uint64_t file_bytes() const;
  /// Writes the object to its place, or the summary to standard output (stderr when the result has that).
  void report(const std::string& summary, const std::string& json_object) const;

 private:
  [[nodiscard]] std::filesystem::path result_path() const;
};

/// Throws UsageError where rows cannot be written to `path` in `format` (empty: by the extension).
void check_points_format(const std::string& path, const std::string& format);

}  // namespace rthiss::cli
