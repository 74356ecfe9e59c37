#include "io/result_files.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <algorithm>
#include <array>

#include "io/npy_header.hpp"
#include "io/output_file.hpp"
#include "io/result_cost.hpp"
#include "io/result_file_sink.hpp"
#include "result/counts_sink.hpp"

namespace rthiss::io {

namespace {

class CountsFileSink final : public CountsSink {
 public:
  explicit CountsFileSink(const std::filesystem::path& path) : file_(path) {}

  [[nodiscard]] ResultCost cost(const ResultShape& shape, std::uint64_t pairs) const override {
    constexpr std::uint64_t kHeader = 128;
    ResultCost cost = disk_cost(file_.path(), kHeader + shape.queries * sizeof(std::uint64_t), 0);
    cost.memory_bytes = CountsSink::cost(shape, pairs).memory_bytes;
    return cost;
  }

  void finish() override {
    CountsSink::finish();
    file_.write(make_npy_header("<u8", std::array{std::uint64_t{counts().size()}}));
    file_.write(counts().data(), counts().size() * sizeof(std::uint64_t));
    file_.commit();
  }

 private:
  OutputFile file_;
};

struct NamedFormat {
  std::string_view name;
  std::string_view extension;
  ResultFormat format;
};

constexpr NamedFormat kFormats[] = {
    {"npz", ".npz", ResultFormat::kNpz},
    {"pairs", ".npy", ResultFormat::kPairs},
    {"pairs-csv", ".csv", ResultFormat::kPairsCsv},
    {"counts", "", ResultFormat::kCounts},
};
constexpr std::string_view kFormatList = "npz (.npz), pairs (.npy), pairs-csv (.csv), counts (.npy, only by name)";

}  // namespace

ResultCost RowFileSink::cost(const ResultShape& shape, std::uint64_t pairs) const {
  const std::uint64_t pair_bytes = sizeof(std::uint32_t) + (shape.has_distances ? sizeof(double) : 0);
  ResultCost cost = disk_cost(file_.path(), file_bytes(shape, pairs), pairs * pair_bytes);
  // Offsets and ids of the queries, and a window of rows with the piece that is sorted into it.
  cost.memory_bytes = 20 * shape.queries + 2 * pair_bytes * std::min(pairs, ResultRows::kWindowPairs);
  return cost;
}

ResultFormat result_format(const std::filesystem::path& path, std::string_view name) {
  for (const NamedFormat& known : kFormats) {
    if (name.empty() ? known.extension == path.extension().native() && !known.extension.empty() : known.name == name) {
      return known.format;
    }
  }
  if (!name.empty()) throw InvalidArgument(fmt::format("unknown result format '{}'; there are {}", name, kFormatList));
  throw InvalidArgument(fmt::format("'{}': no result format has the extension '{}'; name one of {}", path.native(),
                                    path.extension().native(), kFormatList));
}

std::unique_ptr<ResultSink> make_file_sink(const std::filesystem::path& path, std::string_view format) {
  switch (result_format(path, format)) {
    case ResultFormat::kNpz:
      return std::make_unique<NpzSink>(path);
    case ResultFormat::kPairs:
      return std::make_unique<PairsSink>(path);
    case ResultFormat::kPairsCsv:
      return std::make_unique<PairsCsvSink>(path);
    case ResultFormat::kCounts:
      break;
  }
  return std::make_unique<CountsFileSink>(path);
}

}  // namespace rthiss::io
