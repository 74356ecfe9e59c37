#include "table_files.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <vector>

#include "errors.hpp"
#include "io/npy_header.hpp"
#include "io/output_file.hpp"
#include "io/result_files.hpp"
#include "number_text.hpp"

namespace rthiss::cli {

namespace {

std::filesystem::path target_of(const std::string& path) { return path == "-" ? "/dev/stdout" : path; }

void write_csr(const std::string& path, const NearestNeighbors& nearest, std::uint64_t points) {
  std::unique_ptr<ResultSink> sink;
  try {
    sink = io::make_file_sink(target_of(path), "npz");
  } catch (const InvalidArgument& error) {
    throw UsageError(error.what());
  }
  sink->begin({nearest.queries, points, true});
  NeighborChunk chunk;
  chunk.query_ids = Array<std::uint32_t>(nearest.queries);
  std::iota(chunk.query_ids.begin(), chunk.query_ids.end(), 0U);
  chunk.row_begin = Array<std::uint64_t>(nearest.queries + 1);
  chunk.row_begin[0] = 0;
  const auto is_found = [&nearest](std::uint64_t query) { return nearest.row(query)[0] != kNoNeighbor; };
  for (std::uint64_t query = 0; query < nearest.queries; ++query) {
    chunk.row_begin[query + 1] = chunk.row_begin[query] + (is_found(query) ? nearest.k : 0);
  }
  chunk.neighbor_ids = Array<std::uint32_t>(chunk.row_begin[nearest.queries]);
  chunk.distances = Array<double>(chunk.neighbor_ids.size());
  std::vector<std::pair<std::uint32_t, double>> row(nearest.k);
  for (std::uint64_t query = 0; query < nearest.queries; ++query) {
    if (!is_found(query)) continue;
    for (std::uint64_t i = 0; i < nearest.k; ++i) row[i] = {nearest.row(query)[i], nearest.row_distances(query)[i]};
    std::sort(row.begin(), row.end());
    for (std::uint64_t i = 0; i < nearest.k; ++i) {
      chunk.neighbor_ids[chunk.row_begin[query] + i] = row[i].first;
      chunk.distances[chunk.row_begin[query] + i] = row[i].second;
    }
  }
  sink->consume(std::move(chunk));
  sink->finish();
}

void write_csv(const std::string& path, const NearestNeighbors& nearest) {
  io::OutputFile file(target_of(path));
  file.write("query,neighbor,distance\n");
  std::string lines;
  for (std::uint64_t query = 0; query < nearest.queries; ++query) {
    lines.clear();
    for (std::uint64_t i = 0; i < nearest.k && nearest.row(query)[0] != kNoNeighbor; ++i) {
      fmt::format_to(std::back_inserter(lines), "{},{},{}\n", query, nearest.row(query)[i],
                     exact_text(nearest.row_distances(query)[i]));
    }
    file.write(lines);
  }
  file.commit();
}

/// Ids as a type with room for -1, row by row.
template <typename Integer>
std::vector<Integer> signed_row(const NearestNeighbors& nearest, std::uint64_t query) {
  std::vector<Integer> row(nearest.k);
  std::transform(nearest.row(query).begin(), nearest.row(query).end(), row.begin(),
                 [](std::uint32_t id) { return id == kNoNeighbor ? Integer{-1} : static_cast<Integer>(id); });
  return row;
}

void write_npy(const std::string& path, const NearestNeighbors& nearest) {
  io::OutputFile file(target_of(path));
  file.write(io::make_npy_header("<i8", std::array{nearest.queries, nearest.k}));
  for (std::uint64_t query = 0; query < nearest.queries; ++query) {
    const std::vector<std::int64_t> row = signed_row<std::int64_t>(nearest, query);
    file.write(row.data(), row.size() * sizeof(row[0]));
  }
  file.commit();
}

void write_ivecs(const std::string& path, const NearestNeighbors& nearest, std::uint64_t points) {
  if (points > (std::uint64_t{1} << 31)) {
    throw UsageError(fmt::format("ivecs holds numbers below 2^31, there are {} rows; use npy", points));
  }
  io::OutputFile file(target_of(path));
  const auto k = static_cast<std::int32_t>(nearest.k);
  for (std::uint64_t query = 0; query < nearest.queries; ++query) {
    const std::vector<std::int32_t> row = signed_row<std::int32_t>(nearest, query);
    file.write(&k, sizeof(k));
    file.write(row.data(), row.size() * sizeof(row[0]));
  }
  file.commit();
}

}  // namespace

std::string table_format(const OutputTarget& output, std::span<const std::string_view> known) {
  if (output.path == "-" && output.json == "-") {
    throw UsageError("--output and --json cannot both go to standard output");
  }
  if (output.path.empty()) {
    if (!output.format.empty()) throw UsageError("--format needs --output");
    return {};
  }
  std::string format = output.format;
  if (format.empty()) {
    const std::string extension = std::filesystem::path(output.path).extension().string();
    format = extension.substr(std::min<std::size_t>(1, extension.size()));
  }
  if (std::find(known.begin(), known.end(), format) != known.end()) return format;
  throw UsageError(fmt::format("'{}': {} is none of {}", output.path,
                               output.format.empty() ? "no format has this extension; --format" : "--format",
                               fmt::join(known, ", ")));
}

void write_integers(const std::string& path, std::span<const std::int64_t> values) {
  io::OutputFile file(target_of(path));
  file.write(io::make_npy_header("<i8", std::array{std::uint64_t{values.size()}}));
  file.write(values.data(), values.size_bytes());
  file.commit();
}

void write_text(const std::string& path, std::string_view text) {
  io::OutputFile file(target_of(path));
  file.write(text);
  file.commit();
}

void write_nearest(const std::string& path, std::string_view format, const NearestNeighbors& nearest,
                   std::uint64_t points) {
  if (format == "npz") {
    write_csr(path, nearest, points);
  } else if (format == "csv") {
    write_csv(path, nearest);
  } else if (format == "ivecs") {
    write_ivecs(path, nearest, points);
  } else {
    write_npy(path, nearest);
  }
}

void write_distances(const std::string& path, const NearestNeighbors& nearest) {
  io::OutputFile file(target_of(path));
  file.write(io::make_npy_header("<f8", std::array{nearest.queries, nearest.k}));
  file.write(nearest.distances.data(), nearest.distances.size() * sizeof(double));
  file.commit();
}

}  // namespace rthiss::cli
