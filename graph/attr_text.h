/* attr_text.h - attributes in text form: "axis=1 padding='SAME' strides=[1,2,2,1] T=float". */
#ifndef WEFT_GRAPH_ATTR_TEXT_H
#define WEFT_GRAPH_ATTR_TEXT_H

#include "graph/opdef.h"

/* Parses name=value pairs, separated by spaces, in the notation of definitions (opdef.h).  The arena owns the
 * memory; release tensors with weft__attr_release.  INVALID_ARGUMENT names the op and the position. */
weft_err weft__attrs_read(const opdef *d, const char *text, arena *a, attr *list, int room, int *n);

#endif
