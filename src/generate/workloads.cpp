#include "generate/workloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

#include "common/floating_point_scope.hpp"
#include "generate/families.hpp"
#include "generate/linear_basis.hpp"
#include "generate/portable_math.hpp"
#include "generate/random_stream.hpp"
#include "generate/row_filler.hpp"

namespace rthiss::generate {

namespace {

constexpr std::uint64_t kWorkloadSeed = 20261130;

constexpr std::array<Workload, 6> kWorkloads{{
    {"expo2m16", "exponential values of rate 40", 2'000'000, 16, DType::kFloat32, "5249af3c43f2d7a6"},
    {"uniform2m10", "uniform values in (0, 1)", 2'000'000, 10, DType::kFloat32, "1c5cb9770f647daa"},
    {"susylike5m18", "six latents mixed into columns of two kinds, scaled to [0, 1]", 5'000'000, 18, DType::kFloat32,
     "1f0d0908a92b5281"},
    {"embed1m128", "2,000 clusters of skewed size in 32 components, scaled to [0, 1]", 1'000'000, 128, DType::kFloat32,
     "9d94235d5bbee848"},
    {"expo100k64", "exponential values of rate 40 by std::mt19937", 100'000, 64, DType::kFloat64, "a6e38f277633678e"},
    {"words100k50", "stand-in for word vectors: spectrum like k^-0.5", 100'000, 50, DType::kFloat32,
     "e38b24a5160de1f0"},
}};

template <std::uint64_t kColumns>
struct Range {
  std::array<double, kColumns> low;
  std::array<double, kColumns> high;

  Range() {
    low.fill(HUGE_VAL);
    high.fill(-HUGE_VAL);
  }
  void include(const double* row) {
    for (std::size_t j = 0; j < kColumns; ++j) {
      low[j] = std::min(low[j], row[j]);
      high[j] = std::max(high[j], row[j]);
    }
  }
  void include(const Range& other) {
    for (std::size_t j = 0; j < kColumns; ++j) {
      low[j] = std::min(low[j], other.low[j]);
      high[j] = std::max(high[j], other.high[j]);
    }
  }
};

/// The range of all rows. Rows are made once here and once more for the result, which costs time but no memory.
template <std::uint64_t kColumns, typename MakeRow>
Range<kColumns> range_of_rows(std::uint64_t rows, const ThreadPool& pool, const MakeRow& make_row) {
  const std::uint64_t block = row_grain(kColumns);
  std::vector<Range<kColumns>> of_worker(static_cast<std::size_t>(pool.threads()));
  pool.for_tasks((rows + block - 1) / block, [&](std::size_t task, int worker) {
    std::array<double, kColumns> row;
    for (std::uint64_t i = task * block; i < std::min(rows, (task + 1) * block); ++i) {
      make_row(i, row.data());
      of_worker[static_cast<std::size_t>(worker)].include(row.data());
    }
  });
  Range<kColumns> all;
  for (const Range<kColumns>& range : of_worker) all.include(range);
  return all;
}

Array<float> make_expo2m16(std::uint64_t rows, const ThreadPool& pool) {
  constexpr std::uint64_t kColumns = 16;
  const RandomStream stream(kWorkloadSeed, 0);
  return fill_rows<float>(rows, kColumns, pool, [&](std::uint64_t i, double* row) {
    for (std::uint64_t j = 0; j < kColumns; ++j) row[j] = -portable_log(stream.uniform(i * kColumns + j)) / 40.0;
  });
}

Array<float> make_uniform2m10(std::uint64_t rows, const ThreadPool& pool) {
  constexpr std::uint64_t kColumns = 10;
  const RandomStream stream(kWorkloadSeed, 16);
  return fill_rows<float>(rows, kColumns, pool, [&](std::uint64_t i, double* row) {
    for (std::uint64_t j = 0; j < kColumns; ++j) row[j] = stream.uniform(i * kColumns + j);
  });
}

Array<float> make_susylike5m18(std::uint64_t rows, const ThreadPool& pool) {
  constexpr std::uint64_t kColumns = 18, kLatents = 6;
  if (rows == 1) throw InvalidArgument("susylike5m18: columns are scaled to their range, which takes 2 rows or more");
  const RandomStream latents(kWorkloadSeed, 32), mixing(kWorkloadSeed, 33), errors(kWorkloadSeed, 34);
  std::array<double, kColumns * kLatents> directions;
  for (std::uint64_t i = 0; i < directions.size(); ++i) directions[i] = mixing.normal(i);
  for (std::uint64_t j = 0; j < kColumns; ++j) scale_to_unit(&directions[j * kLatents], kLatents);

  const auto make_row = [&](std::uint64_t i, double* row) {
    std::array<double, kLatents> z;
    for (std::uint64_t k = 0; k < kLatents; ++k) z[k] = latents.normal(i * kLatents + k);
    for (std::uint64_t j = 0; j < kColumns; ++j) {
      const double y =
          ordered_dot(z.data(), &directions[j * kLatents], kLatents) + 0.05 * errors.normal(i * kColumns + j);
      // Every other column is skewed and cut near its 99.9 % quantile.
      row[j] = j % 2 == 0 ? std::min(portable_exp(0.8 * y), 12.0) : y;
    }
  };
  const Range<kColumns> range = range_of_rows<kColumns>(rows, pool, make_row);
  return fill_rows<float>(rows, kColumns, pool, [&](std::uint64_t i, double* row) {
    make_row(i, row);
    for (std::uint64_t j = 0; j < kColumns; ++j) row[j] = (row[j] - range.low[j]) / (range.high[j] - range.low[j]);
  });
}

Array<float> make_embed1m128(std::uint64_t rows, const ThreadPool& pool) {
  constexpr std::uint64_t kColumns = 128, kLatents = 32, kClusters = 2000;
  const RandomStream centre_stream(kWorkloadSeed, 48), membership(kWorkloadSeed, 49), errors(kWorkloadSeed, 50);
  const RandomStream directions(kWorkloadSeed, 51), noise(kWorkloadSeed, 52);
  std::array<double, kLatents> deviation;
  double variance = 0;
  for (std::uint64_t k = 0; k < kLatents; ++k) {
    const double share = 1.0 / static_cast<double>(k + 1);
    deviation[k] = std::sqrt(share);
    variance = variance + share;
  }
  std::vector<double> centres(kClusters * kLatents), basis(kLatents * kColumns);
  for (std::uint64_t i = 0; i < centres.size(); ++i) centres[i] = centre_stream.normal(i) * deviation[i % kLatents];
  for (std::uint64_t i = 0; i < basis.size(); ++i) basis[i] = directions.normal(i);
  orthonormalize(basis.data(), kLatents, kColumns);
  // Noise is 5 % of the total variance; the error within a cluster adds a quarter to that of the centres.
  const double sigma = std::sqrt(0.05 / 0.95 * 1.25 * variance / static_cast<double>(kColumns));

  const auto make_row = [&](std::uint64_t i, double* row) {
    const double u = membership.uniform(i);
    const auto cluster = static_cast<std::uint64_t>(2000.0 * u * u);
    std::fill_n(row, kColumns, 0.0);
    for (std::uint64_t k = 0; k < kLatents; ++k) {
      const double z = centres[cluster * kLatents + k] + (0.5 * deviation[k]) * errors.normal(i * kLatents + k);
      for (std::uint64_t j = 0; j < kColumns; ++j) row[j] = row[j] + z * basis[k * kColumns + j];
    }
    for (std::uint64_t j = 0; j < kColumns; ++j) row[j] = row[j] + sigma * noise.normal(i * kColumns + j);
  };
  const Range<kColumns> range = range_of_rows<kColumns>(rows, pool, make_row);
  const double low = *std::min_element(range.low.begin(), range.low.end());
  const double high = *std::max_element(range.high.begin(), range.high.end());
  return fill_rows<float>(rows, kColumns, pool, [&](std::uint64_t i, double* row) {
    make_row(i, row);
    for (std::uint64_t j = 0; j < kColumns; ++j) row[j] = (row[j] - low) / (high - low);
  });
}

// A sequential generator: one thread. The logarithm is the C library's and the distribution libstdc++'s.
Array<double> make_expo100k64(std::uint64_t rows) {
  Array<double> values = make_values<double>(rows, 64);
  std::mt19937 random(2137834274);
  std::exponential_distribution<double> exponential(40);
  for (double& value : values) {
    do {
      value = exponential(random);
    } while (value > 1);
  }
  return values;
}

// The noise share puts half of the variance outside the first 16 components.
Array<float> make_words100k50(std::uint64_t rows, const ThreadPool& pool) {
  EmbeddingFamily family;
  family.rank = 50;
  family.decay = 0.5;
  family.noise = 0.11;
  family.clusters = 2000;
  family.between = 0.5;
  family.seed = kWorkloadSeed;
  GeneratedPoints points = generate({family, rows, 50, DType::kFloat32}, pool);
  return std::get<Array<float>>(std::move(points.values));
}

}  // namespace

std::span<const Workload> workloads() noexcept { return kWorkloads; }

const Workload* find_workload(std::string_view name) noexcept {
  const auto* found =
      std::find_if(kWorkloads.begin(), kWorkloads.end(), [&](const Workload& w) { return w.name == name; });
  return found == kWorkloads.end() ? nullptr : found;
}

GeneratedPoints generate_workload(std::string_view name, std::optional<std::uint64_t> rows, const ThreadPool& pool) {
  const FloatingPointScope scope;
  const Workload* workload = find_workload(name);
  if (workload == nullptr) {
    std::string names;
    for (const Workload& known : kWorkloads) names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
    throw InvalidArgument(fmt::format("no workload is named '{}'; there are {}", name, names));
  }
  const std::uint64_t count = rows.value_or(workload->rows);
  GeneratedPoints points{count, workload->columns, {}};
  if (name == "expo2m16") points.values = make_expo2m16(count, pool);
  if (name == "uniform2m10") points.values = make_uniform2m10(count, pool);
  if (name == "susylike5m18") points.values = make_susylike5m18(count, pool);
  if (name == "embed1m128") points.values = make_embed1m128(count, pool);
  if (name == "expo100k64") points.values = make_expo100k64(count);
  if (name == "words100k50") points.values = make_words100k50(count, pool);
  return points;
}

}  // namespace rthiss::generate
