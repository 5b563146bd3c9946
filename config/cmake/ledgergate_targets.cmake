# Warnings and hardening live in interface targets, never in global flags.
add_library(lg_warnings INTERFACE)
target_compile_options(lg_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wswitch-enum -Werror)
target_include_directories(lg_warnings INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false positives from inlined standard containers under these two.
  target_compile_options(lg_warnings INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()
if(LG_SANITIZE)
  add_compile_options(-fsanitize=${LG_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LG_SANITIZE})
  if(LG_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=all)
  endif()
  if(LG_SANITIZE MATCHES "thread")
    # The fence in <atomic> is not modelled by tsan and would end a -Werror build.
    add_compile_options(-Wno-tsan)
  endif()
endif()

# lg_library(NAME sources... LINKS public dependencies... PRIVATE_LINKS dependencies...)
function(lg_library name)
  cmake_parse_arguments(ARG "" "" "LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE lg_warnings ${ARG_PRIVATE_LINKS})
endfunction()

# lg_unit_test(NAME sources... LIBS libraries...): a GoogleTest program that needs nothing but itself.
function(lg_unit_test name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE lg_warnings GTest::gmock GTest::gtest_main ${ARG_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
