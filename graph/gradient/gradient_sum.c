/* gradient_sum.c - sums several gradients of one tensor.
 *
 * Dense gradients are added by AddN, first on each device, then across devices.  Slices are concatenated, which is
 * cheap and lets an optimizer update only the rows that were read.  If at least one gradient is dense, the sum is
 * dense. */
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/gradient/gradient_state.h"
#include <string.h>

static bool is_slices(const grad_value *v) { return v->indices.node >= 0; }

weft_err weft__gradient_arrive(gradient_state *s, weft_out to, const grad_value *v) {
  WEFT_ASSERT(to.node >= 0 && to.node < s->n && to.slot < s->g->node[to.node]->n_out);
  gradient_list *l = &s->arrived[s->first_out[to.node] + to.slot];
  if (v->dense.node < 0 && !is_slices(v)) return WEFT_OK;
  WEFT_TRY(WEFT_ARENA_RESERVE(&s->a, l->v, l->capacity, l->n + 1));
  l->v[l->n++] = *v;
  return WEFT_OK;
}

weft_out weft__gradient_dense(weft_graph *g, const grad_value *v) {
  if (!is_slices(v)) return v->dense;
  if (v->dense_shape.node < 0) {
    weft__status_update(&g->sticky, weft__fail(WEFT_INVALID_ARGUMENT,
                                               "Tensor conversion requested for IndexedSlices without "
                                               "dense_shape: '%s'",
                                               g->node[v->values.node]->name));
    return WEFT_NONE;
  }
  weft_out in[4] = {v->dense_shape, weft__b_ints(g, (int64_t[]){0}, 1), weft__b_ints(g, (int64_t[]){1}, 1),
                    weft__b_ints(g, (int64_t[]){1}, 1)};
  weft_out rows = weft__b_node(g, "StridedSlice", NULL, 4, in, 1, &A_INT("shrink_axis_mask", 1));
  return weft__b_node(g, "UnsortedSegmentSum", NULL, 3, (weft_out[]){v->values, v->indices, rows}, 0, NULL);
}

static weft_out add_n(weft_graph *g, int n, const weft_out *x) {
  WEFT_ASSERT(n > 0);
  return n == 1 ? x[0] : weft__b_node(g, "AddN", NULL, n, x, 1, &A_INT("N", n));
}

static const char *device_of(const weft_graph *g, weft_out o) { return g->node[o.node]->device; }

/* Lists the devices of x in sorted order, each once.  Returns their number. */
static int devices_of(const weft_graph *g, int n, const weft_out *x, const char **list) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    int at = 0;
    const char *d = device_of(g, x[i]);
    while (at < found && strcmp(list[at], d) < 0) at++;
    if (at < found && strcmp(list[at], d) == 0) continue;
    memmove(list + at + 1, list + at, (size_t)(found - at) * sizeof *list);
    list[at] = d;
    found++;
  }
  return found;
}

/* Places an AddN with the first of the group, so that fewer tensors are sent. */
static weft_out add_group(weft_graph *g, int n, const weft_out *x) {
  WEFT_ASSERT(n > 0);
  if (n == 1) return x[0];
  weft__status_update(&g->sticky, weft__scope_push_colocate(g, x[0].node, true));
  weft_out sum = add_n(g, n, x);
  weft__scope_pop(g);
  return sum;
}

static weft_out add_dense(gradient_state *s, int n, const weft_out *x) {
  WEFT_ASSERT(n > 1);
  weft_graph *g = s->g;
  const char **device = weft__arena_alloc(&s->a, (size_t)(n + 1) * sizeof *device);
  weft_out *group = weft__arena_alloc(&s->a, (size_t)n * sizeof *group), *sum;
  sum = weft__arena_alloc(&s->a, (size_t)n * sizeof *sum);
  if (!device || !group || !sum) {
    weft__status_update(&g->sticky, weft__fail(WEFT_OOM, "no memory to add gradients"));
    return WEFT_NONE;
  }
  int n_device = devices_of(g, n, x, device);
  WEFT_ASSERT(n_device >= 1 && n_device <= n);
  for (int d = 0; d < n_device; d++) {
    int members = 0;
    for (int i = 0; i < n; i++)
      if (strcmp(device_of(g, x[i]), device[d]) == 0) group[members++] = x[i];
    sum[d] = add_group(g, members, group);
    if (sum[d].node < 0) return WEFT_NONE;
  }
  return add_n(g, n_device, sum);
}

/* Adds two at a time, which needs less memory and starts earlier. */
static weft_out add_tree(gradient_state *s, weft_out of, int n, const weft_out *x) {
  weft_out sum = x[0];
  char *name = weft__sprintf("%s_gradient_sum", s->g->node[of.node]->name);
  if (!name) weft__status_update(&s->g->sticky, WEFT_OOM);
  weft__b_push_name(s->g, name);
  for (int i = 1; i < n && sum.node >= 0; i++) sum = add_n(s->g, 2, (weft_out[]){sum, x[i]});
  weft__b_pop(s->g);
  weft__free(name);
  return sum;
}

static weft_out sum_dense(gradient_state *s, weft_out of, const gradient_list *l) {
  WEFT_ASSERT(l->n > 1 && l->n <= l->capacity);
  weft_out *x = weft__arena_alloc(&s->a, (size_t)l->n * sizeof *x);
  if (!x) {
    weft__status_update(&s->g->sticky, weft__fail(WEFT_OOM, "no memory to add gradients"));
    return WEFT_NONE;
  }
  bool mixed = false;
  for (int i = 0; i < l->n; i++) {
    mixed |= is_slices(&l->v[i]);
    x[i] = weft__gradient_dense(s->g, &l->v[i]);
    if (x[i].node < 0) return WEFT_NONE;
  }
  if (mixed) return add_n(s->g, l->n, x);
  return s->opts->sum == SUM_TREE ? add_tree(s, of, l->n, x) : add_dense(s, l->n, x);
}

/* Concatenates the indices.  If some are int32 and some int64, all become int64. */
static weft_out index_list(gradient_state *s, const gradient_list *l, weft_out *x) {
  bool same = true;
  for (int i = 0; i < l->n; i++) same &= weft__out_type(s->g, l->v[i].indices) == weft__out_type(s->g, l->v[0].indices);
  for (int i = 0; i < l->n; i++) x[i] = same ? l->v[i].indices : weft__b_cast(s->g, l->v[i].indices, WEFT_INT64);
  return weft__b_concat(s->g, l->n, x, weft__b_scalar(s->g, WEFT_INT32, 0));
}

static grad_value sum_slices(gradient_state *s, const gradient_list *l) {
  grad_value sum = l->v[0];
  weft_out *x = weft__arena_alloc(&s->a, (size_t)l->n * sizeof *x);
  if (!x) {
    weft__status_update(&s->g->sticky, weft__fail(WEFT_OOM, "no memory to add gradients"));
    return GRAD_NONE;
  }
  for (int i = 0; i < l->n; i++) x[i] = l->v[i].values;
  sum.values = weft__b_concat(s->g, l->n, x, weft__b_scalar(s->g, WEFT_INT32, 0));
  sum.indices = index_list(s, l, x);
  return sum;
}

weft_err weft__gradient_total(gradient_state *s, weft_out o, grad_value *sum) {
  WEFT_ASSERT(o.node >= 0 && o.node < s->n);
  gradient_list *l = &s->arrived[s->first_out[o.node] + o.slot];
  *sum = GRAD_NONE;
  if (l->n == 0) return WEFT_OK;
  *sum = l->v[0];
  if (l->n == 1) return WEFT_OK;
  bool slices = true;
  for (int i = 0; i < l->n; i++) slices &= is_slices(&l->v[i]);
  *sum = slices ? sum_slices(s, l) : GRAD_DENSE(sum_dense(s, o, l));
  WEFT_TRY(weft__b_ok(s->g));
  l->v[0] = *sum;
  l->n = 1;
  return WEFT_OK;
}
