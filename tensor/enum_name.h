/* enum_name.h - the numbers of the enums that files in protobuf's text format name. */
#ifndef WEFT_TENSOR_ENUM_NAME_H
#define WEFT_TENSOR_ENUM_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* A type such as DT_FLOAT or DT_INT32_REF, or a version of a SaverDef (LEGACY, V1, V2).  These are the only enums in
 * a GraphDef, MetaGraphDef or SavedModel.  Returns false for another name. */
bool weft__enum_number(const char *name, int32_t *number);

#endif
