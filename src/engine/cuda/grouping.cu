#include "engine/cuda/grouping.hpp"

#include <algorithm>
#include <bit>

#include "engine/cuda/group_order.hpp"
#include "engine/cuda/launch.hpp"
#include "engine/cuda/ordered_bits.cuh"
#include "engine/cuda/sort.hpp"
#include "geometry/hilbert_code.hpp"
#include "grouping/ball_split.hpp"
#include "grouping/leaves.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 256;

/// Nodes of one level of the tree, by their place in the full binary tree: node i covers the leaves [first[i],
/// first[i + 1]); its children are 2 i and 2 i + 1, the second of which is empty where one leaf is left.
struct Level {
  const std::uint32_t* first_leaf;  // [nodes + 1]
  std::uint32_t nodes;
};

__device__ std::uint64_t middle_leaf(const Level& level, std::uint32_t node) {
  return LeafRanges::middle(level.first_leaf[node], level.first_leaf[node + 1]);
}

__global__ void split_level_kernel(Level level, std::uint32_t* next) {
  const std::uint32_t node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= level.nodes) return;
  next[2 * node] = level.first_leaf[node];
  next[2 * node + 1] = static_cast<std::uint32_t>(middle_leaf(level, node));
  if (node + 1 == level.nodes) next[2 * level.nodes] = level.first_leaf[level.nodes];
}

/// Extents of the nodes: one warp for `chunk` consecutive rows of `order`, which is sorted by node; a lane for each
/// component.
__global__ void extent_kernel(const float* values, std::uint32_t stride, std::uint32_t components,
                              const std::uint32_t* order, const std::uint32_t* node_of, std::uint32_t rows,
                              std::uint32_t chunk, std::uint32_t* low, std::uint32_t* high) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t warp = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::uint64_t begin = warp * chunk;
  if (begin >= rows) return;
  const std::uint64_t end = begin + chunk < rows ? begin + chunk : rows;
  const bool active = lane < components;
  std::uint32_t least = ~0U, greatest = 0;
  std::uint32_t node = node_of[order[begin]];
  const auto flush = [&] {
    if (!active) return;
    atomicMin(&low[std::size_t{node} * components + lane], least);
    atomicMax(&high[std::size_t{node} * components + lane], greatest);
  };
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint32_t id = order[i];
    const std::uint32_t here = node_of[id];
    if (here != node) {
      flush();
      node = here;
      least = ~0U;
      greatest = 0;
    }
    if (active) {
      const std::uint32_t bits = ordered_bits(values[std::size_t{id} * stride + lane]);
      least = min(least, bits);
      greatest = max(greatest, bits);
    }
  }
  flush();
}

__global__ void widest_kernel(const std::uint32_t* low, const std::uint32_t* high, std::uint32_t components,
                              std::uint32_t nodes, std::uint8_t* split) {
  const std::uint32_t node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes) return;
  std::uint32_t best = 0;
  float widest = 0.0F;
  for (std::uint32_t c = 0; c < components; ++c) {
    const std::size_t at = std::size_t{node} * components + c;
    if (low[at] > high[at]) continue;  // an empty node
    const float range = from_ordered_bits(high[at]) - from_ordered_bits(low[at]);
    if (c == 0 || range > widest) {
      best = c;
      widest = range;
    }
  }
  split[node] = static_cast<std::uint8_t>(best);
}

/// Key of a row: its node, then its value; rows come in the order of ids, so that a stable sort breaks ties by id.
__global__ void kd_key_kernel(const float* values, std::uint32_t stride, const std::uint32_t* node_of,
                              const std::uint8_t* split, std::uint32_t fixed_component, std::uint32_t rows,
                              std::uint64_t* keys) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const std::uint32_t node = node_of[i];
  const std::uint32_t component = split != nullptr ? split[node] : fixed_component;
  keys[i] = std::uint64_t{node} << 32 | ordered_bits(values[i * stride + component]);
}

__global__ void relabel_kernel(const std::uint64_t* keys, const std::uint32_t* order, Level level, LeafRanges leaves,
                               std::uint32_t rows, std::uint32_t* node_of) {
  const std::uint64_t p = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (p >= rows) return;
  const auto node = static_cast<std::uint32_t>(keys[p] >> 32);
  node_of[order[p]] = 2 * node + (p >= leaves.begin(middle_leaf(level, node)) ? 1 : 0);
}

__global__ void leaf_key_kernel(const std::uint32_t* node_of, Level level, std::uint32_t rows, std::uint32_t* keys) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows) keys[i] = level.first_leaf[node_of[i]];
}

/// The greatest value of each node; one atomic for a warp whose rows share their node.
__device__ void raise(unsigned long long* greatest, std::uint32_t node, unsigned long long value) {
  if (__activemask() == kWholeWarp && __all_sync(kWholeWarp, node == __shfl_sync(kWholeWarp, node, 0))) {
    for (int offset = 16; offset > 0; offset /= 2) {
      const unsigned long long other = __shfl_xor_sync(kWholeWarp, value, offset);
      if (other > value) value = other;
    }
    if (threadIdx.x % 32 == 0) atomicMax(&greatest[node], value);
    return;
  }
  atomicMax(&greatest[node], value);
}

/// Ball tree: greatest of (distance from the node's `from` row, lowest id); without `from` the lowest id.
__global__ void farthest_kernel(const float* values, std::uint32_t stride, std::uint32_t components,
                                const std::uint32_t* order, const std::uint32_t* node_of, std::uint32_t rows,
                                const unsigned long long* from, unsigned long long* greatest) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const std::uint32_t id = order[i], node = node_of[id];
  std::uint32_t distance = 0;
  if (from != nullptr) {
    const auto pivot = ~static_cast<std::uint32_t>(from[node]);
    distance = ordered_bits(
        ball_distance(values + std::size_t{id} * stride, values + std::size_t{pivot} * stride, components));
  }
  raise(greatest, node, static_cast<unsigned long long>(distance) << 32 | static_cast<std::uint32_t>(~id));
}

__global__ void ball_key_kernel(const float* values, std::uint32_t stride, std::uint32_t components,
                                const std::uint32_t* node_of, std::uint32_t rows, const unsigned long long* a,
                                const unsigned long long* b, std::uint64_t* keys) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const std::uint32_t node = node_of[i];
  const auto from = ~static_cast<std::uint32_t>(a[node]), to = ~static_cast<std::uint32_t>(b[node]);
  const float place = ball_place(values + i * stride, values + std::size_t{from} * stride,
                                 values + std::size_t{to} * stride, components);
  keys[i] = std::uint64_t{node} << 32 | ordered_bits(place);
}

__global__ void curve_key_kernel(const float* values, std::uint32_t stride, std::uint32_t axes,
                                 const std::uint32_t* low, const std::uint32_t* high, std::uint32_t rows, bool hilbert,
                                 std::uint64_t* keys) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  std::uint32_t cell[3] = {};
  for (std::uint32_t a = 0; a < axes; ++a) {
    cell[a] = morton_cell(static_cast<double>(values[i * stride + a]), static_cast<double>(from_ordered_bits(low[a])),
                          static_cast<double>(from_ordered_bits(high[a])));
  }
  keys[i] = hilbert ? hilbert_code(cell[0], cell[1], cell[2]) : morton_code(cell[0], cell[1], cell[2]);
}

/// Leaf of each row from its place along a curve.
__global__ void place_leaf_kernel(const std::uint32_t* order, LeafRanges leaves, std::uint64_t rows,
                                  std::uint64_t leaf_size, std::uint32_t* leaf_of) {
  const std::uint64_t p = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (p >= rows) return;
  // The last leaf that begins at p or before: floor(leaf n / 2^h) <= p <=> leaf n < (p + 1) 2^h.
  const std::uint64_t leaf = leaf_size != 0 ? p / leaf_size : (((p + 1) << leaves.height()) - 1) / rows;
  leaf_of[order[p]] = static_cast<std::uint32_t>(leaf);
}

class Grouper {
 public:
  Grouper(const float* values, std::uint32_t rows, std::uint32_t stride, std::uint32_t width,
          const GroupingOptions& options, DeviceMemory& memory, Stream stream)
      : values_(values),
        rows_(rows),
        stride_(stride),
        components_(static_cast<std::uint32_t>(std::min<std::size_t>(options.split_components, width))),
        axes_(std::min<std::uint32_t>(3, width)),
        options_(options),
        leaves_(leaves_of(rows, options)),
        memory_(memory),
        stream_(stream),
        keys_(memory, rows, stream, "the keys of rows"),
        sorted_keys_(memory, rows, stream, "the keys of rows"),
        iota_(memory, rows, stream, "the numbers of rows"),
        order_(memory, rows, stream, "the order of rows"),
        node_of_(memory, rows, stream, "the tree's nodes") {
    fill_iota(iota_.data(), rows, stream);
    fill_iota(order_.data(), rows, stream);
    check(cudaMemsetAsync(node_of_.data(), 0, node_of_.bytes(), stream), "cudaMemsetAsync");
  }

  /// Rows by leaf, ascending ids within.
  DeviceArray<std::uint32_t> run() {
    const bool curve = options_.method == GroupingMethod::kMorton || options_.method == GroupingMethod::kHilbert;
    const DeviceArray<std::uint32_t> leaf_of = curve ? leaves_along_curve() : leaves_of_tree();
    DeviceArray<std::uint32_t> sorted(memory_, rows_, stream_, "the order of rows");
    const int bits = std::max(1, static_cast<int>(std::bit_width(leaves_.leaves())));
    sort_pairs(leaf_of.data(), sorted.data(), iota_.data(), order_.data(), rows_, 0, bits, memory_, stream_);
    return std::move(order_);
  }

 private:
  [[nodiscard]] unsigned row_blocks() const { return blocks_for(rows_, kThreads); }

  void sort_keys(int bits) {
    sort_pairs(keys_.data(), sorted_keys_.data(), iota_.data(), order_.data(), rows_, 0, bits, memory_, stream_);
  }

  /// Least and greatest value of the nodes, as ordered bits [nodes x components].
  void measure_extents(std::uint32_t nodes, std::uint32_t components) {
    const std::size_t size = std::size_t{nodes} * components;
    low_ = DeviceArray<std::uint32_t>(memory_, size, stream_, "the extents of nodes");
    high_ = DeviceArray<std::uint32_t>(memory_, size, stream_, "the extents of nodes");
    check(cudaMemsetAsync(low_.data(), 0xFF, low_.bytes(), stream_), "cudaMemsetAsync");
    check(cudaMemsetAsync(high_.data(), 0, high_.bytes(), stream_), "cudaMemsetAsync");
    const std::uint32_t chunk = rows_ / nodes >= 4096 ? 256 : 64;
    const std::size_t warps = (std::size_t{rows_} + chunk - 1) / chunk;
    extent_kernel<<<blocks_for(warps * 32, kThreads), kThreads, 0, stream_>>>(
        values_, stride_, components, order_.data(), node_of_.data(), rows_, chunk, low_.data(), high_.data());
    check_launch("extents of nodes");
  }

  DeviceArray<std::uint32_t> leaves_of_tree() {
    const std::uint32_t root[2] = {0, static_cast<std::uint32_t>(leaves_.leaves())};
    DeviceArray<std::uint32_t> first_leaf = copy_to_device(root, 2, memory_, stream_, "the tree");
    for (int depth = 0; depth < leaves_.height(); ++depth) {
      const Level level{first_leaf.data(), std::uint32_t{1} << depth};
      if (options_.method == GroupingMethod::kBall) {
        make_ball_keys(level.nodes);
      } else {
        make_kd_keys(level.nodes, depth);
      }
      check_launch("keys of rows");
      sort_keys(32 + depth);
      relabel_kernel<<<row_blocks(), kThreads, 0, stream_>>>(sorted_keys_.data(), order_.data(), level, leaves_, rows_,
                                                             node_of_.data());
      check_launch("split nodes");
      DeviceArray<std::uint32_t> next(memory_, 2 * std::size_t{level.nodes} + 1, stream_, "the tree");
      split_level_kernel<<<blocks_for(level.nodes, kThreads), kThreads, 0, stream_>>>(level, next.data());
      check_launch("split nodes");
      first_leaf = std::move(next);
    }
    DeviceArray<std::uint32_t> leaf_of(memory_, rows_, stream_, "the leaves of rows");
    leaf_key_kernel<<<row_blocks(), kThreads, 0, stream_>>>(
        node_of_.data(), {first_leaf.data(), std::uint32_t{1} << leaves_.height()}, rows_, leaf_of.data());
    check_launch("leaves of rows");
    return leaf_of;
  }

  void make_kd_keys(std::uint32_t nodes, int depth) {
    DeviceArray<std::uint8_t> split;
    if (options_.split == SplitRule::kWidest) {
      measure_extents(nodes, components_);
      split = DeviceArray<std::uint8_t>(memory_, nodes, stream_, "the splits of nodes");
      widest_kernel<<<blocks_for(nodes, kThreads), kThreads, 0, stream_>>>(low_.data(), high_.data(), components_,
                                                                           nodes, split.data());
      check_launch("widest components");
    }
    kd_key_kernel<<<row_blocks(), kThreads, 0, stream_>>>(values_, stride_, node_of_.data(), split.data(),
                                                          static_cast<std::uint32_t>(depth) % components_, rows_,
                                                          keys_.data());
  }

  void make_ball_keys(std::uint32_t nodes) {
    DeviceArray<unsigned long long> best[3];
    for (int step = 0; step < 3; ++step) {
      best[step] = DeviceArray<unsigned long long>(memory_, nodes, stream_, "the far rows of nodes");
      check(cudaMemsetAsync(best[step].data(), 0, best[step].bytes(), stream_), "cudaMemsetAsync");
      farthest_kernel<<<row_blocks(), kThreads, 0, stream_>>>(
          values_, stride_, components_, order_.data(), node_of_.data(), rows_,
          step == 0 ? nullptr : best[step - 1].data(), best[step].data());
      check_launch("far rows");
    }
    ball_key_kernel<<<row_blocks(), kThreads, 0, stream_>>>(values_, stride_, components_, node_of_.data(), rows_,
                                                            best[1].data(), best[2].data(), keys_.data());
  }

  DeviceArray<std::uint32_t> leaves_along_curve() {
    measure_extents(1, axes_);
    curve_key_kernel<<<row_blocks(), kThreads, 0, stream_>>>(values_, stride_, axes_, low_.data(), high_.data(), rows_,
                                                             options_.method == GroupingMethod::kHilbert, keys_.data());
    check_launch("places along the curve");
    sort_keys(3 * kMortonBitsPerAxis);
    place_leaf_kernel<<<row_blocks(), kThreads, 0, stream_>>>(
        order_.data(), leaves_, rows_, options_.height >= 0 ? 0 : options_.leaf_size, node_of_.data());
    check_launch("leaves of rows");
    return std::move(node_of_);
  }

  const float* values_;
  std::uint32_t rows_, stride_, components_, axes_;
  const GroupingOptions& options_;
  LeafRanges leaves_;
  DeviceMemory& memory_;
  Stream stream_;
  DeviceArray<std::uint64_t> keys_, sorted_keys_;
  DeviceArray<std::uint32_t> iota_, order_, node_of_;
  DeviceArray<std::uint32_t> low_, high_;
};

}  // namespace

DeviceGrouping group_rows(const float* values, std::uint32_t rows, std::uint32_t stride, std::uint32_t width,
                          const GroupingOptions& options, DeviceMemory& memory, Stream stream) {
  check_grouping(rows, width, options);
  const LeafRanges leaves = leaves_of(rows, options);
  DeviceGrouping out;
  out.height = leaves.height();
  const Array<std::uint32_t> begins = begins_of_filled_leaves(leaves, rows);
  out.begin_host.assign(begins.begin(), begins.end());
  if (rows != 0) out.original_id = Grouper(values, rows, stride, width, options, memory, stream).run();
  const bool tree = options.method == GroupingMethod::kKdTree || options.method == GroupingMethod::kBall;
  if (tree && options.order == GroupOrder::kMorton && out.groups() > 1) {
    order_groups_by_morton_code(values, rows, stride, width, out, memory, stream);
  }
  out.group_begin = copy_to_device(out.begin_host.data(), out.begin_host.size(), memory, stream, "the groups");
  return out;
}

}  // namespace rthiss::cuda
