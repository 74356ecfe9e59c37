#include "io/points_reader.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <new>
#include <string_view>
#include <utility>

#include "io/file_bytes.hpp"
#include "io/formats.hpp"
#include "io/gzip.hpp"

namespace rthiss::io {

namespace {

constexpr std::array<std::string_view, 6> kFormats = {"npy", "fvecs", "bvecs", "ivecs", "csv", "idx"};

bool begins_with(std::span<const std::byte> bytes, std::string_view prefix) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).substr(0, prefix.size()) == prefix;
}

std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().native();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

// `extension` without ".gz"; the contents decide where it is none of the known ones. `path` is for messages.
std::string find_format(const std::string& extension, std::span<const std::byte> bytes,
                        const std::filesystem::path& path) {
  if (extension == ".npy" || extension == ".fvecs" || extension == ".bvecs" || extension == ".ivecs") {
    return extension.substr(1);
  }
  if (begins_with(bytes, "\x93NUMPY")) return "npy";
  if (begins_with(bytes, "PK\3\4")) {
    throw InvalidArgument(
        fmt::format("'{}' is a .npz or another zip archive; save the array with numpy.save as .npy", path.native()));
  }
  if (begins_with(bytes, "\x89HDF\r\n\x1a\n")) {
    throw UnsupportedError(fmt::format("'{}' is an HDF5 file; save the data set as .npy", path.native()));
  }
  if (looks_like_idx(bytes)) return "idx";
  const auto head = bytes.subspan(0, std::min<std::size_t>(bytes.size(), 4096));
  if (std::find(head.begin(), head.end(), std::byte{0}) == head.end()) return "csv";
  throw InvalidArgument(
      fmt::format("the format of '{}' is not known; known are .npy, .fvecs, .bvecs, .ivecs, IDX, .csv "
                  "and .txt, and the last three as .gz",
                  path.native()));
}

PointsFile parse(FileBytes content, const std::filesystem::path& path, std::string format, bool compressed,
                 std::uint64_t memory_limit) {
  const std::string& name = path.native();
  const auto bytes = content.bytes();
  const std::string label = compressed ? format + ".gz" : format;
  if (format == "csv") {
    const std::uint64_t held = content.memory_bytes();
    auto points = std::make_shared<TextPoints>(
        parse_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, memory_limit - held, name));
    const PointsView view = PointsView::row_major(points->values.data(), points->rows, points->columns);
    const std::uint64_t memory = points->values.size() * sizeof(double);
    return {view, std::move(points), label, false, memory};
  }
  PointsView view;
  if (format == "npy") {
    view = parse_npy(bytes, name);
  } else if (format == "idx") {
    view = parse_idx(bytes, name);
  } else {
    const DType dtype = format == "fvecs" ? DType::kFloat32 : format == "bvecs" ? DType::kUInt8 : DType::kInt32;
    view = parse_vecs(bytes, dtype, name);
  }
  const bool mapped = content.mapped();
  const std::uint64_t memory = content.memory_bytes();
  return {view, std::make_shared<FileBytes>(std::move(content)), label, mapped, memory};
}

PointsFile read(const std::filesystem::path& path, const ReadOptions& options) {
  if (!options.format.empty() && std::find(kFormats.begin(), kFormats.end(), options.format) == kFormats.end()) {
    throw InvalidArgument(
        fmt::format("format '{}' is not known; known are {}", options.format, "npy, fvecs, bvecs, ivecs, csv, idx"));
  }
  FileBytes content = FileBytes::open(path, options.memory_limit);
  if (!looks_like_gzip(content.bytes())) {
    if (lower_extension(path) == ".gz") {
      throw InvalidArgument(fmt::format("'{}', byte 0: not a .gz file (it does not begin with 1f 8b)", path.native()));
    }
    std::string format =
        options.format.empty() ? find_format(lower_extension(path), content.bytes(), path) : options.format;
    return parse(std::move(content), path, std::move(format), false, options.memory_limit);
  }
  FileBytes inflated = inflate_gzip(content.bytes(), options.memory_limit - content.memory_bytes(), path.native());
  if (inflated.bytes().empty()) throw InvalidArgument(fmt::format("'{}' holds an empty file", path.native()));
  const std::string extension = lower_extension(path);
  const std::string inner = extension == ".gz" ? lower_extension(path.stem()) : extension;
  std::string format = options.format.empty() ? find_format(inner, inflated.bytes(), path) : options.format;
  if (format != "csv" && format != "idx") {
    throw InvalidArgument(fmt::format("'{}' is a compressed .{} file; decompress it (gunzip), so that it can be mapped",
                                      path.native(), format));
  }
  return parse(std::move(inflated), path, std::move(format), true, options.memory_limit);
}

}  // namespace

PointsFile read_points(const std::filesystem::path& path, const ReadOptions& options) {
  try {
    return read(path, options);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(
        fmt::format("not enough memory to read '{}'; convert it to an uncompressed .npy file, which is "
                    "mapped",
                    path.native()));
  }
}

}  // namespace rthiss::io
