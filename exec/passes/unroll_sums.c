/* unroll_sums.c - one product in place of a sum of products.
 *
 * The gradient of a weight that a loop uses is a sum over the iterations: x1' y1 + x2' y2 + ...  Each of these products
 * has few rows to sum over and a result as large as the weight.  [x1; x2; ...]' [y1; y2; ...] is the same sum as one
 * product, and joining the factors moves much less memory than the products do.  The sum over the rows of y1, y2, ...
 * (the gradient of a bias) becomes the sum over the rows of [y1; y2; ...].  Zeros that such a sum begins with are left
 * out, so that the product can be fused with the update of the weight.  The additions happen in another order, so
 * results differ from those of the loop in their last bits. */
#include "base/alloc.h"
#include "base/array.h"
#include "exec/passes/unroll_state.h"
#include "graph/fusion.h"
#include "graph/graph.h"
#include <stdio.h>

enum { MIN_TERMS = 3, MAX_TERMS = 1024 };

typedef struct joined { /* a ConcatV2 that the pass has made */
  const weft_out *in;
  int n, axis;
  weft_out out;
} joined;

typedef struct summer {
  unroller *u;
  weft_graph *g;
  int *uses; /* per node: how often its outputs are read */
  weft_out term[MAX_TERMS];
  int n_term;
  joined *join;
  int n_join, n_made;
  int64_t room_join;
} summer;

static fusion_role unroll_sums_role_of(const weft_node *n) {
  return n->op && n->op->fusion ? n->op->fusion->role : ROLE_NONE;
}

/* Returns true if the node adds inputs of the shape of its output, and only that. */
static bool is_sum(const weft_graph *g, const weft_node *n) {
  if (unroll_sums_role_of(n) != ROLE_PLUS && !weft__node_is(n, KIND_SUM)) return false;
  bool same = weft__shape_known(&n->out_shape[0]);
  for (int i = 0; i < n->n_in; i++) same = same && weft__shape_equal(weft__out_shape(g, n->in[i]), &n->out_shape[0]);
  return same && n->out_type[0] == weft__out_type(g, n->in[0]);
}

/* Collects what the sum adds, through sums that nothing else reads. */
static bool list_terms(summer *s, const weft_node *n) {
  for (int i = 0; i < n->n_in; i++) {
    const weft_node *from = s->g->node[n->in[i].node];
    if (is_sum(s->g, from) && s->uses[from->id] == 1) {
      if (!list_terms(s, from)) return false;
      continue;
    }
    if (s->n_term == MAX_TERMS) return false;
    s->term[s->n_term++] = n->in[i];
  }
  return true;
}

/* ---- terms of one kind ---- */

/* Returns the axis along which factor i of a term is joined with those of other terms. */
static int joined_axis(const weft_node *n, int i) {
  if (unroll_sums_role_of(n) == ROLE_COLUMNS) return 0;
  return weft__node_bool(n, i ? "transpose_b" : "transpose_a", false) == (i == 0) ? 0 : 1;
}

/* Returns true if the term is a product or a sum of rows that nothing else reads. */
static bool may_merge(const summer *s, weft_out term) {
  const weft_node *n = s->g->node[term.node];
  const fusion_role role = unroll_sums_role_of(n);
  if (s->uses[n->id] != 1 || n->n_control || (role != ROLE_MATMUL && role != ROLE_COLUMNS)) return false;
  if (role == ROLE_COLUMNS && !weft__node_str_is(n, "data_format", "NHWC")) return false;
  bool known = true;
  for (int i = 0; i < n->n_in; i++) {
    const shape *x = weft__out_shape(s->g, n->in[i]);
    known = known && weft__shape_known(x) && x->rank >= 2 && !weft__out_is_ref(s->g, n->in[i]);
  }
  return known;
}

static bool same_but_axis(const shape *a, const shape *b, int axis) {
  bool same = a->rank == b->rank;
  for (int d = 0; same && d < a->rank; d++) same = d == axis || a->dim[d] == b->dim[d];
  return same;
}

/* Returns true if two terms that may be merged can be merged with each other. */
static bool merges_with(const summer *s, weft_out a, weft_out b) {
  const weft_node *x = s->g->node[a.node], *y = s->g->node[b.node];
  bool same =
      x->op == y->op && x->out_type[0] == y->out_type[0] && s->u->made->of_node[x->id] == s->u->made->of_node[y->id];
  for (int i = 0; same && i < x->n_in; i++)
    same = joined_axis(x, i) == joined_axis(y, i) &&
           same_but_axis(weft__out_shape(s->g, x->in[i]), weft__out_shape(s->g, y->in[i]), joined_axis(x, i));
  return same;
}

/* Returns true if the factors of n terms have fewer elements than their results. */
static bool is_worth(const summer *s, const weft_out *term, int n) {
  if (n < MIN_TERMS) return false;
  if (unroll_sums_role_of(s->g->node[term[0].node]) == ROLE_COLUMNS) return true;
  int64_t factors = 0, results = 0;
  for (int t = 0; t < n; t++) {
    const weft_node *x = s->g->node[term[t].node];
    results += weft__shape_count(&x->out_shape[0]);
    for (int i = 0; i < x->n_in; i++) factors += weft__shape_count(weft__out_shape(s->g, x->in[i]));
  }
  return factors < results;
}

/* ---- making the product ---- */

static weft_err add_node(summer *s, const weft_node *like, node_spec *spec, weft_out *out) {
  char name[48];
  weft_node *made;
  snprintf(name, sizeof name, "_unrolled/sum_%d", s->n_made++);
  spec->name = name, spec->device = like->device, spec->exact = true;
  WEFT_TRY(weft__unroll_add(s->u, spec, s->u->made->of_node[like->id], &made));
  *out = (weft_out){made->id, 0, 0};
  made->name = like->name; /* errors name the program's node */
  return WEFT_OK;
}

static bool same_inputs(const joined *j, const weft_out *in, int n, int axis) {
  bool same = j->n == n && j->axis == axis;
  for (int i = 0; same && i < n; i++) same = weft__out_same(j->in[i], in[i]);
  return same;
}

/* Joins factor i of the terms. */
static weft_err join_factors(summer *s, const weft_out *term, int n, int i, weft_out *out) {
  const weft_node *like = s->g->node[term[0].node];
  const int axis = joined_axis(like, i);
  weft_out *in = weft__arena_alloc(&s->u->arena, sizeof *in * ((size_t)n + 1));
  if (!in) return WEFT_OOM;
  for (int t = 0; t < n; t++) in[t] = s->g->node[term[t].node]->in[i];
  for (int j = 0; j < s->n_join; j++)
    if (same_inputs(&s->join[j], in, n, axis)) {
      *out = s->join[j].out;
      return WEFT_OK;
    }
  symbol number = {.out = WEFT_NONE, .variable = -1};
  weft_tensor *along = NULL;
  WEFT_TRY(weft__tensor_scalar(&along, WEFT_INT32, axis));
  weft_err err = weft__unroll_keep(s->u, along, &number.known);
  weft_tensor_destroy(along);
  if (!err) err = weft__unroll_materialize(s->u, &number, s->u->made->of_node[like->id]);
  if (err) return err;
  in[n] = number.out;
  const attr attrs[] = {A_INT("N", n), A_TYPE("T", weft__out_type(s->g, in[0]))};
  WEFT_TRY(add_node(s, like, &(node_spec){.op = "ConcatV2", .n_in = n + 1, .in = in, .n_attr = 2, .attr = attrs}, out));
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->join, s->room_join, s->n_join + 1));
  s->join[s->n_join++] = (joined){in, n, axis, *out};
  return WEFT_OK;
}

static weft_err merge_terms(summer *s, const weft_out *term, int n, weft_out *out) {
  const weft_node *like = s->g->node[term[0].node];
  weft_out in[2];
  for (int i = 0; i < like->n_in; i++) WEFT_TRY(join_factors(s, term, n, i, &in[i]));
  node_spec spec = {.op = like->op_name, .n_in = like->n_in, .in = in, .n_attr = like->n_attr, .attr = like->attr};
  return add_node(s, like, &spec, out);
}

/* Replaces terms that can be merged; the others keep their order.  *less: the sum has fewer terms now. */
static weft_err merge_all(summer *s, bool *less) {
  weft_out *same = weft__arena_alloc(&s->u->arena, sizeof *same * MAX_TERMS);
  if (!same) return WEFT_OOM;
  *less = false;
  for (int t = 0; t < s->n_term; t++) {
    int n = 0, kept = t + 1;
    if (!may_merge(s, s->term[t])) continue;
    for (int i = t; i < s->n_term; i++)
      if (i == t || (may_merge(s, s->term[i]) && merges_with(s, s->term[t], s->term[i]))) same[n++] = s->term[i];
    if (!is_worth(s, same, n)) continue;
    for (int i = t + 1; i < s->n_term; i++)
      if (!may_merge(s, s->term[i]) || !merges_with(s, s->term[t], s->term[i])) s->term[kept++] = s->term[i];
    WEFT_TRY(merge_terms(s, same, n, &s->term[t]));
    s->n_term = kept;
    *less = true;
  }
  return WEFT_OK;
}

/* Removes terms that are zeros: a gradient in a loop begins with them.  Adding zero changes no more than the sign of
 * a zero. */
static void drop_zeros(summer *s) {
  int kept = 0;
  for (int t = 0; t < s->n_term; t++) {
    const weft_node *n = s->g->node[s->term[t].node];
    if (!weft__node_is(n, KIND_ZEROS) || n->n_control) s->term[kept++] = s->term[t];
  }
  if (kept > 0) s->n_term = kept;
}

/* ---- the pass ---- */

static void count_uses(summer *s) {
  const plan_request *r = &s->u->made->request;
  for (int i = 0; i < s->g->n_node; i++)
    for (int j = 0; j < s->g->node[i]->n_in; j++) s->uses[s->g->node[i]->in[j].node]++;
  for (int i = 0; i < r->n_fetch; i++) s->uses[r->fetch[i].node] += 2;
}

/* Returns true if the node is a sum that is not itself a term of another sum. */
static bool is_top(const summer *s, const weft_node *n, const bool *inner) {
  return !inner[n->id] && s->uses[n->id] > 0 && is_sum(s->g, n);
}

static void mark_inner(const summer *s, bool *inner) {
  for (int i = 0; i < s->g->n_node; i++) {
    const weft_node *n = s->g->node[i];
    if (!is_sum(s->g, n)) continue;
    for (int j = 0; j < n->n_in; j++)
      if (s->uses[n->in[j].node] == 1) inner[n->in[j].node] = true;
  }
}

/* Lets all readers of the old sum read the new one. */
static weft_err unroll_redirect_readers(summer *s, const weft_node *old, weft_out to) {
  for (int i = 0; i < s->g->n_node; i++)
    for (int j = 0; j < s->g->node[i]->n_in; j++)
      if (s->g->node[i]->in[j].node == old->id) WEFT_TRY(weft__graph_set_input(s->g, s->g->node[i], j, to));
  plan_request *r = &s->u->made->request;
  for (int i = 0; i < r->n_fetch; i++)
    if (r->fetch[i].node == old->id) ((weft_out *)(uintptr_t)r->fetch)[i] = to; /* the arena of the new graph has it */
  return WEFT_OK;
}

static weft_err merge_sum(summer *s, const weft_node *n) {
  bool less;
  s->n_term = 0;
  if (n->n_control || !list_terms(s, n)) return WEFT_OK;
  WEFT_TRY(merge_all(s, &less));
  if (!less) return WEFT_OK;
  drop_zeros(s);
  weft_out sum = s->term[0];
  const attr attrs[] = {A_INT("N", s->n_term), A_TYPE("T", n->out_type[0])};
  node_spec spec = {.op = "AddN", .n_in = s->n_term, .in = s->term, .n_attr = 2, .attr = attrs};
  if (s->n_term > 1) WEFT_TRY(add_node(s, n, &spec, &sum));
  return unroll_redirect_readers(s, n, sum);
}

weft_err weft__unroll_sums(unroller *u) {
  summer *s = weft__alloc_zero(1, sizeof *s);
  const int n = u->made->graph->n_node;
  bool *inner = weft__alloc_zero((size_t)n + 1, 1);
  weft_err err = s && inner ? WEFT_OK : WEFT_OOM;
  if (!err) {
    *s = (summer){.u = u, .g = u->made->graph, .uses = weft__alloc_zero(UNROLL_MAX_NODES + 1, sizeof(int))};
    err = s->uses ? WEFT_OK : WEFT_OOM;
  }
  if (!err) {
    count_uses(s);
    mark_inner(s, inner);
    for (int i = 0; i < n && !err; i++)
      if (is_top(s, s->g->node[i], inner)) err = merge_sum(s, s->g->node[i]);
  }
  if (s) {
    weft__free(s->uses);
    weft__free(s->join);
  }
  weft__free(s);
  weft__free(inner);
  return err;
}
