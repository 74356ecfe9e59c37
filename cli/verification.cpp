#include "verification.hpp"

#include <fmt/format.h>
#include <rthiss/searcher.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "analysis/sampled_rows.hpp"
#include "result/callback_sink.hpp"

namespace rthiss::cli {

namespace {

constexpr std::size_t kMostExamples = 10;

/// Compares row by row and keeps count.
class Comparison {
 public:
  /// `leave_out_own`: each row's own point is left out of the oracle's answer (a self-join asked row by row).
  Comparison(const io::StoredResult& stored, bool leave_out_own) : stored_(stored), leave_out_own_(leave_out_own) {}

  void check_row(std::uint32_t row, std::span<const std::uint32_t> ids, std::span<const double> distances) {
    ++result_.rows_checked;
    const std::span<const std::uint32_t> stored = stored_.lists.row(row);
    const double* const stored_distances =
        stored_.lists.distances.empty() ? nullptr : stored_.lists.distances.data() + stored_.lists.begin[row];
    std::size_t s = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (leave_out_own_ && ids[i] == row) continue;
      ++result_.pairs_checked;
      while (s < stored.size() && stored[s] < ids[i]) report_extra(row, stored[s++]);
      if (s == stored.size() || stored[s] != ids[i]) {
        ++result_.missing_pairs;
        example("pair ({}, {}) is missing", row, ids[i]);
        continue;
      }
      if (stored_distances != nullptr && stored_distances[s] != distances[i]) {
        ++result_.wrong_distances;
        example("pair ({}, {}) has distance {} instead of {}", row, ids[i], stored_distances[s], distances[i]);
      }
      ++s;
    }
    while (s < stored.size()) report_extra(row, stored[s++]);
  }

  void check_count(std::uint32_t row, std::uint64_t count) {
    ++result_.rows_checked;
    result_.pairs_checked += count;
    if (stored_.counts[row] == count) return;
    ++result_.wrong_counts;
    example("row {} has {} neighbours instead of {}", row, stored_.counts[row], count);
  }

  [[nodiscard]] Verification take() { return std::move(result_); }

 private:
  void report_extra(std::uint32_t row, std::uint32_t id) {
    ++result_.extra_pairs;
    example("pair ({}, {}) is too much", row, id);
  }
  template <typename... Values>
  void example(fmt::format_string<Values...> format, Values&&... values) {
    if (result_.examples.size() < kMostExamples) {
      result_.examples.push_back(fmt::format(format, std::forward<Values>(values)...));
    }
  }

  const io::StoredResult& stored_;
  bool leave_out_own_;
  Verification result_;
};

/// The given rows side by side, dtype and bytes as stored.
struct GatheredRows {
  std::vector<std::byte> bytes;
  PointsView view;

  GatheredRows(const PointsView& from, std::span<const std::uint32_t> rows) {
    const std::size_t item = size_of(from.dtype);
    bytes.resize(rows.size() * from.columns * item);
    std::byte* out = bytes.data();
    for (const std::uint32_t row : rows) {
      const auto* element = static_cast<const std::byte*>(from.data) + static_cast<std::int64_t>(row) * from.row_stride;
      for (std::uint64_t j = 0; j < from.columns; ++j, element += from.column_stride, out += item) {
        std::memcpy(out, element, item);
      }
    }
    view = PointsView::row_major(bytes.data(), rows.size(), from.columns, from.dtype);
    view.byte_swapped = from.byte_swapped;
  }
};

}  // namespace

Verification verify_result(const io::StoredResult& stored, const PointsView& points, const PointsView* queries,
                           double value, SearchOptions options, std::optional<std::uint64_t> sample,
                           Observer* observer) {
  // Nothing that the result may have been made with: every pair by the exact tiers.
  options.engine = "reference";
  options.index = "exhaustive";
  options.projection = "none";
  options.distances = !stored.lists.distances.empty();
  const bool self_join = queries == nullptr;
  const bool include_self = std::exchange(options.include_self, false);
  const PointsView& all_queries = self_join ? points : *queries;
  const std::vector<std::uint32_t> rows =
      sample_places(all_queries.rows, sample.value_or(all_queries.rows), options.seed);

  const GatheredRows gathered(all_queries,
                              sample ? std::span<const std::uint32_t>(rows) : std::span<const std::uint32_t>());
  const PointsView& asked = sample ? gathered.view : all_queries;
  Searcher searcher(points, options);
  Comparison comparison(stored, self_join && !include_self);
  CallbackSink sink([&](NeighborChunk&& chunk) {
    for (std::size_t r = 0; r < chunk.query_ids.size(); ++r) {
      const std::uint64_t begin = chunk.row_begin[r], count = chunk.row_begin[r + 1] - begin;
      const std::uint32_t row = rows[chunk.query_ids[r]];
      const std::span<const std::uint32_t> ids = chunk.neighbor_ids.span().subspan(begin, count);
      if (stored.format == io::ResultFormat::kCounts) {
        const bool has_own = self_join && !include_self && std::binary_search(ids.begin(), ids.end(), row);
        comparison.check_count(row, count - (has_own ? 1 : 0));
        continue;
      }
      const std::span<const double> distances =
          chunk.distances.empty() ? std::span<const double>() : chunk.distances.span().subspan(begin, count);
      comparison.check_row(row, ids, distances);
    }
  });
  searcher.radius_search(asked, value, sink, observer);
  return comparison.take();
}

}  // namespace rthiss::cli
