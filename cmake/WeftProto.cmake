# NAME.pb-c.c and NAME.pb-c.h for every proto/NAME.proto, made by protoc-c; generated code is compiled without our
# warnings.
set(weft_pb ${PROJECT_BINARY_DIR}/pb)
file(MAKE_DIRECTORY ${weft_pb})
file(GLOB protos CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/proto/*.proto)
set(weft_pb_sources "")
set(weft_pb_headers "")
foreach(proto ${protos})
  get_filename_component(name ${proto} NAME_WE)
  add_custom_command(
    OUTPUT ${weft_pb}/${name}.pb-c.c ${weft_pb}/${name}.pb-c.h
    COMMAND ${PROTOC_C} --proto_path=${PROJECT_SOURCE_DIR}/proto --c_out=${weft_pb} ${name}.proto
    DEPENDS ${protos}
    COMMENT "protoc-c ${name}.proto")
  list(APPEND weft_pb_sources ${weft_pb}/${name}.pb-c.c)
  list(APPEND weft_pb_headers ${weft_pb}/${name}.pb-c.h)
endforeach()
weft_floor_library(weft_pb ${weft_pb_sources} ${weft_pb_headers})
target_compile_options(weft_pb PRIVATE -w)
target_include_directories(weft_pb PRIVATE ${weft_pb})
target_link_libraries(weft_pb PRIVATE weft_needs)

add_custom_target(weft_pb_files DEPENDS ${weft_pb_headers})
add_library(weft_proto_headers INTERFACE)
target_include_directories(weft_proto_headers SYSTEM INTERFACE ${weft_pb})
add_dependencies(weft_proto_headers weft_pb_files)
