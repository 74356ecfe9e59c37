#include <memory>

#include "commands/commands.hpp"
#include "commands/search_command.hpp"

namespace rthiss::cli {

void add_count(CLI::App& program, Action& action) {
  CLI::App* const command =
      program.add_subcommand("count", "Number of neighbours of each row and in all, without lists");
  auto search = std::make_shared<SearchCommand>();
  search->name = "count";
  search->counts_only = true;
  add_shared_options(*command, *search);
  add_selectivity_option(*command, search->selectivity);
  command->callback([search, &action] {
    action = [search] {
      if (!search->output.path.empty()) search->output.format = "counts";
      return run_search(*search);
    };
  });
}

}  // namespace rthiss::cli
