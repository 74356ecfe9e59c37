#include "bench/bench_set.hpp"

#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <filesystem>
#include <optional>
#include <vector>

#include "common/parallel.hpp"
#include "errors.hpp"
#include "generate/families.hpp"
#include "generate/workloads.hpp"
#include "value_parsers.hpp"

namespace rthiss::cli {

namespace {

constexpr std::uint64_t kMostRows = 0xfffffffe;  // row numbers are 32 bits wide
constexpr std::uint64_t kMostColumns = 0xffffffff;

std::optional<generate::Family> family_of(std::string_view name) {
  if (name == "uniform") return generate::UniformFamily();
  if (name == "exponential") return generate::ExponentialFamily();
  return std::nullopt;
}

/// Nothing where `name` is neither a workload nor a family.
std::optional<generate::GeneratedPoints> make_points(const std::string& name, const ThreadPool& pool) {
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon);
  const std::string size = colon == std::string::npos ? std::string() : name.substr(colon + 1);
  if (generate::find_workload(kind) != nullptr) {
    std::optional<std::uint64_t> rows;
    if (colon != std::string::npos) rows = parse_integer("DATA", size, 1, kMostRows);
    return generate::generate_workload(kind, rows, pool);
  }
  const std::optional<generate::Family> family = family_of(kind);
  if (!family) return std::nullopt;
  const std::size_t cross = size.find('x');
  if (cross == std::string::npos) throw UsageError(fmt::format("DATA: '{}' needs a size, as {}:100000x3", name, kind));
  generate::GeneratorSpec spec;
  spec.family = *family;
  spec.rows = parse_integer("DATA", size.substr(0, cross), 1, kMostRows);
  spec.columns = parse_integer("DATA", size.substr(cross + 1), 1, kMostColumns);
  return generate::generate(spec, pool);
}

std::string known_names() {
  std::vector<std::string_view> names;
  for (const generate::Workload& workload : generate::workloads()) names.push_back(workload.name);
  return fmt::format("{}, uniform:ROWSxCOLUMNS, exponential:ROWSxCOLUMNS", fmt::join(names, ", "));
}

}  // namespace

BenchSet::BenchSet(const std::string& name, const SearchOptions& options) : name_(name) {
  if (name == "-" || std::filesystem::exists(name)) {
    input_ = read_input(name, "", options);
    return;
  }
  try {
    std::optional<generate::GeneratedPoints> made = make_points(name, ThreadPool(options.threads));
    if (!made) {
      throw IoError(fmt::format("'{}': there is no such file, and it names no workload ({})", name, known_names()));
    }
    made_ = std::move(*made);
  } catch (const InvalidArgument& error) {  // a size: there is no input that could be wrong
    throw UsageError(error.what());
  }
}

}  // namespace rthiss::cli
