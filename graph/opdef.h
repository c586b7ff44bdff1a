/* opdef.h - the arguments, results and attributes of an op: TensorFlow's OpDef from one line of text.
 *
 *   MatMul(a:T, b:T) -> (product:T) | transpose_a:bool=false T:type{float,double} ; stateful
 *
 * Arguments are name:type, where type is a dtype, a type attr (T), N*T for a list of N, @Ts for a list whose types
 * are the list(type) attr Ts, or &T for a reference.  Attributes are name:kind, then {allowed}, >=minimum and
 * =default in this order, each optional.  Strings are in single quotes; a shape is [1,-1], or ? for unknown rank.
 * {number} and {real} name TF's two long lists of types.  Flags: stateful, commutative, aggregate, uninit (accepts
 * uninitialized references).  A parity test compares every line with TensorFlow's registry. */
#ifndef WEFT_GRAPH_OPDEF_H
#define WEFT_GRAPH_OPDEF_H

#include "base/arena.h"
#include "graph/attr.h"

typedef struct arg_def {
  const char *name;
  weft_dtype type;         /* fixed type, or WEFT_INVALID */
  const char *type_attr;   /* T of a:T */
  const char *number_attr; /* N of a:N*T */
  const char *list_attr;   /* Ts of a:@Ts */
  bool is_ref;
} arg_def;

typedef struct attr_def {
  const char *name;
  attr_kind kind;
  bool is_list;
  bool has_min, has_default;
  int64_t min;
  attr allowed;       /* kind ATTR_NONE: any value */
  attr default_value; /* if has_default */
} attr_def;

typedef struct opdef {
  const char *name;
  int n_in, n_out, n_attr;
  arg_def *in, *out;
  attr_def *attr;
  bool stateful, commutative, aggregate, uninit_ok;
} opdef;

/* Parses a line.  The strings and lists of *out are in the arena, and the line itself is not used afterwards.
 * weft__opdef_release releases the tensors of defaults, also after an error.  Returns INVALID_ARGUMENT, which quotes
 * the line and says what was expected where, or RESOURCE_EXHAUSTED. */
weft_err weft__opdef_parse(opdef *out, const char *line, arena *a);
const attr_def *weft__opdef_attr(const opdef *d, const char *name); /* NULL if none */
void weft__opdef_release(opdef *d);                                 /* releases the tensors of defaults */

#endif
