# The Python package: python/ext/*.c becomes weft/_weft.abi3.so, on CPython's stable ABI from 3.11 on, and
# build/python is a folder to put on PYTHONPATH: the extension beside links to the package's files.
find_package(Python3 3.11 QUIET COMPONENTS Interpreter Development.Module)
set(WEFT_PYTHON_FOUND ${Python3_Development.Module_FOUND})
if(NOT WEFT_PYTHON_FOUND)
  string(APPEND weft_summary "\n  PYTHON     left out: the package weft needs Python 3.11 or later, with its headers")
  return()
endif()
string(APPEND weft_summary "\n  PYTHON     found: the package weft, build/python")

weft_glob(sources python/ext)
add_library(weft_python MODULE ${sources})
set_target_properties(weft_python PROPERTIES PREFIX "" OUTPUT_NAME _weft SUFFIX .abi3.so
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/weft INSTALL_RPATH "$ORIGIN")
target_include_directories(weft_python SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_compile_options(weft_python PRIVATE ${weft_warnings} -Wno-pedantic) # type slots hold functions as void *
target_link_libraries(weft_python PRIVATE weft::weft)

set(package ${PROJECT_SOURCE_DIR}/python/weft)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/weft)
file(GLOB entries CONFIGURE_DEPENDS RELATIVE ${package} ${package}/*)
list(REMOVE_ITEM entries __pycache__)
foreach(entry ${entries}) # a module, or a sub-package as a whole
  file(CREATE_LINK ${package}/${entry} ${PROJECT_BINARY_DIR}/python/weft/${entry} SYMBOLIC)
endforeach()
file(GLOB links RELATIVE ${PROJECT_BINARY_DIR}/python/weft ${PROJECT_BINARY_DIR}/python/weft/*)
foreach(link ${links}) # to a module that is gone
  if(IS_SYMLINK ${PROJECT_BINARY_DIR}/python/weft/${link} AND NOT link IN_LIST entries)
    file(REMOVE ${PROJECT_BINARY_DIR}/python/weft/${link})
  endif()
endforeach()

# What a wheel carries (pyproject.toml): the extension, the library beside it, where its RUNPATH looks, and bin/weft, which
# weft_command.py starts.  auditwheel does not see libraries that are loaded at run time, so these lie there too.
# Nothing has debug information, as in the Debian packages.
if(SKBUILD)
  target_link_options(weft_shared PRIVATE -s)
  set_target_properties(weft_shared PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  install(TARGETS weft_python LIBRARY DESTINATION weft COMPONENT python)
  install(FILES $<TARGET_FILE:weft_shared> DESTINATION weft RENAME libweft.so.${weft_soversion} COMPONENT python)
  set_target_properties(weft PROPERTIES INSTALL_RPATH "$ORIGIN/..")
  install(TARGETS weft RUNTIME DESTINATION weft/bin COMPONENT python)
  install(FILES python/weft_command.py DESTINATION . COMPONENT python)
  foreach(library ${weft_loaded})
    weft_file_of("${library}" file)
    file(REAL_PATH "${library}" library)
    install(FILES ${library} DESTINATION weft RENAME ${file} COMPONENT python)
  endforeach()
endif()
