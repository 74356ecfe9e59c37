#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "index/embree/embree_api.hpp"

namespace rthiss {

/// A scene of boxes. Errors that Embree reports become exceptions of the call that caused them: OutOfMemory,
/// UnsupportedError (processor), DeviceError. Every call keeps the caller's floating-point state.
class EmbreeScene {
 public:
  EmbreeScene();

  /// Replaces the boxes; `boxes` is read during the call only.
  void build(const RTCBounds* boxes, std::size_t count);

  /// Calls `function` with the number (primID) of every box that comes within `radius` of the centre, and of some
  /// others; from any thread. Needs a built scene of at least one box. `function` must not throw.
  void query(const float centre[3], float radius, RTCPointQueryFunction function, void* user) const;

 private:
  struct ReleaseDevice {
    void operator()(RTCDevice device) const noexcept { rtcReleaseDevice(device); }
  };
  struct ReleaseScene {
    void operator()(RTCScene scene) const noexcept { rtcReleaseScene(scene); }
  };
  /// Embree may report from its own threads, where an exception would end the process.
  struct FirstError {
    std::mutex mutex;
    RTCError code = RTC_ERROR_NONE;
    std::string message;
  };

  static void remember_error(void* user, RTCError code, const char* message);
  void throw_if_failed(const char* action);

  std::unique_ptr<FirstError> error_ = std::make_unique<FirstError>();
  std::unique_ptr<RTCDeviceTy, ReleaseDevice> device_;
  std::unique_ptr<RTCSceneTy, ReleaseScene> scene_;
};

}  // namespace rthiss
