# cmake --install: library, headers, weft.pc, the CMake package (target weft::weft) and bin/weft.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

install(TARGETS weft_shared EXPORT weftTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${ops_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${package})
if(TARGET weft)
  set_target_properties(weft PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS weft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
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
