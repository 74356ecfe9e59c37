// Compares the declarations of abi.hpp with NVIDIA's own headers, which are not part of this project: configure with
// -DRTHISS_OPTIX_INCLUDE_DIR=<OptiX 8.0 SDK>/include. What compiles is right.
#include <cuda.h>
#include <optix.h>
#include <optix_function_table.h>

#include <cstddef>

#include "engine/cuda/optix/abi.hpp"

namespace abi = rthiss::cuda::optix::abi;

static_assert(OPTIX_ABI_VERSION == abi::kVersion, "the headers must be those of OptiX 8.0");

#define SAME_SIZE(own, genuine) static_assert(sizeof(abi::own) == sizeof(genuine))
#define SAME_PLACE(own, member, genuine, genuine_member) \
  static_assert(offsetof(abi::own, member) == offsetof(genuine, genuine_member))
#define SAME_VALUE(own, genuine) static_assert(static_cast<long long>(abi::own) == static_cast<long long>(genuine))

SAME_SIZE(ContextOptions, OptixDeviceContextOptions);
SAME_PLACE(ContextOptions, log, OptixDeviceContextOptions, logCallbackFunction);
SAME_PLACE(ContextOptions, log_data, OptixDeviceContextOptions, logCallbackData);
SAME_PLACE(ContextOptions, log_level, OptixDeviceContextOptions, logCallbackLevel);
SAME_PLACE(ContextOptions, validation, OptixDeviceContextOptions, validationMode);
SAME_SIZE(Box, OptixAabb);
SAME_SIZE(CustomPrimitives, OptixBuildInputCustomPrimitiveArray);
SAME_PLACE(CustomPrimitives, boxes, OptixBuildInputCustomPrimitiveArray, aabbBuffers);
SAME_PLACE(CustomPrimitives, count, OptixBuildInputCustomPrimitiveArray, numPrimitives);
SAME_PLACE(CustomPrimitives, stride, OptixBuildInputCustomPrimitiveArray, strideInBytes);
SAME_PLACE(CustomPrimitives, flags, OptixBuildInputCustomPrimitiveArray, flags);
SAME_PLACE(CustomPrimitives, record_count, OptixBuildInputCustomPrimitiveArray, numSbtRecords);
SAME_PLACE(CustomPrimitives, record_index, OptixBuildInputCustomPrimitiveArray, sbtIndexOffsetBuffer);
SAME_PLACE(CustomPrimitives, index_offset, OptixBuildInputCustomPrimitiveArray, primitiveIndexOffset);
SAME_SIZE(BuildInput, OptixBuildInput);
SAME_PLACE(BuildInput, primitives, OptixBuildInput, customPrimitiveArray);
SAME_SIZE(BuildOptions, OptixAccelBuildOptions);
SAME_PLACE(BuildOptions, operation, OptixAccelBuildOptions, operation);
SAME_PLACE(BuildOptions, motion, OptixAccelBuildOptions, motionOptions);
SAME_SIZE(BufferSizes, OptixAccelBufferSizes);
SAME_SIZE(EmitRequest, OptixAccelEmitDesc);
SAME_PLACE(EmitRequest, type, OptixAccelEmitDesc, type);
SAME_SIZE(ModuleOptions, OptixModuleCompileOptions);
SAME_PLACE(ModuleOptions, optimization, OptixModuleCompileOptions, optLevel);
SAME_PLACE(ModuleOptions, debug, OptixModuleCompileOptions, debugLevel);
SAME_PLACE(ModuleOptions, payload_types, OptixModuleCompileOptions, payloadTypes);
SAME_SIZE(PipelineOptions, OptixPipelineCompileOptions);
SAME_PLACE(PipelineOptions, graph_flags, OptixPipelineCompileOptions, traversableGraphFlags);
SAME_PLACE(PipelineOptions, payload_values, OptixPipelineCompileOptions, numPayloadValues);
SAME_PLACE(PipelineOptions, attribute_values, OptixPipelineCompileOptions, numAttributeValues);
SAME_PLACE(PipelineOptions, parameters, OptixPipelineCompileOptions, pipelineLaunchParamsVariableName);
SAME_PLACE(PipelineOptions, primitive_types, OptixPipelineCompileOptions, usesPrimitiveTypeFlags);
SAME_SIZE(LinkOptions, OptixPipelineLinkOptions);
SAME_SIZE(ProgramGroupDescription, OptixProgramGroupDesc);
SAME_PLACE(ProgramGroupDescription, hit, OptixProgramGroupDesc, hitgroup);
SAME_SIZE(ProgramGroupOptions, OptixProgramGroupOptions);
SAME_SIZE(StackSizes, OptixStackSizes);
SAME_PLACE(StackSizes, intersection, OptixStackSizes, cssIS);
SAME_SIZE(BindingTable, OptixShaderBindingTable);
SAME_PLACE(BindingTable, miss, OptixShaderBindingTable, missRecordBase);
SAME_PLACE(BindingTable, hit, OptixShaderBindingTable, hitgroupRecordBase);
SAME_PLACE(BindingTable, hit_count, OptixShaderBindingTable, hitgroupRecordCount);
SAME_SIZE(FunctionTable, OptixFunctionTable);
SAME_PLACE(FunctionTable, get_error_name, OptixFunctionTable, optixGetErrorName);
SAME_PLACE(FunctionTable, context_create, OptixFunctionTable, optixDeviceContextCreate);
SAME_PLACE(FunctionTable, context_get_property, OptixFunctionTable, optixDeviceContextGetProperty);
SAME_PLACE(FunctionTable, context_set_cache_enabled, OptixFunctionTable, optixDeviceContextSetCacheEnabled);
SAME_PLACE(FunctionTable, module_create, OptixFunctionTable, optixModuleCreate);
SAME_PLACE(FunctionTable, program_group_create, OptixFunctionTable, optixProgramGroupCreate);
SAME_PLACE(FunctionTable, program_group_get_stack_size, OptixFunctionTable, optixProgramGroupGetStackSize);
SAME_PLACE(FunctionTable, pipeline_create, OptixFunctionTable, optixPipelineCreate);
SAME_PLACE(FunctionTable, pipeline_set_stack_size, OptixFunctionTable, optixPipelineSetStackSize);
SAME_PLACE(FunctionTable, accel_compute_memory_usage, OptixFunctionTable, optixAccelComputeMemoryUsage);
SAME_PLACE(FunctionTable, accel_build, OptixFunctionTable, optixAccelBuild);
SAME_PLACE(FunctionTable, accel_compact, OptixFunctionTable, optixAccelCompact);
SAME_PLACE(FunctionTable, record_pack_header, OptixFunctionTable, optixSbtRecordPackHeader);
SAME_PLACE(FunctionTable, launch, OptixFunctionTable, optixLaunch);

SAME_VALUE(kSuccess, OPTIX_SUCCESS);
SAME_VALUE(kRecordBytes, OPTIX_SBT_RECORD_HEADER_SIZE);
SAME_VALUE(kRecordAlignment, OPTIX_SBT_RECORD_ALIGNMENT);
SAME_VALUE(kBuildInputCustomPrimitives, OPTIX_BUILD_INPUT_TYPE_CUSTOM_PRIMITIVES);
SAME_VALUE(kOperationBuild, OPTIX_BUILD_OPERATION_BUILD);
SAME_VALUE(kEmitCompactedSize, OPTIX_PROPERTY_TYPE_COMPACTED_SIZE);
SAME_VALUE(kOptimizationLevel3, OPTIX_COMPILE_OPTIMIZATION_LEVEL_3);
SAME_VALUE(kDebugNone, OPTIX_COMPILE_DEBUG_LEVEL_NONE);
SAME_VALUE(kKindRaygen, OPTIX_PROGRAM_GROUP_KIND_RAYGEN);
SAME_VALUE(kKindMiss, OPTIX_PROGRAM_GROUP_KIND_MISS);
SAME_VALUE(kKindHit, OPTIX_PROGRAM_GROUP_KIND_HITGROUP);
SAME_VALUE(kGeometryDisableAnyHit, OPTIX_GEOMETRY_FLAG_DISABLE_ANYHIT);
SAME_VALUE(kBuildAllowCompaction, OPTIX_BUILD_FLAG_ALLOW_COMPACTION);
SAME_VALUE(kBuildPreferFastTrace, OPTIX_BUILD_FLAG_PREFER_FAST_TRACE);
SAME_VALUE(kRayDisableAnyHit, OPTIX_RAY_FLAG_DISABLE_ANYHIT);
SAME_VALUE(kRayDisableClosestHit, OPTIX_RAY_FLAG_DISABLE_CLOSESTHIT);
SAME_VALUE(kGraphSingleAccel, OPTIX_TRAVERSABLE_GRAPH_FLAG_ALLOW_SINGLE_GAS);
SAME_VALUE(kPrimitiveTypeCustom, OPTIX_PRIMITIVE_TYPE_FLAGS_CUSTOM);
SAME_VALUE(kExceptionNone, OPTIX_EXCEPTION_FLAG_NONE);
SAME_VALUE(kPropertyMostPrimitives, OPTIX_DEVICE_PROPERTY_LIMIT_MAX_PRIMITIVES_PER_GAS);
SAME_VALUE(kPropertyRtCoreVersion, OPTIX_DEVICE_PROPERTY_RTCORE_VERSION);
