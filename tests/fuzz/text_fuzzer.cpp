#include <rthiss/errors.hpp>

#include <limits>

#include "fuzz_input.hpp"
#include "io/formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const rthiss::io::TextPoints points = rthiss::io::parse_text({reinterpret_cast<const char*>(data), size},
                                                                 std::numeric_limits<std::uint64_t>::max(), "input");
    if (points.columns == 0 || points.rows * points.columns > points.values.size()) std::abort();
    // Memory follows the size of the text: at most a row more than fits when every field has one character.
    if (points.values.size() > 2 * size + 2) std::abort();
  } catch (const rthiss::InvalidArgument&) {
  }
  return 0;
}
