#include "standard_output.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <rthiss/errors.hpp>

#include <cerrno>
#include <system_error>

#include "errors.hpp"
#include "interruption.hpp"

namespace rthiss::cli {

void write_standard_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (errno == EPIPE) throw ClosedPipe();
    if (errno == EINTR) {
      stop_if_interrupted();
      continue;
    }
    throw IoError(fmt::format("standard output: {}", std::generic_category().message(errno)));
  }
}

bool standard_output_closed() noexcept {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

}  // namespace rthiss::cli
