/* named.h - nodes with the names that TensorFlow's Python API gives them.
 *
 * Programs share a training graph: a saver, another worker or a summary finds "Adam/update_w/sub" by that name.  In
 * Python an operator opens a scope with its name, converts numbers among its operands to constants in it ("sub/x"),
 * and gives the node the name of the scope.  These functions do the same.  As in build.h, the graph records the
 * first failure. */
#ifndef WEFT_TRAIN_MODEL_NAMED_H
#define WEFT_TRAIN_MODEL_NAMED_H

#include "train/model/nodes.h"

/* An operand: an output, a constant that is not in the graph yet, or a number, which becomes a constant of the other
 * operand's type. */
typedef struct term {
  weft_out out;
  double number;
  const weft_tensor *constant; /* used if out is WEFT_NONE; if NULL, the number is used */
} term;
#define OUT(o) ((term){(o), 0, NULL})
#define NUM(v) ((term){WEFT_NONE, (v), NULL})

/* The static shape and type of an output; unknown and float for an output that could not be created. */
static inline const shape *weft__shape_of(const weft_graph *g, weft_out x) {
  static const shape unknown = {.rank = -1};
  return x.node < 0 ? &unknown : weft__out_shape(g, x);
}
static inline weft_dtype weft__type_of(const weft_graph *g, weft_out x) {
  return x.node < 0 ? WEFT_FLOAT : weft__out_type(g, x);
}

/* Returns the output of an operand, or a constant called `name`.  A number gets type `type`; so does a constant of
 * rank 0, unless type is 0. */
weft_out weft__named_term(weft_graph *g, const char *name, term x, weft_dtype type);
/* Returns the type of an operand, or 0 for a number. */
weft_dtype weft__term_type(const weft_graph *g, term x);
/* Returns true if the operand is one number that is known now. */
bool weft__term_known(term x, double *value);

/* Adds OP(x), called `name`. */
weft_out weft__named_unary(weft_graph *g, const char *type, const char *name, weft_out x);
/* Adds x OP y.  A number becomes the constant name/x or name/y; it is float if both are numbers. */
weft_out weft__named_binary(weft_graph *g, const char *type, const char *name, term x, term y);
/* The same for two tensors. */
static inline weft_out weft__named_binary_of(weft_graph *g, const char *type, const char *name, weft_out x,
                                             weft_out y) {
  return weft__named_binary(g, type, name, OUT(x), OUT(y));
}

/* Adds a constant vector of n integers: int32, or int64 if a value does not fit. */
weft_out weft__named_ints(weft_graph *g, const char *name, const int64_t *v, int n);
/* Adds a constant with one value in all elements. */
weft_out weft__named_full(weft_graph *g, const char *name, weft_dtype type, const shape *s, double v);
/* tf.cast of a Python number: "Cast/x" of type `from`, then "Cast" where the types differ. */
weft_out weft__named_number(weft_graph *g, double v, weft_dtype from, weft_dtype to);
/* x[index] of a vector: "strided_slice". */
weft_out weft__named_element(weft_graph *g, weft_out x, int64_t index);
/* x[begin:end], with optional bounds. */
typedef struct slice_bounds {
  bool has_begin, has_end;
  int64_t begin, end;
} slice_bounds;
weft_out weft__named_slice(weft_graph *g, weft_out x, slice_bounds b);
/* tf.reduce_*(x) over every axis: axes in "Const" (or a Range where the rank is unknown or 0). */
weft_out weft__named_reduce(weft_graph *g, const char *type, const char *name, weft_out x);
weft_out weft__named_reduce_keep(weft_graph *g, const char *type, const char *name, weft_out x); /* keepdims */
/* tf.reduce_*(x, axes): axes in name/reduction_indices. */
weft_out weft__named_reduce_axes(weft_graph *g, const char *type, const char *name, weft_out x, int n,
                                 const int64_t *axes, bool keep);
weft_out weft__named_reduce_term(weft_graph *g, const char *type, const char *name, weft_out x, term axes, bool keep);
weft_out weft__named_reshape(weft_graph *g, weft_out x, int n, const int64_t *dims); /* "Reshape", "Reshape/shape" */
weft_out weft__named_range(weft_graph *g, weft_out n);                               /* 0 .. n-1: "range" */
weft_out weft__named_pack(weft_graph *g, const char *name, int n, const weft_out *x, int axis);
/* tf.shape and tf.rank: constants where they are known. */
weft_out weft__named_shape(weft_graph *g, weft_out x);
weft_out weft__named_rank(weft_graph *g, weft_out x);
weft_out weft__named_gather(weft_graph *g, weft_out x, weft_out indices);     /* tf.gather: "GatherV2" */
weft_out weft__named_concat(weft_graph *g, weft_out x, weft_out y, int axis); /* tf.concat of two */
weft_out weft__named_ones_like(weft_graph *g, weft_out x, weft_dtype type);   /* tf.ones_like with a type */
/* The static shape of an output as far as the caller knows more of it than the shape rules do. */
void weft__named_set_shape(weft_graph *g, weft_out x, const shape *more);

/* tf.control_dependencies(n nodes): tf.identity(x) beside x, as tf.with_dependencies makes it. */
weft_out weft__named_after(weft_graph *g, const char *name, int n, const int *node_ids, weft_out x);

/* tf.Assert(holds, data): a datum is a text, or a tensor of int32 if the text is NULL.  At most 8. */
typedef struct assert_data {
  const char *text;
  weft_out out;
} assert_data;
weft_out weft__named_assert(weft_graph *g, weft_out holds, int n, const assert_data *data, int summarize);

/* Adds the first nodes of tf.cond in its scope: "Switch", "switch_t", "switch_f".  Returns "pred_id", which switches
 * inputs. *yes is alive if pred is true, *no if it is false; both may be NULL. */
weft_out weft__named_cond(weft_graph *g, weft_out pred, weft_out *yes, weft_out *no);
/* Adds x to a branch of it, colocated with x. type: "Switch" or "RefSwitch". */
weft_out weft__named_branch(weft_graph *g, const char *type, const char *name, weft_out x, weft_out cond, bool then);

/* Opens scopes.  The graph records a failure, and the caller pops the scope in any case. */
void weft__named_push(weft_graph *g, const char *name, const char *standard); /* name, or the standard one if NULL */
void weft__named_push_anywhere(weft_graph *g); /* colocate_with(None, ignore_existing=True) */

/* Returns "scope/" for the current name scope, the exact name of its own node, which the caller frees with
 * weft__free.  Returns NULL if memory is short; the graph records the failure. */
char *weft__named_scope_exact(weft_graph *g);
/* Records a failure in the graph.  Returns true if nothing has failed so far. */
bool weft__named_keep(weft_graph *g, weft_err err);
/* Checks outputs that a program passes: INVALID_ARGUMENT unless all n belong to this graph. */
bool weft__named_given(weft_graph *g, const char *what, int n, const weft_out *x);

#endif
