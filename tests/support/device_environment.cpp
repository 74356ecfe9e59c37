#include <gtest/gtest.h>

#include <rthiss/rthiss.hpp>

// Part of every program of GPU tests: without a usable device all of its tests are skipped, with the reason.
namespace rthiss::test {
namespace {

class DeviceEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    for (const Availability& engine : engines()) {
      if (engine.name == "cuda" && !engine.available) GTEST_SKIP() << engine.detail;
    }
  }
};

const testing::Environment* const kEnvironment = testing::AddGlobalTestEnvironment(new DeviceEnvironment());

}  // namespace
}  // namespace rthiss::test
