/* attr.h - the attributes of a node, as values that own nothing: an arena owns their memory.
 *
 * Tensors in attributes are heap tensors that the graph retains.  Values that Weft does not interpret (functions,
 * tensors of unsupported types) stay opaque serialized AttrValues and are exported unchanged. */
#ifndef WEFT_GRAPH_ATTR_H
#define WEFT_GRAPH_ATTR_H

#include "tensor/tensor.h"
#include <string.h>

typedef enum attr_kind {
  ATTR_NONE,
  ATTR_STRING,
  ATTR_INT,
  ATTR_FLOAT,
  ATTR_BOOL,
  ATTR_TYPE,
  ATTR_SHAPE,
  ATTR_TENSOR,
  ATTR_FUNC, /* stored as ATTR_OPAQUE bytes */
  ATTR_OPAQUE
} attr_kind;

typedef struct attr_str {
  const char *data;
  size_t size;
} attr_str;

typedef struct attr {
  const char *name;
  attr_kind kind;
  bool is_list;
  int n; /* number of elements if is_list */
  union {
    attr_str s; /* also the bytes of ATTR_OPAQUE */
    int64_t i;
    float f;
    bool b;
    weft_dtype type;
    shape *shape;
    weft_tensor *tensor;
    attr_str *ss;
    int64_t *is;
    float *fs;
    bool *bs;
    weft_dtype *types;
    shape *shapes; /* n elements */
    weft_tensor **tensors;
  };
} attr;

/* Shorthands for building lists: (attr[]){A_TYPE("T", WEFT_FLOAT), A_INT("axis", 0)} */
#define A_INT(n_, v) ((attr){.name = (n_), .kind = ATTR_INT, .i = (v)})
#define A_FLOAT(n_, v) ((attr){.name = (n_), .kind = ATTR_FLOAT, .f = (v)})
#define A_BOOL(n_, v) ((attr){.name = (n_), .kind = ATTR_BOOL, .b = (v)})
#define A_TYPE(n_, v) ((attr){.name = (n_), .kind = ATTR_TYPE, .type = (v)})
#define A_STR(n_, v) ((attr){.name = (n_), .kind = ATTR_STRING, .s = {(v), strlen(v)}})
#define A_SHAPE(n_, v) ((attr){.name = (n_), .kind = ATTR_SHAPE, .shape = (v)})
#define A_TENSOR(n_, v) ((attr){.name = (n_), .kind = ATTR_TENSOR, .tensor = (v)})
#define A_INTS(n_, v, c) ((attr){.name = (n_), .kind = ATTR_INT, .is_list = true, .n = (c), .is = (v)})
#define A_TYPES(n_, v, c) ((attr){.name = (n_), .kind = ATTR_TYPE, .is_list = true, .n = (c), .types = (v)})
#define A_SHAPES(n_, v, c) ((attr){.name = (n_), .kind = ATTR_SHAPE, .is_list = true, .n = (c), .shapes = (v)})
#define A_STRS(n_, v, c) ((attr){.name = (n_), .kind = ATTR_STRING, .is_list = true, .n = (c), .ss = (v)})

struct arena;
/* Makes a deep copy in the arena.  Tensors are retained; weft__attr_release releases them. */
weft_err weft__attr_copy(attr *dst, const attr *src, struct arena *a);
void weft__attr_release(attr *a); /* releases only tensors */
bool weft__attr_equal(const attr *a, const attr *b);

#endif
