/* constant.c - finds values that are known before anything runs.
 *
 * Shape rules need the values of inputs that are shapes.  Small stateless subgraphs of constants are run with the
 * ops' own kernels.  Vectors that are only partly known (the batch size is not) are followed through the few ops
 * that programs use to build shapes. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "graph/fold.h"
#include "graph/kernel.h"

enum { MAX_DEPTH = 24, MAX_ELEMENTS = 4096, MAX_LOOKS = 512, MAX_BYTES = MAX_ELEMENTS * 16 };

struct known_search {
  int depth, budget; /* limits for the nodes that may still be visited */
};

static weft_tensor *constant_value(const weft_graph *g, weft_out o, known_search *a);

/* Computes Shape, Size and Rank from the static shape. */
static weft_tensor *from_static_shape(const weft_graph *g, const weft_node *n, int slot) {
  weft_tensor *t = NULL;
  if (slot >= n->n_in) return NULL;
  const shape *s = weft__out_shape(g, n->in[slot]);
  weft_dtype type = weft__out_type(g, (weft_out){n->id, 0});
  if (weft__node_is(n, KIND_RANK) && s->rank >= 0) weft__tensor_scalar(&t, WEFT_INT32, s->rank);
  if (!weft__shape_known(s)) return t;
  if (weft__node_is(n, KIND_SHAPE) || weft__node_is(n, KIND_SHAPE_N)) weft__tensor_ints(&t, type, s->dim, s->rank);
  if (weft__node_is(n, KIND_SIZE)) {
    const int64_t count = weft__shape_count(s);
    if (count >= 0 && weft__tensor_ints(&t, type, &count, 1) == WEFT_OK) t->shape = SHAPE_SCALAR;
  }
  return t;
}

static bool constant_partial_shape(const weft_graph *g, weft_out o, shape *out, known_search *a);

/* Returns true if n is one element of a vector, x[i]. */
static bool takes_element(const weft_node *n) {
  return n->op && n->op->known == weft__known_slice && weft__node_int(n, "shrink_axis_mask", 0) == 1;
}

/* Returns x[i] of a vector if element i is known, even if others are not: a dimension of a shape. */
static weft_tensor *known_element(const weft_graph *g, weft_out o, known_search *a) {
  const weft_node *n = g->node[o.node];
  const shape *of_vector = n->n_in ? weft__out_shape(g, n->in[0]) : NULL;
  weft_tensor *t = NULL, *at = NULL;
  shape v;
  if (!takes_element(n) || of_vector->rank != 1) return NULL;
  at = constant_value(g, n->in[1], a);
  if (at && weft__tensor_count(at) == 1 && constant_partial_shape(g, n->in[0], &v, a)) {
    int64_t i = weft__tensor_int(at, 0);
    if (i < 0) i += v.rank;
    if (i >= 0 && i < v.rank && v.dim[i] >= 0) weft__tensor_scalar(&t, weft__out_type(g, o), (double)v.dim[i]);
  }
  weft_tensor_destroy(at);
  return t;
}

static bool tensor_is_small(const weft_tensor *t) { return t && weft__tensor_count(t) <= MAX_ELEMENTS; }

/* Runs n's kernel on the given inputs.  Returns the wanted output, or NULL. */
static weft_tensor *run_once(const weft_node *n, weft_tensor **in, int slot) {
  value out[FOLD_MAX_OUT] = {{.dead = false}};
  weft_tensor *result = NULL;
  const weft_err err = weft__node_fold(n, (const weft_tensor *const *)in, out, MAX_BYTES);
  if (!err && out[slot].t.buf) weft__tensor_create_like(&result, &out[slot].t);
  for (int i = 0; i < n->n_out; i++) weft__tensor_clear(&out[i].t);
  return result;
}

static weft_tensor *constant_fold(const weft_graph *g, const weft_node *n, int slot, known_search *a) {
  WEFT_ASSERT(n->n_in <= FOLD_MAX_IN && n->n_out <= FOLD_MAX_OUT && slot >= 0 && slot < n->n_out);
  weft_tensor *in[FOLD_MAX_IN] = {NULL}, *result = NULL;
  bool all = true;
  for (int i = 0; i < n->n_in && all; i++) all = tensor_is_small(in[i] = constant_value(g, n->in[i], a));
  if (all) result = run_once(n, in, slot);
  for (int i = 0; i < n->n_in; i++) weft_tensor_destroy(in[i]);
  return result;
}

static weft_tensor *constant_value(const weft_graph *g, weft_out o, known_search *a) {
  WEFT_ASSERT(o.node >= 0 && o.node < g->n_node && o.slot < g->node[o.node]->n_out);
  const weft_node *n = g->node[o.node];
  if (weft__node_is(n, KIND_CONST)) {
    const attr *v = weft__node_attr(n, "value");
    if (!v || v->kind != ATTR_TENSOR) return NULL;
    weft_tensor_retain(v->tensor);
    return v->tensor;
  }
  if (a->depth >= MAX_DEPTH || --a->budget < 0 || n->n_in == 0 || !weft__node_may_fold(g, n)) return NULL;
  weft_tensor *t = from_static_shape(g, n, o.slot);
  if (!t) t = known_element(g, o, a);
  if (t) return t;
  const shape *s = weft__out_shape(g, o);
  if (weft__shape_known(s) && weft__shape_count(s) > MAX_ELEMENTS) return NULL;
  a->depth++;
  t = constant_fold(g, n, o.slot, a);
  a->depth--;
  return t;
}

weft_tensor *weft__graph_constant(const weft_graph *g, weft_out o) {
  known_search a = {0, MAX_LOOKS};
  return constant_value(g, o, &a);
}

/* ---- partly known vectors ---------------------------------------------------------------------- */

/* Returns a scalar that is an element of a partly known vector: x[i] with constant i.  Returns -1 if it is not
 * known. */
static int64_t constant_element(const weft_graph *g, weft_out o, known_search *a) {
  const weft_node *n = g->node[o.node];
  int64_t result = -1;
  weft_tensor *t = constant_value(g, o, a);
  if (t) {
    if (weft__tensor_count(t) == 1) result = weft__tensor_int(t, 0);
  } else if (takes_element(n)) {
    shape of;
    weft_tensor *begin = constant_value(g, n->in[1], a);
    if (begin && weft__tensor_count(begin) == 1 && constant_partial_shape(g, n->in[0], &of, a)) {
      int64_t i = weft__tensor_int(begin, 0);
      if (i < 0) i += of.rank;
      if (i >= 0 && i < of.rank) result = of.dim[i];
    }
    weft_tensor_destroy(begin);
  } else if (a->budget > 0 && n->op && n->op->known == weft__known_input) {
    result = constant_element(g, n->in[0], a);
  }
  weft_tensor_destroy(t);
  return result < -1 ? -1 : result;
}

bool weft__known_shape(known_search *a, const weft_graph *g, weft_out o, shape *out) {
  (void)a;
  *out = *weft__out_shape(g, g->node[o.node]->in[o.slot]);
  return out->rank >= 0;
}

bool weft__known_input(known_search *a, const weft_graph *g, weft_out o, shape *out) {
  return constant_partial_shape(g, g->node[o.node]->in[0], out, a);
}

bool weft__known_pack(known_search *a, const weft_graph *g, weft_out o, shape *out) {
  const weft_node *n = g->node[o.node];
  if (n->n_in > WEFT_MAX_RANK) return false;
  out->rank = n->n_in;
  for (int i = 0; i < n->n_in; i++) out->dim[i] = constant_element(g, n->in[i], a);
  return true;
}

bool weft__known_concat(known_search *a, const weft_graph *g, weft_out o, shape *out) {
  const weft_node *n = g->node[o.node];
  out->rank = 0;
  for (int i = 0; i + 1 < n->n_in; i++) { /* the last input is the axis */
    shape part;
    if (!constant_partial_shape(g, n->in[i], &part, a) || out->rank + part.rank > WEFT_MAX_RANK) return false;
    for (int d = 0; d < part.rank; d++) out->dim[out->rank++] = part.dim[d];
  }
  return true;
}

/* Finds x[begin:end] of a vector, with stride 1. */
bool weft__known_slice(known_search *a, const weft_graph *g, weft_out o, shape *out) {
  const weft_node *n = g->node[o.node];
  shape of;
  if (weft__node_int(n, "shrink_axis_mask", 0) || weft__node_int(n, "new_axis_mask", 0) ||
      weft__node_int(n, "ellipsis_mask", 0) || !constant_partial_shape(g, n->in[0], &of, a))
    return false;
  weft_tensor *b = constant_value(g, n->in[1], a), *e = constant_value(g, n->in[2], a),
              *st = constant_value(g, n->in[3], a);
  bool ok = b && e && st && weft__tensor_count(b) == 1 && weft__tensor_count(e) == 1 && weft__tensor_int(st, 0) == 1;
  if (ok) {
    int64_t from = weft__node_int(n, "begin_mask", 0) ? 0 : weft__tensor_int(b, 0);
    int64_t to = weft__node_int(n, "end_mask", 0) ? of.rank : weft__tensor_int(e, 0);
    if (from < 0) from += of.rank;
    if (to < 0) to += of.rank;
    if (from < 0) from = 0;
    if (to > of.rank) to = of.rank;
    out->rank = 0;
    for (; from < to; from++) out->dim[out->rank++] = of.dim[from];
  }
  weft_tensor_destroy(b);
  weft_tensor_destroy(e);
  weft_tensor_destroy(st);
  return ok;
}

static bool from_constant(const weft_tensor *t, shape *out) {
  int64_t count = weft__tensor_count(t);
  if (t->shape.rank != 1 || count > WEFT_MAX_RANK || (t->dtype != WEFT_INT32 && t->dtype != WEFT_INT64)) return false;
  out->rank = weft__int_sat(count);
  for (int i = 0; i < out->rank; i++) out->dim[i] = weft__tensor_int(t, i) < 0 ? -1 : weft__tensor_int(t, i);
  return true;
}

static bool constant_partial_shape(const weft_graph *g, weft_out o, shape *out, known_search *a) {
  WEFT_ASSERT(a->depth >= 0 && o.node >= 0 && o.node < g->n_node);
  if (a->depth >= MAX_DEPTH || --a->budget < 0) return false;
  a->depth++;
  const weft_node *n = g->node[o.node];
  /* reserved for the op's rule: the search for the whole value must not use the whole budget */
  const int kept = a->budget / 2;
  a->budget -= kept;
  weft_tensor *t = constant_value(g, o, a);
  a->budget = (a->budget > 0 ? a->budget : 0) + kept;
  bool ok = false;
  *out = SHAPE_UNKNOWN;
  if (t)
    ok = from_constant(t, out);
  else if (n->op && n->op->known)
    ok = n->op->known(a, g, o, out);
  weft_tensor_destroy(t);
  a->depth--;
  WEFT_ASSERT(a->depth >= 0 && (!ok || (out->rank >= 0 && out->rank <= WEFT_MAX_RANK)));
  const shape *mine = weft__out_shape(g, o);
  if (!ok && mine->rank == 1 && mine->dim[0] >= 0 && mine->dim[0] <= WEFT_MAX_RANK) { /* at least the length is known */
    out->rank = weft__int_sat(mine->dim[0]);
    for (int i = 0; i < out->rank; i++) out->dim[i] = -1;
    ok = true;
  }
  if (!ok) *out = SHAPE_UNKNOWN;
  return ok;
}

bool weft__graph_constant_shape(const weft_graph *g, weft_out o, shape *out) {
  known_search a = {0, MAX_LOOKS};
  return constant_partial_shape(g, o, out, &a);
}
