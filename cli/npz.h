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
/* Closes the file and frees what z holds.  If err is WEFT_OK, writes the directory before; otherwise the file stays
 * incomplete.  Returns err, or the first error of writing and closing. */
weft_err npz_close(npz *z, weft_err err);

/* Returns the checksum (CRC-32, as zip files have it) of some data followed by these bytes.  crc is the checksum of the
 * data before them; 0 if there is none. */
uint32_t npz_checksum(uint32_t crc, const void *data, size_t size);

/* npz_read.c: reads the arrays of a .npz one by one.  npz_fn takes ownership of the tensor if it returns WEFT_OK; if
 * it fails, npz_each destroys the tensor and returns the error. */
typedef weft_err npz_fn(void *arg, const char *name, weft_tensor *t);
/* Gets an array that a tensor cannot hold, because of its type or its compression; `why` is the reason. */
typedef weft_err npz_other_fn(void *arg, const char *name, const char *why);
/* Calls fn for each array, or `other` for one that a tensor cannot hold; if `other` is NULL, such an array is an
 * error.  Stops at the first error and returns it. */
weft_err npz_each(const char *path, npz_fn *fn, npz_other_fn *other, void *arg);

#endif
