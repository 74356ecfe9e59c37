#include "engine/cuda/upload.hpp"

#include <algorithm>
#include <cstring>

#include "common/parallel.hpp"
#include "common/round_up_to.hpp"
#include "dataset/read_elements.hpp"
#include "engine/cuda/cuda_check.hpp"
#include "engine/cuda/pinned_ring.hpp"

namespace rthiss::cuda {

namespace {

/// Rows go to the ring piece by piece; the pieces' widening by all threads overlaps with the copies of those before.
template <typename Real>
DeviceArray<Real> upload_as(const Dataset& data, std::size_t stride, DeviceMemory& memory, const ThreadPool& pool,
                            Stream stream) {
  const PointsView& view = data.view();
  const std::size_t rows = view.rows, columns = view.columns;
  DeviceArray<Real> target(memory, rows * stride, stream, "the rows");
  const auto read = element_reader<Real>(view.dtype, view.byte_swapped);
  const std::size_t row_bytes = stride * sizeof(Real);
  // A row wider than a buffer goes in pieces of its own.
  const std::size_t piece_columns = std::min(stride, PinnedRing::kBytes / sizeof(Real));
  const std::size_t piece_rows = std::max<std::size_t>(1, PinnedRing::kBytes / row_bytes);
  const PinnedRing::Lease ring;
  std::size_t turn = 0;
  for (std::size_t first = 0; first < rows; first += piece_rows) {
    const std::size_t count = std::min(piece_rows, rows - first);
    for (std::size_t column = 0; column < stride; column += piece_columns) {
      const std::size_t width = std::min(piece_columns, stride - column);
      const std::size_t filled = column < columns ? std::min(width, columns - column) : 0;
      ring.wait(turn);
      Real* const buffer = reinterpret_cast<Real*>(ring.buffer(turn));
      pool.for_ranges(0, count, 1 + (std::size_t{1} << 16) / row_bytes, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const std::byte* const row = static_cast<const std::byte*>(view.data) +
                                       static_cast<std::int64_t>(first + i) * view.row_stride +
                                       static_cast<std::int64_t>(column) * view.column_stride;
          if (filled != 0) read(row, view.column_stride, filled, buffer + i * width);
          std::fill_n(buffer + i * width + filled, width - filled, Real{0});
        }
      });
      check(cudaMemcpyAsync(target.data() + first * stride + column, buffer, count * width * sizeof(Real),
                            cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync (rows)");
      ring.mark(turn, stream);
      turn = (turn + 1) % PinnedRing::kBuffers;
    }
  }
  return target;
}

}  // namespace

UploadedRows upload_rows(const Dataset& data, bool as_double, DeviceMemory& memory, const ThreadPool& pool,
                         Stream stream) {
  UploadedRows out;
  out.rows = static_cast<std::uint32_t>(data.rows());
  out.columns = static_cast<std::uint32_t>(data.columns());
  out.stride = static_cast<std::uint32_t>(round_up_to(data.columns(), 4));
  if (as_double) {
    out.values64 = upload_as<double>(data, out.stride, memory, pool, stream);
  } else {
    out.values32 = upload_as<float>(data, out.stride, memory, pool, stream);
  }
  if (!data.ignored_rows().empty()) {
    Array<std::uint8_t> flags(data.rows(), 0);
    for (const std::uint32_t row : data.ignored_rows()) flags[row] = 1;
    out.ignored = DeviceArray<std::uint8_t>(memory, flags.size(), stream, "the marks of ignored rows");
    check(cudaMemcpyAsync(out.ignored.data(), flags.data(), flags.size(), cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync (ignored rows)");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  return out;
}

}  // namespace rthiss::cuda
