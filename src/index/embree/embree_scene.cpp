#include "index/embree/embree_scene.hpp"

#include <rthiss/errors.hpp>

#include <utility>

#include "common/floating_point_scope.hpp"

namespace rthiss {
namespace {

[[noreturn]] void throw_embree_error(RTCError code, const std::string& action, const std::string& message) {
  const std::string text = "embree: " + action + ": " + message;
  if (code == RTC_ERROR_OUT_OF_MEMORY) throw OutOfMemory(text + "; use fewer groups or the index 'bvh'");
  if (code == RTC_ERROR_UNSUPPORTED_CPU) throw UnsupportedError(text + "; use the index 'bvh'");
  throw DeviceError(text + " (code " + std::to_string(static_cast<int>(code)) + ")");
}

void copy_box(const RTCBoundsFunctionArguments* arguments) {
  *arguments->bounds_o = static_cast<const RTCBounds*>(arguments->geometryUserPtr)[arguments->primID];
}

}  // namespace

EmbreeScene::EmbreeScene() {
  const FloatingPointScope scope;
  // Pinning threads would change the caller's process. A number of threads is not given either: Embree would impose it
  // on every user of TBB in the process.
  device_.reset(rtcNewDevice("set_affinity=0,start_threads=0"));
  if (device_ == nullptr) throw_embree_error(rtcGetDeviceError(nullptr), "opening a device", "failed");
  rtcSetDeviceErrorFunction(device_.get(), remember_error, error_.get());
}

void EmbreeScene::build(const RTCBounds* boxes, std::size_t count) {
  const FloatingPointScope scope;
  scene_.reset(rtcNewScene(device_.get()));
  throw_if_failed("making a scene");
  // Robust: no shortcut that could lose a box that is only touched.
  rtcSetSceneFlags(scene_.get(), RTC_SCENE_FLAG_ROBUST);
  RTCGeometry geometry = rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_USER);
  throw_if_failed("making the boxes");
  rtcSetGeometryUserPrimitiveCount(geometry, static_cast<unsigned>(count));
  rtcSetGeometryUserData(geometry, const_cast<RTCBounds*>(boxes));
  rtcSetGeometryBoundsFunction(
      geometry, [](const RTCBoundsFunctionArguments* arguments) { copy_box(arguments); }, nullptr);
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(scene_.get(), geometry);
  rtcReleaseGeometry(geometry);
  rtcCommitScene(scene_.get());
  throw_if_failed("building the hierarchy");
}

void EmbreeScene::query(const float centre[3], float radius, RTCPointQueryFunction function, void* user) const {
  RTCPointQuery query{};
  query.x = centre[0];
  query.y = centre[1];
  query.z = centre[2];
  query.radius = radius;
  RTCPointQueryContext context;
  rtcInitPointQueryContext(&context);
  rtcPointQuery(scene_.get(), &query, &context, function, user);
}

void EmbreeScene::remember_error(void* user, RTCError code, const char* message) {
  auto& error = *static_cast<FirstError*>(user);
  const std::lock_guard lock(error.mutex);
  if (error.code != RTC_ERROR_NONE) return;
  error.code = code;
  error.message = message == nullptr ? "no message" : message;
}

void EmbreeScene::throw_if_failed(const char* action) {
  RTCError code;
  std::string message;
  {
    const std::lock_guard lock(error_->mutex);
    code = std::exchange(error_->code, RTC_ERROR_NONE);
    message = std::move(error_->message);
  }
  if (code != RTC_ERROR_NONE) throw_embree_error(code, action, message);
}

}  // namespace rthiss
