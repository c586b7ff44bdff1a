# A floor is a folder: its *.c files, tests aside, become one library, and tests of a floor are linked
# with it and those below. The products are made from the objects of all.
set(weft_floors "" CACHE INTERNAL "") # the libraries, lowest floor first

add_library(weft_build INTERFACE) # how our own sources are compiled
target_compile_options(weft_build INTERFACE ${weft_warnings})
target_include_directories(weft_build INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(weft_build INTERFACE WEFT_VERSION="${PROJECT_VERSION}")
target_link_libraries(weft_build INTERFACE weft_needs)

# weft_glob(VARIABLE folder): the sources of a folder and of the folders in it, tests left out.
function(weft_glob variable folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c)
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.c$")
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

function(weft_floor floor)
  weft_glob(sources ${floor})
  if(NOT sources)
    return()
  endif()
  foreach(source ${sources}) # the log's component: the folder of the source
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS WEFT_COMPONENT="${folder}")
  endforeach()
  add_library(weft_${floor} STATIC ${sources})
  set_target_properties(weft_${floor} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/floors)
  target_link_libraries(weft_${floor} PRIVATE weft_build weft_proto_headers)
  set(weft_floors ${weft_floors} weft_${floor} CACHE INTERNAL "")
endfunction()

# weft_write_op_table(table sources...): one list per source that has an OPS(stem); weft_stems are what they are called.
function(weft_write_op_table table)
  set(externs "")
  set(rows "")
  set(names "")
  set(stems "")
  foreach(source ${ARGN})
    file(STRINGS ${source} lists REGEX "^OPS\\(")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    foreach(line ${lists})
      string(REGEX REPLACE "^OPS\\(([a-z0-9_]+)\\).*" "\\1" stem "${line}")
      string(APPEND externs "extern const op weft__ops_${stem}[];\n")
      string(APPEND rows "    weft__ops_${stem},\n")
      string(APPEND names "    \"${stem}\",\n")
      list(APPEND stems ${stem})
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${table} @ONLY CONTENT [[
/* Written by CMake from the files that have an OPS(stem). */
#include "ops/all.h"

@externs@
const op *const *weft__ops_all(void) {
  static const op *const all[] = {
@rows@    0,
  };
  return all;
}

const char *const *weft__ops_stems(void) {
  static const char *const stems[] = {
@names@    0,
  };
  return stems;
}
]])
  set(weft_stems ${stems} PARENT_SCOPE)
endfunction()

# The table of all ops, made from the folder.
function(weft_op_table)
  weft_glob(sources ops)
  weft_write_op_table(${PROJECT_BINARY_DIR}/op_table.c ${sources})
  target_sources(weft_ops PRIVATE ${PROJECT_BINARY_DIR}/op_table.c)
  set(weft_op_stems ${weft_stems} CACHE INTERNAL "")
endfunction()

# weft_embed(target file symbol): the file's bytes as `const unsigned char symbol[]`, and `symbol_size`.
function(weft_embed target file symbol)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(READ ${PROJECT_SOURCE_DIR}/${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${symbol}.c @ONLY CONTENT [[
/* Written by CMake from @file@. */
#include <stddef.h>
extern const unsigned char @symbol@[];
extern const size_t @symbol@_size;
const unsigned char @symbol@[] = {@bytes@};
const size_t @symbol@_size = sizeof @symbol@;
]])
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/${symbol}.c)
endfunction()
