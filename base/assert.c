/* assert.c - the end of a process whose state is not what it must be.
 *
 * It prints without the log: the log may be what is broken, and its callback belongs to the program. */
#include "base/assert.h"
#include <stdio.h>
#include <stdlib.h>

_Noreturn void weft__assert_fail(const char *expr, const char *file, int line) {
  fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expr);
  abort();
}
