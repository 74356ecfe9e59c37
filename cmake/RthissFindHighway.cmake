# Sets RTHISS_HIGHWAY to the targets of Highway. Debian's package ships pkg-config files, newer ones a CMake package.
# Used by the build and, for static libraries, by the installed package.
find_package(hwy QUIET CONFIG)
if(hwy_FOUND)
  set(RTHISS_HIGHWAY hwy::hwy hwy::hwy_contrib)
else()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(highway REQUIRED IMPORTED_TARGET libhwy libhwy-contrib)
  set(RTHISS_HIGHWAY PkgConfig::highway)
endif()
