#include <limits>

#include "distance/double_double.hpp"
#include "distance/pair_sums.hpp"
#include "engine/cuda/launch.hpp"
#include "engine/cuda/pair_values.hpp"

namespace rthiss::cuda {

namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kSegment = 1024;  // pairs that a warp takes at a time
// Rows of more columns are read by several lanes a pair.
constexpr std::uint32_t kShortRow = 8;

// Where the bounds of pair_sums.hpp hold without scaling.
constexpr double kLeastSum = 0x1p-800, kMostSum = 0x1p1000;
constexpr double kLeastSquare = 0x1p-690, kMostSquare = 0x1p890;

/// A sum whose rounding errors are gathered in `low`.
struct Accumulator {
  double high = 0.0, low = 0.0;

  __device__ void add(double term, double term_low) {
    const DoubleDouble sum = two_sum(high, term);
    high = sum.hi;
    low += sum.lo + term_low;
  }
  template <int kLanes>
  __device__ DoubleDouble total() {
    for (int offset = kLanes / 2; offset > 0; offset /= 2) {
      const double other = __shfl_xor_sync(kWholeWarp, high, offset);
      const double other_low = __shfl_xor_sync(kWholeWarp, low, offset);
      add(other, other_low);
    }
    return two_sum(high, low);
  }
};

template <typename Value>
struct PairOfRows {
  const Value *x, *y;
  std::uint32_t columns, lane;  // of those of the pair
};

/// RN64 of the root of sum (x_k - y_k)^2, or NaN.
template <int kLanes, typename Value>
__device__ double distance(const PairOfRows<Value>& rows, double bound) {
  Accumulator sum;
  bool equal = true;
  for (std::uint32_t k = rows.lane; k < rows.columns; k += kLanes) {
    const DoubleDouble difference =
        two_sum(static_cast<double>(__ldg(rows.x + k)), -static_cast<double>(__ldg(rows.y + k)));
    const DoubleDouble square = two_product(difference.hi, difference.hi);
    sum.add(square.hi, fma(difference.hi + difference.hi, difference.lo, square.lo));
    equal = equal && difference.hi == 0.0;
  }
  const DoubleDouble total = sum.template total<kLanes>();
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    equal = __shfl_xor_sync(kWholeWarp, static_cast<int>(equal), offset) != 0 && equal;
  }
  if (equal) return 0.0;
  double rounded = 0.0;
  if (total.hi >= kLeastSum && total.hi <= kMostSum) {
    const DoubleDouble root = square_root(total);
    if (round_with_bound(root, bound * root.hi, &rounded)) return rounded;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// RN64 of the cosine, or of 1 minus it, or NaN.
template <int kLanes, typename Value>
__device__ double cosine(const PairOfRows<Value>& rows, double bound, bool similarity) {
  Accumulator xy, xx, yy;
  bool equal = true;
  for (std::uint32_t k = rows.lane; k < rows.columns; k += kLanes) {
    const double x = static_cast<double>(__ldg(rows.x + k)), y = static_cast<double>(__ldg(rows.y + k));
    DoubleDouble product = two_product(x, y);
    xy.add(product.hi, product.lo);
    product = two_product(x, x);
    xx.add(product.hi, product.lo);
    product = two_product(y, y);
    yy.add(product.hi, product.lo);
    equal = equal && x == y;
  }
  const DoubleDouble sum_xy = xy.template total<kLanes>();
  const DoubleDouble sum_xx = xx.template total<kLanes>();
  const DoubleDouble sum_yy = yy.template total<kLanes>();
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    equal = __shfl_xor_sync(kWholeWarp, static_cast<int>(equal), offset) != 0 && equal;
  }
  if (equal) return similarity ? 1.0 : 0.0;
  double rounded = 0.0;
  if (sum_xx.hi >= kLeastSquare && sum_xx.hi <= kMostSquare && sum_yy.hi >= kLeastSquare && sum_yy.hi <= kMostSquare) {
    DoubleDouble result = divide(sum_xy, multiply(square_root(sum_xx), square_root(sum_yy)));
    if (!similarity) {
      const DoubleDouble difference = two_sum(1.0, -result.hi);
      result = two_sum(difference.hi, difference.lo - result.lo);
    }
    // As CosineDecider: the cosine is off by 3 times the bound of the sums, and the subtraction by less than that.
    if (round_with_bound(result, 6.0 * bound, &rounded)) return rounded;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// The row among [first, last) that holds pair `i`.
__device__ std::uint32_t row_of(const std::uint64_t* row_begin, std::uint64_t i, std::uint32_t first,
                                std::uint32_t last) {
  while (last - first > 1) {
    const std::uint32_t middle = first + (last - first) / 2;
    if (row_begin[middle] <= i) {
      first = middle;
    } else {
      last = middle;
    }
  }
  return first;
}

struct ChunkView {
  std::uint32_t rows;
  std::uint64_t pairs;
  const std::uint32_t* query_ids;
  const std::uint64_t* row_begin;
  const std::uint32_t* neighbours;
};

/// `queries`, `points`: stored values in group order.
template <int kLanes, typename Value>
__global__ void __launch_bounds__(kThreads)
    value_kernel(const Value* queries, const Value* points, std::uint32_t stride, std::uint32_t columns,
                 const __grid_constant__ ChunkView chunk, const std::uint32_t* query_at, const std::uint32_t* point_at,
                 Metric::Kind metric, double bound, double* values) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * blockDim.x / 32;
  for (std::uint64_t first = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32 * kSegment;
       first < chunk.pairs; first += warps * kSegment) {
    const std::uint64_t last = min(first + kSegment, chunk.pairs);
    const std::uint32_t first_row = row_of(chunk.row_begin, first, 0, chunk.rows);
    const std::uint32_t end_row = row_of(chunk.row_begin, last - 1, first_row, chunk.rows) + 1;
    // Whole warps stay together: the last pair is read by lanes that have none.
    for (std::uint64_t at = first; at < last; at += 32 / kLanes) {
      const std::uint64_t wanted = at + lane / kLanes;
      const std::uint64_t i = min(wanted, last - 1);
      const std::uint32_t row = row_of(chunk.row_begin, i, first_row, end_row);
      const PairOfRows<Value> rows{queries + std::size_t{query_at[chunk.query_ids[row]]} * stride,
                                   points + std::size_t{point_at[chunk.neighbours[i]]} * stride, columns,
                                   lane % kLanes};
      const double value = metric == Metric::Kind::kEuclidean
                               ? distance<kLanes>(rows, bound)
                               : cosine<kLanes>(rows, bound, metric == Metric::Kind::kCosineSimilarity);
      if (lane % kLanes == 0 && wanted < last) values[i] = value;
    }
  }
}

__global__ void invert_kernel(const std::uint32_t* original_id, std::uint32_t rows, std::uint32_t* position) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < rows) position[original_id[i]] = static_cast<std::uint32_t>(i);
}

DeviceArray<std::uint32_t> positions(const DeviceSet& set, DeviceMemory& memory, Stream stream) {
  DeviceArray<std::uint32_t> position(memory, set.rows, stream, "the positions of rows");
  if (set.rows == 0) return position;
  invert_kernel<<<blocks_for(set.rows, kThreads), kThreads, 0, stream>>>(set.original_id, set.rows, position.data());
  check_launch("positions of rows");
  return position;
}

}  // namespace

PairValues::PairValues(const DeviceTask& task, Metric::Kind metric, DeviceMemory& memory, Stream stream)
    : task_(task), metric_(metric), memory_(memory), point_at_(positions(task.points, memory, stream)) {
  if (!task.self_join) query_at_ = positions(task.queries, memory, stream);
}

void PairValues::add(DeviceChunk& chunk, Stream stream) const {
  chunk.values = DeviceArray<double>(memory_, chunk.pairs, stream, "the distances of a batch");
  if (chunk.pairs == 0) return;
  const ChunkView view{chunk.rows, chunk.pairs, chunk.query_ids.data(), chunk.row_begin.data(),
                       chunk.neighbours.data()};
  const std::uint32_t columns = task_.points.columns;
  const std::uint32_t* const query_at = task_.self_join ? point_at_.data() : query_at_.data();
  const double bound = double_double_bound(columns);
  const auto start = [&](auto kernel, const auto* queries, const auto* points) {
    kernel<<<grid_for((chunk.pairs + kSegment - 1) / kSegment * 32, kThreads), kThreads, 0, stream>>>(
        queries, points, task_.points.exact_stride, columns, view, query_at, point_at_.data(), metric_, bound,
        chunk.values.data());
    check_launch("distances");
  };
  const bool is_short = columns <= kShortRow;
  if (task_.points.exact64 != nullptr) {
    start(is_short ? value_kernel<1, double> : value_kernel<8, double>, task_.queries.exact64, task_.points.exact64);
  } else {
    start(is_short ? value_kernel<1, float> : value_kernel<8, float>, task_.queries.exact32, task_.points.exact32);
  }
}

}  // namespace rthiss::cuda
