#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "io/npy_header.hpp"
#include "io/result_cost.hpp"
#include "io/result_file_sink.hpp"

namespace rthiss::io {

namespace {

/// Calls `body(query, ids, distances)` for every row in order; distances are empty when there are none.
template <typename Body>
void for_rows(ResultRows& rows, const Body& body) {
  const Array<std::uint64_t>& begin = rows.row_begin();
  rows.for_windows([&](std::uint64_t first, std::uint64_t last) {
    const std::span<const std::uint32_t> ids = rows.ids(first, last);
    std::span<const double> distances;
    if (rows.shape().has_distances) distances = rows.distances(first, last);
    for (std::uint64_t q = first; q < last; ++q) {
      const std::uint64_t start = begin[q] - begin[first], count = begin[q + 1] - begin[q];
      body(q, ids.subspan(start, count), distances.empty() ? distances : distances.subspan(start, count));
    }
  });
}

}  // namespace

std::uint64_t PairsSink::file_bytes(const ResultShape&, std::uint64_t pairs) const {
  constexpr std::uint64_t kHeader = 128;
  return kHeader + pairs * 2 * sizeof(std::int64_t);
}

void PairsSink::write(ResultRows& rows, OutputFile& file) {
  file.write(make_npy_header("<i8", std::array{rows.pairs(), std::uint64_t{2}}));
  Array<std::int64_t> block(std::size_t{1} << 17);
  for_rows(rows, [&](std::uint64_t query, std::span<const std::uint32_t> ids, std::span<const double>) {
    while (!ids.empty()) {
      const std::size_t count = std::min(block.size() / 2, ids.size());
      for (std::size_t k = 0; k < count; ++k) {
        block[2 * k] = static_cast<std::int64_t>(query);
        block[2 * k + 1] = ids[k];
      }
      file.write(block.data(), 2 * count * sizeof(std::int64_t));
      ids = ids.subspan(count);
    }
  });
}

std::uint64_t PairsCsvSink::file_bytes(const ResultShape& shape, std::uint64_t pairs) const {
  constexpr std::uint64_t kHeader = 32, kSeparators = 2, kDistance = 25;
  return kHeader + pairs * (id_digits(shape.queries) + id_digits(shape.points) + kSeparators +
                            (shape.has_distances ? kDistance : 0));
}

void PairsCsvSink::write(ResultRows& rows, OutputFile& file) {
  file.write(rows.shape().has_distances ? std::string_view("query,neighbor,distance\n")
                                        : std::string_view("query,neighbor\n"));
  // Two ids of at most 10 digits, a double of at most 24 characters, separators.
  std::array<char, 64> line;
  for_rows(rows, [&](std::uint64_t query, std::span<const std::uint32_t> ids, std::span<const double> distances) {
    char* const neighbor = std::to_chars(line.data(), line.data() + line.size(), query).ptr + 1;
    neighbor[-1] = ',';
    for (std::size_t k = 0; k < ids.size(); ++k) {
      char* end = std::to_chars(neighbor, line.data() + line.size(), ids[k]).ptr;
      if (!distances.empty()) {
        *end = ',';
        end = std::to_chars(end + 1, line.data() + line.size(), distances[k]).ptr;
      }
      *end++ = '\n';
      file.write(line.data(), static_cast<std::size_t>(end - line.data()));
    }
  });
}

}  // namespace rthiss::io
