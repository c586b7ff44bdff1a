/* table.h - the op table of the process, made once and never changed. */
#ifndef WEFT_API_TABLE_H
#define WEFT_API_TABLE_H

#include "graph/op.h"

weft_err weft__api_ops(const op_table **out);

#endif
