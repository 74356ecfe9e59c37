#include "engine/cuda/refine/device_refiner.hpp"

#include <algorithm>
#include <utility>

#include "engine/cuda/chunk_rows.hpp"
#include "engine/cuda/launch.hpp"
#include "engine/cuda/open_pairs.hpp"

namespace rthiss::cuda {

namespace {

// Slices of a batch's tasks: between them open pairs are decided, room is made, and the caller may stop. The first is
// small and tells how many hits to expect.
constexpr std::uint64_t kFirstSlice = 64;                     // of the tasks, one part in
constexpr std::uint64_t kLaterSlices = 12;                    // of the rest
constexpr std::uint64_t kLeastSlice = 4096;                   // tasks
constexpr std::uint64_t kLeastRoom = std::uint64_t{1} << 12;  // pairs
constexpr std::uint64_t kFirstRoom = std::uint64_t{1} << 20;
constexpr std::uint64_t kRoomEntry = 16;  // pairs to expect of an entry, before anything is known
constexpr double kReserve = 1.1;

}  // namespace

/// State of one go over a batch's lists.
struct DeviceRefiner::Pass {
  HitTarget target;
  bool keep = false;  // pairs, not only counts
  DeviceArray<HitTally> tally;
  DeviceArray<RecheckTally> recheck;
  DeviceArray<OpenPair> open, rest;
  std::vector<PairPart> parts;  // the last one is being filled
  std::size_t count_bytes = 0;
  void* counts = nullptr;
  DeviceArray<std::uint8_t> counts_before;
  std::uint64_t tasks_done = 0, tasks_left = 0;
  std::uint64_t pairs_done = 0;  // kept, once each
  std::uint64_t first_room = 0;

  std::uint64_t open_done = 0;

  /// Of `done` in the tasks so far, as many as `tasks` more will bring.
  [[nodiscard]] std::uint64_t expected(std::uint64_t done, std::uint64_t tasks) const {
    if (tasks_done == 0) return 0;
    return static_cast<std::uint64_t>(kReserve * static_cast<double>(done) / static_cast<double>(tasks_done) *
                                      static_cast<double>(tasks));
  }
  [[nodiscard]] std::uint64_t room_left() const { return parts.back().pairs.size() - parts.back().count; }
};

struct DeviceRefiner::Slice {
  std::uint64_t first = 0, last = 0;
  HitTally found{};
};

DeviceRefiner::DeviceRefiner(const DeviceTask& task, DeviceMemory& memory, Stream stream)
    : task_(task), memory_(memory), recheck_(task) {
  if (!task.cascade && task.single_queries && task.projection->is_coordinates()) {
    paper_.emplace(task, memory, stream);
  } else {
    rows_.emplace(task, memory, stream);
  }
}

BatchBytes DeviceRefiner::batch_bytes(const DeviceTask& task) {
  // A list entry and its task, and its part of a slice's mask; ids twice while they are sorted, or ids and pairs (of
  // mirrored ones half); counts, cursors, order and begin of a row.
  std::uint64_t entry = 8;
  if (!task.cascade) {
    const std::uint64_t words = task.points.rows / std::max<std::uint64_t>(1, task.points.groups) / 64 + 1;
    entry += words * (task.mask == ResultMask::kPlain ? 64 : 8) / kLaterSlices + 1;
  }
  return {entry, task.self_join ? std::uint64_t{9} : std::uint64_t{13}, 64};
}

PairRule DeviceRefiner::rule_of(const DeviceRange& range) const {
  return {task_.self_join, task_.include_self, task_.self_join && range.mirror, range.row_begin, range.row_end};
}

void DeviceRefiner::filter_slice(const Filter& filter, Slice& slice, Pass& pass, Stream stream) {
  check(cudaMemcpyAsync(pass.counts_before.data(), pass.counts, pass.count_bytes, cudaMemcpyDeviceToDevice, stream),
        "cudaMemcpyAsync");
  const auto make_part = [&](std::uint64_t room) {
    PairPart part;
    part.pairs = DeviceArray<OpenPair>(memory_, room, stream, "the hits of a batch");
    pass.parts.push_back(std::move(part));
  };
  const auto make_open = [&](std::uint64_t room) {
    pass.open = DeviceArray<OpenPair>();
    pass.rest = DeviceArray<OpenPair>();
    pass.open = DeviceArray<OpenPair>(memory_, room, stream, "pairs for the exact tiers");
    pass.rest = DeviceArray<OpenPair>(memory_, room, stream, "pairs for the exact tiers");
  };
  const std::uint64_t tasks = slice.last - slice.first;
  if (pass.keep && (pass.parts.empty() || pass.room_left() < pass.expected(pass.pairs_done, tasks))) {
    make_part(std::max(pass.expected(pass.pairs_done, pass.tasks_left), pass.first_room));
  }
  if (const std::uint64_t open = pass.expected(pass.open_done, tasks); pass.open.size() < std::max(open, kLeastRoom)) {
    make_open(std::max(open, pass.first_room));
  }
  for (;;) {
    HitTally before{};
    if (pass.keep) before.pairs = pass.parts.back().count;
    check(cudaMemcpyAsync(pass.tally.data(), &before, sizeof before, cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
    pass.target.pairs = pass.keep ? pass.parts.back().pairs.data() : nullptr;
    pass.target.pair_room = pass.keep ? pass.parts.back().pairs.size() : 0;
    pass.target.open = pass.open.data();
    pass.target.open_room = pass.open.size();
    filter(slice.first, slice.last, pass.target);
    copy_to_host(pass.tally.data(), 1, &slice.found, stream);
    const bool pairs_fit = !pass.keep || slice.found.pairs <= pass.target.pair_room;
    const bool open_fit = slice.found.open <= pass.target.open_room;
    if (pairs_fit && open_fit) break;
    // Once more with the room that was missing; what was counted is taken back.
    const std::uint64_t wanted = slice.found.pairs - before.pairs;
    if (!pairs_fit) make_part(std::max(wanted + wanted / 8, pass.expected(pass.pairs_done, pass.tasks_left)));
    if (!open_fit) make_open(slice.found.open + slice.found.open / 4);
    check(cudaMemcpyAsync(pass.counts, pass.counts_before.data(), pass.count_bytes, cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpyAsync");
  }
  if (pass.keep) pass.parts.back().count = slice.found.pairs;
}

std::uint64_t DeviceRefiner::decide_open(const PairRule& rule, std::uint64_t count, Pass& pass, RefinementCounts& done,
                                         Stream stream) {
  if (count == 0) return 0;
  if (pass.keep && pass.room_left() < count) {
    PairPart part;
    part.pairs = DeviceArray<OpenPair>(memory_, std::max(count, pass.expected(pass.pairs_done, pass.tasks_left)),
                                       stream, "the hits of a batch");
    pass.parts.push_back(std::move(part));
  }
  HitTally tally{};
  if (pass.keep) {
    tally.pairs = pass.parts.back().count;
    pass.target.pairs = pass.parts.back().pairs.data();
    pass.target.pair_room = pass.parts.back().pairs.size();
  }
  check(cudaMemcpyAsync(pass.tally.data(), &tally, sizeof tally, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  check(cudaMemsetAsync(pass.recheck.data(), 0, pass.recheck.bytes(), stream), "cudaMemsetAsync");
  recheck_.run(pass.open.data(), count, rule, pass.target, pass.rest.data(), pass.recheck.data(), stream);
  RecheckTally seen{};
  copy_to_host(pass.recheck.data(), 1, &seen, stream);
  done.decided.in_double += seen.decided;
  if (seen.rest != 0) {
    std::vector<OpenPair> pairs(seen.rest);
    copy_to_host(pass.rest.data(), seen.rest, pairs.data(), stream);
    decide_open_pairs(task_, pairs, stream, done.decided);
    const DeviceArray<OpenPair> hits =
        copy_to_device(pairs.data(), pairs.size(), memory_, stream, "exactly decided pairs");
    enter_hits(hits.data(), hits.size(), rule, pass.target, stream);
  }
  copy_to_host(pass.tally.data(), 1, &tally, stream);
  if (pass.keep) pass.parts.back().count = tally.pairs;
  return tally.ordered;
}

RefinementCounts DeviceRefiner::run(const DeviceLists& lists, const PairRule& rule, Pass& pass,
                                    RefinementProgress& progress, Stream stream) {
  RefinementCounts done;
  if (lists.lists == 0 || lists.entries == 0) return done;
  pass.tally = DeviceArray<HitTally>(memory_, 1, stream, "the counters of a batch");
  pass.target.tally = pass.tally.data();
  pass.recheck = DeviceArray<RecheckTally>(memory_, 1, stream, "the counters of a batch");
  pass.first_room = std::clamp(lists.entries * kRoomEntry, kLeastRoom, kFirstRoom);
  pass.counts_before = DeviceArray<std::uint8_t>(memory_, pass.count_bytes, stream, "the counts of a batch");
  if (paper_) {
    std::vector<std::uint64_t> begin(std::size_t{lists.lists} + 1);
    copy_to_host(lists.begin, begin.size(), begin.data(), stream);
    run_slices(
        lists.lists, 1, lists.entries,
        [&](std::uint64_t first, std::uint64_t last, const HitTarget& target) {
          paper_->run(lists, begin, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last), rule, target,
                      memory_, stream);
        },
        rule, pass, done, progress, stream);
  } else {
    const TileTasks tasks(lists, task_, *rows_, memory_, stream);
    run_slices(
        tasks.size(), kLeastSlice, lists.entries,
        [&](std::uint64_t first, std::uint64_t last, const HitTarget& target) {
          filter_tiles(task_, *rows_, lists, tasks, first, last, rule, target, stream);
        },
        rule, pass, done, progress, stream);
  }
  return done;
}

void DeviceRefiner::run_slices(std::uint64_t tasks, std::uint64_t least, std::uint64_t entries, const Filter& filter,
                               const PairRule& rule, Pass& pass, RefinementCounts& done, RefinementProgress& progress,
                               Stream stream) {
  const std::uint64_t first = std::max(least, tasks / kFirstSlice);
  const std::uint64_t later = std::max(least, (tasks + kLaterSlices - 1) / kLaterSlices);
  std::uint64_t entries_told = 0;
  pass.tasks_left = tasks;
  while (pass.tasks_left != 0 && !progress.stopped()) {
    Slice slice;
    slice.first = pass.tasks_done;
    slice.last = std::min(tasks, slice.first + (slice.first == 0 ? first : later));
    filter_slice(filter, slice, pass, stream);
    const std::uint64_t open = slice.found.open;
    done.comparisons += slice.found.compared;
    done.decided.filter += slice.found.compared - open;
    const std::uint64_t ordered = slice.found.ordered + decide_open(rule, open, pass, done, stream);
    pass.open_done += open;
    pass.tasks_done = slice.last;
    pass.tasks_left = tasks - slice.last;
    pass.pairs_done = 0;
    for (const PairPart& part : pass.parts) pass.pairs_done += part.count;
    const auto entries_done = static_cast<std::uint64_t>(
        static_cast<double>(entries) * static_cast<double>(pass.tasks_done) / static_cast<double>(tasks));
    progress.advance(entries_done - entries_told, ordered);
    entries_told = entries_done;
  }
}

RefinementCounts DeviceRefiner::count(const DeviceLists& lists, const DeviceRange& range, std::uint64_t* row_counts,
                                      RefinementProgress& progress, Stream stream) {
  static_assert(sizeof(std::uint64_t) == sizeof(unsigned long long));
  Pass pass;
  pass.target.counts64 = reinterpret_cast<unsigned long long*>(row_counts);
  pass.counts = row_counts;
  pass.count_bytes = std::size_t{task_.queries.rows} * sizeof(std::uint64_t);
  return run(lists, rule_of(range), pass, progress, stream);
}

RefinementCounts DeviceRefiner::collect(const DeviceLists& lists, const DeviceRange& range, DeviceChunk& chunk,
                                        RefinementProgress& progress, Stream stream) {
  const std::uint32_t rows = range.row_end - range.row_begin;
  const PairRule rule = rule_of(range);
  DeviceArray<std::uint32_t> counts(memory_, rows, stream, "the counts of a batch");
  if (rows != 0) check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream), "cudaMemsetAsync");
  Pass pass;
  pass.keep = true;
  pass.target.counts32 = counts.data();
  pass.target.first_row = range.row_begin;
  pass.counts = counts.data();
  pass.count_bytes = counts.bytes();
  const RefinementCounts done = run(lists, rule, pass, progress, stream);
  pass.open = DeviceArray<OpenPair>();
  pass.rest = DeviceArray<OpenPair>();
  RowOrder order = order_rows(task_.queries.original_id + range.row_begin, rows, memory_, stream);
  chunk.rows = rows;
  chunk.row_begin = begin_rows(counts.data(), order, rows, memory_, stream);
  chunk.pairs = 0;
  copy_to_host(chunk.row_begin.data() + rows, 1, &chunk.pairs, stream);
  DeviceArray<std::uint32_t> neighbours(memory_, chunk.pairs, stream, "the neighbours of a batch");
  place_pairs(pass.parts, task_, rule, chunk.row_begin.data(), order.rank.data(), rows, neighbours.data(), memory_,
              stream);
  chunk.neighbours = sort_rows(std::move(neighbours), chunk.row_begin.data(), rows, memory_, stream);
  chunk.query_ids = std::move(order.query_ids);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return done;
}

}  // namespace rthiss::cuda
