# cmake --install: library, headers, weft.pc, the CMake package (target weft::weft), bin/weft, the Python package, the
# systemd unit, the examples' sources.  cpack -G DEB (in the build folder) makes a Debian package of the same.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

install(TARGETS weft_shared EXPORT weftTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${ops_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${package})
if(TARGET weft)
  set_target_properties(weft PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS weft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${weft_man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
  install(FILES ${weft_completion}/weft DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${weft_completion}/_weft DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${weft_completion}/weft.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/weftConfig.cmake @ONLY CONTENT [[
include(${CMAKE_CURRENT_LIST_DIR}/weftTargets.cmake)
]])
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
        DESTINATION ${package})

# Relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH weft_pc_up /root/${CMAKE_INSTALL_LIBDIR}/pkgconfig /root)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/weft.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@weft_pc_up@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@

Name: weft
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Cflags: -I${includedir}
Libs: -L${libdir} -lweft
]])
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET weft_python AND NOT SKBUILD)
  set(python lib/python3/dist-packages/weft)
  file(RELATIVE_PATH library /root/${python} /root/${CMAKE_INSTALL_LIBDIR})
  set_target_properties(weft_python PROPERTIES INSTALL_RPATH "$ORIGIN/${library}")
  install(TARGETS weft_python LIBRARY DESTINATION ${python})
  install(DIRECTORY python/weft/ DESTINATION ${python} PATTERN __pycache__ EXCLUDE)
endif()
install(FILES deploy/weft@.service DESTINATION lib/systemd/system)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.[ch]" PATTERN "*.py")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The authors of Weft <weft@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(WEFT_HAVE_MICROHTTPD) # loaded at run time, which is not seen
  set(CPACK_DEBIAN_PACKAGE_DEPENDS libmicrohttpd12)
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3 (>= 3.11), python3-numpy, python3-lib2to3 | python3-fissix")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
# What Python compiled while it was installed goes with it.
file(WRITE ${PROJECT_BINARY_DIR}/debian/prerm "#!/bin/sh
set -e
find /usr/lib/python3/dist-packages/weft -name __pycache__ -prune -exec rm -rf {} +
")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers ${PROJECT_BINARY_DIR}/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
include(CPack)
