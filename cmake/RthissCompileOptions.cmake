# Flags that every target of the project is compiled with, as the interface target rthiss_compile_options.
add_library(rthiss_compile_options INTERFACE)
target_compile_features(rthiss_compile_options INTERFACE cxx_std_20)
# The exactness rule depends on IEEE arithmetic: contraction would fuse what a bound counts as two roundings.
target_compile_options(rthiss_compile_options INTERFACE -ffp-contract=off -fno-fast-math)
option(RTHISS_WARNINGS_AS_ERRORS "Stop at the first warning" OFF)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(rthiss_compile_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Reports overlapping copies in std::string's own operator+ (GCC bug 105651).
    target_compile_options(rthiss_compile_options INTERFACE -Wno-restrict)
  endif()
  if(RTHISS_WARNINGS_AS_ERRORS)
    target_compile_options(rthiss_compile_options INTERFACE -Werror)
  endif()
endif()
if(RTHISS_SANITIZE)
  target_compile_options(rthiss_compile_options INTERFACE -fsanitize=${RTHISS_SANITIZE} -fno-omit-frame-pointer
                                                          -fno-sanitize-recover=all)
  target_link_options(rthiss_compile_options INTERFACE -fsanitize=${RTHISS_SANITIZE})
endif()
