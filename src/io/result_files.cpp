#include "io/result_files.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <array>

#include "io/npy_header.hpp"
#include "io/output_file.hpp"
#include "io/result_file_sink.hpp"
#include "result/counts_sink.hpp"

namespace rthiss::io {

namespace {

class CountsFileSink final : public CountsSink {
 public:
  explicit CountsFileSink(const std::filesystem::path& path) : file_(path) {}

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
