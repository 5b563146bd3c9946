# `cmake --install` and the Debian package: `cmake --build --preset release --target deb` leaves it in the build folder.
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)   # the programs are installed, for which no test has to be built
set(documentation share/doc/ledgergate)

install(TARGETS ledgergate RUNTIME DESTINATION sbin)
install(TARGETS gatectl RUNTIME DESTINATION bin)
install(FILES deploy/systemd/ledgergate.service DESTINATION /usr/lib/systemd/system)
install(FILES deploy/debian/ledgergate.yaml DESTINATION /etc/ledgergate)
install(FILES deploy/debian/default DESTINATION /etc/default RENAME ledgergate)
install(FILES deploy/completion/gatectl.bash DESTINATION share/bash-completion/completions RENAME gatectl)
install(FILES deploy/debian/copyright README.md DESTINATION ${documentation})
install(DIRECTORY deploy/examples deploy/sql deploy/guides DESTINATION ${documentation} OPTIONAL)
install(DIRECTORY deploy/prometheus deploy/grafana DESTINATION share/ledgergate OPTIONAL)

# Debian wants these compressed, and without a time of their own so that the package is reproducible.
find_program(LG_GZIP gzip REQUIRED)
function(lg_install_compressed source name destination)
  set(compressed ${CMAKE_BINARY_DIR}/compressed/${name}.gz)
  add_custom_command(OUTPUT ${compressed}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/compressed
    COMMAND sh -c "${LG_GZIP} -9nc '${CMAKE_SOURCE_DIR}/${source}' > '${compressed}'"
    DEPENDS ${CMAKE_SOURCE_DIR}/${source} VERBATIM)
  install(FILES ${compressed} DESTINATION ${destination})
  set_property(GLOBAL APPEND PROPERTY LG_COMPRESSED ${compressed})
endfunction()
lg_install_compressed(deploy/man/ledgergate.8 ledgergate.8 share/man/man8)
lg_install_compressed(deploy/man/gatectl.1 gatectl.1 share/man/man1)
lg_install_compressed(deploy/CHANGELOG.md changelog ${documentation})
get_property(compressed GLOBAL PROPERTY LG_COMPRESSED)
add_custom_target(lg_compressed DEPENDS ${compressed})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ledgergate)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sidecar proxy for PostgreSQL that gates ledger transactions")
set(CPACK_PACKAGE_DESCRIPTION "ledgergate stands between an application and PostgreSQL. Every transaction that
 touches the ledger holds a shared advisory lock, the gate; a change of the ledger's
 mode takes it exclusively, so that no transaction sees two modes.")
set(CPACK_SET_DESTDIR ON)                  # some files lie outside of the prefix
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "ledgergate <ledgergate@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
foreach(name conffiles postinst prerm postrm)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/deploy/debian/${name})
endforeach()
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
add_custom_target(deb
  COMMAND ${CMAKE_CPACK_COMMAND} --config ${CMAKE_BINARY_DIR}/CPackConfig.cmake -G DEB -B ${CMAKE_BINARY_DIR}/packages
  DEPENDS ledgergate gatectl lg_compressed USES_TERMINAL)
