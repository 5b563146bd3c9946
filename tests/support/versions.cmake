# Tests with a server run against Debian's own PostgreSQL (pg.NAME), and once more for each newer major version that the
# configuration names (pg17.NAME, pg18.NAME): LG_PG_VERSIONS is a list of MAJOR=FOLDER, the folder with initdb and
# postgres, as tests/support/postgresql_versions prints it. tests/run --all-versions sets it.
set(LG_PG_VERSIONS "" CACHE STRING "newer servers to run the server tests against, as MAJOR=FOLDER;..")

# lg_server_test(NAME name COMMAND command.. [TIMEOUT seconds] [ENVIRONMENT name=value..] [CORE])
# All have the label pg. On a newer major they have pg_newer too, or pg_newer_core where CORE says that they look at
# the server itself and not at clients or commands, so that they suffice to tell whether it behaves as the gate needs.
function(lg_server_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "CORE" "NAME;TIMEOUT" "COMMAND;ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  add_test(NAME pg.${arg_NAME} COMMAND ${arg_COMMAND})
  set_tests_properties(pg.${arg_NAME} PROPERTIES
    LABELS pg TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
  set(label pg_newer)
  if(arg_CORE)
    set(label pg_newer_core)
  endif()
  foreach(version IN LISTS LG_PG_VERSIONS)
    string(REGEX MATCH "^([0-9]+)=(.+)$" found "${version}")
    if(NOT found)
      message(FATAL_ERROR "LG_PG_VERSIONS: ${version} is not MAJOR=FOLDER")
    endif()
    set(name pg${CMAKE_MATCH_1}.${arg_NAME})
    add_test(NAME ${name} COMMAND ${arg_COMMAND})
    set_tests_properties(${name} PROPERTIES
      LABELS "pg;${label}" TIMEOUT ${arg_TIMEOUT}
      ENVIRONMENT "${arg_ENVIRONMENT};LEDGERGATE_PG_BINDIR=${CMAKE_MATCH_2}"
      ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${CMAKE_MATCH_2}")   # psql, pg_dump and pgbench of that major
  endforeach()
endfunction()
