/* scratch.h - files that a test makes.  Beside check.h, for those that touch the disk. */
#ifndef WEFT_TESTS_SCRATCH_H
#define WEFT_TESTS_SCRATCH_H

/* The path of `name` in a folder of this test's own, made on first use and removed with all that is in it when the
 * test's process ends.  Valid until the eighth call after it. */
const char *test_path(const char *name);

#endif
