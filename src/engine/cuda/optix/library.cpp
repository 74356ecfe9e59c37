#include "engine/cuda/optix/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <rthiss/errors.hpp>

namespace rthiss::cuda::optix {

namespace {

constexpr const char* kLibraryName = "libnvoptix.so.1";

Library load() {
  Library loaded;
  void* const handle = dlopen(kLibraryName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const words = dlerror();
    loaded.problem = fmt::format(
        "{} of the NVIDIA driver cannot be loaded ({}); install the driver's OptiX part (Debian: libnvoptix1), or in a "
        "container allow the capability 'graphics' (NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics)",
        kLibraryName, words != nullptr ? words : "no reason given");
    return loaded;
  }
  const auto query = reinterpret_cast<abi::QueryFunctionTable>(dlsym(handle, abi::kEntrySymbol));
  const abi::Result result =
      query == nullptr ? abi::kUnsupportedVersion
                       : query(abi::kVersion, 0, nullptr, nullptr, &loaded.functions, sizeof loaded.functions);
  if (result == abi::kSuccess) return loaded;
  loaded.problem = fmt::format("{} does not offer OptiX ABI {} (code {}): the driver is too old; install R535 or newer",
                               kLibraryName, abi::kVersion, result);
  return loaded;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void check_optix(abi::Result result, std::string_view call, std::string_view log) {
  if (result == abi::kSuccess) return;
  const char* const name = library().functions.get_error_name(result);
  const std::string text = fmt::format("OptiX: {}: {} ({}){}{}; choose index 'bvh' to go on without it", call,
                                       name != nullptr ? name : "unknown error", result, log.empty() ? "" : ": ", log);
  throw DeviceError(text);
}

}  // namespace rthiss::cuda::optix
