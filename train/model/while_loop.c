/* while_loop.c - the nodes of a while loop: Enter, Merge, LoopCond, Switch, NextIteration, Exit.
 *
 * Each variable enters the loop, merges with the value of the last iteration, and is switched into the next
 * iteration or out of the loop.  The graph's adapt hook sees every node that is added in the meantime: inputs from
 * outside go through an Enter that is constant in the loop, and nodes without inputs wait for the iteration. */
#include "train/model/while_loop.h"
#include "base/alloc.h"
#include "graph/scope.h"
#include "train/model/named.h"
#include <stdio.h>

static weft_out while_enter(while_loop *l, const char *name, weft_out x, bool constant) {
  return weft__b_node(
      l->g, "Enter", name, 1, &x, 3,
      (attr[]){A_STR("frame_name", l->frame), A_BOOL("is_constant", constant), A_INT("parallel_iterations", 32)});
}

/* Returns a value from outside as seen inside: the same Enter every time. */
static weft_err bring_in(while_loop *l, weft_out x, weft_out *out) {
  char key[32];
  snprintf(key, sizeof key, "%d:%d", (int)x.node, (int)x.slot);
  weft_out *known = weft__map_get(&l->entered, key);
  if (!known) {
    if (!(known = weft__arena_alloc(&l->g->arena, sizeof *known))) return weft__fail(WEFT_OOM, "no memory for a loop");
    *known = while_enter(l, NULL, x, true);
    WEFT_TRY(weft__b_ok(l->g));
    WEFT_TRY(weft__map_put(&l->entered, key, known));
  }
  *out = *known;
  return WEFT_OK;
}

static weft_err adapt_inputs(while_loop *l, node_spec *spec) {
  weft_out *in = weft__arena_alloc(&l->g->arena, ((size_t)spec->n_in + 1) * sizeof *in);
  if (!in) return weft__fail(WEFT_OOM, "no memory for a loop");
  for (int i = 0; i < spec->n_in; i++) {
    in[i] = spec->in[i];
    if (in[i].node >= 0 && in[i].node < l->first) WEFT_TRY(bring_in(l, in[i], &in[i]));
  }
  spec->in = in;
  return WEFT_OK;
}

static weft_err while_adapt(void *arg, node_spec *spec) {
  while_loop *l = arg;
  if (spec->n_in == 0 && spec->n_control == 0) {
    spec->n_control = 1;
    spec->control = &l->pivot;
    return WEFT_OK;
  }
  weft_err (*hook)(void *, node_spec *) = l->g->adapt; /* ours, or a gradient's that calls ours */
  l->g->adapt = NULL;                                  /* Enters are added without the hook */
  weft_err err = adapt_inputs(l, spec);
  l->g->adapt = hook;
  return err;
}

void weft__while_loop_begin(while_loop *l, weft_graph *g, const char *name, int n, const weft_out *initial) {
  *l = (while_loop){.g = g, .n = n, .pivot = -1};
  for (int i = 0; i < WHILE_LOOP_VARS; i++) l->var[i] = l->merge[i] = l->exit[i] = WEFT_NONE;
  weft__b_push_name(g, name);
  char *frame = weft__sprintf("%s/while_context", weft__scope_prefix(g));
  l->frame = frame ? weft__arena_strdup(&g->arena, frame) : NULL;
  weft__free(frame);
  l->first = g->n_node;
  if (!l->frame || n > WHILE_LOOP_VARS || g->adapt) {
    weft__named_keep(g, weft__fail(WEFT_INTERNAL, "a loop of %d variables cannot be made here", n));
    return;
  }
  for (int i = 0; i < n; i++) {
    weft_out in = while_enter(l, NULL, initial[i], false);
    l->merge[i] = weft__b_node(g, "Merge", NULL, 2, (weft_out[]){in, in}, 0, NULL);
    l->var[i] = l->merge[i];
  }
  if (g->sticky.code) return;
  l->pivot = l->merge[0].node;
  g->adapt = while_adapt;
  g->adapt_arg = l;
}

void weft__while_loop_body(while_loop *l, weft_out condition) {
  weft_graph *g = l->g;
  if (g->sticky.code) return;
  g->adapt = NULL;
  weft_out go_on = weft__named_unary(g, "LoopCond", "LoopCond", condition);
  for (int i = 0; i < l->n && !g->sticky.code; i++) {
    weft__b_pushed(g, weft__scope_push_colocate(g, l->merge[i].node, true));
    weft_out way = weft__b_node(g, "Switch", NULL, 2, (weft_out[]){l->merge[i], go_on}, 0, NULL);
    weft__b_pop(g);
    l->exit[i] = way;
    l->var[i] = weft__named_unary(g, "Identity", "Identity", weft__b_slot(way, 1));
  }
  if (g->sticky.code) return;
  l->pivot = l->var[0].node;
  g->adapt = while_adapt;
}

void weft__while_loop_end(while_loop *l, const weft_out *next, weft_out *last) {
  weft_graph *g = l->g;
  if (g->adapt == while_adapt) g->adapt = NULL;
  for (int i = 0; i < l->n && !g->sticky.code; i++) {
    weft_out again = weft__named_unary(g, "NextIteration", "NextIteration", next[i]);
    if (again.node >= 0) weft__named_keep(g, weft__graph_set_input(g, g->node[l->merge[i].node], 1, again));
  }
  for (int i = 0; i < l->n; i++)
    last[i] = g->sticky.code ? WEFT_NONE : weft__named_unary(g, "Exit", "Exit", l->exit[i]);
  weft__map_finish(&l->entered);
  weft__b_pop(g);
}
