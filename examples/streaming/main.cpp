// A result that is never kept: a sink of our own takes the rows as they come, and an observer of our own may stop the
// search.
#include <rthiss/rthiss.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <vector>

namespace {

/// How many points have how many neighbours. Memory does not grow with the number of pairs.
class DegreeHistogram final : public rthiss::ResultSink {
 public:
  void consume(rthiss::NeighborChunk&& chunk) override {
    for (std::size_t row = 0; row < chunk.query_ids.size(); ++row) {
      ++points_by_degree_[chunk.row_begin[row + 1] - chunk.row_begin[row]];
    }
  }
  void finish() override { complete_ = true; }

  void print() const {
    if (!complete_) return;
    for (const auto& [degree, points] : points_by_degree_) {
      std::printf("%llu points have %llu neighbours\n", static_cast<unsigned long long>(points),
                  static_cast<unsigned long long>(degree));
    }
  }

 private:
  std::map<std::uint64_t, std::uint64_t> points_by_degree_;
  bool complete_ = false;
};

/// Stops a search when its time is over. A search asks often, and from several threads.
class Deadline final : public rthiss::Observer {
 public:
  explicit Deadline(std::chrono::milliseconds time) : end_(Clock::now() + time) {}
  [[nodiscard]] bool cancelled() const override { return Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

void count_degrees(rthiss::Searcher& searcher, std::chrono::milliseconds time) {
  DegreeHistogram histogram;
  Deadline deadline(time);
  try {
    searcher.self_join(1.0, histogram, &deadline);
  } catch (const rthiss::Cancelled&) {
    std::printf("stopped after %d ms\n", static_cast<int>(time.count()));
  }
  histogram.print();
}

}  // namespace

int main() {
  // A grid of 20 x 20 x 20: the neighbours at distance 1 are the two along each axis, fewer on the surface.
  constexpr int kSide = 20;
  std::vector<std::uint8_t> points;
  for (int i = 0; i < kSide * kSide * kSide; ++i) {
    for (const int coordinate : {i % kSide, i / kSide % kSide, i / kSide / kSide}) {
      points.push_back(static_cast<std::uint8_t>(coordinate));
    }
  }
  rthiss::Searcher searcher(rthiss::PointsView::row_major(points.data(), points.size() / 3, 3));

  count_degrees(searcher, std::chrono::hours(1));
  count_degrees(searcher, std::chrono::milliseconds(0));
}
