/* npz.h - numpy's archives: a zip file of one .npy per array.  They are written plain, and read compressed too where
 * zlib was found.
 *
 * Sizes are 32-bit, as in zip files without extensions: npz_add refuses what would go beyond 4 GiB. */
#ifndef WEFT_CLI_NPZ_H
#define WEFT_CLI_NPZ_H

#include <stdio.h>
#include <weft/weft.h>

typedef struct npz {
  FILE *file;
  char *list; /* the entries of the directory at the end */
  size_t list_size, list_room;
  uint32_t offset;
  unsigned n;
} npz;

weft_err npz_open(npz *z, const char *path);
/* Strings become bytes of one width, bfloat16 becomes float32. */
weft_err npz_add(npz *z, const char *name, const weft_tensor *t);
/* Writes the directory, unless err says that all is in vain.  The first error. */
weft_err npz_close(npz *z, weft_err err);

/* The checksum of zip files, of what is appended to something whose checksum was crc (0: nothing). */
uint32_t npz_checksum(uint32_t crc, const void *data, size_t size);

/* npz_read.c: every array of a .npz.  The tensor is fn's to destroy, unless fn fails. */
typedef weft_err npz_fn(void *arg, const char *name, weft_tensor *t);
/* Called for an array that no tensor can hold, with the reason. */
typedef weft_err npz_other_fn(void *arg, const char *name, const char *why);
/* other: NULL to fail at such an array. */
weft_err npz_each(const char *path, npz_fn *fn, npz_other_fn *other, void *arg);

#endif
