#include "refinement/hit_recorder.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "refinement/bit_transpose.hpp"

namespace rthiss {

namespace {

// Up to here, turning single bits costs less than turning the whole matrix.
constexpr std::size_t kFewHits = 64;

void add_relaxed(std::uint64_t& target, std::uint64_t value) {
  std::atomic_ref<std::uint64_t>(target).fetch_add(value, std::memory_order_relaxed);
}

}  // namespace

HitRecorder::HitRecorder(const RefinementTask& task, const RefinementResult& result, std::uint32_t part, bool mirror,
                         std::uint64_t* whole_counts, RefinementProgress& progress)
    : task_(task),
      result_(result),
      part_number_(part),
      mirror_(mirror),
      whole_counts_(whole_counts),
      progress_(progress) {
  if (result.mask != nullptr) {
    part_ = &result.mask->parts[part];
    part_limit_ = result.mask_limit / result.mask->parts.size();
  }
}

bool HitRecorder::mirrored(std::uint32_t block, std::uint32_t group) const {
  return mirror_ && block != group && group >= result_.block_begin && group < result_.block_end;
}

void HitRecorder::enter(const Grouping& grouping, std::uint32_t block, std::uint32_t query_begin,
                        std::uint32_t point_begin, std::uint64_t rows, const std::uint64_t* words) {
  if (part_ == nullptr) {
    for (std::uint64_t left = rows; left != 0; left &= left - 1) {
      const auto r = static_cast<std::uint32_t>(std::countr_zero(left));
      const auto hits = static_cast<std::uint64_t>(std::popcount(words[r]));
      add_relaxed(result_.counts[grouping.original_id[query_begin + r]], hits);
      pairs_ += hits;
    }
    return;
  }
  part_->tiles.push_back({block, query_begin, point_begin, part_number_, rows, part_->words.size()});
  for (std::uint64_t left = rows; left != 0; left &= left - 1) {
    const std::uint64_t word = words[std::countr_zero(left)];
    part_->words.push_back(word);
    pairs_ += static_cast<std::uint64_t>(std::popcount(word));
  }
  if (part_->words.size() * sizeof(std::uint64_t) + part_->tiles.size() * sizeof(HitTile) > part_limit_) {
    throw MaskOverflow();
  }
}

void HitRecorder::record(std::uint32_t block, std::uint32_t query_begin, std::uint32_t group, std::uint32_t point_begin,
                         std::uint64_t* words) {
  if (task_.self_join && !task_.include_self && query_begin < point_begin + 64 && point_begin < query_begin + 64) {
    for (std::uint32_t r = 0; r < 64; ++r) {
      const std::uint32_t column = query_begin + r - point_begin;  // wraps for rows before the first column
      if (column < 64) words[r] &= ~(std::uint64_t{1} << column);
    }
  }
  std::uint64_t rows = 0;
  std::size_t hits = 0;
  for (std::uint32_t r = 0; r < 64; ++r) {
    if (words[r] == 0) continue;
    rows |= std::uint64_t{1} << r;
    hits += static_cast<std::size_t>(std::popcount(words[r]));
  }
  if (rows == 0) return;
  enter(task_.queries->grouping, block, query_begin, point_begin, rows, words);
  if (!mirrored(block, group)) return;
  // The same pairs seen from the points: bit by bit where there are few.
  std::uint64_t columns = 0;
  if (hits <= kFewHits) {
    std::uint64_t turned[64] = {};
    for (std::uint64_t left = rows; left != 0; left &= left - 1) {
      const int r = std::countr_zero(left);
      for (std::uint64_t bits = words[r]; bits != 0; bits &= bits - 1) {
        turned[std::countr_zero(bits)] |= std::uint64_t{1} << r;
      }
      columns |= words[r];
    }
    enter(task_.points->grouping, group, point_begin, query_begin, columns, turned);
    return;
  }
  for (std::uint64_t left = rows; left != 0; left &= left - 1) columns |= words[std::countr_zero(left)];
  transpose_bits(words);
  enter(task_.points->grouping, group, point_begin, query_begin, columns, words);
}

void HitRecorder::record_whole(std::uint32_t block, std::uint32_t group) {
  const Grouping& queries = task_.queries->grouping;
  const Grouping& points = task_.points->grouping;
  const std::uint32_t query_begin = queries.group_begin[block], query_end = queries.group_begin[block + 1];
  const std::uint32_t point_begin = points.group_begin[group], point_end = points.group_begin[group + 1];
  const bool both = mirrored(block, group);
  if (part_ == nullptr) {
    const std::uint64_t queries_here = query_end - query_begin;
    const std::uint64_t points_here = point_end - point_begin;
    const bool drop_self = task_.self_join && !task_.include_self && block == group;
    add_whole(whole_block_, block, points_here - (drop_self ? 1 : 0));
    if (both) add_whole(whole_groups_[group % whole_groups_.size()], group, queries_here);
    pairs_ += (points_here - (drop_self ? 1 : 0)) * queries_here * (both ? 2 : 1);
    return;
  }
  for (std::uint32_t q = query_begin; q < query_end; q += 64) {
    for (std::uint32_t p = point_begin; p < point_end; p += 64) {
      const std::uint32_t columns = std::min<std::uint32_t>(64, point_end - p);
      const std::uint32_t rows = std::min<std::uint32_t>(64, query_end - q);
      std::uint64_t words[64] = {};
      std::fill_n(words, rows, columns == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << columns) - 1);
      record(block, q, group, p, words);
    }
  }
}

bool HitRecorder::entry_done(std::uint64_t entries) {
  constexpr std::uint64_t kEntriesBetweenReports = 512;
  entries_ += entries;
  if (entries_ >= kEntriesBetweenReports) flush();
  return !progress_.stopped();
}

void HitRecorder::add_whole(Pending& pending, std::uint32_t group, std::uint64_t pairs) {
  if (pending.group != group) {
    if (pending.pairs != 0) add_relaxed(whole_counts_[pending.group], pending.pairs);
    pending = {group, 0};
  }
  pending.pairs += pairs;
}

void HitRecorder::flush() {
  for (Pending* pending : {&whole_block_, &whole_groups_[0], &whole_groups_[1], &whole_groups_[2], &whole_groups_[3]}) {
    if (pending->pairs != 0) add_relaxed(whole_counts_[pending->group], std::exchange(pending->pairs, 0));
  }
  progress_.advance(entries_, pairs_);
  entries_ = pairs_ = 0;
}

}  // namespace rthiss
