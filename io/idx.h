/* idx.h - reads MNIST's files: a magic number with type and rank, the dimensions, the elements. */
#ifndef WEFT_IO_IDX_H
#define WEFT_IO_IDX_H

#include "tensor/tensor.h"

/* Reads a whole file, plain or gzipped (PATH or PATH.gz, whichever exists), as a tensor of uint8, int8, int16,
 * int32, float or double.  DATA_LOSS says what is wrong with the file. */
weft_err weft__idx_read(weft_tensor **out, const char *path);

#endif
