#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rthiss::test {
namespace {

using testing::HasSubstr;

template <typename Exception>
std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing of that type was thrown";
  return {};
}

TEST(Arguments, UnknownNames) {
  const TypedPoints points = typed_points(uniform_rows(5, 3, 0, 1), 3, DType::kFloat32);
  const auto with = [&](const std::function<void(SearchOptions&)>& change) {
    SearchOptions options;
    change(options);
    return message_of<InvalidArgument>([&] { Searcher(points.view, options); });
  };
  EXPECT_THAT(with([](auto& o) { o.engine = "gpu9"; }), testing::AllOf(HasSubstr("'gpu9'"), HasSubstr("reference")));
  EXPECT_THAT(with([](auto& o) { o.index = "rtree"; }), testing::AllOf(HasSubstr("'rtree'"), HasSubstr("bvh")));
  EXPECT_THAT(with([](auto& o) { o.preset = "fast"; }), testing::AllOf(HasSubstr("'fast'"), HasSubstr("paper")));
  EXPECT_THAT(with([](auto& o) { o.projection = "umap"; }), testing::AllOf(HasSubstr("'umap'"), HasSubstr("pca")));
  EXPECT_THAT(with([](auto& o) { o.kd_tree_height = -1; }), HasSubstr("-1"));
  EXPECT_THAT(with([](auto& o) { o.kd_tree_height = 32; }), HasSubstr("32"));
  EXPECT_THAT(with([](auto& o) {
                o.preset = "paper";
                o.projection = "pca";
              }),
              HasSubstr("paper"));
}

TEST(Arguments, Radii) {
  const TypedPoints points = typed_points(uniform_rows(5, 3, 0, 1), 3, DType::kFloat32);
  Searcher searcher(points.view);
  const auto message = [&](double radius) {
    return message_of<InvalidArgument>([&] { (void)searcher.self_join(radius); });
  };
  EXPECT_THAT(message(std::numeric_limits<double>::quiet_NaN()), HasSubstr("NaN"));
  EXPECT_THAT(message(-1.5), HasSubstr("-1.5"));
  EXPECT_THAT(message(-std::numeric_limits<double>::infinity()), HasSubstr("inf"));
  EXPECT_EQ(searcher.self_join(-0.0).pairs(), 0U);
  EXPECT_EQ(searcher.self_join(10.0).pairs(), 20U);  // still usable

  SearchOptions cosine;
  cosine.metric.kind = Metric::Kind::kCosineSimilarity;
  Searcher similar(points.view, cosine);
  EXPECT_THAT(message_of<InvalidArgument>([&] { (void)similar.self_join(1.5); }), HasSubstr("1.5"));
}

TEST(Arguments, Shapes) {
  const TypedPoints points = typed_points(uniform_rows(5, 3, 0, 1), 3, DType::kFloat32);
  const TypedPoints queries = typed_points(uniform_rows(5, 4, 0, 1), 4, DType::kFloat32);
  Searcher searcher(points.view);
  const std::string message = message_of<InvalidArgument>([&] { (void)searcher.radius_search(queries.view, 1.0); });
  EXPECT_THAT(message, testing::AllOf(HasSubstr("4 columns"), HasSubstr("3")));
  const float nothing = 0;
  EXPECT_THROW(Searcher(PointsView::row_major(&nothing, 1, 0)), InvalidArgument);
}

TEST(Arguments, BrokenRowsAreNamed) {
  Rows rows = uniform_rows(70, 3, 0, 1);
  rows[66][2] = std::numeric_limits<double>::quiet_NaN();
  const TypedPoints broken = typed_points(rows, 3, DType::kFloat32);
  const TypedPoints sound = typed_points(uniform_rows(5, 3, 0, 1), 3, DType::kFloat32);
  EXPECT_THAT(message_of<InvalidArgument>([&] { Searcher{broken.view}; }), HasSubstr("points: row 66, column 2"));
  Searcher searcher(sound.view);
  EXPECT_THAT(message_of<InvalidArgument>([&] { (void)searcher.radius_search(broken.view, 1.0); }),
              HasSubstr("queries: row 66, column 2"));
}

TEST(Limits, MaxResults) {
  const TypedPoints points = typed_points(uniform_rows(100, 3, 0, 1), 3, DType::kFloat32);
  for (const char* preset : {"auto", "paper"}) {
    SearchOptions options;
    options.preset = preset;
    options.max_results = 9900;
    EXPECT_EQ(Searcher(points.view, options).self_join(10.0).pairs(), 9900U);
    options.max_results = 9899;
    Searcher searcher(points.view, options);
    EXPECT_THAT(message_of<OutOfMemory>([&] { (void)searcher.self_join(10.0); }),
                testing::AllOf(HasSubstr("9900"), HasSubstr("9899"), HasSubstr("max_results")));
    EXPECT_EQ(searcher.self_join(0.0).pairs(), 0U);
  }
}

TEST(Limits, MemoryOfTheResult) {
  const TypedPoints points = typed_points(uniform_rows(300, 3, 0, 1), 3, DType::kFloat32);
  SearchOptions options;
  options.memory_limit = 100000;
  Searcher searcher(points.view, options);
  EXPECT_THAT(message_of<OutOfMemory>([&] { (void)searcher.self_join(10.0); }),
              testing::AllOf(HasSubstr("89700"), HasSubstr("100000"), HasSubstr("memory_limit")));
  EXPECT_EQ(searcher.self_join(0.0).pairs(), 0U);
}

// Radii beyond what the integer filters can hold: everything is near, and nothing is thrown.
TEST(Limits, RadiiBeyondTheGrid) {
  const TypedPoints bytes = typed_points(integer_rows(100, 8, 0, 255), 8, DType::kUInt8);
  const TypedPoints fine = typed_points(
      changed(integer_rows(100, 8, 0, 255), [](std::size_t, std::size_t, double v) { return std::ldexp(v, -20); }), 8,
      DType::kFloat32);
  for (const char* preset : {"auto", "paper"}) {
    for (const char* engine : {"cpu", "reference"}) {
      SearchOptions options;
      options.preset = preset;
      options.engine = engine;
      for (const double radius : {94906265.0, 94906266.0, 1e8, 1e300, std::numeric_limits<double>::infinity()}) {
        EXPECT_EQ(Searcher(bytes.view, options).self_join(radius).pairs(), 9900U) << preset << ' ' << radius;
      }
      for (const double radius : {90.0, 91.0, 100.0}) {
        EXPECT_EQ(Searcher(fine.view, options).self_join(radius).pairs(), 9900U) << preset << ' ' << radius;
      }
    }
  }
}

// A set in which no row takes part is searched like an empty one.
TEST(Limits, NoRowTakesPart) {
  const TypedPoints points = typed_points(Rows(70, {std::nan(""), 1.0, 2.0}), 3, DType::kFloat32);
  for (const char* preset : {"auto", "paper"}) {
    for (const char* engine : {"cpu", "reference"}) {
      SearchOptions options;
      options.preset = preset;
      options.engine = engine;
      options.nonfinite = NonFinite::kIgnore;
      EXPECT_EQ(Searcher(points.view, options).self_join(10.0).pairs(), 0U) << preset << ' ' << engine;
    }
  }
}

/// Cancels at the n-th question.
class CancelAfter : public Observer {
 public:
  explicit CancelAfter(int calls) : left_(calls) {}
  [[nodiscard]] bool cancelled() const override { return left_.fetch_sub(1) <= 0; }

 private:
  mutable std::atomic<int> left_;
};

TEST(Cancellation, AtAnyTimeAndUsableAfterwards) {
  const TypedPoints points = typed_points(clustered_rows(1500, 5), 5, DType::kFloat32);
  for (const char* preset : {"auto", "paper"}) {
    for (const char* engine : {"cpu", "reference"}) {
      SearchOptions options;
      options.preset = preset;
      options.engine = engine;
      options.threads = 2;
      options.kd_tree_height = 6;
      Searcher searcher(points.view, options);
      const std::uint64_t right = searcher.self_join(0.02).pairs();
      bool finished = false;
      int cancelled = 0;
      for (int calls = 0; !finished && calls < 1000; calls = calls * 2 + 1) {
        CancelAfter observer(calls);
        try {
          EXPECT_EQ(searcher.self_join(0.02, &observer).pairs(), right);
          finished = true;
        } catch (const Cancelled&) {
          ++cancelled;
        }
        EXPECT_EQ(searcher.self_join(0.02).pairs(), right);
      }
      EXPECT_GT(cancelled, 3) << preset << ' ' << engine;
    }
  }
}

/// Counts the questions within each stage.
class CountQuestions : public Observer {
 public:
  void stage_begin(Stage stage) override { stage_ = static_cast<int>(stage); }
  [[nodiscard]] bool cancelled() const override {
    ++questions[static_cast<std::size_t>(stage_.load())];
    return false;
  }

  mutable std::array<std::atomic<int>, kStageCount> questions{};

 private:
  std::atomic<int> stage_{0};
};

TEST(Cancellation, AskedForWithinEachStage) {
  const TypedPoints points = typed_points(clustered_rows(20000, 12), 12, DType::kFloat32);
  for (const char* preset : {"auto", "paper"}) {
    SearchOptions options;
    options.preset = preset;
    options.threads = 1;
    CountQuestions observer;
    (void)Searcher(points.view, options).self_join(0.001, &observer);
    for (const Stage stage : {Stage::kOrder, Stage::kGroup, Stage::kBound, Stage::kFit, Stage::kCount, Stage::kFill,
                              Stage::kRefine, Stage::kCompact}) {
      // One is that of the next stage's beginning.
      EXPECT_GT(observer.questions[static_cast<std::size_t>(stage)], 4) << preset << ' ' << name_of(stage);
    }
  }
}

class Recorder : public Observer {
 public:
  void stage_begin(Stage stage) override { ++begun[static_cast<std::size_t>(stage)]; }
  void stage_end(Stage stage, double seconds) override {
    ++ended[static_cast<std::size_t>(stage)];
    EXPECT_GE(seconds, 0.0);
  }
  int begun[kStageCount] = {}, ended[kStageCount] = {};
};

TEST(Observation, EveryStageThatBeginsEnds) {
  const TypedPoints points = typed_points(clustered_rows(500, 5), 5, DType::kFloat32);
  for (const char* preset : {"auto", "paper"}) {
    SearchOptions options;
    options.preset = preset;
    options.memory_limit = std::uint64_t{1} << 17;
    Searcher searcher(points.view, options);
    Recorder observer;
    CallbackSink sink([](NeighborChunk&&) {});
    searcher.self_join(0.02, sink, &observer);
    for (int stage = 0; stage < kStageCount; ++stage) EXPECT_EQ(observer.begun[stage], observer.ended[stage]);
    EXPECT_GT(observer.begun[static_cast<int>(Stage::kRefine)], 0);
    EXPECT_GT(observer.begun[static_cast<int>(Stage::kCompact)], 0);
  }
}

#if defined(__x86_64__)

TEST(FloatingPointEnvironment, ResultsAndStateStay) {
  // Subnormal values and near ties: both flushing and rounding would show.
  const Rows rows = joined(scaled_rows(integer_rows(40, 4, -40, 40), 0x1p-1074), uniform_rows(70, 4, 0, 1));
  const TypedPoints points = typed_points(rows, 4, DType::kFloat64);
  const PairTable table = euclidean_table(points.values, points.values);
  const std::vector<double> distances = table.distinct();
  const unsigned usual = _mm_getcsr();
  std::vector<Way> ways(4);
  ways[1].options.preset = "paper";
  ways[2].options.engine = "reference";
  ways[3].options.projection = "pca";
  for (Way& way : ways) {
    way.options.threads = 3;
    way.options.distances = true;
  }
  for (const double radius : {distances[distances.size() / 500 + 1], distances[distances.size() / 3]}) {
    for (const unsigned flush : {0U, 0x8000U, 0x0040U, 0x8040U}) {
      for (const unsigned rounding : {0x0000U, 0x2000U, 0x4000U, 0x6000U}) {
        for (const Way& way : ways) {
          const unsigned set = (usual & ~0x6000U) | flush | rounding;
          _mm_setcsr(set);
          NeighborLists lists;
          unsigned after = 0;
          {
            Searcher searcher(points.view, way.options);
            lists = searcher.self_join(radius);
            after = _mm_getcsr();
          }
          _mm_setcsr(usual);
          ASSERT_EQ(after & 0xFFC0U, set & 0xFFC0U);
          for (std::size_t i = 0; i < table.queries; ++i) {
            const auto values =
                std::as_const(lists.distances).span().subspan(lists.begin[i], lists.begin[i + 1] - lists.begin[i]);
            expect_row(table, i, radius, true, lists.row(i), values, true);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(FloatingPointEnvironment, RestoredAfterAnError) {
  const TypedPoints points = typed_points(uniform_rows(9, 2, 0, 1), 2, DType::kFloat32);
  Searcher searcher(points.view);
  const unsigned usual = _mm_getcsr();
  const unsigned set = usual | 0x8040U | 0x4000U;
  _mm_setcsr(set);
  bool thrown = false;
  try {
    (void)searcher.self_join(-1.0);
  } catch (const InvalidArgument&) {
    thrown = true;
  }
  const unsigned after = _mm_getcsr();
  _mm_setcsr(usual);
  EXPECT_TRUE(thrown);
  EXPECT_EQ(after & 0xFFC0U, set & 0xFFC0U);
}

#endif  // __x86_64__

}  // namespace
}  // namespace rthiss::test
