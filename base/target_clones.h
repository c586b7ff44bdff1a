/* target_clones.h - marks a loop for which the machine's widest vectors are worth a second copy of the code.
 *
 * The library is built for the oldest processor of its architecture; a function marked WEFT_TARGET_CLONES is
 * compiled once more for newer ones and the loader picks.  The copies are named by level, not by
 * processor: a name such as skylake-avx512 is given to that very model and to no later one.  Sanitizer builds have one copy: their
 * runtimes are not up yet when the loader picks.  Clang has one copy too: version 14 gives what the
 * loader calls an external name even in a static function, so two files with one name would clash. */
#ifndef WEFT_BASE_TARGET_CLONES_H
#define WEFT_BASE_TARGET_CLONES_H

#include "base/sanitizer.h"

#if defined(__x86_64__) && !defined(WEFT_SANITIZED) && !defined(__clang__)
#define WEFT_TARGET_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WEFT_TARGET_CLONES
#endif

#endif
