#include "engine/cpu/cascade_refiner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "refinement/bit_transpose.hpp"
#include "simd/tile.hpp"

namespace rthiss::cpu {

namespace {

constexpr double kFloatUnit = 0x1p-24;
// Later components tell little about a box that the first have not.
constexpr std::size_t kNearComponents = 16;

}  // namespace

/// Scratch of one worker; sized once.
struct CascadeRefiner::Worker {
  Worker(std::size_t columns, std::size_t coarse_stride)
      : pairs(columns),
        center(coarse_stride, 0.0F),
        rows(simd::kTileRowRoom * coarse_stride, 0.0F),
        columns_panel(coarse_stride * simd::kTileSide + 16, 0.0F) {}

  PairStage::Scratch pairs;
  Array<float> center, rows, columns_panel;
  float norms[simd::kTileRowRoom] = {};
  float half_norms[simd::kTileSide] = {};
  float out_limit[simd::kTileRowRoom] = {};
  float in_limit[simd::kTileRowRoom] = {};
  float row_rests[simd::kTileRowRoom] = {};
  float column_rests[simd::kTileSide] = {};
  std::uint64_t maybe[simd::kTileRowRoom] = {};
  std::uint64_t sure[simd::kTileRowRoom] = {};
  RefinementCounts counts;
};

CascadeRefiner::CascadeRefiner(const RefinementTask& task, const ThreadPool& pool)
    : task_(task),
      pool_(pool),
      limits_(task.threshold, *task.space),
      point_rows_(arrange_rows(*task.points, *task.space, *task.projection, true, pool)),
      query_rows_storage_(task.self_join ? GroupRows()
                                         : arrange_rows(*task.queries, *task.space, *task.projection, true, pool)),
      query_rows_(task.self_join ? point_rows_ : query_rows_storage_),
      pair_stage_(task_, limits_, query_rows_, point_rows_),
      integer_limit_(task.coarse_complete ? exact_integer_limit(task) : -1.0F) {}

RefinementCounts CascadeRefiner::refine(const CandidateLists& lists, const CandidateRange& /*range*/, bool mirror,
                                        const RefinementResult& result, RefinementProgress& progress) {
  const auto workers = static_cast<std::size_t>(pool_.threads());
  if (result.mask != nullptr) result.mask->parts.resize(std::max(result.mask->parts.size(), workers));
  Array<std::uint64_t> whole(result.counts != nullptr ? task_.queries->grouping.groups() : 0, 0);
  std::vector<std::unique_ptr<Worker>> scratch(workers);
  pool_.for_tasks(lists.group_ids.size(), [&](std::size_t task, int id) {
    auto& worker = scratch[static_cast<std::size_t>(id)];
    if (!worker) worker = std::make_unique<Worker>(task_.points->data->columns(), point_rows_.coarse_stride);
    HitRecorder recorder(task_, result, static_cast<std::uint32_t>(id), mirror, whole.data(), progress);
    const std::uint32_t group = lists.group_ids[task];
    for (std::uint64_t entry = lists.begin[task]; entry < lists.begin[task + 1]; ++entry) {
      compare(*worker, recorder, lists.block_ids[entry], group);
      if (!recorder.entry_done()) return;
    }
    recorder.flush();
  });
  if (result.counts != nullptr) {
    const Grouping& queries = task_.queries->grouping;
    for (std::size_t block = 0; block < whole.size(); ++block) {
      if (whole[block] == 0) continue;
      for (std::uint32_t q = queries.group_begin[block]; q < queries.group_begin[block + 1]; ++q) {
        result.counts[queries.original_id[q]] += whole[block];
      }
    }
  }
  RefinementCounts counts;
  for (const auto& worker : scratch) {
    if (!worker) continue;
    worker->counts.decided += worker->pairs.decided;
    worker->counts.decided.filter = worker->counts.comparisons - worker->counts.decided.total();
    counts += worker->counts;
  }
  return counts;
}

void CascadeRefiner::compare(Worker& worker, HitRecorder& recorder, std::uint32_t block, std::uint32_t group) const {
  if (point_rows_.constant[group] != 0 && query_rows_.constant[block] != 0) {
    if (decide_constant(worker, recorder, block, group)) return;
  }
  if (within_whole(block, group)) {
    const Grouping& queries = task_.queries->grouping;
    const Grouping& points = task_.points->grouping;
    const std::uint64_t rows = queries.group_begin[block + 1] - queries.group_begin[block];
    const std::uint64_t columns = points.group_begin[group + 1] - points.group_begin[group];
    worker.counts.accepted_whole += rows * columns;
    recorder.record_whole(block, group);
    return;
  }
  for (std::uint32_t q = query_rows_.chunk_begin[block]; q < query_rows_.chunk_begin[block + 1]; ++q) {
    for (std::uint32_t p = point_rows_.chunk_begin[group]; p < point_rows_.chunk_begin[group + 1]; ++p) {
      compare_tile(worker, recorder, block, q, group, p);
    }
  }
}

/// All rows of either side are equal: one pair decides for all.
bool CascadeRefiner::decide_constant(Worker& worker, HitRecorder& recorder, std::uint32_t block,
                                     std::uint32_t group) const {
  const Grouping& queries = task_.queries->grouping;
  const Grouping& points = task_.points->grouping;
  const std::uint32_t query = queries.group_begin[block];
  const std::uint32_t point = points.group_begin[group];
  task_.queries->data->read_row(queries.original_id[query], worker.pairs.query.data());
  task_.points->data->read_row(points.original_id[point], worker.pairs.point.data());
  ++worker.counts.comparisons;
  if (task_.decider->within(worker.pairs.query.data(), worker.pairs.point.data(), worker.pairs.decided)) {
    const std::uint64_t rows = queries.group_begin[block + 1] - query;
    const std::uint64_t columns = points.group_begin[group + 1] - point;
    worker.counts.accepted_whole += rows * columns - 1;
    recorder.record_whole(block, group);
  }
  return true;
}

/// Is the largest distance that the bounds allow within the radius? With the norm of the rest as last value, the rests
/// of two points may point in opposite directions, so they add.
bool CascadeRefiner::within_whole(std::uint32_t block, std::uint32_t group) const {
  if (!point_rows_.all_live || !query_rows_.all_live) return false;
  const double error =
      static_cast<double>(task_.queries->bounds.error[block]) + static_cast<double>(task_.points->bounds.error[group]);
  const double reach = limits_.in_radius() - error;
  if (!(reach >= 0.0)) return false;
  const double limit = reach * reach * (1.0 - 0x1p-40);
  const std::size_t stride = point_rows_.coarse_stride;
  const std::size_t components = task_.points->coarse.components;
  const float* low_q = query_rows_.box_low.data() + block * stride;
  const float* high_q = query_rows_.box_high.data() + block * stride;
  const float* low_p = point_rows_.box_low.data() + group * stride;
  const float* high_p = point_rows_.box_high.data() + group * stride;
  double sum = 0.0;
  for (std::size_t k = 0; k < components; ++k) {
    const double up = static_cast<double>(high_q[k]) - static_cast<double>(low_p[k]);
    const double down = static_cast<double>(high_p[k]) - static_cast<double>(low_q[k]);
    const double widest = std::max(up, down);
    sum += widest * widest;
    if (sum > limit) return false;
  }
  if (point_rows_.coarse_width > components) {
    const double rest = static_cast<double>(high_q[components]) + static_cast<double>(high_p[components]);
    sum += rest * rest;
  }
  return sum <= limit;
}

void CascadeRefiner::compare_tile(Worker& worker, HitRecorder& recorder, std::uint32_t block, std::uint32_t query_chunk,
                                  std::uint32_t group, std::uint32_t point_chunk) const {
  const std::size_t width = point_rows_.coarse_width;
  const std::size_t stride = point_rows_.coarse_stride;
  const double w = static_cast<double>(width);
  const double error =
      static_cast<double>(task_.queries->bounds.error[block]) + static_cast<double>(task_.points->bounds.error[group]);
  const float* query_panel = query_rows_.panels.data() + std::size_t{query_chunk} * width * simd::kTileSide;
  const float* point_panel = point_rows_.panels.data() + std::size_t{point_chunk} * width * simd::kTileSide;

  // 1. Queries near the points' box, points near the queries' box.
  const std::size_t near_width = std::min<std::size_t>(width, kNearComponents);
  const float near_limit = limits_.out(error, w + 6.0, FilterLimits::projected_underflow(width));
  const std::uint64_t query_live = query_rows_.live[query_chunk] &
                                   simd::near_box(query_panel, near_width, point_rows_.box_low.data() + group * stride,
                                                  point_rows_.box_high.data() + group * stride, near_limit);
  if (query_live == 0) return;
  const std::uint64_t point_live = point_rows_.live[point_chunk] &
                                   simd::near_box(point_panel, near_width, query_rows_.box_low.data() + block * stride,
                                                  query_rows_.box_high.data() + block * stride, near_limit);
  if (point_live == 0) return;

  // 2. Both moved together and centred on one of the points.
  std::uint8_t query_at[simd::kTileSide], point_at[simd::kTileSide];
  std::size_t rows = 0, columns = 0;
  for (std::uint64_t bits = query_live; bits != 0; bits &= bits - 1) {
    query_at[rows++] = static_cast<std::uint8_t>(std::countr_zero(bits));
  }
  for (std::uint64_t bits = point_live; bits != 0; bits &= bits - 1) {
    point_at[columns++] = static_cast<std::uint8_t>(std::countr_zero(bits));
  }
  const std::uint32_t query_begin = task_.queries->grouping.group_begin[block] +
                                    (query_chunk - query_rows_.chunk_begin[block]) * std::uint32_t{simd::kTileSide};
  const std::uint32_t point_begin = task_.points->grouping.group_begin[group] +
                                    (point_chunk - point_rows_.chunk_begin[group]) * std::uint32_t{simd::kTileSide};
  const float* center = point_rows_.coarse.data() + (point_begin + point_at[0]) * stride;
  simd::center_rows(query_rows_.coarse.data() + query_begin * stride, stride, query_at, rows, stride, center,
                    worker.rows.data(), worker.norms);
  simd::center_columns(point_panel, width, point_live, center, worker.columns_panel.data(), worker.half_norms);

  // 3. The dense filter and its limits. With nx, ny the largest norms: the scalar-product form is wrong by at most
  //    (2 width + 8) u (nx + ny)^2, and centring by u (nx + ny) in the Euclidean norm.
  const double norm_slack = 1.0 + (w + 8.0) * kFloatUnit;
  const double norm_x =
      std::sqrt(static_cast<double>(*std::max_element(worker.norms, worker.norms + rows)) * norm_slack);
  const double norm_y = std::sqrt(
      2.0 * static_cast<double>(*std::max_element(worker.half_norms, worker.half_norms + columns)) * norm_slack);
  const double norms = norm_x + norm_y + 0x1p-68;  // more than what squares that underflow can hide
  //    The norms of the rests of two points may differ by anything between their difference and their sum: the
  //    difference is in the scalar product; 4 times their product more is the farthest that the pair can be.
  const bool has_rest = width > task_.points->coarse.components;
  double out = 0.0;
  double in = -1.0;
  if (integer_limit_ >= 0.0F && norms * norms < 0x1p22) {
    // Multiples of 1/2 below 2^23: no rounding anywhere.
    out = in = static_cast<double>(integer_limit_);
  } else {
    const double absolute =
        (2.0 * w + 8.0) * kFloatUnit * norms * norms + 4.0 * FilterLimits::projected_underflow(width);
    const double moved = error + 1.01 * kFloatUnit * norms;
    out = static_cast<double>(limits_.out(moved, 4.0, absolute));
    const double rests = has_rest ? static_cast<double>(query_rows_.box_high[block * stride + width - 1]) *
                                        static_cast<double>(point_rows_.box_high[group * stride + width - 1])
                                  : 0.0;
    in = static_cast<double>(limits_.in(moved, 4.0, absolute + 32.0 * kFloatUnit * rests));
  }
  const std::size_t padded = (rows + simd::kTileRows - 1) / simd::kTileRows * simd::kTileRows;
  for (std::size_t r = 0; r < rows; ++r) {
    const double norm = static_cast<double>(worker.norms[r]);
    worker.out_limit[r] = FilterLimits::float_below((norm - out) * 0.5);
    worker.in_limit[r] = FilterLimits::float_above((norm - in) * 0.5);
  }
  if (has_rest && in >= 0.0) {
    const float center_rest = center[width - 1];
    for (std::size_t r = 0; r < rows; ++r) {
      worker.row_rests[r] = 2.0F * (worker.rows[r * stride + width - 1] + center_rest);
    }
    const float* column_rests = worker.columns_panel.data() + (width - 1) * simd::kTileSide;
    for (std::size_t j = 0; j < simd::kTileSide; ++j) worker.column_rests[j] = column_rests[j] + center_rest;
  }
  const simd::DenseLimits dense_limits{worker.half_norms, worker.out_limit, in >= 0.0 ? worker.in_limit : nullptr,
                                       worker.row_rests, worker.column_rests};
  simd::dense_tile(worker.rows.data(), stride, padded, worker.columns_panel.data(), width, columns, dense_limits,
                   worker.maybe, worker.sure);

  // 4. What is left, pair by pair.
  const bool diagonal = task_.self_join && query_begin == point_begin;
  std::uint64_t words[simd::kTileSide] = {};
  worker.pairs.count = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint32_t row = query_at[r];
    std::uint64_t sure = worker.sure[r] & worker.maybe[r];
    std::uint64_t open = worker.maybe[r] & ~sure;
    // A group with itself: each pair once.
    const std::uint32_t first = diagonal ? row + 1 : 0;
    for (std::uint64_t bits = open; bits != 0; bits &= bits - 1) {
      const std::uint8_t column = point_at[std::countr_zero(bits)];
      if (column >= first) worker.pairs.pairs[worker.pairs.count++] = {static_cast<std::uint8_t>(row), column};
    }
    if (columns == simd::kTileSide) {
      words[row] = sure;
      continue;
    }
    for (std::uint64_t bits = sure; bits != 0; bits &= bits - 1) {
      words[row] |= std::uint64_t{1} << point_at[std::countr_zero(bits)];
    }
  }
  if (worker.pairs.count != 0) pair_stage_.decide(worker.pairs, block, query_begin, group, point_begin, words);
  if (diagonal) {
    worker.counts.comparisons += rows * (rows - 1) / 2;
    std::uint64_t mirrored[simd::kTileSide];
    std::copy_n(words, simd::kTileSide, mirrored);
    transpose_bits(mirrored);
    for (std::size_t r = 0; r < simd::kTileSide; ++r) words[r] |= mirrored[r];
    for (std::size_t r = 0; r < rows; ++r) words[query_at[r]] |= std::uint64_t{1} << query_at[r];
  } else {
    worker.counts.comparisons += rows * columns;
  }
  recorder.record(block, query_begin, group, point_begin, words);
}

}  // namespace rthiss::cpu
