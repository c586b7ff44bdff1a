/* target_clones.h - compiles a function for several processor generations (function multiversioning).
 *
 * The library is built for the oldest processor of its architecture.  A function marked WEFT_TARGET_CLONES is compiled
 * again for newer ones, and the loader picks a copy.  The copies are named by architecture level, because a name such
 * as skylake-avx512 matches that model only, and no later one.
 *
 * Sanitizer builds have one copy, because the sanitizer's runtime is not ready when the loader picks.  Clang has one
 * copy too: version 14 gives the function that the loader calls an external name, even for a static function, so two
 * files that use the same name would clash. */
#ifndef WEFT_BASE_TARGET_CLONES_H
#define WEFT_BASE_TARGET_CLONES_H

#include "base/sanitizer.h"

#if defined(__x86_64__) && !defined(WEFT_SANITIZED) && !defined(__clang__)
#define WEFT_TARGET_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WEFT_TARGET_CLONES
#endif

#endif
