#include "interruption.hpp"

#include <unistd.h>
#include <rthiss/errors.hpp>

#include <atomic>
#include <csignal>

#include "exit_codes.hpp"
#include "io/temporary_files.hpp"

namespace rthiss::cli {

namespace {

constexpr unsigned kGraceSeconds = 1;

std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

// Everything below runs in signal handlers: only what is async-signal-safe.
[[noreturn]] void leave_at_once() {
  io::remove_temporaries();
  static constexpr char kMessage[] = "rthiss: interrupted; no output was written\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(kSignalOffset + first_signal.load());
}

extern "C" void handle_stop_signal(int signal) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, signal)) leave_at_once();
  // Stages that do not look at the flag (reading a compressed file, writing a large one) must not outlast this.
  alarm(kGraceSeconds);
}

extern "C" void handle_alarm(int) {
  if (first_signal.load() != 0) leave_at_once();
}

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void install_signal_handlers() {
  set_handler(SIGALRM, handle_alarm);
  set_handler(SIGINT, handle_stop_signal);
  set_handler(SIGTERM, handle_stop_signal);
  if (!is_ignored(SIGHUP)) set_handler(SIGHUP, handle_stop_signal);  // ignored: nohup wants us to go on
  set_handler(SIGPIPE, SIG_IGN);
}

int interrupting_signal() noexcept { return first_signal.load(); }

void stop_if_interrupted() {
  if (interrupting_signal() != 0) throw Cancelled();
}

}  // namespace rthiss::cli
