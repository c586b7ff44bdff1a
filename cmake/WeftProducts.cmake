# What people use: build/lib/libweft.so, build/bin/weft, build/examples/*.
set(objects "")
foreach(floor ${weft_floors} weft_pb)
  list(APPEND objects $<TARGET_OBJECTS:${floor}>)
endforeach()

foreach(kind SHARED STATIC)
  string(TOLOWER weft_${kind} target)
  add_library(${target} ${kind} ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME weft LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:weft_needs>)
endforeach()
# Until 1.0 a minor version may change the ABI (docs/abi.md), so the SONAME has it: libweft.so.0.2.
set(weft_soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set_target_properties(weft_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${weft_soversion} EXPORT_NAME weft)
add_library(weft::weft ALIAS weft_shared)
target_link_options(weft_shared PRIVATE -Wl,--as-needed,--version-script=${PROJECT_SOURCE_DIR}/cmake/libweft.map)
set_target_properties(weft_shared PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/libweft.map)
weft_join_resolvers(weft_shared)

# weft_program(name folder-of-output source...): uses the public header and the shared library, no more.
function(weft_program name output)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${output})
  target_compile_options(${name} PRIVATE ${weft_warnings})
  if(TARGET weft_ops_header)
    add_dependencies(${name} weft_ops_header)
  endif()
  target_link_libraries(${name} PRIVATE weft::weft Threads::Threads $<$<BOOL:${WEFT_MATH}>:m>)
endfunction()

# weft/ops.h, a function for every op: printed by a program that walks the table.
weft_program(ops_header tools tools/ops_header.c)
set(ops_header ${PROJECT_BINARY_DIR}/include/weft/ops.h)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/weft)
add_custom_command(OUTPUT ${ops_header} COMMAND ops_header > ${ops_header}.new
                   COMMAND ${CMAKE_COMMAND} -E copy_if_different ${ops_header}.new ${ops_header}
                   DEPENDS ops_header weft_shared COMMENT "Writing weft/ops.h")
add_custom_target(weft_ops_header ALL DEPENDS ${ops_header})
target_include_directories(weft_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)

# The commands of bin/weft: one row per file of cli/ that has a cli_command.
weft_glob(sources cli)
set(externs "")
set(rows "")
foreach(source ${sources})
  file(STRINGS ${source} found REGEX "^const cli_command cli_[a-z]+ = ")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  foreach(line ${found})
    string(REGEX REPLACE "^const cli_command (cli_[a-z]+) .*" "\\1" name "${line}")
    string(APPEND externs "extern const cli_command ${name};\n")
    string(APPEND rows "    &${name},\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/command_table.c @ONLY CONTENT [[
/* command_table.c - written by CMake from the files in cli/. */
#include "cli/command.h"

@externs@
const cli_command *const cli_commands[] = {
@rows@    NULL,
};
]])
if(sources)
  weft_program(weft bin ${sources} ${PROJECT_BINARY_DIR}/command_table.c)
  target_include_directories(weft PRIVATE ${PROJECT_SOURCE_DIR})
  if(WEFT_HAVE_ZLIB) # archives of NumPy's
    target_compile_definitions(weft PRIVATE WEFT_HAVE_ZLIB=1)
    target_link_libraries(weft PRIVATE ${WEFT_ZLIB_LIBRARY_z})
  endif()

  # What the commands say of themselves, as compressed man pages and as completions of three shells.
  set(weft_man ${PROJECT_BINARY_DIR}/man)
  set(weft_completion ${PROJECT_BINARY_DIR}/completion)
  file(MAKE_DIRECTORY ${weft_completion})
  add_custom_command(OUTPUT ${weft_completion}/weft
                     COMMAND weft help --man-pages ${weft_man}
                     COMMAND sh -c "gzip -9nf ${weft_man}/*.1"
                     COMMAND weft help --completion bash > ${weft_completion}/weft
                     COMMAND weft help --completion zsh > ${weft_completion}/_weft
                     COMMAND weft help --completion fish > ${weft_completion}/weft.fish
                     DEPENDS weft COMMENT "Writing man pages and completion")
  add_custom_target(weft_pages ALL DEPENDS ${weft_completion}/weft)
endif()
weft_glob(sources examples)
foreach(source ${sources})
  get_filename_component(stem ${source} NAME_WE)
  weft_program(example_${stem} examples ${source})
  set_target_properties(example_${stem} PROPERTIES OUTPUT_NAME ${stem})
endforeach()
weft_glob(sources bench)
foreach(source ${sources})
  get_filename_component(stem ${source} NAME_WE)
  weft_program(bench_${stem} bench ${source})
  set_target_properties(bench_${stem} PROPERTIES OUTPUT_NAME ${stem})
endforeach()
