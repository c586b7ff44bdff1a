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
set_target_properties(weft_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                                             EXPORT_NAME weft)
add_library(weft::weft ALIAS weft_shared)
target_link_options(weft_shared PRIVATE -Wl,--as-needed)

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
                   COMMAND ${CMAKE_COMMAND} -E rename ${ops_header}.new ${ops_header}
                   DEPENDS ops_header weft_shared COMMENT "Writing weft/ops.h")
add_custom_target(weft_ops_header ALL DEPENDS ${ops_header})
target_include_directories(weft_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)

weft_glob(sources cli)
if(sources)
  weft_program(weft bin ${sources})
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
