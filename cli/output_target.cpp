#include "output_target.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "errors.hpp"
#include "io/output_file.hpp"
#include "io/result_files.hpp"
#include "standard_output.hpp"

namespace rthiss::cli {

std::filesystem::path OutputTarget::result_path() const { return path == "-" ? "/dev/stdout" : path; }

void OutputTarget::check() const {
  if (path == "-" && json == "-") throw UsageError("--output and --json cannot both go to standard output");
  if (path.empty()) {
    if (!format.empty()) throw UsageError("--format needs --output");
    return;
  }
  try {
    (void)io::result_format(path, format);
  } catch (const InvalidArgument& error) {
    throw UsageError(error.what());
  }
}

bool OutputTarget::holds_distances() const {
  if (path.empty()) return false;
  const io::ResultFormat kind = io::result_format(path, format);
  return kind == io::ResultFormat::kNpz || kind == io::ResultFormat::kPairsCsv;
}

std::unique_ptr<ResultSink> OutputTarget::make_sink() const {
  try {
    return io::make_file_sink(result_path(), format);
  } catch (const InvalidArgument& error) {  // a pipe for a format that needs a file
    throw UsageError(error.what());
  }
}

std::uint64_t OutputTarget::file_bytes() const {
  std::error_code failure;
  const std::filesystem::path file = result_path();
  if (path.empty() || !std::filesystem::is_regular_file(file, failure)) return 0;
  const std::uintmax_t bytes = std::filesystem::file_size(file, failure);
  return failure ? 0 : bytes;
}

void OutputTarget::report(const std::string& summary, const std::string& json_object) const {
  if (!json.empty() && json != "-") {
    io::OutputFile file(json);
    file.write(json_object);
    file.commit();
  }
  if (json == "-") {
    write_standard_output(json_object);
  } else if (path == "-") {
    fmt::print(stderr, "{}", summary);
  } else {
    write_standard_output(summary);
  }
}

void check_points_format(const std::string& path, const std::string& format) {
  static constexpr std::string_view kFormats[] = {"npy", "fvecs", "bvecs", "ivecs", "csv"};
  std::string kind = format;
  if (kind.empty()) {
    const std::string extension = std::filesystem::path(path).extension().string();
    kind = extension == ".txt" ? "csv" : extension.substr(std::min<std::size_t>(1, extension.size()));
  }
  if (std::find(std::begin(kFormats), std::end(kFormats), kind) != std::end(kFormats)) return;
  throw UsageError(format.empty() ? fmt::format("'{}': no format for rows has this extension; name one of {}", path,
                                                fmt::join(kFormats, ", "))
                                  : fmt::format("format '{}' is none of {}", format, fmt::join(kFormats, ", ")));
}

}  // namespace rthiss::cli
