/* all.h - the table of all ops, which the build generates from the files of this folder. */
#ifndef WEFT_OPS_ALL_H
#define WEFT_OPS_ALL_H

#include "graph/op.h"

/* Returns one list per file.  A row with def NULL ends a list; NULL ends the lists. */
const op *const *weft__ops_all(void);
/* Returns the stems of those files, in the same order: "softmax" for ops/nn/softmax.c. */
const char *const *weft__ops_stems(void);
/* Returns the paths of those files from the root of the source tree, in the same order: "ops/nn/softmax.c". */
const char *const *weft__ops_files(void);
/* Stores the table of all ops.  It is created once per process and never changed.  Returns RESOURCE_EXHAUSTED or the
 * error of weft__op_table_create. */
weft_err weft__ops_table(const op_table **out);

#endif
