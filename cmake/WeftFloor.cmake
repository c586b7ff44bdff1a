# A floor is a folder: its *.c files, tests aside, become one library, and tests of a floor are linked
# with it and those below. The products are made from the objects of all.
#
# The libraries of the floors stay in the build tree.  They are shared, so that a changed file relinks its floor and
# libweft, and none of the test programs.  Sanitizers get static ones: each program then has one instrumented image.
set(weft_floors "" CACHE INTERNAL "") # the libraries, highest floor first
set(weft_floor_kind SHARED)
if(WEFT_SANITIZE)
  set(weft_floor_kind STATIC)
endif()

# These linkers take a quarter to a half of the time of binutils' ld.  What is shipped, and what is instrumented, keeps
# the compiler's own linker.
set(weft_test_linker "")
if(NOT WEFT_SANITIZE)
  include(CheckLinkerFlag)
  foreach(linker lld gold)
    check_linker_flag(C -fuse-ld=${linker} WEFT_LINKER_${linker})
    if(WEFT_LINKER_${linker})
      set(weft_test_linker -fuse-ld=${linker})
      break()
    endif()
  endforeach()
endif()

# weft_floor_library(target source...): built where a test asks for it.  Other floors see all its functions; libweft.so
# hides what is not public (cmake/libweft.map).  -z defs: a floor that needs one above it is not linked.
function(weft_floor_library target)
  add_library(${target} ${weft_floor_kind} EXCLUDE_FROM_ALL ${ARGN})
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET default
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/floors LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/floors)
  target_compile_options(${target} PRIVATE -fno-semantic-interposition)
  target_link_options(${target} PRIVATE -Wl,-z,defs,--as-needed ${weft_test_linker})
endfunction()

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
  weft_split_resolvers(${sources})
  weft_floor_library(weft_${floor} ${sources})
  target_link_libraries(weft_${floor} PRIVATE weft_build weft_proto_headers ${weft_floors} weft_pb)
  set(weft_floors weft_${floor} ${weft_floors} CACHE INTERNAL "")
endfunction()

# weft_write_op_table(table sources...): one list per source that has an OPS(stem); weft_stems are what they are called.
function(weft_write_op_table table)
  set(externs "")
  set(rows "")
  set(names "")
  set(files "")
  set(stems "")
  foreach(source ${ARGN})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    file(STRINGS ${source} lists REGEX "^OPS\\(")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    foreach(line ${lists})
      string(REGEX REPLACE "^OPS\\(([a-z0-9_]+)\\).*" "\\1" stem "${line}")
      string(APPEND externs "extern const op weft__ops_${stem}[];\n")
      string(APPEND rows "    weft__ops_${stem},\n")
      string(APPEND names "    \"${stem}\",\n")
      string(APPEND files "    \"${path}\",\n")
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

const char *const *weft__ops_files(void) {
  static const char *const files[] = {
@files@    0,
  };
  return files;
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
