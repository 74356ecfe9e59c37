#include <fmt/format.h>
#include <rthiss/errors.hpp>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands/commands.hpp"
#include "common/parallel.hpp"
#include "errors.hpp"
#include "exit_codes.hpp"
#include "generate/families.hpp"
#include "generate/workloads.hpp"
#include "interruption.hpp"
#include "io/points_writer.hpp"
#include "number_text.hpp"
#include "options.hpp"
#include "output_target.hpp"
#include "value_parsers.hpp"

namespace rthiss::cli {

namespace {

constexpr std::uint64_t kMostRows = 0xfffffffe;  // row numbers are 32 bits wide
constexpr std::uint64_t kMostColumns = 0xffffffff;

/// What every family and workload takes.
struct GenerateCommand {
  std::string name;
  std::optional<std::uint64_t> rows;
  std::string path, format, json;
  SearchOptions options;
  generate::GeneratorSpec spec;  ///< of a family
};

int run_generate(GenerateCommand& command, bool workload) {
  const std::string target = command.path == "-" ? "/dev/stdout" : command.path;
  check_points_format(target, command.format);
  if (command.path == "-" && command.json == "-") {
    throw UsageError("--output and --json cannot both go to standard output");
  }
  const ThreadPool pool(command.options.threads);
  generate::GeneratedPoints points;
  try {
    if (workload) {
      points = generate::generate_workload(command.name, command.rows, pool);
    } else {
      command.spec.rows = *command.rows;
      points = generate::generate(command.spec, pool);
    }
  } catch (const InvalidArgument& error) {  // a parameter: there is no input that could be wrong
    throw UsageError(error.what());
  }
  stop_if_interrupted();
  io::write_points(points.view(), target, command.format);
  const std::string hash = generate::sha256_of(points);

  nlohmann::ordered_json object;
  object["schema"] = 1;
  object["command"] = "generate";
  object["family"] = command.name;
  object["n"] = points.rows;
  object["d"] = points.columns;
  object["dtype"] = name_of(points.dtype());
  object["sha256"] = hash;
  object["output"] = command.path;
  OutputTarget report;
  report.path = command.path;
  report.json = command.json;
  report.report(
      fmt::format("written      {}: {} rows x {} ({})\nsha256       {} (of the values as little-endian bytes)\n",
                  command.path, with_commas(points.rows), points.columns, name_of(points.dtype()), hash),
      object.dump(2) + "\n");
  return kDone;
}

std::shared_ptr<GenerateCommand> add_kind(CLI::App& parent, const std::string& name, const std::string& description,
                                          bool workload, Action& action) {
  CLI::App* const kind = parent.add_subcommand(name, description);
  auto command = std::make_shared<GenerateCommand>();
  command->name = name;
  CLI::Option* const rows =
      kind->add_option_function<std::string>(
              "--rows,-n",
              [command](const std::string& text) { command->rows = parse_integer("--rows", text, 0, kMostRows); },
              workload ? "Rows (default: as many as the workload has)" : "Rows")
          ->type_name("N");
  if (!workload) rows->required();
  kind->add_option("--output,-o", command->path, "The file to write; '-': standard output")
      ->type_name("FILE")
      ->required();
  kind->add_option("--format", command->format,
                   "npy, fvecs, bvecs, ivecs or csv (default: by the extension of --output)")
      ->type_name("NAME");
  add_threads_option(*kind, command->options);
  add_json_option(*kind, command->json);
  kind->callback(
      [command, workload, &action] { action = [command, workload] { return run_generate(*command, workload); }; });
  return command;
}

/// A family of its own parameters; the returned pointer lives as long as the command.
template <typename FamilyType>
std::pair<CLI::App*, FamilyType*> add_family(CLI::App& parent, const std::string& name, const std::string& description,
                                             Action& action) {
  const std::shared_ptr<GenerateCommand> command = add_kind(parent, name, description, false, action);
  CLI::App* const kind = parent.get_subcommand(name);
  kind->add_option_function<std::string>(
          "--columns,-d",
          [command](const std::string& text) {
            command->spec.columns = parse_integer("--columns", text, 1, kMostColumns);
          },
          "Columns")
      ->type_name("N")
      ->required();
  kind->add_option_function<std::string>(
          "--dtype",
          [command](const std::string& text) {
            command->spec.dtype = text == "float64" ? DType::kFloat64 : DType::kFloat32;
          },
          "Type of the values")
      ->check(CLI::IsMember({"float32", "float64"}))
      ->default_str("float32");
  FamilyType& family = command->spec.family.emplace<FamilyType>();
  if constexpr (requires { family.seed; }) {
    kind->add_option_function<std::string>(
            "--seed",
            [&family](const std::string& text) { family.seed = parse_integer("--seed", text, 0, ~std::uint64_t{0}); },
            "Seed: equal seeds give equal bytes everywhere")
        ->type_name("N")
        ->default_str("1");
  }
  return {kind, &family};
}

void add_number(CLI::App& kind, const std::string& name, double& value, const std::string& description) {
  kind.add_option_function<std::string>(
          name, [&value, name](const std::string& text) { value = parse_number(name, text); }, description)
      ->type_name("X")
      ->default_str(exact_text(value));
}

void add_integer(CLI::App& kind, const std::string& name, std::uint64_t& value, const std::string& description) {
  kind.add_option_function<std::string>(
          name, [&value, name](const std::string& text) { value = parse_integer(name, text, 0, ~std::uint64_t{0}); },
          description)
      ->type_name("N")
      ->default_str(std::to_string(value));
}

}  // namespace

void add_generate(CLI::App& program, Action& action) {
  using namespace generate;
  CLI::App& command = *program.add_subcommand("generate", "Makes synthetic rows, the same bytes on every machine");
  command.require_subcommand(1);
  {
    const auto [kind, family] =
        add_family<UniformFamily>(command, "uniform", "Independent values, uniform in (low, high)", action);
    add_number(*kind, "--low", family->low, "Lower end");
    add_number(*kind, "--high", family->high, "Upper end");
  }
  {
    const auto [kind, family] =
        add_family<ExponentialFamily>(command, "exponential", "Independent exponential values", action);
    add_number(*kind, "--rate", family->rate, "Rate: the mean is 1 / rate");
  }
  {
    const auto [kind, family] =
        add_family<ClustersFamily>(command, "clusters", "Random centres with normal errors", action);
    add_integer(*kind, "--clusters", family->clusters, "Number of centres");
    add_number(*kind, "--spread", family->spread, "Standard deviation in each column");
  }
  {
    const auto [kind, family] = add_family<EmbeddingFamily>(
        command, "embedding", "Like learned vectors: component k has variance k^-decay, with noise and clusters",
        action);
    add_integer(*kind, "--rank", family->rank, "Components; 0: all columns, at most 128");
    add_number(*kind, "--decay", family->decay, "Exponent of the spectrum");
    add_number(*kind, "--noise", family->noise, "Share of the variance that is isotropic noise");
    add_integer(*kind, "--clusters", family->clusters, "Clusters; 0: one normal distribution");
    add_number(*kind, "--between", family->between, "Share of the variance that lies between clusters");
  }
  {
    const auto [kind, family] =
        add_family<LatticeFamily>(command, "lattice", "Integers 0 to levels - 1 by a fixed hash", action);
    add_integer(*kind, "--levels", family->levels, "Number of values");
  }
  add_family<BinaryFamily>(command, "binary", "Independent bits as 0 and 1", action);
  for (const Workload& workload : workloads()) {
    add_kind(command, std::string(workload.name),
             fmt::format("Workload: {} x {}, {}", with_commas(workload.rows), workload.columns, workload.description),
             true, action);
  }
}

}  // namespace rthiss::cli
