#pragma once

#include <rthiss/rthiss.hpp>

#include <string>
#include <vector>

namespace rthiss::test {

/// The engines that a program's tests go through: those of the host, or, in a program built with RTHISS_TEST_CUDA, the
/// engine "cuda". The test bodies are the same.
inline std::vector<std::string> tested_engines() {
#if defined(RTHISS_TEST_CUDA)
  return {"cuda"};
#else
  return {"cpu", "reference"};
#endif
}

/// The indexes of these engines.
inline std::vector<std::string> tested_indexes() {
  std::vector<std::string> names;
  for (const Availability& index : indexes()) {
#if defined(RTHISS_TEST_CUDA)
    const bool has_it = index.name != "embree";
#else
    const bool has_it = index.name != "optix";
#endif
    if (index.available && has_it) names.push_back(index.name);
  }
  return names;
}

/// For tests that name no engine.
inline SearchOptions default_options() {
  SearchOptions options;
#if defined(RTHISS_TEST_CUDA)
  options.engine = "cuda";
#endif
  return options;
}

}  // namespace rthiss::test
