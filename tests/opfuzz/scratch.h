/* scratch.h - the folder that graphs with file ops work in. */
#ifndef WEFT_TESTS_OPFUZZ_SCRATCH_H
#define WEFT_TESTS_OPFUZZ_SCRATCH_H

#include <stddef.h>

/* Makes a folder with a few files to read and goes there; leaves and removes it. */
void scratch_enter(char *path, size_t room);
void scratch_leave(const char *path);

#endif
