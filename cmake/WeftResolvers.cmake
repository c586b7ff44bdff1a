# Some functions exist once for each kind of processor (base/target_clones.h).  When libweft is loaded, the loader calls a
# resolver for each to choose one.  The compiler puts the resolver behind its function, so the loader touched 2 MB of code
# for 900 resolvers.  With sections of their own, the linker can put them side by side: they have 50 KB.
include(CheckLinkerFlag)
set(weft_resolvers ${PROJECT_SOURCE_DIR}/cmake/resolvers.ld)
if(NOT WEFT_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  check_linker_flag(C -Wl,-T,${weft_resolvers} WEFT_LINKER_TAKES_SCRIPT)
endif()

# weft_split_resolvers(source...): those that have resolvers, or include a header that makes some, get sections.
function(weft_split_resolvers)
  if(NOT WEFT_LINKER_TAKES_SCRIPT)
    return()
  endif()
  foreach(source ${ARGN})
    file(STRINGS ${source} found REGEX "TARGET_CLONES|/elementwise[.]h\"|/reduction[.]h\"|[.]inc\"")
    if(found)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -ffunction-sections)
    endif()
  endforeach()
endfunction()

# weft_join_resolvers(target): links the library with all resolvers side by side.
function(weft_join_resolvers target)
  if(WEFT_LINKER_TAKES_SCRIPT)
    target_link_options(${target} PRIVATE -Wl,-T,${weft_resolvers})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${weft_resolvers})
  endif()
endfunction()
