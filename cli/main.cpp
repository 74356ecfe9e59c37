#include <rthiss/version.hpp>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <sstream>

#include "commands/commands.hpp"
#include "error_report.hpp"
#include "exit_codes.hpp"
#include "interruption.hpp"
#include "options.hpp"
#include "standard_output.hpp"

namespace rthiss::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done, 2 bad usage, 3 bad input, 4 not supported here, 5 out of memory or over a limit, 6 I/O,\n"
    "130 interrupted, 143 terminated, 141 standard output closed by its reader.\n"
    "Environment: RTHISS_ENGINE and RTHISS_INDEX stand in for 'auto'; RTHISS_SIMD names the instruction set.";

int run(int count, char** arguments) {
  CLI::App program("Exact radius search: for every row all rows within a radius.", "rthiss");
  program.set_version_flag("--version", "rthiss " RTHISS_VERSION_STRING);
  program.require_subcommand(1);
  program.footer(kFooter);
  Action action;
  add_join(program, action);
  add_count(program, action);
  add_knn(program, action);
  add_cluster(program, action);
  add_dedup(program, action);
  add_radius(program, action);
  add_info(program, action);
  add_generate(program, action);
  add_convert(program, action);
  add_verify(program, action);
  add_bench(program, action);
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& parsed) {
    std::ostringstream out, messages;
    const int status = program.exit(parsed, out, messages);
    write_standard_output(out.str());
    if (status == 0) return kDone;
    std::fputs(("rthiss: " + messages.str()).c_str(), stderr);
    return kUsage;
  }
  apply_simd_environment();
  return action();
}

}  // namespace
}  // namespace rthiss::cli

int main(int count, char** arguments) {
  rthiss::cli::install_signal_handlers();
  try {
    return rthiss::cli::run(count, arguments);
  } catch (...) {
    return rthiss::cli::report_current_exception();
  }
}
