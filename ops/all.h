/* all.h - the table of every op, made by the build from the files in this folder. */
#ifndef WEFT_OPS_ALL_H
#define WEFT_OPS_ALL_H

#include "graph/op.h"

/* One list per file, each ended by a row with def NULL; the lists are ended by NULL. */
const op *const *weft__ops_all(void);
/* The stems of those files, in the same order: "softmax" of ops/nn/softmax.c. */
const char *const *weft__ops_stems(void);
/* All of them as a table, made once in a process and never changed. */
weft_err weft__ops_table(const op_table **out);

#endif
