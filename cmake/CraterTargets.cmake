# crater_library(NAME [DIR dir] [DEPS crater libraries...] [LIBS public packages...] [PRIVATE_LIBS packages...] [EXCLUDE regex])
#
# One static library per folder: sources are every *.cc below it except *_test.cc, the include root is include/. Only what
# DEPS names can be included: a wrong-way include does not compile, and linkcheck_NAME proves that the archive needs
# nothing else. The *_test.cc beside the code become one program with the label `unit`.
include(GoogleTest)
set(CRATER_EMPTY_MAIN ${CMAKE_SOURCE_DIR}/cmake/empty_main.cc)

function(crater_library name)
  cmake_parse_arguments(A "" "DIR;EXCLUDE" "DEPS;LIBS;PRIVATE_LIBS;TEST_LIBS" ${ARGN})
  set(root ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(A_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${A_EXCLUDE}")
    list(FILTER tests EXCLUDE REGEX "${A_EXCLUDE}")
  endif()
  list(TRANSFORM A_DEPS PREPEND crater_ OUTPUT_VARIABLE deps)

  add_library(crater_${name} STATIC ${sources})
  target_include_directories(crater_${name} PUBLIC ${root}/include PRIVATE ${root})
  target_link_libraries(crater_${name} PUBLIC ${deps} ${A_LIBS} PRIVATE ${A_PRIVATE_LIBS})
  if(NOT name STREQUAL "proto")
    target_precompile_headers(crater_${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)
  endif()

  add_executable(linkcheck_${name} ${CRATER_EMPTY_MAIN})
  target_link_libraries(linkcheck_${name} PRIVATE -Wl,--whole-archive crater_${name} -Wl,--no-whole-archive)
  set_target_properties(linkcheck_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/linkcheck)

  if(tests)
    add_executable(${name}_test ${tests})
    target_include_directories(${name}_test PRIVATE ${root})
    target_link_libraries(${name}_test PRIVATE crater_${name} ${A_TEST_LIBS} GTest::gmock GTest::gtest GTest::gtest_main)
    set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_precompile_headers(${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h <gtest/gtest.h>)
    gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endfunction()

# crater_app(NAME DEPS crater libraries... [LIBS packages...]): one binary from the folder it is called in.
function(crater_app name)
  cmake_parse_arguments(A "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM A_DEPS PREPEND crater_ OUTPUT_VARIABLE deps)
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)
  target_link_libraries(${name} PRIVATE ${deps} ${A_LIBS})
endfunction()
