/* idx.h - MNIST's files: a magic number that tells type and rank, the dimensions, the elements. */
#ifndef WEFT_IO_IDX_H
#define WEFT_IO_IDX_H

#include "tensor/tensor.h"

/* All of a file, plain or gzipped (PATH or PATH.gz, whichever is there), as a tensor: uint8, int8, int16, int32, float or
 * double.  DATA_LOSS says what is wrong with it. */
weft_err weft__idx_read(weft_tensor **out, const char *path);

#endif
