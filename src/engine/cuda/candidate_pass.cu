#include "engine/cuda/candidate_pass.hpp"

#include "engine/cuda/launch.hpp"
#include "engine/cuda/sort.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 256;

struct Totals {
  std::uint64_t entries;
  std::uint32_t lists;
};

/// Begins by group, and how many lists hold anything: `sorted` falls, so that empty lists come last.
__global__ void scatter_kernel(const std::uint32_t* sorted, const std::uint32_t* group_ids, const std::uint64_t* begin,
                               std::uint32_t groups, std::uint64_t* begin_of_group, Totals* totals) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= groups) return;
  begin_of_group[group_ids[i]] = begin[i];
  if (i == 0) totals->entries = begin[groups];
  const bool last = sorted[i] != 0 && (i + 1 == groups || sorted[i + 1] == 0);
  if (last) totals->lists = static_cast<std::uint32_t>(i + 1);
}

}  // namespace

std::uint64_t CandidatePass::count(const Setup& setup, const CandidateThreshold& threshold,
                                   const TraversalRange& blocks_of_groups, DeviceMemory& memory, Stream stream) {
  range_ = blocks_of_groups;
  entries_ = lists_ = 0;
  block_ids_ = DeviceArray<std::uint32_t>();
  const std::uint32_t groups = setup.groups.count;
  if (groups == 0 || range_.target_begin >= range_.target_end) return 0;
  DeviceArray<std::uint32_t> counts(memory, groups, stream, "the counts of groups");
  check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream), "cudaMemsetAsync");
  if (setup.by_query) {
    const TraversalRange queries{range_.target_begin, range_.target_end, range_.driver_begin, range_.driver_end};
    DeviceArray<std::uint32_t> per_query(memory, range_.target_end - range_.target_begin, stream,
                                         "the counts of queries");
    count_near(setup.blocks, *setup.group_tree, threshold, queries, per_query.data(), counts.data(), stream);
  } else {
    count_near(setup.groups, *setup.block_tree, threshold, range_, counts.data() + range_.driver_begin, nullptr,
               stream);
  }
  DeviceArray<std::uint32_t> numbers(memory, groups, stream, "the numbers of groups");
  DeviceArray<std::uint32_t> sorted(memory, std::size_t{groups} + 1, stream, "the counts of groups");
  group_ids_ = DeviceArray<std::uint32_t>(memory, groups, stream, "the lists of groups");
  begin_ = DeviceArray<std::uint64_t>(memory, std::size_t{groups} + 1, stream, "the lists of groups");
  begin_of_group_ = DeviceArray<std::uint64_t>(memory, groups, stream, "the lists of groups");
  fill_iota(numbers.data(), groups, stream);
  sort_pairs_falling(counts.data(), sorted.data(), numbers.data(), group_ids_.data(), groups, memory, stream);
  check(cudaMemsetAsync(sorted.data() + groups, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  exclusive_sums(sorted.data(), begin_.data(), groups, memory, stream);
  DeviceArray<Totals> totals(memory, 1, stream, "the number of candidates");
  check(cudaMemsetAsync(totals.data(), 0, totals.bytes(), stream), "cudaMemsetAsync");
  scatter_kernel<<<blocks_for(groups, kThreads), kThreads, 0, stream>>>(sorted.data(), group_ids_.data(), begin_.data(),
                                                                        groups, begin_of_group_.data(), totals.data());
  check_launch("begins of lists");
  Totals found{};
  copy_to_host(totals.data(), 1, &found, stream);
  entries_ = found.entries;
  lists_ = found.lists;
  return entries_;
}

void CandidatePass::fill(const Setup& setup, const CandidateThreshold& threshold, DeviceMemory& memory, Stream stream) {
  if (entries_ == 0) return;
  block_ids_ = DeviceArray<std::uint32_t>(memory, entries_, stream, "the candidates of a batch");
  if (!setup.by_query) {
    list_near(setup.groups, *setup.block_tree, threshold, range_, begin_of_group_.data() + range_.driver_begin,
              block_ids_.data(), stream);
    return;
  }
  const TraversalRange queries{range_.target_begin, range_.target_end, range_.driver_begin, range_.driver_end};
  list_near_by_target(setup.blocks, *setup.group_tree, threshold, queries, begin_of_group_.data(), block_ids_.data(),
                      stream);
}

DeviceLists CandidatePass::lists() const {
  return {lists_, entries_, group_ids_.data(), begin_.data(), block_ids_.data()};
}

}  // namespace rthiss::cuda
