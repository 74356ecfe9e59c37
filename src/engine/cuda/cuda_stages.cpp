#include "engine/cuda/cuda_stages.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cuda/bounds.hpp"
#include "engine/cuda/candidate_pass.hpp"
#include "engine/cuda/chunk_transfer.hpp"
#include "engine/cuda/device_types.hpp"
#include "engine/cuda/direct_join.hpp"
#include "engine/cuda/download.hpp"
#include "engine/cuda/grouping.hpp"
#include "engine/cuda/hierarchy_index.hpp"
#include "engine/cuda/images.hpp"
#include "engine/cuda/launch.hpp"
#include "engine/cuda/optix/optix_index.hpp"
#include "engine/cuda/pair_values.hpp"
#include "engine/cuda/refine/device_refiner.hpp"
#include "engine/cuda/search_context.hpp"
#include "engine/cuda/tuning.hpp"
#include "engine/cuda/upload.hpp"

namespace rthiss::cuda {

namespace {

/// One side of the search on the device: in the caller's order until it is grouped, then in group order.
struct SideData {
  const Dataset* data = nullptr;
  UploadedRows rows;
  ImageRows images;
  ProjectedRows projected;
  DeviceGrouping grouping;
  DeviceBounds bounds;

  [[nodiscard]] const float* image_values() const {
    return images.values.empty() ? rows.values32.data() : images.values.data();
  }
  [[nodiscard]] BoxSet group_boxes() const {
    return {bounds.low.data(),    bounds.high.data(), bounds.error.data(),
            bounds.sphere.data(), grouping.groups(),  projected.stride};
  }
  [[nodiscard]] BoxSet row_boxes() const {
    return {projected.values.data(), projected.values.data(), projected.error.data(), nullptr, rows.rows,
            projected.stride};
  }
};

struct CudaSlot final : BatchSlot {
  CandidateRange range;
  CandidatePass candidates;
  std::vector<NeighborChunk> parts;  // of a block whose groups are split
  std::optional<DeviceChunk> chunk;
  ChunkTransfer transfer;
};

class CudaStages final : public SearchStages {
 public:
  CudaStages(int device, DeviceMemory& memory, const ThreadPool& pool, const StageSetup& setup)
      : device_(device), context_(device), memory_(memory), pool_(pool), setup_(setup), plan_(*setup.plan) {
    memory_.reset_peak();
  }

  void project(Side side) override {
    SideData& own = side_of(side);
    own.data = side == Side::kPoints ? setup_.points : setup_.queries;
    const bool as_double = !held_by_float(setup_.points->dtype()) ||
                           (setup_.queries != nullptr && !held_by_float(setup_.queries->dtype()));
    own.rows = upload_rows(*own.data, as_double, memory_, pool_, stream());
    own.images = load_images(own.rows, *setup_.space, memory_, stream());
    own.projected = project_rows(own.image_values(), own.rows.stride, own.images.error.data(), own.rows.ignored.data(),
                                 own.rows.rows, plan_.projection, memory_, stream());
    context_.finish();
  }

  void group(Side side) override {
    SideData& own = side_of(side);
    own.grouping = group_rows(own.projected.values.data(), own.rows.rows, own.projected.stride, own.projected.width,
                              plan_.grouping, memory_, stream());
    reorder(own.rows.values32, own.rows.stride, own);
    reorder(own.rows.values64, own.rows.stride, own);
    reorder(own.images.values, own.rows.stride, own);
    reorder(own.images.error, 1, own);
    reorder(own.projected.values, own.projected.stride, own);
    reorder(own.projected.error, 1, own);
    if (!own.rows.ignored.empty()) {
      DeviceArray<std::uint8_t> ordered(memory_, own.rows.rows, stream(), "the marks of ignored rows");
      gather_bytes(own.rows.ignored.data(), own.grouping.original_id.data(), own.rows.rows, ordered.data(), stream());
      own.rows.ignored = std::move(ordered);
    }
    context_.finish();
  }

  void bound(Side side) override {
    SideData& own = side_of(side);
    own.bounds =
        bound_groups(own.projected.values.data(), own.projected.error.data(), own.projected.stride, own.projected.width,
                     own.grouping.group_begin.data(), own.grouping.groups(), plan_.sphere_boxes, memory_, stream());
    context_.finish();
  }

  void separate_queries() override { single_queries_ = true; }

  void build_index() override {
    CandidateTest test = setup_.test;
    if (direct()) test.box_distance = true;
    std::uint32_t components = setup_.index == "exhaustive" ? 0 : points_.projected.width;
    if (test.sphere_boxes) components = std::min<std::uint32_t>(components, 3);
    components = static_cast<std::uint32_t>(std::min<std::size_t>(components, test.components));
    sets_.groups = points_.group_boxes();
    sets_.queries = queries().row_boxes();
    sets_.blocks = single_queries_ ? sets_.queries : queries().group_boxes();
    sets_.query_begin = queries().grouping.group_begin.data();
    sets_.by_query = single_queries_;
    if (setup_.index == "optix") {
      index_ = optix::make_optix_index(optix::context_of(device_), sets_, test, components, memory_, stream());
    } else {
      index_ = make_hierarchy_index(sets_, test, components, !other_queries_, memory_, stream());
    }
    context_.finish();
  }

  FirstTest first_test() override {
    FirstTest test;
    test.counts.per_block = Array<std::uint32_t>(blocks());
    DeviceArray<std::uint32_t> counts(memory_, blocks(), stream(), "the counts of the first test");
    index_->count_by_block(counts.data(), memory_, stream());
    download(counts.data(), test.counts.per_block.data(), counts.bytes(), pool_, stream());
    for (std::uint32_t b = 0; b < blocks(); ++b) {
      test.counts.total += test.counts.per_block[b];
      test.query_group += std::uint64_t{test.counts.per_block[b]} * queries_in(b, b + 1);
    }
    return test;
  }

  void arrange() override {
    task_.points = view_of(points_);
    task_.queries = view_of(queries());
    task_.self_join = setup_.self_join();
    task_.include_self = setup_.options->include_self;
    task_.single_queries = single_queries_;
    task_.cascade = plan_.cascade;
    task_.points_data = setup_.points;
    task_.queries_data = queries().data;
    task_.space = setup_.space;
    task_.decider = setup_.decider;
    task_.projection = &plan_.projection;
    task_.threshold = setup_.threshold;
    task_.pool = &pool_;
    task_.shared_memory = setup_.options->shared_memory.value_or(SharedMemory::kBoth);
    task_.mask = setup_.options->mask.value_or(ResultMask::kCompressed);
    if (direct()) {
      direct_join_.emplace(task_, *index_, memory_, stream());
    } else {
      refiner_.emplace(task_, memory_, stream());
    }
    if (setup_.options->distances) pair_values_.emplace(task_, setup_.options->metric.kind, memory_, stream());
    context_.finish();
  }

  std::uint32_t groups() const override { return points_.grouping.groups(); }
  int height() const override { return points_.grouping.height; }
  std::uint32_t blocks() const override { return single_queries_ ? queries().rows.rows : queries().grouping.groups(); }
  std::uint64_t queries_in(std::uint32_t begin, std::uint32_t end) const override {
    if (single_queries_) return end - begin;
    const std::vector<std::uint32_t>& first = queries().grouping.begin_host;
    return first[end] - first[begin];
  }

  /// The host holds a batch's rows, the device also what leads to them.
  std::uint64_t batch_budget(std::uint64_t host_budget) const override {
    const std::uint64_t room = memory_.available();
    return std::min(host_budget, room - room / 16);
  }
  ByteModel counting_bytes() const override {
    return direct() ? ByteModel{16, 0} : ByteModel{16 + index_->bytes_per_block(), sizeof(std::uint32_t)};
  }
  std::uint64_t counting_room(std::uint64_t budget) const override { return budget; }
  ByteModel listing_bytes(double hits, std::uint64_t bytes_per_pair) const override {
    const BatchBytes bytes =
        direct() ? BatchBytes{0, 2 * sizeof(std::uint32_t), 64} : DeviceRefiner::batch_bytes(task_);
    const std::uint64_t rows = single_queries_ ? 1 : tuning::kGroupSize;
    const double per_hit = static_cast<double>(std::max<std::uint64_t>(bytes.per_hit, bytes_per_pair));
    return {rows * bytes.per_row + (direct() ? 0 : index_->bytes_per_block()),
            bytes.per_entry + static_cast<std::uint64_t>(hits * per_hit)};
  }
  std::size_t slots() const override { return tuning::kSlots; }

  std::unique_ptr<BatchSlot> make_slot() override { return std::make_unique<CudaSlot>(); }

  std::uint64_t count(BatchSlot& slot, const CandidateRange& range) override {
    auto& own = static_cast<CudaSlot&>(slot);
    own.range = range;
    if (direct()) return 0;
    return with_overflow([&] {
      const TraversalRange traversal{range.group_begin,    range.group_end,
                                     range.block_begin,    range.block_end,
                                     range.each_pair_once, range.whole_block_begin.value_or(range.block_begin)};
      return own.candidates.count(*index_, sets_, traversal, memory_, stream());
    });
  }

  void fill(BatchSlot& slot) override {
    auto& own = static_cast<CudaSlot&>(slot);
    if (direct()) return;
    with_overflow([&] {
      own.candidates.fill(*index_, sets_, memory_, stream());
      context_.finish();
    });
  }

  RefinementCounts refine(BatchSlot& slot, const RefineRequest& request, RefinementProgress& progress) override {
    auto& own = static_cast<CudaSlot&>(slot);
    return with_overflow([&] {
      if (request.want != RefineRequest::Want::kHits) return count_neighbours(own, request, progress);
      const DeviceRange range = range_of(own, own.range.block_begin, own.range.block_end);
      DeviceChunk chunk;
      const RefinementCounts done = direct_join_
                                        ? direct_join_->collect(range, own.range.group_begin, own.range.group_end,
                                                                ~std::uint64_t{0}, chunk, progress)
                                        : refiner_->collect(own.candidates.lists(), range, chunk, progress, stream());
      own.candidates = CandidatePass();
      if (pair_values_) pair_values_->add(chunk, stream());
      // An earlier part of the same rows makes room on the device.
      if (own.chunk) own.parts.push_back(download(*own.chunk, NeighborChunk(), pool_, stream()));
      own.chunk = std::move(chunk);
      return done;
    });
  }

  void start_compact(BatchSlot& slot, std::uint32_t /*block_begin*/, std::uint32_t /*block_end*/) override {
    auto& own = static_cast<CudaSlot&>(slot);
    own.transfer.start(std::move(*own.chunk), stream(), std::move(own.parts), task_);
    own.chunk.reset();
    own.parts.clear();
  }

  NeighborChunk finish_compact(BatchSlot& slot) override { return static_cast<CudaSlot&>(slot).transfer.finish(); }
  void reuse(BatchSlot& slot, NeighborChunk&& rows) override {
    static_cast<CudaSlot&>(slot).transfer.reuse(std::move(rows));
  }

  std::uint64_t peak_device_bytes() const override { return memory_.peak(); }

 private:
  [[nodiscard]] Stream stream() const { return context_.stream(); }
  [[nodiscard]] const SideData& queries() const { return other_queries_ ? *other_queries_ : points_; }
  [[nodiscard]] SideData& side_of(Side side) {
    if (side == Side::kPoints) return points_;
    return other_queries_ ? *other_queries_ : other_queries_.emplace();
  }
  [[nodiscard]] bool direct() const { return plan_.cascade && setup_.points->columns() <= tuning::kMostDirectColumns; }

  template <typename T>
  void reorder(DeviceArray<T>& values, std::size_t width, const SideData& side) {
    if (values.empty()) return;
    DeviceArray<T> ordered(memory_, values.size(), stream(), "the rows in group order");
    gather_rows(values.data(), side.grouping.original_id.data(), side.rows.rows, width * sizeof(T), ordered.data(),
                stream());
    values = std::move(ordered);
  }

  [[nodiscard]] static DeviceSet view_of(const SideData& side) {
    DeviceSet view;
    view.rows = side.rows.rows;
    view.columns = side.rows.columns;
    view.exact32 = side.rows.values32.data();
    view.exact64 = side.rows.values64.data();
    view.exact_stride = view.image_stride = side.rows.stride;
    view.images = side.image_values();
    view.load_error = side.images.error.data();
    view.coarse = side.projected.values.data();
    view.coarse_error = side.projected.error.data();
    view.coarse_stride = side.projected.stride;
    view.coarse_width = side.projected.width;
    view.components = side.projected.components;
    view.original_id = side.grouping.original_id.data();
    view.ignored = side.rows.ignored.data();
    view.groups = side.grouping.groups();
    view.group_begin = side.grouping.group_begin.data();
    view.box_low = side.bounds.low.data();
    view.box_high = side.bounds.high.data();
    view.group_error = side.bounds.error.data();
    return view;
  }

  [[nodiscard]] DeviceRange range_of(const CudaSlot& slot, std::uint32_t block_begin, std::uint32_t block_end) const {
    DeviceRange range;
    range.block_begin = block_begin;
    range.block_end = block_end;
    range.row_begin = static_cast<std::uint32_t>(queries_in(0, block_begin));
    range.row_end = static_cast<std::uint32_t>(queries_in(0, block_end));
    range.mirror = slot.range.each_pair_once;
    return range;
  }

  RefinementCounts count_neighbours(CudaSlot& slot, const RefineRequest& request, RefinementProgress& progress) {
    const std::uint32_t block_end = std::min(request.block_end, blocks());
    if (direct_join_) {
      // Every row by itself: only the range's rows, and each in full.
      const DeviceRange range = range_of(slot, slot.range.block_begin, slot.range.block_end);
      const std::uint32_t rows = range.row_end - range.row_begin;
      DeviceArray<std::uint32_t> counts(memory_, rows, stream(), "the counts of a batch");
      if (rows != 0) check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream()), "cudaMemsetAsync");
      const RefinementCounts done =
          direct_join_->count(range, slot.range.group_begin, slot.range.group_end, counts.data(), progress);
      if (request.want == RefineRequest::Want::kCounts) add_counts(counts, range.row_begin, request.counts);
      return done;
    }
    const DeviceRange range = range_of(slot, request.block_begin, block_end);
    DeviceArray<std::uint64_t> counts(memory_, queries().rows.rows, stream(), "the counts of neighbours");
    if (!counts.empty()) check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream()), "cudaMemsetAsync");
    const RefinementCounts done = refiner_->count(slot.candidates.lists(), range, counts.data(), progress, stream());
    slot.candidates = CandidatePass();
    if (request.want == RefineRequest::Want::kCounts) add_counts(counts, 0, request.counts);
    return done;
  }

  /// Counts by position, from `first` on, into the caller's order.
  template <typename Count>
  void add_counts(const DeviceArray<Count>& counts, std::uint32_t first, std::uint64_t* target) {
    Array<Count> here(counts.size());
    download(counts.data(), here.data(), counts.bytes(), pool_, stream());
    if (query_ids_.empty()) {
      query_ids_ = Array<std::uint32_t>(queries().rows.rows);
      download(queries().grouping.original_id.data(), query_ids_.data(), query_ids_.size() * sizeof(std::uint32_t),
               pool_, stream());
    }
    pool_.for_ranges(0, here.size(), 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) target[query_ids_[first + i]] += here[i];
    });
  }

  /// Too little device memory for a batch: the pipeline makes smaller ones.
  template <typename Work>
  auto with_overflow(const Work& work) -> decltype(work()) {
    try {
      return work();
    } catch (const OutOfDeviceMemory& error) {
      context_.finish();
      throw MaskOverflow{error.what()};
    }
  }

  int device_;
  SearchContext context_;
  DeviceMemory& memory_;
  const ThreadPool& pool_;
  StageSetup setup_;
  const SearchPlan& plan_;
  SideData points_;
  std::optional<SideData> other_queries_;
  bool single_queries_ = false;
  CandidateSets sets_;
  std::unique_ptr<DeviceIndex> index_;
  DeviceTask task_;
  std::optional<DirectJoin> direct_join_;
  std::optional<DeviceRefiner> refiner_;
  std::optional<PairValues> pair_values_;
  Array<std::uint32_t> query_ids_;
};

}  // namespace

std::unique_ptr<SearchStages> make_cuda_stages(int device, DeviceMemory& memory, const ThreadPool& pool,
                                               const StageSetup& setup) {
  return std::make_unique<CudaStages>(device, memory, pool, setup);
}

}  // namespace rthiss::cuda
