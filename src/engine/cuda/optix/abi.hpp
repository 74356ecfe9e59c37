#pragma once

#include <cstddef>
#include <cstdint>

/// OptiX as this library calls it: the binary interface of ABI 87 (OptiX 8.0, driver R535 and newer), declared here so
/// that no SDK is needed. Only what is used has a name. 64-bit systems; sizes and offsets are checked below.
namespace rthiss::cuda::optix::abi {

inline constexpr int kVersion = 87;

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kUnsupportedVersion = 7801;

// Objects of the driver.
using Context = struct ContextObject*;
using Module = struct ModuleObject*;
using ProgramGroup = struct ProgramGroupObject*;
using Pipeline = struct PipelineObject*;
using Traversable = std::uint64_t;
using DevicePointer = std::uint64_t;
using StreamHandle = void*;

using LogFunction = void (*)(unsigned level, const char* tag, const char* message, void* data);

struct ContextOptions {
  LogFunction log;
  void* log_data;
  std::int32_t log_level;
  std::int32_t validation;
};

struct Box {
  float low[3], high[3];
};

struct CustomPrimitives {
  const DevicePointer* boxes;  ///< host array, one a motion key
  std::uint32_t count;
  std::uint32_t stride;  ///< 0: packed
  const std::uint32_t* flags;
  std::uint32_t record_count;
  DevicePointer record_index;
  std::uint32_t record_index_size, record_index_stride;
  std::uint32_t index_offset;
};

struct BuildInput {
  std::int32_t type;
  union {
    CustomPrimitives primitives;
    unsigned char room[1024];
  };
};

struct MotionOptions {
  std::uint16_t keys, flags;
  float begin, end;
};

struct BuildOptions {
  std::uint32_t flags;
  std::int32_t operation;
  MotionOptions motion;
};

struct BufferSizes {
  std::size_t output, temporary, temporary_of_update;
};

struct EmitRequest {
  DevicePointer result;
  std::int32_t type;
};

struct ModuleOptions {
  std::int32_t most_registers, optimization, debug;
  const void* bound_values;
  std::uint32_t bound_value_count, payload_type_count;
  const void* payload_types;
};

struct PipelineOptions {
  std::int32_t motion_blur;
  std::uint32_t graph_flags;
  std::int32_t payload_values, attribute_values;
  std::uint32_t exception_flags;
  const char* parameters;
  std::uint32_t primitive_types;
  std::int32_t micromaps;
};

struct LinkOptions {
  std::uint32_t trace_depth;
};

struct HitPrograms {
  Module closest_hit;
  const char* closest_hit_name;
  Module any_hit;
  const char* any_hit_name;
  Module intersection;
  const char* intersection_name;
};

struct SingleProgram {
  Module module;
  const char* name;
};

struct ProgramGroupDescription {
  std::int32_t kind;
  std::uint32_t flags;
  union {
    SingleProgram single;
    HitPrograms hit;
  };
};

struct ProgramGroupOptions {
  const void* payload_type;
};

struct StackSizes {
  std::uint32_t raygen, miss, closest_hit, any_hit, intersection, continuation, callable;
};

struct BindingTable {
  DevicePointer raygen, exception;
  DevicePointer miss;
  std::uint32_t miss_stride, miss_count;
  DevicePointer hit;
  std::uint32_t hit_stride, hit_count;
  DevicePointer callables;
  std::uint32_t callables_stride, callables_count;
};

inline constexpr std::size_t kRecordBytes = 32;  ///< header of a binding table's record
inline constexpr std::size_t kRecordAlignment = 16;

// Values of enumerations.
inline constexpr std::int32_t kBuildInputCustomPrimitives = 0x2142;
inline constexpr std::int32_t kOperationBuild = 0x2161;
inline constexpr std::int32_t kEmitCompactedSize = 0x2181;
inline constexpr std::int32_t kOptimizationLevel3 = 0x2343;
inline constexpr std::int32_t kDebugNone = 0x2350;
inline constexpr std::int32_t kKindRaygen = 0x2421, kKindMiss = 0x2422, kKindHit = 0x2424;
inline constexpr std::uint32_t kGeometryDisableAnyHit = 1;
inline constexpr std::uint32_t kBuildAllowCompaction = 2, kBuildPreferFastTrace = 4;
inline constexpr std::uint32_t kRayDisableAnyHit = 1, kRayDisableClosestHit = 8;
inline constexpr std::uint32_t kGraphSingleAccel = 1;
inline constexpr std::uint32_t kPrimitiveTypeCustom = 1;
inline constexpr std::uint32_t kExceptionNone = 0;
inline constexpr std::int32_t kPropertyMostPrimitives = 0x2003, kPropertyRtCoreVersion = 0x2005;

// Functions, by their place in the table.
using GetErrorName = const char* (*)(Result);
using ContextCreate = Result (*)(void* cuda_context, const ContextOptions*, Context*);
using ContextGetProperty = Result (*)(Context, std::int32_t property, void* value, std::size_t bytes);
using ContextSetCacheEnabled = Result (*)(Context, std::int32_t enabled);
using ModuleCreate = Result (*)(Context, const ModuleOptions*, const PipelineOptions*, const char* input,
                                std::size_t bytes, char* log, std::size_t* log_bytes, Module*);
using ProgramGroupCreate = Result (*)(Context, const ProgramGroupDescription*, unsigned count,
                                      const ProgramGroupOptions*, char* log, std::size_t* log_bytes, ProgramGroup*);
using ProgramGroupGetStackSize = Result (*)(ProgramGroup, StackSizes*, Pipeline);
using PipelineCreate = Result (*)(Context, const PipelineOptions*, const LinkOptions*, const ProgramGroup*,
                                  unsigned count, char* log, std::size_t* log_bytes, Pipeline*);
using PipelineSetStackSize = Result (*)(Pipeline, unsigned callables_of_traversal, unsigned callables_of_state,
                                        unsigned continuation, unsigned graph_depth);
using AccelComputeMemoryUsage = Result (*)(Context, const BuildOptions*, const BuildInput*, unsigned count,
                                           BufferSizes*);
using AccelBuild = Result (*)(Context, StreamHandle, const BuildOptions*, const BuildInput*, unsigned count,
                              DevicePointer temporary, std::size_t temporary_bytes, DevicePointer output,
                              std::size_t output_bytes, Traversable*, const EmitRequest*, unsigned emit_count);
using AccelCompact = Result (*)(Context, StreamHandle, Traversable, DevicePointer output, std::size_t bytes,
                                Traversable*);
using RecordPackHeader = Result (*)(ProgramGroup, void* record);
using Launch = Result (*)(Pipeline, StreamHandle, DevicePointer parameters, std::size_t bytes, const BindingTable*,
                          unsigned width, unsigned height, unsigned depth);

inline constexpr const char* kEntrySymbol = "optixQueryFunctionTable";
using QueryFunctionTable = Result (*)(int version, unsigned option_count, void* keys, const void** values, void* table,
                                      std::size_t bytes);

/// What the entry symbol fills in.
struct FunctionTable {
  GetErrorName get_error_name;  // 0
  void* unused_1;
  ContextCreate context_create;  // 2
  void* unused_3;
  ContextGetProperty context_get_property;
  void* unused_5;
  ContextSetCacheEnabled context_set_cache_enabled;  // 6
  void* unused_7[5];
  ModuleCreate module_create;  // 12
  void* unused_13[5];
  ProgramGroupCreate program_group_create;  // 18
  void* unused_19;
  ProgramGroupGetStackSize program_group_get_stack_size;  // 20
  PipelineCreate pipeline_create;                         // 21
  void* unused_22;
  PipelineSetStackSize pipeline_set_stack_size;        // 23
  AccelComputeMemoryUsage accel_compute_memory_usage;  // 24
  AccelBuild accel_build;                              // 25
  void* unused_26[3];
  AccelCompact accel_compact;  // 29
  void* unused_30[8];
  RecordPackHeader record_pack_header;  // 38
  Launch launch;                        // 39
  void* unused_40[8];
};

static_assert(sizeof(void*) == 8, "the binary interface is that of 64-bit systems");
static_assert(sizeof(ContextOptions) == 24 && offsetof(ContextOptions, log_level) == 16 &&
              offsetof(ContextOptions, validation) == 20);
static_assert(sizeof(Box) == 24);
static_assert(sizeof(CustomPrimitives) == 56 && offsetof(CustomPrimitives, count) == 8 &&
              offsetof(CustomPrimitives, stride) == 12 && offsetof(CustomPrimitives, flags) == 16 &&
              offsetof(CustomPrimitives, record_count) == 24 && offsetof(CustomPrimitives, record_index) == 32 &&
              offsetof(CustomPrimitives, record_index_size) == 40 &&
              offsetof(CustomPrimitives, record_index_stride) == 44 && offsetof(CustomPrimitives, index_offset) == 48);
static_assert(sizeof(BuildInput) == 1032 && offsetof(BuildInput, primitives) == 8);
static_assert(sizeof(MotionOptions) == 12);
static_assert(sizeof(BuildOptions) == 20 && offsetof(BuildOptions, motion) == 8);
static_assert(sizeof(BufferSizes) == 24);
static_assert(sizeof(EmitRequest) == 16);
static_assert(sizeof(ModuleOptions) == 40 && offsetof(ModuleOptions, bound_values) == 16 &&
              offsetof(ModuleOptions, payload_types) == 32);
static_assert(sizeof(PipelineOptions) == 40 && offsetof(PipelineOptions, parameters) == 24 &&
              offsetof(PipelineOptions, primitive_types) == 32);
static_assert(sizeof(LinkOptions) == 4);
static_assert(sizeof(ProgramGroupDescription) == 56 && offsetof(ProgramGroupDescription, hit) == 8);
static_assert(sizeof(ProgramGroupOptions) == 8);
static_assert(sizeof(StackSizes) == 28);
static_assert(sizeof(BindingTable) == 64 && offsetof(BindingTable, miss) == 16 && offsetof(BindingTable, hit) == 32 &&
              offsetof(BindingTable, callables) == 48);
static_assert(sizeof(FunctionTable) == 384);
static_assert(offsetof(FunctionTable, module_create) == 12 * 8 && offsetof(FunctionTable, accel_build) == 25 * 8 &&
              offsetof(FunctionTable, accel_compact) == 29 * 8 &&
              offsetof(FunctionTable, record_pack_header) == 38 * 8 && offsetof(FunctionTable, launch) == 39 * 8);

}  // namespace rthiss::cuda::optix::abi
