# Copies what the module and the program link into the wheel, each library once and under the name it is looked for.
# Left out: the C and C++ run time, which every Python process has, and the libraries of a GPU's driver.
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${rthiss_program}
  MODULES ${rthiss_module}
  RESOLVED_DEPENDENCIES_VAR libraries
  UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so" "^lib(cuda|nvidia-.*|nvoptix)\\.so")
if(missing)
  message(FATAL_ERROR "The wheel would miss libraries that were not found: ${missing}")
endif()
foreach(library IN LISTS libraries)
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${library} original)
  file(MAKE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/rthiss/lib)
  file(COPY_FILE ${original} ${CMAKE_INSTALL_PREFIX}/rthiss/lib/${name})
  message(STATUS "Bundled: ${name}")
endforeach()
