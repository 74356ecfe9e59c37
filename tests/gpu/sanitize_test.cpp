#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

// The least that runs every kernel of the engine 'cuda': compute-sanitizer is a hundred times slower than the device.
namespace rthiss::test {
namespace {

void check_few(const Rows& rows, std::size_t columns, DType dtype, const SearchOptions& options, Output output) {
  const TypedPoints points = typed_points(rows, columns, dtype);
  const PairTable table = euclidean_table(points.values, points.values);
  const std::vector<double> distances = table.distinct();
  Way way;
  way.options = options;
  way.output = output;
  check_search(points.view, nullptr, distances[distances.size() / 10], way, table);
}

SearchOptions options_of(const char* preset, bool distances = false) {
  SearchOptions options = default_options();
  options.preset = preset;
  options.distances = distances;
  return options;
}

TEST(GpuSanitize, JoinedDirectly) {
  const Rows rows = clustered_rows(70, 2);
  check_few(rows, 2, DType::kFloat32, options_of("auto", true), Output::kLists);
  check_few(rows, 2, DType::kFloat64, options_of("auto"), Output::kCounts);
}

TEST(GpuSanitize, FilteredByMatrixUnits) {
  check_few(clustered_rows(140, 20), 20, DType::kFloat32, options_of("auto", true), Output::kLists);
  check_few(clustered_rows(140, 70), 70, DType::kFloat64, options_of("auto"), Output::kCounts);
}

TEST(GpuSanitize, BatchesInFlight) {
  SearchOptions options = options_of("auto", true);
  options.memory_limit = std::uint64_t{1} << 16;
  check_few(clustered_rows(260, 5), 5, DType::kFloat32, options, Output::kCallback);
}

TEST(GpuSanitize, OtherQueriesAndCosine) {
  const TypedPoints points = typed_points(uniform_rows(70, 6, -1, 1), 6, DType::kFloat32);
  const TypedPoints queries = typed_points(uniform_rows(33, 6, -1, 1, 8), 6, DType::kFloat64);
  Way way;
  way.options = options_of("auto", true);
  check_search(points.view, &queries.view, 0.7, way, euclidean_table(queries.values, points.values));
  way.options.metric = {Metric::Kind::kCosineDistance};
  check_search(points.view, nullptr, 0.2, way, cosine_table(points.values, false));
}

TEST(GpuSanitize, PresetPaper) {
  const Rows rows = clustered_rows(100, 20);
  SearchOptions options = options_of("paper");
  check_few(rows, 20, DType::kFloat32, options, Output::kLists);
  options.shared_memory = SharedMemory::kNone;
  options.mask = ResultMask::kPlain;
  check_few(rows, 20, DType::kFloat32, options, Output::kCounts);
  options.shared_memory = SharedMemory::kQuery;
  options.mask = ResultMask::kPairs;
  check_few(rows, 20, DType::kFloat64, options, Output::kLists);
  options.shared_memory = SharedMemory::kPrimitive;
  options.grouping = GroupingMethod::kBall;
  check_few(rows, 20, DType::kFloat32, options, Output::kLists);
}

}  // namespace
}  // namespace rthiss::test
