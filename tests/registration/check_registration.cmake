# Compares the test programs that are built (one path a line in TEST_PROGRAMS) with the commands that CTEST runs in BUILD.
execute_process(COMMAND ${CTEST} --test-dir ${BUILD} --show-only=json-v1 OUTPUT_VARIABLE tests
                COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${TEST_PROGRAMS} programs)
if(NOT programs)
  message(FATAL_ERROR "no test program is built")
endif()
set(missing)
foreach(program IN LISTS programs)
  # With the closing quote: the name of one program may begin that of another.
  string(FIND "${tests}" "${program}\"" position)
  if(position EQUAL -1)
    list(APPEND missing ${program})
  endif()
endforeach()
if(missing)
  list(JOIN missing "\n  " lines)
  message(FATAL_ERROR "built, but run by no test:\n  ${lines}")
endif()
