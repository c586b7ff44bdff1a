# cmake --install: library, headers, weft.pc, the CMake package (target weft::weft), bin/weft, the Python package, the
# systemd unit, the examples' sources.  cpack -G DEB (in the build folder) makes Debian packages of the same, one for each
# component: libweft0.2 (library), libweft-dev (development), weft (tools) and python3-weft (python3).
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

install(TARGETS weft_shared EXPORT weftTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS weft_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h")
install(FILES ${ops_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft COMPONENT development)
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${package} COMPONENT development)
if(TARGET weft AND NOT SKBUILD)
  set_target_properties(weft PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS weft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(DIRECTORY ${weft_man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools FILES_MATCHING PATTERN "*.1.gz")
  install(FILES ${weft_completion}/weft DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
  install(FILES ${weft_completion}/_weft DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tools)
  install(FILES ${weft_completion}/weft.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/weftConfig.cmake @ONLY CONTENT [[
include(${CMAKE_CURRENT_LIST_DIR}/weftTargets.cmake)
]])
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
        DESTINATION ${package} COMPONENT development)

# What a program needs besides that is linked with libweft.a: pkg-config --static --libs weft.  Libraries in the linker's own
# folders are named as -lNAME, others by their path.
set(weft_private "")
get_target_property(needs weft_needs INTERFACE_LINK_LIBRARIES)
foreach(need ${needs})
  get_filename_component(folder "${need}" DIRECTORY)
  if(need MATCHES "^[$]<") # -lm, which follows
    continue()
  elseif(need STREQUAL "Threads::Threads")
    string(APPEND weft_private " -pthread")
  elseif(folder AND folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    get_filename_component(stem "${need}" NAME_WE)
    string(REGEX REPLACE "^lib" "" stem "${stem}")
    string(APPEND weft_private " -l${stem}")
  elseif(folder)
    string(APPEND weft_private " ${need}")
  else()
    string(APPEND weft_private " -l${need}")
  endif()
endforeach()
if(WEFT_MATH)
  string(APPEND weft_private " -lm")
endif()

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
Libs.private:@weft_private@
]])
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(TARGET weft_python AND NOT SKBUILD)
  set(python lib/python3/dist-packages/weft)
  file(RELATIVE_PATH library /root/${python} /root/${CMAKE_INSTALL_LIBDIR})
  set_target_properties(weft_python PROPERTIES INSTALL_RPATH "$ORIGIN/${library}")
  install(TARGETS weft_python LIBRARY DESTINATION ${python} COMPONENT python3)
  install(DIRECTORY python/weft/ DESTINATION ${python} COMPONENT python3 PATTERN __pycache__ EXCLUDE)
endif()
install(FILES deploy/weft@.service DESTINATION lib/systemd/system COMPONENT tools)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools RENAME copyright)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools FILES_MATCHING PATTERN "*.[ch]" PATTERN "*.py")

# ---- Debian packages ----
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The authors of Weft <weft@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library development tools)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib) # libweft.so of the other components
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
# weft_debian(COMPONENT package section description [depends]): a package that wants exactly this version of the library.
function(weft_debian component name section description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
  if(ARGN)
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARGN}" PARENT_SCOPE)
  endif()
endfunction()
set(exactly "libweft${weft_soversion} (= ${PROJECT_VERSION})")
# dpkg-shlibdeps does not see libraries that are loaded at run time.  Their packages' own lists (deb-shlibs(5)) say what
# to depend on: a line is "library version package ...".
set(loaded "")
find_program(DPKG_QUERY dpkg-query)
foreach(library ${weft_loaded})
  if(DPKG_QUERY)
    weft_file_of("${library}" soname)
    file(REAL_PATH "${library}" file)
    execute_process(COMMAND ${DPKG_QUERY} --search "${file}" OUTPUT_VARIABLE owner ERROR_QUIET)
    string(REGEX REPLACE ": .*" "" owner "${owner}")
    execute_process(COMMAND ${DPKG_QUERY} --control-show "${owner}" shlibs OUTPUT_VARIABLE rows ERROR_QUIET)
    string(REGEX REPLACE "^(.+)[.]so[.](.+)$" "\\1 \\2" key "${soname}")
    if(rows MATCHES "(^|\n)${key} ([^\n]+)")
      list(APPEND loaded "${CMAKE_MATCH_2}")
    endif()
  endif()
endforeach()
list(JOIN loaded ", " loaded)
weft_debian(library libweft${weft_soversion} libs "Weft's shared library" ${loaded})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "libsqlite3-0") # loaded by SqlDataset and CreateSummaryDbWriter only
weft_debian(development libweft-dev libdevel "Weft's headers, static library and build files" ${exactly})
weft_debian(tools weft science "The weft program, its manual and examples" ${exactly})
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "python3-weft (= ${PROJECT_VERSION})")
if(TARGET weft_python)
  list(APPEND CPACK_COMPONENTS_ALL python3)
  weft_debian(python3 python3-weft python "Weft's Python package, which runs TensorFlow 1 programs"
              "${exactly}, python3 (>= 3.11), python3-numpy")
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_RECOMMENDS "python3-lib2to3 | python3-fissix")
endif()
file(WRITE ${PROJECT_BINARY_DIR}/debian/library/triggers "activate-noawait ldconfig\n")
# What Python compiled while it was installed goes with it.
file(WRITE ${PROJECT_BINARY_DIR}/debian/python3/prerm "#!/bin/sh
set -e
find /usr/lib/python3/dist-packages/weft -name __pycache__ -prune -exec rm -rf {} +
")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/library/triggers)
set(CPACK_DEBIAN_PYTHON3_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/python3/prerm)
include(CPack)
