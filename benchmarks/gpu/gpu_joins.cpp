// rthiss_gpu_joins REPEATS PRESET MODE [WORKLOAD [RADIUS...]]
// PRESET auto | paper; MODE lists | distances | counts | checksum. Whole self-joins of the workloads: rows in host
// memory to lists (or counts, or a checksum of all rows) in newly allocated host memory, in a warm process. One line a
// join, as JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <rthiss/searcher.hpp>
#include <string>
#include <vector>

#include "common/parallel.hpp"
#include "generate/workloads.hpp"
#include "result/checksum.hpp"
#include "result/counts_sink.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Join {
  const char* workload;
  double radius;
  std::uint64_t pairs;  // ordered, with self pairs; 0: not known
};

// The exact answers.
constexpr Join kJoins[] = {
    {"expo2m16", 0.0375, 107'199'000},
    {"expo2m16", 0.04125, 313'832'210},
    {"expo2m16", 0.045, 812'725'772},
    {"uniform2m10", 0.40, 391'809'814},
    {"susylike5m18", 0.078369140625, 1'249'534'808},
    {"susylike5m18", 0.09820556640625, 4'993'926'654},
    {"embed1m128", 0.47991943359375, 259'898'300},
    {"embed1m128", 0.5867919921875, 1'030'056'942},
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Time of writing every page of fresh memory as large as the lists, by all threads.
double first_touch(std::uint64_t bytes, const rthiss::ThreadPool& pool) {
  const auto start = Clock::now();
  rthiss::Array<char> memory(bytes);
  constexpr std::size_t kPage = 4096;
  pool.for_ranges(0, bytes / kPage, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t page = begin; page < end; ++page) memory[page * kPage] = 1;
  });
  return seconds_since(start);
}

struct Outcome {
  double seconds = 0.0;
  std::uint64_t pairs = 0, sum = 0;
  rthiss::SearchStatistics statistics;
};

Outcome run(const rthiss::PointsView& points, double radius, const std::string& preset, const std::string& mode,
            const rthiss::ThreadPool& pool) {
  rthiss::SearchOptions options;
  options.engine = "cuda";
  options.preset = preset;
  options.distances = mode == "distances";
  // Streams in small parts, of which two are in memory at a time.
  options.memory_limit = (mode == "checksum" ? std::uint64_t{16} : std::uint64_t{100}) << 30;
  Outcome outcome;
  const auto start = Clock::now();
  rthiss::Searcher searcher(points, options);
  if (mode == "counts") {
    rthiss::CountsSink sink;
    searcher.self_join(radius, sink);
    outcome.pairs = sink.pairs();
    outcome.seconds = seconds_since(start);
  } else if (mode == "checksum") {
    rthiss::ChecksumSink sink(&pool);
    searcher.self_join(radius, sink);
    outcome.pairs = sink.checksum().pairs;
    outcome.sum = sink.checksum().sum;
    outcome.seconds = seconds_since(start);
  } else {
    const rthiss::NeighborLists lists = searcher.self_join(radius);
    outcome.seconds = seconds_since(start);
    outcome.pairs = lists.pairs();
  }
  outcome.statistics = searcher.statistics();
  return outcome;
}

bool report(const Join& join, const rthiss::PointsView& points, std::uint64_t rows, int repeats,
            const std::string& preset, const std::string& mode, const rthiss::ThreadPool& pool) {
  std::vector<Outcome> outcomes;
  const double cold = run(points, join.radius, preset, mode, pool).seconds;
  for (int i = 0; i < repeats; ++i) outcomes.push_back(run(points, join.radius, preset, mode, pool));
  std::sort(outcomes.begin(), outcomes.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  const Outcome& median = outcomes[outcomes.size() / 2];
  const rthiss::SearchStatistics& seen = median.statistics;
  std::vector<double> touches;
  const bool lists = mode == "lists" || mode == "distances";
  for (int i = 0; lists && i < 3; ++i) {
    touches.push_back(first_touch(median.pairs * (mode == "lists" ? 4 : 12) + (rows + 1) * 8, pool));
  }
  std::sort(touches.begin(), touches.end());
  const double touch = touches.empty() ? 0.0 : touches[touches.size() / 2];
  const bool right = join.pairs == 0 || median.pairs + rows == join.pairs;
  std::printf(
      "{\"workload\": \"%s\", \"radius\": %.17g, \"preset\": \"%s\", \"mode\": \"%s\", \"seconds\": %.4f, "
      "\"first_touch\": %.4f, \"least\": %.4f, \"most\": %.4f, \"first_run\": %.4f, \"pairs\": %llu, "
      "\"right\": %s, \"checksum\": \"%016llx\", \"batches\": %llu, \"comparisons\": %llu, \"in_double\": %llu, "
      "\"exact\": %llu, \"device_gib\": %.2f",
      join.workload, join.radius, preset.c_str(), mode.c_str(), median.seconds, touch, outcomes.front().seconds,
      outcomes.back().seconds, cold, static_cast<unsigned long long>(median.pairs + rows), right ? "true" : "false",
      static_cast<unsigned long long>(median.sum), static_cast<unsigned long long>(seen.batches),
      static_cast<unsigned long long>(seen.comparisons), static_cast<unsigned long long>(seen.decided.in_double),
      static_cast<unsigned long long>(seen.decided.double_double + seen.decided.exact),
      static_cast<double>(seen.peak_bytes_device) / (1ULL << 30));
  for (int stage = 0; stage < rthiss::kStageCount; ++stage) {
    const double seconds = seen.seconds[static_cast<std::size_t>(stage)];
    if (seconds >= 5e-5) {
      std::printf(", \"%s\": %.4f", std::string(rthiss::name_of(static_cast<rthiss::Stage>(stage))).c_str(), seconds);
    }
  }
  std::printf("}\n");
  std::fflush(stdout);
  return right;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr,
                 "usage: rthiss_gpu_joins REPEATS auto|paper lists|distances|counts|checksum [WORKLOAD [RADIUS...]]\n");
    return 2;
  }
  try {
    const int repeats = std::max(1, std::atoi(arguments[1]));
    const std::string preset = arguments[2], mode = arguments[3];
    std::vector<Join> joins;
    for (const Join& join : kJoins) {
      if (count == 4 || (count == 5 && std::string(arguments[4]) == join.workload)) joins.push_back(join);
    }
    for (int i = 5; i < count; ++i) {
      Join join{arguments[4], std::atof(arguments[i]), 0};
      for (const Join& known : kJoins) {
        if (std::string(known.workload) == join.workload && known.radius == join.radius) join.pairs = known.pairs;
      }
      joins.push_back(join);
    }
    const rthiss::ThreadPool pool(0);
    bool right = true;
    rthiss::generate::GeneratedPoints points;
    std::string made;
    for (const Join& join : joins) {
      if (made != join.workload) {
        points = rthiss::generate::generate_workload(join.workload, std::nullopt, pool);
        made = join.workload;
      }
      right = report(join, points.view(), points.rows, repeats, preset, mode, pool) && right;
    }
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rthiss_gpu_joins: %s\n", error.what());
    return 1;
  }
}
