#pragma once

#include <rthiss/points_view.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

namespace rthiss::io {

struct ReadOptions {
  /// "npy", "fvecs", "bvecs", "ivecs", "csv" or "idx"; empty: found out from the extension and the contents.
  /// Compression is always found out.
  std::string format{};
  /// Bytes of memory that reading may take where the file cannot be mapped (text, .gz, pipes).
  std::uint64_t memory_limit = std::numeric_limits<std::uint64_t>::max();
};

/// The points of a file and whatever holds their bytes: a mapping of the file, or memory.
class PointsFile {
 public:
  /// `owner` keeps alive what `view` points into.
  PointsFile(PointsView view, std::shared_ptr<const void> owner, std::string format, bool mapped,
             std::uint64_t memory_bytes)
      : view_(view),
        owner_(std::move(owner)),
        format_(std::move(format)),
        mapped_(mapped),
        memory_bytes_(memory_bytes) {}

  /// [rows x columns], columns >= 1, as stored: any dtype that NumPy has, any stride, either byte order, elements not
  /// necessarily aligned. Valid while this object lives.
  [[nodiscard]] const PointsView& view() const noexcept { return view_; }
  /// "npy", "fvecs", "bvecs", "ivecs", "csv" or "idx", with ".gz" behind it when it was compressed.
  [[nodiscard]] const std::string& format() const noexcept { return format_; }
  /// The view points into the file itself, which must not be shortened meanwhile.
  [[nodiscard]] bool mapped() const noexcept { return mapped_; }
  /// Bytes of memory held; 0 when mapped.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }

 private:
  PointsView view_;
  std::shared_ptr<const void> owner_;
  std::string format_;
  bool mapped_;
  std::uint64_t memory_bytes_;
};

/// Reads points from a file of any format of docs/formats.md, mapped where the format allows. Values are not changed;
/// text becomes float64, correctly rounded. Non-finite values are handed on. "-" is standard input.
///
/// Throws IoError: the file cannot be opened or read (path, reason). InvalidArgument: its contents are no points
/// (path and byte offset, or line and field). OutOfMemory: beyond `memory_limit`. UnsupportedError: HDF5.
[[nodiscard]] PointsFile read_points(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace rthiss::io
