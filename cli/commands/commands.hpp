#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace rthiss::cli {

/// What a command does once its options are parsed; returns the exit code.
using Action = std::function<int()>;

// Each adds one command to the program; `action` becomes its work where the command line names it.
void add_join(CLI::App& program, Action& action);
void add_count(CLI::App& program, Action& action);
void add_knn(CLI::App& program, Action& action);
void add_cluster(CLI::App& program, Action& action);
void add_dedup(CLI::App& program, Action& action);
void add_radius(CLI::App& program, Action& action);
void add_info(CLI::App& program, Action& action);
void add_generate(CLI::App& program, Action& action);
void add_convert(CLI::App& program, Action& action);
void add_verify(CLI::App& program, Action& action);
void add_bench(CLI::App& program, Action& action);

}  // namespace rthiss::cli
