# Installs the library, its public headers, the program where it is built, and the CMake package `rthiss`.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/rthiss)

install(TARGETS rthiss EXPORT rthissTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET rthiss_cli)
  install(TARGETS rthiss_cli)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A shared library brings what it links; whoever links a static one needs the same packages again.
get_target_property(library_type rthiss TYPE)
if(library_type STREQUAL "STATIC_LIBRARY")
  set(RTHISS_IS_STATIC TRUE)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/RthissFindHighway.cmake DESTINATION ${package_folder})
else()
  set(RTHISS_IS_STATIC FALSE)
endif()

install(EXPORT rthissTargets NAMESPACE rthiss:: DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/rthissConfig.cmake.in rthissConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
# Before 1.0 a minor version may break what a program relies on (CONTRIBUTING.md, "Public API").
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(rthissConfigVersion.cmake COMPATIBILITY ${compatibility})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rthissConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/rthissConfigVersion.cmake
        DESTINATION ${package_folder})
