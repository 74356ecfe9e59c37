#pragma once

#include <rthiss/result_sink.hpp>

#include <cstdint>
#include <filesystem>

#include "io/output_file.hpp"
#include "io/result_rows.hpp"

namespace rthiss::io {

/// What the formats of lists share: rows are gathered, and `write` puts them into the file in the caller's order.
class RowFileSink : public ResultSink {
 public:
  explicit RowFileSink(const std::filesystem::path& path) : file_(path), rows_(path) {}

  /// As if rows came in several chunks: one chunk of all queries takes less.
  [[nodiscard]] ResultCost cost(const ResultShape& shape, std::uint64_t pairs) const final;

  void begin(const ResultShape& shape) final { rows_.begin(shape); }
  void consume(NeighborChunk&& chunk) final { rows_.add(std::move(chunk)); }
  void finish() final {
    rows_.seal();
    write(rows_, file_);
    file_.commit();
  }

 private:
  virtual void write(ResultRows& rows, OutputFile& file) = 0;
  /// Bytes of the file, or a bound on them.
  [[nodiscard]] virtual std::uint64_t file_bytes(const ResultShape& shape, std::uint64_t pairs) const = 0;

  OutputFile file_;
  ResultRows rows_;
};

/// scipy.sparse.save_npz(..., compressed=False) of a csr_matrix [queries x points]; data are the distances, else 1.0.
/// Members are stored: ids are close to random bits, so deflating costs ten times the write and saves little, while
/// stored members can be mapped.
class NpzSink final : public RowFileSink {
 public:
  /// Throws InvalidArgument when `path` is a pipe or device: checksums are patched into the file.
  explicit NpzSink(const std::filesystem::path& path);

 private:
  void write(ResultRows& rows, OutputFile& file) override;
  [[nodiscard]] std::uint64_t file_bytes(const ResultShape& shape, std::uint64_t pairs) const override;
};

/// .npy [pairs x 2] int64 (query, neighbor), lexicographic.
class PairsSink final : public RowFileSink {
 public:
  using RowFileSink::RowFileSink;

 private:
  void write(ResultRows& rows, OutputFile& file) override;
  [[nodiscard]] std::uint64_t file_bytes(const ResultShape& shape, std::uint64_t pairs) const override;
};

/// Text: a header line, then query,neighbor[,distance] lexicographic; distances in the fewest digits that read back
/// to the same double.
class PairsCsvSink final : public RowFileSink {
 public:
  using RowFileSink::RowFileSink;

 private:
  void write(ResultRows& rows, OutputFile& file) override;
  [[nodiscard]] std::uint64_t file_bytes(const ResultShape& shape, std::uint64_t pairs) const override;
};

/// True when all of these can be int32 as SciPy reads them: both dimensions and the number of pairs below 2^31.
[[nodiscard]] bool fits_int32(const ResultShape& shape, std::uint64_t pairs) noexcept;

}  // namespace rthiss::io
