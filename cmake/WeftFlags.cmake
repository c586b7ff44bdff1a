# How everything is compiled.  The choices are argued in docs/decisions.md.
set(WEFT_SANITIZE "" CACHE STRING "address (with undefined), thread, or empty")
set_property(CACHE WEFT_SANITIZE PROPERTY STRINGS "" address thread)
option(WEFT_WERROR "Warnings are errors" OFF)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# A program is linked again when its own files change, not when a shared library it uses does.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(WEFT_OPTIMIZE -O3 CACHE STRING "The optimization of a Release build")
set(CMAKE_C_FLAGS_RELEASE "${WEFT_OPTIMIZE} -g1 -DNDEBUG")

# NaN, infinities and signed zeros keep their meaning; only errno and floating-point traps, which
# nobody reads, are given up.  No contraction: a result must not depend on the processor's FMA.
add_compile_options(-fno-math-errno -fno-trapping-math -ffp-contract=off)
add_compile_options(-D_GNU_SOURCE=)
# Log lines name files from the root of the tree, whether or not a compiler cache makes paths relative.
add_compile_options($<$<COMPILE_LANGUAGE:C>:-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=>)

set(weft_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes)
# A case list is short, and -Wmissing-field-initializers would want every field.
list(APPEND weft_warnings -Wno-missing-field-initializers)
if(WEFT_WERROR)
  list(APPEND weft_warnings -Werror)
endif()

if(WEFT_SANITIZE STREQUAL "address")
  set(weft_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(WEFT_SANITIZE STREQUAL "thread")
  set(weft_sanitizers -fsanitize=thread)
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang") # sees operator new, so that tests/tsan.supp can tell what is gRPC's
    add_link_options(-fsanitize-link-c++-runtime)
    link_libraries(stdc++)
  endif()
elseif(WEFT_SANITIZE)
  message(FATAL_ERROR "WEFT_SANITIZE is '${WEFT_SANITIZE}': address or thread")
endif()
if(WEFT_SANITIZE)
  set(CMAKE_C_FLAGS_RELEASE "-O1 -g1") # asserts stay on; lines in stacks, no types
  if(WEFT_FUZZ)
    set(CMAKE_C_FLAGS_RELEASE "-O0 -g1") # clang 14 needs ten times as long for UBSan's checks at -O1
    list(APPEND weft_sanitizers -fsanitize=fuzzer-no-link)
  endif()
  add_compile_options(${weft_sanitizers} -fno-omit-frame-pointer)
  add_link_options(${weft_sanitizers})
endif()

find_program(WEFT_CCACHE ccache)
if(WEFT_CCACHE)
  # Paths relative to the checkout, so that two checkouts of one source share the cache.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
                                ${WEFT_CCACHE})
endif()
