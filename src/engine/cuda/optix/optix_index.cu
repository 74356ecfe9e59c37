#include "engine/cuda/optix/optix_index.hpp"

#include <algorithm>

#include "engine/cuda/launch.hpp"
#include "engine/cuda/optix/launch_parameters.hpp"
#include "engine/cuda/optix/library.hpp"
#include "engine/cuda/optix/near_group.cuh"
#include "engine/cuda/optix/scene.hpp"

namespace rthiss::cuda::optix {

namespace {

constexpr unsigned kThreads = 256;
/// Marks of the first test are taken in parts of this size.
constexpr std::uint64_t kMostMarkBytes = std::uint64_t{256} << 20;

/// The whole block's share of a query's payload.
struct SharedPayload {
  std::uint32_t* values;
  __device__ void add(std::uint32_t index, std::uint32_t amount) { atomicAdd(&values[index], amount); }
};

/// Queries of the launch that no ray stands for, against all groups; a block each. A direct join has one cursor a
/// query and takes one thread.
__global__ void loose_kernel(LaunchParameters launch, std::uint32_t width, const std::uint32_t* loose) {
  const std::uint32_t q = loose[blockIdx.x];
  if (q < launch.first_query || q - launch.first_query >= width) return;
  __shared__ std::uint32_t carried[kPayloadValues];
  if (threadIdx.x < kPayloadValues) carried[threadIdx.x] = 0;
  __syncthreads();
  SharedPayload payload{carried};
  const std::uint32_t threads = launch.task == Task::kDirect ? 1 : blockDim.x;
  for (std::uint64_t g = threadIdx.x; threadIdx.x < threads && g < launch.groups.count; g += threads) {
    meet_group(launch, q, static_cast<std::uint32_t>(g), payload);
  }
  __syncthreads();
  if (threadIdx.x == 0) finish_query(launch, q, carried);
}

/// One warp a block.
__global__ void block_of_query_kernel(const std::uint32_t* begin, std::uint32_t blocks, std::uint32_t* block_of_query) {
  const std::uint64_t block = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (block >= blocks) return;
  for (std::uint32_t q = begin[block] + threadIdx.x % 32; q < begin[block + 1]; q += 32) {
    block_of_query[q] = static_cast<std::uint32_t>(block);
  }
}

/// Bits of each group's row; one warp a group.
__global__ void count_marks_kernel(const std::uint32_t* marks, std::uint32_t words, std::uint32_t groups,
                                   std::uint32_t* counts) {
  const std::uint64_t g = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (g >= groups) return;
  std::uint32_t count = 0;
  for (std::uint32_t w = threadIdx.x % 32; w < words; w += 32) count += __popc(marks[g * words + w]);
  for (int offset = 16; offset > 0; offset /= 2) count += __shfl_xor_sync(kWholeWarp, count, offset);
  if (threadIdx.x % 32 == 0) counts[g] = count;
}

/// Writes each group's marked blocks, ascending; one warp a group.
__global__ void list_marks_kernel(const std::uint32_t* marks, std::uint32_t words, std::uint32_t groups,
                                  std::uint32_t block_begin, const std::uint64_t* begin, std::uint32_t* block_ids) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t g = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (g >= groups) return;
  std::uint64_t at = begin[g];
  for (std::uint32_t first = 0; first < words; first += 32) {
    std::uint32_t word = first + lane < words ? marks[g * words + first + lane] : 0;
    const auto own = static_cast<std::uint32_t>(__popc(word));
    std::uint32_t before = own;
    for (int offset = 1; offset < 32; offset *= 2) {
      const std::uint32_t other = __shfl_up_sync(kWholeWarp, before, offset);
      if (lane >= static_cast<std::uint32_t>(offset)) before += other;
    }
    std::uint64_t place = at + before - own;
    for (; word != 0; word &= word - 1) {
      block_ids[place++] = block_begin + 32 * (first + lane) + static_cast<std::uint32_t>(__ffs(word) - 1);
    }
    at += __shfl_sync(kWholeWarp, before, 31);
  }
}

class OptixIndex final : public DeviceIndex {
 public:
  OptixIndex(const DeviceContext& optix, const CandidateSets& sets, const CandidateTest& test, std::uint32_t components,
             DeviceMemory& memory, Stream stream)
      : optix_(optix), sets_(sets), scene_(build_scene(optix, sets, test, std::min(components, 3U), memory, stream)) {
    base_.scene = scene_.handle;
    base_.scale = scene_.scale;
    base_.axes = scene_.axes;
    base_.components = components;
    base_.sphere_boxes = test.sphere_boxes;
    base_.groups = sets.groups;
    base_.queries = sets.queries;
    base_.threshold = CandidateThreshold(test, components);
    base_.group_end = sets.groups.count;
    if (sets.by_query || sets.queries.count == 0) return;
    block_of_query_ = DeviceArray<std::uint32_t>(memory, sets.queries.count, stream, "the blocks of queries");
    block_of_query_kernel<<<blocks_for(std::size_t{sets.blocks.count} * 32, kThreads), kThreads, 0, stream>>>(
        sets.query_begin, sets.blocks.count, block_of_query_.data());
    check_launch("blocks of queries");
    base_.block_of_query = block_of_query_.data();
    query_begin_.resize(std::size_t{sets.blocks.count} + 1);
    copy_to_host(sets.query_begin, query_begin_.size(), query_begin_.data(), stream);
  }

  void count_by_block(std::uint32_t* counts, DeviceMemory& memory, Stream stream) const override {
    const std::uint32_t blocks = sets_.blocks.count;
    if (blocks == 0) return;
    check(cudaMemsetAsync(counts, 0, std::size_t{blocks} * sizeof(std::uint32_t), stream), "cudaMemsetAsync");
    if (sets_.by_query) {
      LaunchParameters launch = base_;
      launch.task = Task::kCountByQuery;
      shoot(launch, 0, blocks, counts, memory, stream);
      return;
    }
    const std::uint64_t most = std::min(kMostMarkBytes, memory.available() / 4);
    const std::uint64_t part = std::max<std::uint64_t>(32, most / std::max<std::uint64_t>(1, bytes_per_block()));
    for (std::uint64_t begin = 0; begin < blocks; begin += part) {
      const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, begin + part));
      CandidateMarks marks;
      mark({0, sets_.groups.count, static_cast<std::uint32_t>(begin), end}, counts + begin, marks, memory, stream);
    }
  }

  void count_by_group(const TraversalRange& range, std::uint32_t* counts, CandidateMarks& marks, DeviceMemory& memory,
                      Stream stream) const override {
    if (sets_.by_query) {
      LaunchParameters launch = over_groups(range);
      launch.task = Task::kCountByGroup;
      launch.counts = counts;
      shoot(launch, range.target_begin, range.target_end, nullptr, memory, stream);
      return;
    }
    mark(range, nullptr, marks, memory, stream);
    count_marks_kernel<<<blocks_for(std::size_t{sets_.groups.count} * 32, kThreads), kThreads, 0, stream>>>(
        marks.data(), mark_words(range), sets_.groups.count, counts);
    check_launch("count marks");
  }

  void fill(const TraversalRange& range, const ListPlaces& places, const CandidateMarks& marks, DeviceMemory& memory,
            Stream stream) const override {
    if (sets_.by_query) {
      LaunchParameters launch = over_groups(range);
      launch.task = Task::kFill;
      launch.cursor = places.cursor;
      launch.end = places.end;
      launch.block_ids = places.block_ids;
      shoot(launch, range.target_begin, range.target_end, nullptr, memory, stream);
      return;
    }
    list_marks_kernel<<<blocks_for(std::size_t{sets_.groups.count} * 32, kThreads), kThreads, 0, stream>>>(
        marks.data(), mark_words(range), sets_.groups.count, range.target_begin, places.cursor, places.block_ids);
    check_launch("list marks");
  }

  void join_directly(const DirectPass& pass, DeviceMemory& memory, Stream stream) const override {
    LaunchParameters launch = base_;
    launch.task = Task::kDirect;
    launch.group_begin = pass.group_begin;
    launch.group_end = pass.group_end;
    launch.direct = pass;
    shoot(launch, pass.row_begin, pass.row_end, nullptr, memory, stream);
  }

  std::uint64_t bytes_per_block() const override { return sets_.by_query ? 0 : (sets_.groups.count + 7) / 8; }

 private:
  [[nodiscard]] LaunchParameters over_groups(const TraversalRange& range) const {
    LaunchParameters launch = base_;
    launch.group_begin = range.driver_begin;
    launch.group_end = range.driver_end;
    launch.once = range.once;
    launch.once_from = range.once_from;
    return launch;
  }

  [[nodiscard]] static std::uint32_t mark_words(const TraversalRange& range) {
    return (range.target_end - range.target_begin + 31) / 32;
  }

  void mark(const TraversalRange& range, std::uint32_t* counts, CandidateMarks& marks, DeviceMemory& memory,
            Stream stream) const {
    LaunchParameters launch = over_groups(range);
    launch.task = Task::kMark;
    launch.counts = counts;
    launch.block_begin = range.target_begin;
    launch.mark_words = mark_words(range);
    marks = CandidateMarks();  // what an earlier pass left makes room
    marks = CandidateMarks(memory, std::size_t{sets_.groups.count} * launch.mark_words, stream, "marks of candidates");
    if (marks.empty()) return;
    check(cudaMemsetAsync(marks.data(), 0, marks.bytes(), stream), "cudaMemsetAsync");
    launch.marks = marks.data();
    shoot(launch, query_begin_[range.target_begin], query_begin_[range.target_end], nullptr, memory, stream);
  }

  /// A ray for each of the queries [begin, end); `by_query`, if given, [end - begin] becomes launch.counts.
  void shoot(LaunchParameters& launch, std::uint32_t begin, std::uint32_t end, std::uint32_t* by_query,
             DeviceMemory& memory, Stream stream) const {
    if (scene_.handle == 0) return;
    const auto records = static_cast<abi::DevicePointer>(reinterpret_cast<std::uintptr_t>(scene_.records.data()));
    abi::BindingTable table{};
    table.raygen = records;
    table.miss = records + abi::kRecordBytes;
    table.hit = records + 2 * abi::kRecordBytes;
    table.miss_stride = table.hit_stride = abi::kRecordBytes;
    table.miss_count = table.hit_count = 1;
    DeviceArray<LaunchParameters> parameters(memory, 1, stream, "OptiX launch parameters");
    for (std::uint64_t first = begin; first < end;) {
      const std::uint32_t width = rays_of_next_launch(end - first);
      launch.first_query = static_cast<std::uint32_t>(first);
      if (by_query != nullptr) launch.counts = by_query + (first - begin);
      // From pageable memory: the copy has its own of the parameters when this returns.
      check(cudaMemcpyAsync(parameters.data(), &launch, sizeof launch, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
      check_optix(library().functions.launch(
                      optix_.pipeline, stream,
                      static_cast<abi::DevicePointer>(reinterpret_cast<std::uintptr_t>(parameters.data())),
                      sizeof launch, &table, width, 1, 1),
                  "launching rays");
      if (scene_.loose_count != 0) {
        loose_kernel<<<scene_.loose_count, kThreads, 0, stream>>>(launch, width, scene_.loose_queries.data());
        check_launch("queries without bound");
      }
      first += width;
    }
  }

  const DeviceContext& optix_;
  CandidateSets sets_;
  Scene scene_;
  LaunchParameters base_;
  DeviceArray<std::uint32_t> block_of_query_;
  std::vector<std::uint32_t> query_begin_;
};

}  // namespace

std::unique_ptr<DeviceIndex> make_optix_index(const DeviceContext& optix, const CandidateSets& sets,
                                              const CandidateTest& test, std::uint32_t components, DeviceMemory& memory,
                                              Stream stream) {
  return std::make_unique<OptixIndex>(optix, sets, test, components, memory, stream);
}

}  // namespace rthiss::cuda::optix
