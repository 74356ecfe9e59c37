#pragma once

namespace rthiss::cli {

/// From now on SIGINT, SIGTERM and SIGHUP ask the work to stop. Work that does not stop within a second, or a second
/// signal, ends the process at once, temporary files removed. SIGPIPE is ignored: writes fail instead.
void install_signal_handlers();

/// The first signal that came; 0: none.
[[nodiscard]] int interrupting_signal() noexcept;

/// Throws Cancelled after a signal.
void stop_if_interrupted();

}  // namespace rthiss::cli
