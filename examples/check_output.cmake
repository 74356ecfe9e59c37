# Runs PROGRAM and compares what it prints with the file EXPECTED.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE output RESULT_VARIABLE result)
file(READ ${EXPECTED} expected)
if(NOT result STREQUAL "0" OR NOT output STREQUAL expected)
  message(FATAL_ERROR "exit status ${result}; printed\n${output}\nexpected\n${expected}")
endif()
