#include "engine/cuda/candidate_pass.hpp"

#include <string>

#include "engine/cuda/launch.hpp"
#include "engine/cuda/sort.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 256;

struct Totals {
  std::uint64_t entries;
  std::uint32_t lists;
};

/// Begins and ends by group, and how many lists hold anything: `sorted` falls, so that empty lists come last.
__global__ void scatter_kernel(const std::uint32_t* sorted, const std::uint32_t* group_ids, const std::uint64_t* begin,
                               std::uint32_t groups, std::uint64_t* begin_of_group, std::uint64_t* end_of_group,
                               Totals* totals) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= groups) return;
  begin_of_group[group_ids[i]] = begin[i];
  end_of_group[group_ids[i]] = begin[i + 1];
  if (i == 0) totals->entries = begin[groups];
  const bool last = sorted[i] != 0 && (i + 1 == groups || sorted[i + 1] == 0);
  if (last) totals->lists = static_cast<std::uint32_t>(i + 1);
}

__global__ void compare_kernel(const std::uint64_t* cursor, const std::uint64_t* end, std::uint32_t groups,
                               std::uint32_t* different) {
  const std::uint64_t g = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (g < groups && cursor[g] != end[g]) atomicAdd(different, 1U);
}

}  // namespace

std::uint64_t CandidatePass::count(const DeviceIndex& index, const CandidateSets& sets,
                                   const TraversalRange& blocks_of_groups, DeviceMemory& memory, Stream stream) {
  range_ = blocks_of_groups;
  entries_ = lists_ = 0;
  block_ids_ = DeviceArray<std::uint32_t>();
  const std::uint32_t groups = sets.groups.count;
  if (groups == 0 || range_.target_begin >= range_.target_end) return 0;
  DeviceArray<std::uint32_t> counts(memory, groups, stream, "the counts of groups");
  check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream), "cudaMemsetAsync");
  index.count_by_group(range_, counts.data(), marks_, memory, stream);
  DeviceArray<std::uint32_t> numbers(memory, groups, stream, "the numbers of groups");
  DeviceArray<std::uint32_t> sorted(memory, std::size_t{groups} + 1, stream, "the counts of groups");
  group_ids_ = DeviceArray<std::uint32_t>(memory, groups, stream, "the lists of groups");
  begin_ = DeviceArray<std::uint64_t>(memory, std::size_t{groups} + 1, stream, "the lists of groups");
  begin_of_group_ = DeviceArray<std::uint64_t>(memory, groups, stream, "the lists of groups");
  end_of_group_ = DeviceArray<std::uint64_t>(memory, groups, stream, "the lists of groups");
  fill_iota(numbers.data(), groups, stream);
  sort_pairs_falling(counts.data(), sorted.data(), numbers.data(), group_ids_.data(), groups, memory, stream);
  check(cudaMemsetAsync(sorted.data() + groups, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  exclusive_sums(sorted.data(), begin_.data(), groups, memory, stream);
  DeviceArray<Totals> totals(memory, 1, stream, "the number of candidates");
  check(cudaMemsetAsync(totals.data(), 0, totals.bytes(), stream), "cudaMemsetAsync");
  scatter_kernel<<<blocks_for(groups, kThreads), kThreads, 0, stream>>>(sorted.data(), group_ids_.data(), begin_.data(),
                                                                        groups, begin_of_group_.data(),
                                                                        end_of_group_.data(), totals.data());
  check_launch("begins of lists");
  Totals found{};
  copy_to_host(totals.data(), 1, &found, stream);
  entries_ = found.entries;
  lists_ = found.lists;
  return entries_;
}

void CandidatePass::fill(const DeviceIndex& index, const CandidateSets& sets, DeviceMemory& memory, Stream stream) {
  if (entries_ == 0) return;
  block_ids_ = DeviceArray<std::uint32_t>(memory, entries_, stream, "the candidates of a batch");
  index.fill(range_, {begin_of_group_.data(), end_of_group_.data(), block_ids_.data()}, marks_, memory, stream);
  marks_ = CandidateMarks();
  if (!sets.by_query) return;
  DeviceArray<std::uint32_t> different(memory, 1, stream, "the check of the lists");
  check(cudaMemsetAsync(different.data(), 0, different.bytes(), stream), "cudaMemsetAsync");
  compare_kernel<<<blocks_for(sets.groups.count, kThreads), kThreads, 0, stream>>>(
      begin_of_group_.data(), end_of_group_.data(), sets.groups.count, different.data());
  check_launch("check the lists");
  std::uint32_t lists = 0;
  copy_to_host(different.data(), 1, &lists, stream);
  if (lists != 0) {
    throw DeviceError("the index found other candidates when it filled " + std::to_string(lists) +
                      " lists than when it counted them; choose index 'bvh', and please report this");
  }
}

DeviceLists CandidatePass::lists() const {
  return {lists_, entries_, group_ids_.data(), begin_.data(), block_ids_.data()};
}

}  // namespace rthiss::cuda
