#include <memory>

#include "commands/commands.hpp"
#include "commands/search_command.hpp"
#include "value_parsers.hpp"

namespace rthiss::cli {

void add_join(CLI::App& program, Action& action) {
  CLI::App* const command = program.add_subcommand("join", "All pairs of rows within a radius, exactly");
  auto search = std::make_shared<SearchCommand>();
  search->name = "join";
  add_shared_options(*command, *search);
  add_selectivity_option(*command, search->selectivity);
  command
      ->add_option("--format", search->output.format,
                   "npz, pairs, pairs-csv or counts (default: by the extension of --output)")
      ->type_name("NAME");
  command->add_flag("--distances", search->options.distances, "Store the distances too");
  command
      ->add_option_function<std::string>(
          "--max-results",
          [search](const std::string& text) {
            search->options.max_results = parse_integer("--max-results", text, 1, ~std::uint64_t{0});
          },
          "Refuse when there are more ordered pairs than this")
      ->type_name("N");
  command->callback([search, &action] { action = [search] { return run_search(*search); }; });
}

}  // namespace rthiss::cli
