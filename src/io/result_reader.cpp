#include "io/result_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "io/file_bytes.hpp"
#include "io/input_error.hpp"
#include "io/npy_header.hpp"
#include "io/result_zip_reader.hpp"

namespace rthiss::io {

// Arrays are read as they lie in the file.
static_assert(std::endian::native == std::endian::little);

namespace {

using Bytes = std::span<const std::byte>;

bool starts_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

/// The search that the file must be the result of, and the name for errors.
struct Expected {
  std::string path;
  std::uint64_t queries = 0;
  std::uint64_t points = 0;
};

/// A one- or two-dimensional array inside a file.
class StoredArray {
 public:
  /// `bytes`: the whole .npy file or member; errors count their offsets from its beginning.
  StoredArray(Bytes bytes, std::string label) : label_(std::move(label)), header_(parse_npy_header(bytes, label_)) {
    std::uint64_t size = size_of(header_.dtype);
    for (const std::uint64_t extent : header_.shape) {
      if (__builtin_mul_overflow(size, extent, &size)) fail_at(0, "the shape of the array is too large");
    }
    data_ = bytes.subspan(header_.data_offset);
    if (data_.size() != size) {
      fail_at(0, fmt::format("the array's shape takes {} bytes, there are {}", size, data_.size()));
    }
    if (header_.byte_swapped) fail_at(0, "results are stored little-endian, this array is not");
    if (header_.fortran_order && header_.shape.size() > 1)
      fail_at(0, "results are stored in C order, this array is not");
  }

  [[nodiscard]] DType dtype() const { return header_.dtype; }
  [[nodiscard]] const std::vector<std::uint64_t>& shape() const { return header_.shape; }
  [[nodiscard]] std::uint64_t length() const {
    if (shape().size() != 1) fail_at(0, "a one-dimensional array is wanted here");
    return shape()[0];
  }
  template <typename T>
  [[nodiscard]] T get(std::uint64_t i) const {
    T value;
    std::memcpy(&value, data_.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  /// Element `i` of an int32 or int64 array; negative ones become huge and fail every check against a bound.
  [[nodiscard]] std::uint64_t index(std::uint64_t i) const {
    return static_cast<std::uint64_t>(dtype() == DType::kInt32 ? get<std::int32_t>(i) : get<std::int64_t>(i));
  }
  void require_index_type() const {
    if (dtype() != DType::kInt32 && dtype() != DType::kInt64) {
      fail_at(0, fmt::format("dtype int32 or int64 is wanted here, not {}", name_of(dtype())));
    }
  }
  void require(DType wanted) const {
    if (dtype() != wanted) {
      fail_at(0, fmt::format("dtype {} is wanted here, not {}", name_of(wanted), name_of(dtype())));
    }
  }
  [[noreturn]] void fail_at(std::uint64_t element, std::string_view reason) const {
    refuse_input(label_, header_.data_offset + element * size_of(header_.dtype), reason);
  }

 private:
  std::string label_;
  NpyHeader header_;
  Bytes data_;
};

StoredArray find_array(const std::vector<ZipMember>& members, std::string_view name, const Expected& expected) {
  for (const ZipMember& member : members) {
    if (member.name == name) return {member.data, fmt::format("{}/{}", expected.path, name)};
  }
  refuse_input(expected.path, 0, fmt::format("the archive has no member '{}'; a sparse CSR matrix has one", name));
}

void check_shape(const StoredArray& shape, const Expected& expected) {
  shape.require_index_type();
  if (shape.length() != 2) shape.fail_at(0, "the shape of a matrix has two numbers");
  if (shape.index(0) != expected.queries || shape.index(1) != expected.points) {
    shape.fail_at(0, fmt::format("the matrix is {} x {}, the search has {} queries and {} points", shape.index(0),
                                 shape.index(1), expected.queries, expected.points));
  }
}

StoredResult read_npz(Bytes bytes, const Expected& expected) {
  const std::vector<ZipMember> members = read_zip(bytes, expected.path);
  const auto format =
      std::find_if(members.begin(), members.end(), [](const ZipMember& m) { return m.name == "format.npy"; });
  // The text is b'csr' at the end of the member, behind a header whose dtype no points have.
  if (format == members.end() || format->data.size() < 3 || !starts_with(format->data.last(3), "csr")) {
    refuse_input(expected.path, format == members.end() ? 0 : format->data_offset,
                 "not a SciPy matrix in the format csr");
  }
  check_shape(find_array(members, "shape.npy", expected), expected);
  const StoredArray indptr = find_array(members, "indptr.npy", expected);
  const StoredArray indices = find_array(members, "indices.npy", expected);
  const StoredArray data = find_array(members, "data.npy", expected);
  indptr.require_index_type();
  indices.require_index_type();
  data.require(DType::kFloat64);
  if (indptr.length() != expected.queries + 1) {
    indptr.fail_at(0, fmt::format("{} offsets for {} queries", indptr.length(), expected.queries));
  }
  const std::uint64_t pairs = indices.length();
  if (data.length() != pairs) data.fail_at(0, fmt::format("{} values for {} indices", data.length(), pairs));

  StoredResult result{ResultFormat::kNpz, {}, {}};
  NeighborLists& lists = result.lists;
  lists.begin = Array<std::uint64_t>(expected.queries + 1);
  for (std::uint64_t i = 0; i <= expected.queries; ++i) {
    const std::uint64_t low = i == 0 ? 0 : lists.begin[i - 1];
    const std::uint64_t offset = indptr.index(i);
    const bool last = i == expected.queries;
    if (offset < low || offset > pairs || (i == 0 && offset != 0) || (last && offset != pairs)) {
      indptr.fail_at(
          i, fmt::format("offset {} is {}; offsets ascend from 0 to {}", i, static_cast<std::int64_t>(offset), pairs));
    }
    lists.begin[i] = offset;
  }
  lists.ids = Array<std::uint32_t>(pairs);
  for (std::uint64_t q = 0; q < expected.queries; ++q) {
    for (std::uint64_t p = lists.begin[q]; p < lists.begin[q + 1]; ++p) {
      const std::uint64_t id = indices.index(p);
      if (id >= expected.points || (p > lists.begin[q] && id <= lists.ids[p - 1])) {
        indices.fail_at(
            p, fmt::format("row {}: id {} is out of range or does not ascend", q, static_cast<std::int64_t>(id)));
      }
      lists.ids[p] = static_cast<std::uint32_t>(id);
    }
  }
  bool all_ones = true;
  for (std::uint64_t p = 0; p < pairs && all_ones; ++p) all_ones = data.get<double>(p) == 1.0;
  if (!all_ones) {
    lists.distances = Array<double>(pairs);
    for (std::uint64_t p = 0; p < pairs; ++p) lists.distances[p] = data.get<double>(p);
  }
  return result;
}

/// Takes pairs in lexicographic order, of a number that is known, and makes rows of them.
class PairCollector {
 public:
  PairCollector(const Expected& expected, std::uint64_t pairs, bool has_distances) : expected_(expected) {
    lists_.begin = Array<std::uint64_t>(expected.queries + 1, 0);
    lists_.ids = Array<std::uint32_t>(pairs);
    if (has_distances) lists_.distances = Array<double>(pairs);
  }

  /// False when the pair is out of range or not after the one before it.
  [[nodiscard]] bool add(std::uint64_t query, std::uint64_t neighbor) {
    if (query >= expected_.queries || neighbor >= expected_.points) return false;
    if (count_ > 0 && (query < query_ || (query == query_ && neighbor <= lists_.ids[count_ - 1]))) return false;
    query_ = query;
    lists_.ids[count_++] = static_cast<std::uint32_t>(neighbor);
    ++lists_.begin[query + 1];
    return true;
  }
  void set_distance(double distance) { lists_.distances[count_ - 1] = distance; }
  [[nodiscard]] NeighborLists take() {
    for (std::size_t i = 1; i < lists_.begin.size(); ++i) lists_.begin[i] += lists_.begin[i - 1];
    return std::move(lists_);
  }
  /// Why `add` refused.
  [[nodiscard]] std::string complaint(std::uint64_t query, std::uint64_t neighbor) const {
    return fmt::format("pair ({}, {}) is out of range ({} queries, {} points), twice, or out of order",
                       static_cast<std::int64_t>(query), static_cast<std::int64_t>(neighbor), expected_.queries,
                       expected_.points);
  }

 private:
  const Expected& expected_;
  NeighborLists lists_;
  std::uint64_t count_ = 0;
  std::uint64_t query_ = 0;
};

StoredResult read_npy(Bytes bytes, const Expected& expected) {
  const StoredArray array(bytes, expected.path);
  if (array.shape().size() == 2 && array.shape()[1] == 2) {
    array.require(DType::kInt64);
    PairCollector pairs(expected, array.shape()[0], false);
    for (std::uint64_t p = 0; p < array.shape()[0]; ++p) {
      const std::uint64_t query = array.index(2 * p), neighbor = array.index(2 * p + 1);
      if (!pairs.add(query, neighbor)) array.fail_at(2 * p, pairs.complaint(query, neighbor));
    }
    return {ResultFormat::kPairs, pairs.take(), {}};
  }
  if (array.shape().size() != 1) {
    array.fail_at(0, "neither pairs (int64, m x 2) nor counts (uint64, one-dimensional)");
  }
  array.require(DType::kUInt64);
  if (array.length() != expected.queries) {
    array.fail_at(0, fmt::format("{} counts for {} queries", array.length(), expected.queries));
  }
  StoredResult result{ResultFormat::kCounts, {}, Array<std::uint64_t>(expected.queries)};
  for (std::uint64_t i = 0; i < expected.queries; ++i) {
    result.counts[i] = array.get<std::uint64_t>(i);
    if (result.counts[i] > expected.points) {
      array.fail_at(i, fmt::format("query {} counts {} of {} points", i, result.counts[i], expected.points));
    }
  }
  return result;
}

/// Reads a value and the character after it.
template <typename T>
[[nodiscard]] bool read_field(const char*& next, const char* end, T& value, char after) {
  const auto [stop, error] = std::from_chars(next, end, value);
  if (error != std::errc{} || stop == end || *stop != after) return false;
  next = stop + 1;
  return true;
}

StoredResult read_csv(Bytes bytes, const Expected& expected) {
  constexpr std::string_view kPlain = "query,neighbor\n", kWithDistance = "query,neighbor,distance\n";
  const bool has_distances = starts_with(bytes, kWithDistance);
  if (!has_distances && !starts_with(bytes, kPlain)) {
    refuse_input(expected.path, 0, "no stored result: neither npz, npy nor text that begins with 'query,neighbor'");
  }
  const char* const begin = reinterpret_cast<const char*>(bytes.data());
  const char* const end = begin + bytes.size();
  const char* next = begin + (has_distances ? kWithDistance : kPlain).size();
  PairCollector pairs(expected, static_cast<std::uint64_t>(std::count(next, end, '\n')), has_distances);
  while (next != end) {
    const auto line = static_cast<std::uint64_t>(next - begin);
    std::uint64_t query = 0, neighbor = 0;
    double distance = 0;
    if (!read_field(next, end, query, ',') || !read_field(next, end, neighbor, has_distances ? ',' : '\n') ||
        (has_distances && !read_field(next, end, distance, '\n'))) {
      refuse_input(expected.path, line,
                   fmt::format("a line '{}' is wanted here, complete to its end",
                               has_distances ? "query,neighbor,distance" : "query,neighbor"));
    }
    if (!pairs.add(query, neighbor)) refuse_input(expected.path, line, pairs.complaint(query, neighbor));
    if (has_distances) pairs.set_distance(distance);
  }
  return {ResultFormat::kPairsCsv, pairs.take(), {}};
}

}  // namespace

StoredResult read_result(const std::filesystem::path& path, std::uint64_t queries, std::uint64_t points) {
  const FileBytes file = FileBytes::open(path, std::numeric_limits<std::uint64_t>::max());
  const Expected expected{path.native(), queries, points};
  if (starts_with(file.bytes(), "PK")) return read_npz(file.bytes(), expected);
  if (starts_with(file.bytes(), "\x93NUMPY")) return read_npy(file.bytes(), expected);
  return read_csv(file.bytes(), expected);
}

}  // namespace rthiss::io
