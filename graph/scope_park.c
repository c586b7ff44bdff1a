/* scope_park.c - removes scopes from the stack temporarily, so that other code can run without them.
 *
 * tf.distribute runs one function once for each replica, in turns: a replica stops in the middle of its blocks, the
 * others run from the beginning of the function, and later it continues in the same blocks.  Default names of
 * variable scopes are counted for each replica separately, so that all replicas get the same names. */
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/scope_stack.h"
#include <string.h>

struct parked_scopes {
  scope_entry *entry;
  int n;
  int nodes; /* number of the graph's nodes when they were parked */
  int *count;
  int n_count;
};

static void parked_free(parked_scopes *p) {
  weft__free(p->entry);
  weft__free(p->count);
  weft__free(p);
}

weft_err weft__scope_park(weft_graph *g, int depth, parked_scopes **out) {
  scope *s = g->scope;
  if (depth < 0 || depth > s->n)
    return weft__fail(WEFT_INVALID_ARGUMENT, "cannot park the scopes above depth %d: there are %d scopes", depth, s->n);
  parked_scopes *p = weft__alloc_zero(1, sizeof *p);
  size_t n = (size_t)(s->n - depth);
  if (p) p->entry = weft__alloc((n + 1) * sizeof *p->entry);
  if (!p || !p->entry || weft__variable_counts_save(g, &p->count, &p->n_count) != WEFT_OK) {
    if (p) parked_free(p);
    return weft__fail(WEFT_OOM, "no memory for parked scopes");
  }
  memcpy(p->entry, s->entry + depth, n * sizeof *p->entry);
  p->n = s->n - depth;
  p->nodes = g->n_node;
  s->n = depth;
  *out = p;
  return WEFT_OK;
}

/* Records that the nodes made in the meantime were not made in the parked scopes, so they lack the control edges of
 * these. */
static weft_err scope_record_gap(weft_graph *g, const parked_scopes *p) {
  WEFT_ASSERT(p->nodes <= g->n_node); /* nodes are only added in between */
  scope *s = g->scope;
  if (p->n == 0 || p->nodes == g->n_node) return WEFT_OK;
  WEFT_TRY(weft__scope_reserve_gap(s));
  while (s->n_gap && s->gap[s->n_gap - 1].begin >= p->nodes) s->n_gap--;
  if (s->n_gap && s->gap[s->n_gap - 1].end >= p->nodes)
    s->gap[s->n_gap - 1].end = g->n_node;
  else
    s->gap[s->n_gap++] = (scope_gap){p->nodes, g->n_node};
  WEFT_ASSERT(s->n_gap > 0 && s->n_gap <= s->cap_gap && s->gap[s->n_gap - 1].end == g->n_node);
  return WEFT_OK;
}

weft_err weft__scope_unpark(weft_graph *g, parked_scopes *p) {
  weft_err err = WEFT_OK;
  for (int i = 0; i < p->n; i++) {
    weft_err one = weft__scope_push(g->scope, p->entry[i]); /* takes ownership of the entry, also on failure */
    if (err == WEFT_OK) err = one;
  }
  if (err == WEFT_OK) err = scope_record_gap(g, p);
  weft__variable_counts_set(g, p->count, p->n_count);
  parked_free(p);
  return err;
}
