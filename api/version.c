/* version.c - the version, as the build was told it. */
#include "weft/core.h"

const char *weft_version(void) { return WEFT_VERSION; }
