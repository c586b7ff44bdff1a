# tf.pb-c.c and tf.pb-c.h, made by protoc-c; generated code is compiled without our warnings.
set(weft_pb ${PROJECT_BINARY_DIR}/pb)
file(MAKE_DIRECTORY ${weft_pb})
add_custom_command(
  OUTPUT ${weft_pb}/tf.pb-c.c ${weft_pb}/tf.pb-c.h
  COMMAND ${PROTOC_C} --proto_path=${PROJECT_SOURCE_DIR}/proto --c_out=${weft_pb} tf.proto
  DEPENDS ${PROJECT_SOURCE_DIR}/proto/tf.proto
  COMMENT "protoc-c tf.proto")
add_library(weft_pb STATIC ${weft_pb}/tf.pb-c.c)
set_target_properties(weft_pb PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/floors)
target_compile_options(weft_pb PRIVATE -w)
target_include_directories(weft_pb PRIVATE ${weft_pb})
target_link_libraries(weft_pb PRIVATE weft_needs)

add_custom_target(weft_pb_files DEPENDS ${weft_pb}/tf.pb-c.h)
add_library(weft_proto_headers INTERFACE)
target_include_directories(weft_proto_headers SYSTEM INTERFACE ${weft_pb})
add_dependencies(weft_proto_headers weft_pb_files)
