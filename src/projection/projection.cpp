#include "projection/projection.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "common/parallel.hpp"
#include "common/round_up_to.hpp"
#include "simd/gemm.hpp"

namespace rthiss {

namespace {

constexpr std::size_t kFullDecompositionColumns = 96;
constexpr int kPowerIterations = 3;
constexpr std::size_t kOversampling = 8;

using Matrix = Eigen::MatrixXd;

/// Rows of the sample minus their mean, padded to what gemm needs, and the same transposed.
struct CenteredSample {
  std::size_t rows, columns, padded_rows, padded_columns;
  Array<float> mean;        // [columns]
  Array<float> values;      // [padded_rows x padded_columns]
  Array<float> transposed;  // [padded_columns' x padded_rows']
  std::size_t transposed_stride;
};

CenteredSample center_sample(const Sample& sample, bool with_transposed) {
  CenteredSample s;
  s.rows = sample.rows;
  s.columns = sample.columns;
  s.padded_rows = round_up_to(sample.rows, simd::kGemmRows);
  s.padded_columns = round_up_to(sample.columns, 16);
  s.mean = Array<float>(sample.columns);
  std::vector<double> sums(sample.columns, 0.0);
  for (std::size_t i = 0; i < sample.rows; ++i) {
    for (std::size_t k = 0; k < sample.columns; ++k) sums[k] += sample.values[i * sample.columns + k];
  }
  for (std::size_t k = 0; k < sample.columns; ++k) {
    const double mean = sums[k] / static_cast<double>(std::max<std::size_t>(1, sample.rows));
    s.mean[k] = std::isfinite(mean) ? static_cast<float>(mean) : 0.0F;
  }
  s.values = Array<float>(s.padded_rows * s.padded_columns, 0.0F);
  for (std::size_t i = 0; i < sample.rows; ++i) {
    for (std::size_t k = 0; k < sample.columns; ++k) {
      s.values[i * s.padded_columns + k] = sample.values[i * sample.columns + k] - s.mean[k];
    }
  }
  s.transposed_stride = 0;
  if (with_transposed) {
    s.transposed_stride = round_up_to(sample.rows, 16);
    s.transposed = Array<float>(round_up_to(sample.columns, simd::kGemmRows) * s.transposed_stride, 0.0F);
    for (std::size_t i = 0; i < sample.rows; ++i) {
      for (std::size_t k = 0; k < sample.columns; ++k) {
        s.transposed[k * s.transposed_stride + i] = s.values[i * s.padded_columns + k];
      }
    }
  }
  return s;
}

void gemm_parallel(const float* a, std::size_t lda, std::size_t rows, const float* b, std::size_t ldb,
                   std::size_t inner, float* c, std::size_t ldc, std::size_t columns, const ThreadPool& pool) {
  pool.for_ranges(0, rows / simd::kGemmRows, 8, [&](std::size_t begin, std::size_t end) {
    simd::gemm(a + begin * simd::kGemmRows * lda, lda, (end - begin) * simd::kGemmRows, b, ldb, inner,
               c + begin * simd::kGemmRows * ldc, ldc, columns);
  });
}

/// Columns of `block` [rows x k, row-major float, stride ld] made orthonormal in double.
Matrix orthonormal(const float* block, std::size_t ld, std::size_t rows, std::size_t k) {
  Matrix m(rows, k);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < k; ++j) m(i, j) = block[i * ld + j];
  }
  Eigen::HouseholderQR<Matrix> qr(m);
  return qr.householderQ() * Matrix::Identity(rows, k);
}

/// Leading eigenvectors of the sample's covariance as columns, falling; and their variances.
std::pair<Matrix, Eigen::VectorXd> decompose(const CenteredSample& s, std::size_t k, std::uint64_t seed,
                                             const ThreadPool& pool) {
  const std::size_t d = s.columns;
  const double n = static_cast<double>(std::max<std::size_t>(2, s.rows)) - 1.0;
  if (d <= kFullDecompositionColumns) {
    const std::size_t rows = round_up_to(d, simd::kGemmRows);
    Array<float> covariance(rows * s.padded_columns);
    gemm_parallel(s.transposed.data(), s.transposed_stride, rows, s.values.data(), s.padded_columns, s.rows,
                  covariance.data(), s.padded_columns, s.padded_columns, pool);
    Matrix c(d, d);
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < d; ++j) c(i, j) = covariance[i * s.padded_columns + j] / n;
    }
    Eigen::SelfAdjointEigenSolver<Matrix> solver(0.5 * (c + c.transpose()));
    return {solver.eigenvectors().rowwise().reverse().leftCols(k), solver.eigenvalues().reverse().head(k)};
  }
  const std::size_t wanted = std::min({k + kOversampling, d, std::max<std::size_t>(s.rows, k)});
  const std::size_t ld = round_up_to(wanted, 16);
  const std::size_t d_rows = round_up_to(d, simd::kGemmRows);
  Array<float> basis(d_rows * ld, 0.0F);
  Array<float> image(s.padded_rows * ld);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < wanted; ++j) basis[i * ld + j] = static_cast<float>(random() >> 40) * 0x1p-24F - 0.5F;
  }
  Matrix q;
  for (int iteration = 0;; ++iteration) {
    gemm_parallel(s.values.data(), s.padded_columns, s.padded_rows, basis.data(), ld, d, image.data(), ld, ld, pool);
    if (iteration == kPowerIterations) break;
    gemm_parallel(s.transposed.data(), s.transposed_stride, d_rows, image.data(), ld, s.rows, basis.data(), ld, ld,
                  pool);
    q = orthonormal(basis.data(), ld, d, wanted);
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < wanted; ++j) basis[i * ld + j] = static_cast<float>(q(i, j));
    }
  }
  // Rayleigh-Ritz: rotate the subspace onto the principal directions in it.
  Matrix y(s.rows, wanted);
  for (std::size_t i = 0; i < s.rows; ++i) {
    for (std::size_t j = 0; j < wanted; ++j) y(i, j) = image[i * ld + j];
  }
  Eigen::SelfAdjointEigenSolver<Matrix> solver(y.transpose() * y / n);
  const Matrix rotated = q * solver.eigenvectors().rowwise().reverse().leftCols(k);
  return {rotated, solver.eigenvalues().reverse().head(k)};
}

/// Bound on |V^T V - I| for the rounded basis: Frobenius norm in double, with its own rounding. The products of a dot
/// product are exact, its d additions lose at most d 2^-53 |v_i| |v_j|, in all k entries a row and column k d 2^-53
/// (1 + eta): the last term has a factor 8 for it, and where eta is above 7 the factor 1.001 covers the rest.
double defect(const Array<float>& basis, std::size_t k, std::size_t d) {
  double sum = 0.0;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = i; j < k; ++j) {
      double dot = 0.0;
      for (std::size_t c = 0; c < d; ++c) {
        dot += static_cast<double>(basis[i * d + c]) * static_cast<double>(basis[j * d + c]);
      }
      const double off = dot - (i == j ? 1.0 : 0.0);
      sum += (i == j ? 1.0 : 2.0) * off * off;
    }
  }
  return std::sqrt(sum) * 1.001 + static_cast<double>(k) * static_cast<double>(d) * 0x1p-50;
}

}  // namespace

Sample draw_sample(const Dataset& data, const FilterSpace& space, std::size_t rows, std::uint64_t seed,
                   const ThreadPool& pool) {
  // One row from each of `rows` equal parts of the data, at a random place in it; none where that row takes no part.
  const std::uint64_t parts = std::min<std::uint64_t>(rows, data.rows());
  const Array<std::uint32_t>& ignored = data.ignored_rows();
  std::vector<std::uint64_t> ids;
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::uint64_t begin = data.rows() * i / parts;
    const std::uint64_t end = data.rows() * (i + 1) / parts;
    const std::uint64_t id = begin + random() % (end - begin);
    if (!std::binary_search(ignored.begin(), ignored.end(), id)) ids.push_back(id);
  }
  Sample sample;
  sample.columns = data.columns();
  sample.rows = ids.size();
  sample.values = Array<float>(sample.rows * sample.columns);
  pool.for_ranges(0, sample.rows, 16, [&](std::size_t begin, std::size_t end) {
    Array<double> scratch(sample.columns);
    for (std::size_t i = begin; i < end; ++i) {
      (void)space.load(data, ids[i], sample.values.data() + i * sample.columns, scratch.data());
    }
  });
  return sample;
}

Projection choose_coordinates(const Sample& sample, std::size_t components, bool sorted) {
  const std::size_t d = sample.columns;
  std::vector<double> variance(d, 0.0);
  std::vector<double> mean(d, 0.0);
  for (std::size_t i = 0; i < sample.rows; ++i) {
    for (std::size_t k = 0; k < d; ++k) {
      const double value = sample.values[i * d + k];
      const double before = value - mean[k];
      mean[k] += before / static_cast<double>(i + 1);
      variance[k] += before * (value - mean[k]);
    }
  }
  for (double& value : variance) {
    value = std::isfinite(value) ? value / static_cast<double>(std::max<std::size_t>(1, sample.rows - 1)) : 0.0;
  }
  Projection projection;
  projection.name = sorted ? "variance" : "none";
  projection.columns = d;
  projection.components = std::min(components, d);
  projection.with_rest = projection.components < d;
  projection.order = Array<std::uint32_t>(d);
  std::iota(projection.order.begin(), projection.order.end(), 0U);
  if (sorted) {
    std::stable_sort(projection.order.begin(), projection.order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return variance[a] > variance[b]; });
  }
  projection.variance = Array<double>(projection.components);
  for (std::size_t k = 0; k < projection.components; ++k) projection.variance[k] = variance[projection.order[k]];
  return projection;
}

Projection principal_components(const Sample& sample, std::size_t components, std::uint64_t seed,
                                const ThreadPool& pool) {
  const std::size_t d = sample.columns;
  const std::size_t k = std::min(components, d);
  const CenteredSample centered = center_sample(sample, true);
  const auto [vectors, variance] = decompose(centered, k, seed, pool);
  Projection projection;
  projection.name = "pca";
  projection.columns = d;
  projection.components = k;
  projection.with_rest = k < d;
  projection.center = Array<float>(centered.mean.span());
  projection.basis = Array<float>(k * d);
  projection.variance = Array<double>(k);
  for (std::size_t j = 0; j < k; ++j) {
    projection.variance[j] = variance(j);
    for (std::size_t c = 0; c < d; ++c) {
      const double value = vectors(c, j);
      projection.basis[j * d + c] = std::isfinite(value) ? static_cast<float>(value) : 0.0F;
    }
  }
  projection.basis_defect = defect(projection.basis, k, d);
  return projection;
}

}  // namespace rthiss
