# libweft_cuda.so: every .cu file of device/, kernels/ and ops/, in one plug-in that libweft loads where there is a card.
#
# nvcc is the machine's, or comes from PyPI (scripts/setup puts it into the virtual environment).  It is called by
# plain commands: CMake's CUDA language wants a compiler that can link a program, which wheels alone do not give.
option(WEFT_WITH_CUDA "Build the CUDA plug-in if nvcc is found" ON)
set(WEFT_CUDA_ARCHITECTURES "90" CACHE STRING "Cards to have machine code for; others get the PTX that goes with it")
if(NOT WEFT_WITH_CUDA OR WEFT_SANITIZE)
  string(APPEND weft_summary "\n  CUDA       left out: the plug-in for NVIDIA cards")
  return()
endif()

set(venv "$ENV{WEFT_VENV}") # as scripts/lib.sh has it
if(NOT venv)
  set(venv .venv)
endif()
get_filename_component(venv "${venv}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
file(GLOB weft_wheels ${venv}/lib/python3*/site-packages/nvidia/cu1*)
find_program(WEFT_NVCC nvcc HINTS ${weft_wheels} /usr/local/cuda ENV CUDA_HOME PATH_SUFFIXES bin)
if(NOT WEFT_NVCC)
  string(APPEND weft_summary "\n  CUDA       not found, left out: the plug-in for NVIDIA cards (scripts/setup brings it)")
  return()
endif()

file(REAL_PATH ${WEFT_NVCC} nvcc)
get_filename_component(nvcc_root ${nvcc} DIRECTORY)
get_filename_component(nvcc_root ${nvcc_root} DIRECTORY)
file(GLOB cuda_roots ${nvcc_root} ${nvcc_root}/targets/* ${nvcc_root}/../*)
find_library(WEFT_CUDART cudart_static HINTS ${cuda_roots} PATH_SUFFIXES lib lib64)
foreach(header cuda_runtime cuda_fp16 nv/target crt/host_config)
  string(MAKE_C_IDENTIFIER ${header} name)
  find_path(WEFT_CUDA_${name} NAMES ${header}.h ${header} HINTS ${cuda_roots} PATH_SUFFIXES include include/cccl)
  if(NOT WEFT_CUDA_${name})
    string(APPEND weft_summary "\n  CUDA       left out: ${header}.h is missing beside ${WEFT_NVCC}")
    return()
  endif()
  if(NOT WEFT_CUDA_${name} MATCHES "^/usr/include") # which the compiler knows, and must find last
    list(APPEND cuda_includes -I${WEFT_CUDA_${name}})
  endif()
endforeach()
if(NOT WEFT_CUDART)
  string(APPEND weft_summary "\n  CUDA       left out: libcudart_static.a is missing beside ${WEFT_NVCC}")
  return()
endif()
list(REMOVE_DUPLICATES cuda_includes)

# One PTX, of the oldest cards we know of, for all: the driver turns it into code for a card not named above.
list(TRANSFORM WEFT_CUDA_ARCHITECTURES PREPEND "sm_" OUTPUT_VARIABLE cuda_codes)
list(JOIN cuda_codes "," cuda_codes)
set(cuda_codes "-gencode=arch=compute_80,code=[${cuda_codes},compute_80]")
set(cuda_flags -std=c++17 -O3 --compiler-bindir=${CMAKE_C_COMPILER} -Xcompiler=-fPIC,-fvisibility=hidden,-Wall
               -Werror=all-warnings -Xfatbin=-compress-all)

file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/device/*.cu ${PROJECT_SOURCE_DIR}/kernels/*.cu
     ${PROJECT_SOURCE_DIR}/ops/*.cu)
set(objects "")
set(externs "")
set(rows "")
foreach(source ${cuda_sources})
  get_filename_component(stem ${source} NAME_WE)
  file(STRINGS ${source} lists REGEX "^GPU_OPS\\(")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  foreach(line ${lists})
    string(REGEX REPLACE "^GPU_OPS\\(([a-z0-9_]+)\\).*" "\\1" list "${line}")
    string(APPEND externs "extern const gpu_kernel weft__gpu_ops_${list}[];\n")
    string(APPEND rows "    weft__gpu_ops_${list},\n")
  endforeach()
  list(APPEND cuda_units ${source})
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/gpu_table.cu @ONLY CONTENT [[
/* gpu_table.cu - written by CMake from the .cu files of ops/. */
#include "kernels/gpu/gpu.cuh"

extern "C" {
@externs@
}
const gpu_host *weft__gpu;
gpu_mover *weft__gpu_mover();         /* move.cu */
gpu_adder *weft__gpu_adder();         /* addn.cu */
const gpu_chains *weft__gpu_chains(); /* chain.cu */
const gpu_products *weft__gpu_products(); /* einsum.cu */

extern "C" {
WEFT_API const gpu_kernel *const *weft_cuda_kernels(const gpu_host *host) {
  static const gpu_kernel *const all[] = {
@rows@      nullptr,
  };
  weft__gpu = host;
  host->use_mover(weft__gpu_mover());
  host->use_adder(weft__gpu_adder());
  host->use_chains(weft__gpu_chains());
  host->use_products(weft__gpu_products());
  return all;
}
}
]])

foreach(source ${cuda_units} ${PROJECT_BINARY_DIR}/gpu_table.cu)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  get_filename_component(stem ${source} NAME_WE)
  set(object ${PROJECT_BINARY_DIR}/cuda/${folder}_${stem}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${WEFT_NVCC} ${cuda_flags} ${cuda_codes} -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include
            ${cuda_includes} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "nvcc ${stem}.cu" VERBATIM)
  list(APPEND objects ${object})
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/cuda)

set(weft_cuda ${PROJECT_BINARY_DIR}/lib/libweft_cuda.so)
add_custom_command(OUTPUT ${weft_cuda}
  COMMAND ${CMAKE_C_COMPILER} -shared -o ${weft_cuda} ${objects} ${WEFT_CUDART} -lstdc++ -lm -lpthread -ldl -lrt
          -Wl,--no-undefined -Wl,--exclude-libs,ALL -Wl,--gc-sections
  DEPENDS ${objects} COMMENT "Linking libweft_cuda.so" VERBATIM)
add_custom_target(weft_cuda ALL DEPENDS ${weft_cuda})
install(FILES ${weft_cuda} DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
string(APPEND weft_summary "\n  CUDA       found: the plug-in for NVIDIA cards (sm_${WEFT_CUDA_ARCHITECTURES})")
