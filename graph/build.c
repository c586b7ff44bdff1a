/* build.c - functions that add nodes by op name, so that code reads like a formula. */
#include "graph/build.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "graph/scope.h"

weft_err weft__b_ok(const weft_graph *g) { return weft__status_raise(&g->sticky); }

void weft__b_clear(weft_graph *g) { weft__status_finish(&g->sticky); }

weft_out weft__b_add_node(weft_graph *g, const node_spec *spec) {
  if (g->sticky.code) return WEFT_NONE;
  for (int i = 0; i < spec->n_in; i++)
    if (spec->in[i].node < 0) {
      weft__status_update(&g->sticky,
                          weft__fail(WEFT_INVALID_ARGUMENT, "input %d of a new %s is no output", i, spec->op));
      return WEFT_NONE;
    }
  weft_node *n;
  weft_err err = weft__graph_add(g, spec, &n);
  weft__status_update(&g->sticky, err);
  return err ? WEFT_NONE : weft__graph_out(g, n->id, 0);
}

weft_out weft__b_node(weft_graph *g, const char *type, const char *name, int n_in, const weft_out *in, int n_attr,
                      const attr *attrs) {
  return weft__b_add_node(
      g, &(node_spec){.op = type, .name = name, .n_in = n_in, .in = in, .n_attr = n_attr, .attr = attrs});
}

weft_out weft__b_unary(weft_graph *g, const char *type, weft_out x) {
  return weft__b_node(g, type, NULL, 1, &x, 0, NULL);
}

weft_out weft__b_binary(weft_graph *g, const char *type, weft_out x, weft_out y) {
  return weft__b_node(g, type, NULL, 2, (weft_out[]){x, y}, 0, NULL);
}

/* These have the names that TensorFlow's operators give their nodes; programs fetch nodes of gradients by name. */
static weft_out operator_node(weft_graph *g, const char *type, const char *name, weft_out x, weft_out y) {
  return weft__b_node(g, type, name, 2, (weft_out[]){x, y}, 0, NULL);
}
weft_out weft__b_mul(weft_graph *g, weft_out x, weft_out y) { return operator_node(g, "Mul", "mul", x, y); }
weft_out weft__b_add(weft_graph *g, weft_out x, weft_out y) { return operator_node(g, "AddV2", "add", x, y); }
weft_out weft__b_sub(weft_graph *g, weft_out x, weft_out y) { return operator_node(g, "Sub", "sub", x, y); }
weft_out weft__b_div(weft_graph *g, weft_out x, weft_out y) { return operator_node(g, "RealDiv", "truediv", x, y); }
weft_out weft__b_neg(weft_graph *g, weft_out x) { return weft__b_unary(g, "Neg", x); }
weft_out weft__b_identity(weft_graph *g, weft_out x) { return weft__b_unary(g, "Identity", x); }
weft_out weft__b_size(weft_graph *g, weft_out x) { return weft__b_unary(g, "Size", x); }
weft_out weft__b_rank(weft_graph *g, weft_out x) { return weft__b_unary(g, "Rank", x); }
weft_out weft__b_reshape(weft_graph *g, weft_out x, weft_out s) { return weft__b_binary(g, "Reshape", x, s); }
weft_out weft__b_zeros_like(weft_graph *g, weft_out x) {
  return weft__b_node(g, "ZerosLike", "zeros_like", 1, &x, 0, NULL);
}
weft_out weft__b_ones_like(weft_graph *g, weft_out x) { return weft__b_unary(g, "OnesLike", x); }
weft_out weft__b_fill(weft_graph *g, weft_out dims, weft_out v) { return weft__b_binary(g, "Fill", dims, v); }
weft_out weft__b_transpose(weft_graph *g, weft_out x, weft_out perm) {
  return operator_node(g, "Transpose", "transpose", x, perm);
}

static weft_out const_named(weft_graph *g, const char *name, weft_tensor *t) {
  return weft__b_node(g, "Const", name, 0, NULL, 2, (attr[]){A_TENSOR("value", t), A_TYPE("dtype", t->dtype)});
}

/* Returns a constant vector, as weft__b_ints does, of the given name. */
static weft_out ints_named(weft_graph *g, const char *name, const int64_t *v, int n) {
  weft_tensor *t = NULL;
  weft__status_update(&g->sticky, weft__tensor_dims(&t, v, n));
  weft_out o = t ? const_named(g, name, t) : WEFT_NONE;
  weft_tensor_destroy(t);
  return o;
}

weft_out weft__b_const_adopt(weft_graph *g, weft_tensor *t) {
  if (!t) { /* the failure that made it NULL is this thread's error message */
    weft__status_update(&g->sticky, WEFT_RESOURCE_EXHAUSTED);
    return WEFT_NONE;
  }
  weft_out o = const_named(g, NULL, t);
  weft_tensor_destroy(t);
  return o;
}

weft_out weft__b_scalar(weft_graph *g, weft_dtype type, double v) {
  weft_tensor *t = NULL;
  weft__status_update(&g->sticky, weft__tensor_scalar(&t, type, v));
  return t ? weft__b_const_adopt(g, t) : WEFT_NONE;
}

weft_out weft__b_scalar_like(weft_graph *g, weft_out x, double v) {
  return x.node < 0 ? x : weft__b_scalar(g, weft__out_type(g, x), v);
}

weft_out weft__b_ints(weft_graph *g, const int64_t *v, int n) {
  weft_tensor *t = NULL;
  weft__status_update(&g->sticky, weft__tensor_dims(&t, v, n));
  return t ? weft__b_const_adopt(g, t) : WEFT_NONE;
}

weft_out weft__b_shape(weft_graph *g, weft_out x) {
  if (x.node < 0) return x;
  const shape *s = weft__out_shape(g, x);
  return weft__shape_known(s) ? ints_named(g, "Shape", s->dim, s->rank) : weft__b_unary(g, "Shape", x);
}

weft_out weft__b_cast(weft_graph *g, weft_out x, weft_dtype to) {
  if (x.node < 0 || weft__out_type(g, x) == to) return x;
  return weft__b_node(g, "Cast", NULL, 1, &x, 1, &A_TYPE("DstT", to));
}

weft_out weft__b_sum(weft_graph *g, weft_out x, weft_out axes, bool keep_dims) {
  return weft__b_node(g, "Sum", NULL, 2, (weft_out[]){x, axes}, 1, &A_BOOL("keep_dims", keep_dims));
}

weft_out weft__b_matmul(weft_graph *g, weft_out x, weft_out y, bool tx, bool ty) {
  return weft__b_node(g, "MatMul", NULL, 2, (weft_out[]){x, y}, 2,
                      (attr[]){A_BOOL("transpose_a", tx), A_BOOL("transpose_b", ty)});
}

weft_out weft__b_concat(weft_graph *g, int n, const weft_out *x, weft_out axis) {
  WEFT_ASSERT(n > 0);
  weft_out *in = weft__alloc(sizeof *in * (size_t)(n + 1));
  if (!in) {
    weft__status_update(&g->sticky, WEFT_OOM);
    return WEFT_NONE;
  }
  memcpy(in, x, sizeof *in * (size_t)n);
  in[n] = axis;
  weft_out o = weft__b_node(g, "ConcatV2", "concat", n + 1, in, 1, &A_INT("N", n));
  weft__free(in);
  return o;
}

weft_out weft__b_gather(weft_graph *g, weft_out params, weft_out indices, weft_out axis) {
  return weft__b_node(g, "GatherV2", NULL, 3, (weft_out[]){params, indices, axis}, 0, NULL);
}

weft_out weft__b_select(weft_graph *g, weft_out cond, weft_out x, weft_out y) {
  return weft__b_node(g, "Select", NULL, 3, (weft_out[]){cond, x, y}, 0, NULL);
}

weft_out weft__b_conj(weft_graph *g, weft_out x) {
  if (x.node < 0 || weft__dtype_class(weft__out_type(g, x)) != CLASS_COMPLEX) return x;
  return weft__b_unary(g, "Conj", x);
}

static weft_out reduce_to(weft_graph *g, weft_out dx, weft_out axes, weft_out shape_of_x) {
  return weft__b_reshape(g, weft__b_sum(g, dx, axes, false), shape_of_x);
}

/* Fills of_x and of_y with the axes of the result along which x and y were broadcast.  Returns false if that depends on
 * dimensions that are not known. */
static bool static_axes(const shape *x, const shape *y, int64_t *of_x, int *n_x, int64_t *of_y, int *n_y) {
  WEFT_ASSERT(x->rank <= WEFT_MAX_RANK && y->rank <= WEFT_MAX_RANK);
  if (x->rank < 0 || y->rank < 0) return false;
  const int rank = x->rank > y->rank ? x->rank : y->rank;
  *n_x = *n_y = 0;
  for (int d = 0; d < rank; d++) {
    const int i = d - (rank - x->rank), j = d - (rank - y->rank);
    if (i < 0)
      of_x[(*n_x)++] = d;
    else if (j < 0)
      of_y[(*n_y)++] = d;
    else if (x->dim[i] < 0 || y->dim[j] < 0)
      return false;
    else if (x->dim[i] == 1 && y->dim[j] != 1)
      of_x[(*n_x)++] = d;
    else if (y->dim[j] == 1 && x->dim[i] != 1)
      of_y[(*n_y)++] = d;
  }
  return true;
}

/* Sums dx along constant axes and reshapes it; leaves it as it is if there are none. */
static weft_out reduce_axes(weft_graph *g, weft_out dx, const int64_t *axes, int n, weft_out shape_of_x) {
  WEFT_ASSERT(dx.node >= 0 && n >= 0 && n <= WEFT_MAX_RANK);
  if (n == 0) return dx;
  weft__b_push_name(g, "Sum");
  weft_out in[] = {dx, ints_named(g, "reduction_indices", axes, n)};
  char *exact = weft__sprintf("%s/", weft__scope_prefix(g));
  if (!exact) weft__status_update(&g->sticky, WEFT_OOM);
  weft_out sum = exact ? weft__b_node(g, "Sum", exact, 2, in, 1, &A_BOOL("keep_dims", true)) : WEFT_NONE;
  weft__free(exact);
  weft__b_pop(g);
  return weft__b_reshape(g, sum, shape_of_x);
}

void weft__b_unbroadcast(weft_graph *g, weft_out x, weft_out y, weft_out *dx, weft_out *dy) {
  if (x.node < 0 || y.node < 0) return;
  int64_t of_x[WEFT_MAX_RANK], of_y[WEFT_MAX_RANK];
  int n_x, n_y;
  const shape *sx = weft__out_shape(g, x), *sy = weft__out_shape(g, y);
  if (weft__shape_known(sx) && weft__shape_known(sy) && weft__shape_equal(sx, sy)) return;
  weft_out shape_x = weft__b_shape(g, x), shape_y = weft__b_shape(g, y);
  if (static_axes(weft__out_shape(g, x), weft__out_shape(g, y), of_x, &n_x, of_y, &n_y)) {
    if (dx && dx->node >= 0) *dx = reduce_axes(g, *dx, of_x, n_x, shape_x);
    if (dy && dy->node >= 0) *dy = reduce_axes(g, *dy, of_y, n_y, shape_y);
    return;
  }
  weft_out args = weft__b_binary(g, "BroadcastGradientArgs", shape_x, shape_y);
  if (dx && dx->node >= 0) *dx = reduce_to(g, *dx, args, shape_x);
  if (dy && dy->node >= 0) *dy = reduce_to(g, *dy, weft__b_slot(args, 1), shape_y);
}

weft_out weft__backprop_dout(backprop *b, int i) {
  return b->dout[i].node >= 0 ? b->dout[i] : weft__b_zeros_like(b->graph, b->out[i]);
}

weft_err weft__backprop_none(backprop *b) {
  (void)b;
  return WEFT_OK;
}

/* ---- scopes ------------------------------------------------------------------------------------- */

void weft__b_pushed(weft_graph *g, weft_err err) {
  weft__status_update(&g->sticky, err);
  if (err) weft__scope_push_control(g, 0, NULL); /* an empty scope, so that the caller has something to pop */
}

void weft__b_push_name(weft_graph *g, const char *name) { weft__b_pushed(g, weft__scope_push_name(g, name)); }

void weft__b_push_control(weft_graph *g, int n, const int *node_ids) {
  weft__b_pushed(g, weft__scope_push_control(g, n, node_ids));
}

void weft__b_push_colocate(weft_graph *g, int node_id) {
  weft__b_pushed(g, weft__scope_push_colocate(g, node_id, false));
}

void weft__b_pop(weft_graph *g) { weft__scope_pop(g); }
