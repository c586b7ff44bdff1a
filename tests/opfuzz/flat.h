/* flat.h - converts a model to the nodes of a GraphDef; values become constants and placeholders. */
#ifndef WEFT_TESTS_OPFUZZ_FLAT_H
#define WEFT_TESTS_OPFUZZ_FLAT_H

#include "tests/opfuzz/opfuzz.h"

typedef struct flat_edge {
  int node, slot; /* node < 0: argument -1 - node of a function */
} flat_edge;

typedef struct flat_node {
  char name[64];
  const char *op;
  int from;        /* the model's node, or -1 */
  weft_dtype type; /* of its output 0, where from < 0 */
  const char *out; /* the name of output 0, where from < 0 */
  bool inner;      /* goes into the function, branch or loop */
  bool ref;        /* output 0 is a reference, where from < 0 */
  int n_in, n_control, n_attr;
  flat_edge in[MAX_IN + 8];
  int control[MAX_NODES + 8];
  attr attr[MAX_ATTRS + 2];
  const fuzz_in *constant; /* a Const: its value */
} flat_node;

typedef struct flat {
  const model *m;
  arena *arena;
  int n;
  flat_node node[MAX_FLAT];
} flat;

typedef struct flat_function { /* what its nodes see */
  const flat *f;
  const char *name;
  int n_arg, n_ret;
  weft_dtype arg_type[64], ret_type[16];
  flat_edge arg[64]; /* outputs of outer nodes that stand for arguments; of a library function: {-1 - i, 0} */
  flat_edge ret[16];
} flat_function;

weft_err flat_make(flat *f, const model *m, arena *a);
/* A node more; NULL if there is no room. */
flat_node *flat_add(flat *f, const char *type_name, const char *name, weft_dtype type, const char *out, bool inner);
int flat_scalar(flat *f, const char *name, weft_dtype type, double value, bool inner); /* a Const */
flat_node *flat_placeholder(flat *f, const char *name, const fuzz_in *in);
weft_dtype flat_type(const flat *f, flat_edge e);
bool flat_is_ref(const flat *f, flat_edge e);

Tensorflow__NodeDef *flat_node_def(const flat *f, const flat_node *n, const flat_function *in);
/* The function of the nodes that `inner` says are its. */
Tensorflow__FunctionDef *flat_function_def(const flat_function *fn);
/* fuzz_functions as FunctionDefs, made once. */
weft_err flat_library(const op_table *ops, Tensorflow__FunctionDef ***list, size_t *n);

#endif
