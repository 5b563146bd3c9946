# Run at each build, so that a commit since the last configuration is seen: writes build_information.cpp, and only
# when it would be another one. Given: LG_SOURCE, LG_VERSION, LG_COMMIT (empty: ask git), LG_TEMPLATE, LG_OUTPUT.
if(LG_COMMIT STREQUAL "")
  set(LG_COMMIT unknown)
  find_package(Git QUIET)
  if(GIT_FOUND)
    execute_process(
      COMMAND ${GIT_EXECUTABLE} -C ${LG_SOURCE} describe --always --dirty --abbrev=12 --exclude=*
      OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(LG_COMMIT ${described})
    endif()
  endif()
endif()
configure_file(${LG_TEMPLATE} ${LG_OUTPUT} @ONLY)
