#include "generate/workloads.hpp"

#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "common/parallel.hpp"

namespace rthiss::generate {
namespace {

struct Known {
  const char* name;
  std::uint64_t rows;
  const char* sha256;
};

// Digests of the reference definition of the sets (independent Python program, NumPy).
constexpr Known kKnown[] = {
    {"expo2m16", 2, "1bcfef20f81b4bac147c09cdd940c6324ce48c5846fd004d83d47ddf807bcd16"},
    {"expo2m16", 33, "4a426f812506d9efbf46b1ccca494f1117cf68463348bddbabe2285ab4512080"},
    {"expo2m16", 1000, "d78b2054c5ac4f822022135a5112c1825f4545bc841212db98979d2d7069d52f"},
    {"uniform2m10", 2, "5a2275dfb6d02b0677b2f3d927af2b01146a84cdd024b6961d4317226d4d5ebd"},
    {"uniform2m10", 33, "8821ebdeaa95dec2d0ae1b35ff35f33f5213607d73fb033280b9e117d897a178"},
    {"uniform2m10", 1000, "a7973ca279ae6a02305e9ab8e81606b034d2a20befe54cef14dc5cfee6a3ba16"},
    {"susylike5m18", 2, "e02422568a7278289e1858a3e5c37eef188144cc15226068573aa1cba44c01e4"},
    {"susylike5m18", 33, "8a9594dde6e3aa5fe3155111f42e32dab460647c4df068de1ad12755d753a602"},
    {"susylike5m18", 1000, "81252a1fd9aae83333f22ef4583f8afbecd0023eb9c1f0dc8b1b3467f652c9aa"},
    {"embed1m128", 2, "78e03f7b00aab0ab379cd1f833467c7dc34a1d3e78c1d25d069dc239963065e6"},
    {"embed1m128", 33, "d8fa8448a684cfc918974193af58764bb545999e82a32a888254c0caccc19809"},
    {"embed1m128", 1000, "c077ba42389d3dbfec348be25c8b96e3863ebde49d450d4bcfd2bfbde3d98c3c"},
};

TEST(Workloads, HaveTheKnownBytesForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 5}) {
    const ThreadPool pool(threads);
    for (const Known& known : kKnown) {
      const GeneratedPoints points = generate_workload(known.name, known.rows, pool);
      EXPECT_EQ(points.rows, known.rows);
      EXPECT_EQ(points.dtype(), DType::kFloat32);
      EXPECT_EQ(sha256_of(points), known.sha256) << known.name << ' ' << known.rows << ' ' << threads;
    }
  }
}

TEST(Workloads, SmallSetsHaveTheirRecordedDigest) {
  const ThreadPool pool(2);
  for (const Workload& workload : workloads()) {
    if (workload.rows > 100'000) continue;
    const GeneratedPoints points = generate_workload(workload.name, std::nullopt, pool);
    EXPECT_EQ(points.rows, workload.rows);
    EXPECT_EQ(points.columns, workload.columns);
    EXPECT_EQ(points.dtype(), workload.dtype);
    EXPECT_EQ(sha256_of(points).substr(0, 16), workload.sha256_start) << workload.name;
  }
}

TEST(Workloads, Expo100k64IsTheStandardLibrarysSequence) {
  const ThreadPool pool(1);
  const GeneratedPoints points = generate_workload("expo100k64", 65, pool);
  const auto& values = std::get<Array<double>>(points.values);
  std::mt19937 random(2137834274);
  std::exponential_distribution<double> exponential(40);
  for (const double value : values) {
    double expected = exponential(random);
    while (expected > 1) expected = exponential(random);
    ASSERT_EQ(value, expected);
  }
}

TEST(Workloads, MayBeEmptyButNotTooShortToScale) {
  const ThreadPool pool(2);
  for (const Workload& workload : workloads()) {
    const GeneratedPoints none = generate_workload(workload.name, 0, pool);
    EXPECT_EQ(none.rows, 0u);
    EXPECT_EQ(none.bytes(), 0u);
  }
  EXPECT_THROW(static_cast<void>(generate_workload("susylike5m18", 1, pool)), InvalidArgument);
  EXPECT_EQ(generate_workload("embed1m128", 1, pool).rows, 1u);
}

TEST(Workloads, UnknownNamesListTheKnownOnes) {
  const ThreadPool pool(1);
  EXPECT_EQ(find_workload("expo"), nullptr);
  try {
    static_cast<void>(generate_workload("expo", 1, pool));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("words100k50"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace rthiss::generate
