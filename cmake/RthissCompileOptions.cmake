# Flags that every target of the project is compiled with, as the interface target rthiss_compile_options.
add_library(rthiss_compile_options INTERFACE)
target_compile_features(rthiss_compile_options INTERFACE cxx_std_20)
# The exactness rule depends on IEEE arithmetic: contraction would fuse what a bound counts as two roundings.
# The same for device code: -fmad=false, and FMA where it is written. (CMake 3.25 has no name for C++20 in CUDA 13.)
set(rthiss_host_flags -ffp-contract=off -fno-fast-math)
set(rthiss_device_flags -std=c++20 -fmad=false --expt-relaxed-constexpr)
option(RTHISS_WARNINGS_AS_ERRORS "Stop at the first warning" OFF)
if(PROJECT_IS_TOP_LEVEL)
  list(APPEND rthiss_host_flags -Wall -Wextra -Wshadow)
  target_compile_options(rthiss_compile_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Reports overlapping copies in std::string's own operator+ (GCC bug 105651).
    list(APPEND rthiss_host_flags -Wno-restrict)
  endif()
  if(RTHISS_WARNINGS_AS_ERRORS)
    list(APPEND rthiss_host_flags -Werror)
    list(APPEND rthiss_device_flags --Werror=all-warnings)
  endif()
endif()
list(JOIN rthiss_host_flags "," rthiss_host_flags_of_nvcc)
target_compile_options(
  rthiss_compile_options
  INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${rthiss_host_flags}>"
            "$<$<COMPILE_LANGUAGE:CUDA>:${rthiss_device_flags};-Xcompiler=${rthiss_host_flags_of_nvcc}>")
if(RTHISS_SANITIZE)
  target_compile_options(rthiss_compile_options INTERFACE -fsanitize=${RTHISS_SANITIZE} -fno-omit-frame-pointer
                                                          -fno-sanitize-recover=all)
  target_link_options(rthiss_compile_options INTERFACE -fsanitize=${RTHISS_SANITIZE})
endif()
