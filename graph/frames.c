/* frames.c - finds the loops and branches of a graph from its nodes.
 *
 * A node is in the frame and branch of its inputs, so passes over the nodes in order of their ids find both.  Only
 * the back edges of loops come from nodes with larger ids.  They can be ignored, because the entry of the loop
 * already determines its frame and branch. */
#include "graph/frames.h"
#include "base/assert.h"
#include <string.h>

static weft_err frames_oom(void) { return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no memory to find loops"); }

/* ---- frames ---- */

static weft_err find_frame(frames *f, int parent, const char *name, int *out, arena *a) {
  WEFT_ASSERT(parent >= -1 && parent < f->n_frame);
  for (int i = 1; i < f->n_frame; i++)
    if (f->frame[i].parent == parent && strcmp(f->frame[i].name, name) == 0) {
      *out = i;
      return WEFT_OK;
    }
  WEFT_TRY(WEFT_ARENA_RESERVE(a, f->frame, f->cap_frame, f->n_frame + 1));
  *out = f->n_frame++;
  f->frame[*out] = (loop_frame){
      .parent = parent, .name = name, .depth = parent < 0 ? 0 : f->frame[parent].depth + 1, .loop_cond = -1, .odd = -1};
  return WEFT_OK;
}

/* Returns the frame of the first input whose frame is known, or -1. */
static int input_home(const frames *f, const weft_node *n) {
  if (n->n_in == 0 && n->n_control == 0) return 0;
  for (int i = 0; i < n->n_in; i++)
    if (f->home[n->in[i].node] >= 0) return f->home[n->in[i].node];
  for (int i = 0; i < n->n_control; i++)
    if (f->home[n->control[i]] >= 0) return f->home[n->control[i]];
  return -1;
}

/* Returns true for an Enter into a loop that is complete. */
static bool is_enter(const frames *f, const weft_node *n) {
  return weft__node_is(n, KIND_ENTER) && !(f->open && f->open[n->id]);
}

static weft_err assign_home(frames *f, const weft_node *n, arena *a) {
  int home = input_home(f, n);
  if (home < 0) return WEFT_OK;
  if (is_enter(f, n)) WEFT_TRY(find_frame(f, home, weft__node_str(n, "frame_name").data, &home, a));
  if (weft__node_is(n, KIND_EXIT) && home > 0) home = f->frame[home].parent;
  f->home[n->id] = home;
  return WEFT_OK;
}

static weft_err assign_homes(frames *f, const weft_graph *g, arena *a) {
  int root;
  WEFT_TRY(find_frame(f, -1, "", &root, a));
  for (int i = 0; i < f->n_node; i++) f->home[i] = -1;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < f->n_node; i++) {
      if (f->home[i] >= 0) continue;
      WEFT_TRY(assign_home(f, g->node[i], a));
      changed |= f->home[i] >= 0;
    }
  }
  for (int i = 0; i < f->n_node; i++)
    if (f->home[i] < 0) f->home[i] = 0;
  return WEFT_OK;
}

/* ---- the parts of a loop ---- */

static weft_err add_enter(loop_frame *l, int id, arena *a) {
  WEFT_TRY(WEFT_ARENA_RESERVE(a, l->enter, l->cap_enter, l->n_enter + 1));
  l->enter[l->n_enter++] = id;
  return WEFT_OK;
}

static weft_err add_exit(loop_frame *l, int id, arena *a) {
  WEFT_TRY(WEFT_ARENA_RESERVE(a, l->exit, l->cap_exit, l->n_exit + 1));
  l->exit[l->n_exit++] = id;
  return WEFT_OK;
}

weft_err weft__frames_odd(const loop_frame *l, const weft_graph *g) {
  WEFT_ASSERT(l->odd >= 0 && l->odd < g->n_node);
  const weft_node *n = g->node[l->odd];
  return weft__fail(WEFT_INVALID_ARGUMENT, "loop '%s' is not of the shape that while_loop builds: node '%s' (op: %s)",
                    l->name, n->name, n->op_name);
}

static weft_err collect_parts(frames *f, const weft_graph *g, arena *a) {
  for (int i = 0; i < f->n_node; i++) {
    const weft_node *n = g->node[i];
    loop_frame *l = &f->frame[f->home[i]];
    WEFT_ASSERT(f->home[i] >= 0 && f->home[i] < f->n_frame);
    l->iterates |= weft__node_is(n, KIND_NEXT_ITERATION);
    if (is_enter(f, n)) WEFT_TRY(add_enter(l, i, a));
    if (weft__node_is(n, KIND_EXIT) && f->home[n->in[0].node] > 0)
      WEFT_TRY(add_exit(&f->frame[f->home[n->in[0].node]], i, a));
    if (weft__node_is(n, KIND_LOOP_COND) && f->home[i] > 0) {
      if (l->loop_cond >= 0) l->odd = i;
      if (l->loop_cond < 0) l->loop_cond = i;
    }
  }
  return WEFT_OK;
}

/* Returns true for a Merge of an Enter and a NextIteration, which carries a variable of its loop. */
static bool is_var_merge(const weft_graph *g, const weft_node *n, loop_var *v) {
  *v = (loop_var){-1, n->id, -1, -1, -1};
  if (!weft__node_is(n, KIND_MERGE)) return false;
  for (int i = 0; i < n->n_in; i++) {
    const weft_node *from = g->node[n->in[i].node];
    if (weft__node_is(from, KIND_ENTER)) v->enter = from->id;
    if (weft__node_is(from, KIND_NEXT_ITERATION)) v->next = from->id;
  }
  return v->next >= 0 && v->enter >= 0;
}

bool weft__frames_is_loop_switch(const frames *f, const weft_graph *g, int node) {
  const weft_node *n = g->node[node];
  return weft__node_is(n, KIND_SWITCH) && f->home[node] > 0 && n->in[1].node == f->frame[f->home[node]].loop_cond;
}

static weft_err add_var(loop_frame *l, const loop_var *v, arena *a) {
  WEFT_ASSERT(v->merge >= 0 && v->enter >= 0 && v->next >= 0);
  WEFT_TRY(WEFT_ARENA_RESERVE(a, l->var, l->cap_var, l->n_var + 1));
  l->var[l->n_var++] = *v;
  return WEFT_OK;
}

static loop_var *var_of(const loop_frame *l, int merge, int sw) {
  WEFT_ASSERT(merge >= 0 || sw >= 0);
  for (int i = 0; i < l->n_var; i++)
    if (merge >= 0 ? l->var[i].merge == merge : l->var[i].sw == sw) return &l->var[i];
  return NULL;
}

static weft_err find_vars(frames *f, const weft_graph *g, arena *a) {
  loop_var v;
  for (int i = 0; i < f->n_node; i++)
    if (is_var_merge(g, g->node[i], &v)) WEFT_TRY(add_var(&f->frame[f->home[i]], &v, a));
  for (int i = 0; i < f->n_node; i++) {
    if (!weft__frames_is_loop_switch(f, g, i)) continue;
    loop_frame *l = &f->frame[f->home[i]];
    loop_var *of = var_of(l, g->node[i]->in[0].node, -1);
    if (of)
      of->sw = i;
    else
      l->odd = i;
  }
  for (int i = 1; i < f->n_frame; i++)
    for (int j = 0; j < f->frame[i].n_exit; j++) {
      const weft_node *n = g->node[f->frame[i].exit[j]];
      loop_var *of = var_of(&f->frame[i], -1, n->in[0].node);
      if (of && n->in[0].slot == 0)
        of->exit = n->id;
      else
        f->frame[i].odd = n->id;
    }
  return WEFT_OK;
}

/* ---- branches ---- */

static int find_branch(const frames *f, int parent, weft_out pred, int side) {
  for (int i = 1; i < f->n_branch; i++) {
    const branch *b = &f->branch[i];
    if (b->parent == parent && b->pred.node == pred.node && b->pred.slot == pred.slot && b->side == side) return i;
  }
  return -1;
}

static weft_err make_branch(frames *f, int parent, weft_out pred, int side, arena *a) {
  WEFT_ASSERT(parent >= -1 && parent < f->n_branch && (side == 0 || side == 1));
  if (find_branch(f, parent, pred, side) >= 0) return WEFT_OK;
  WEFT_TRY(WEFT_ARENA_RESERVE(a, f->branch, f->cap_branch, f->n_branch + 1));
  f->branch[f->n_branch++] =
      (branch){.parent = parent, .pred = pred, .side = side, .depth = parent < 0 ? 0 : f->branch[parent].depth + 1};
  return WEFT_OK;
}

int weft__frames_branch(const frames *f, const weft_graph *g, weft_out o) {
  WEFT_ASSERT(o.node >= 0 && o.node < f->n_node);
  const weft_node *n = g->node[o.node];
  int in = f->alive[o.node];
  if (!weft__node_is(n, KIND_SWITCH) || weft__frames_is_loop_switch(f, g, o.node)) return in;
  int side = find_branch(f, in, weft__out_behind_identity(g, n->in[1]), o.slot);
  return side >= 0 ? side : in;
}

static int deeper_branch(const frames *f, int a, int b) { return f->branch[a].depth >= f->branch[b].depth ? a : b; }

static int common_branch(const frames *f, int a, int b) {
  WEFT_ASSERT(a >= 0 && a < f->n_branch && b >= 0 && b < f->n_branch);
  while (a != b) {
    if (f->branch[a].depth >= f->branch[b].depth)
      a = f->branch[a].parent;
    else
      b = f->branch[b].parent;
  }
  return a;
}

static int join_inputs(const frames *f, const weft_graph *g, const weft_node *n) {
  WEFT_ASSERT(n->n_in > 0);
  int at = weft__frames_branch(f, g, n->in[0]);
  for (int i = 1; i < n->n_in; i++) at = common_branch(f, at, weft__frames_branch(f, g, n->in[i]));
  return at;
}

static int deepest_input(const frames *f, const weft_graph *g, const weft_node *n) {
  int at = 0;
  for (int i = 0; i < n->n_in; i++) at = deeper_branch(f, weft__frames_branch(f, g, n->in[i]), at);
  for (int i = 0; i < n->n_control; i++) at = deeper_branch(f, f->alive[n->control[i]], at);
  return at;
}

static weft_err assign_branch(frames *f, const weft_graph *g, const weft_node *n, arena *a) {
  WEFT_ASSERT(n->id < f->n_node && f->n_branch > 0);
  loop_var v;
  int *alive = &f->alive[n->id];
  loop_frame *into = &f->frame[f->home[n->id]];
  if (is_enter(f, n)) { /* in the frame, branches start anew */
    into->branch = deeper_branch(f, into->branch, weft__frames_branch(f, g, n->in[0]));
    *alive = 0;
  } else if (weft__node_is(n, KIND_EXIT) && f->home[n->in[0].node] > 0)
    *alive = f->frame[f->home[n->in[0].node]].branch;
  else if (is_var_merge(g, n, &v))
    *alive = 0;
  else
    *alive = weft__node_is(n, KIND_MERGE) && n->n_in > 0 ? join_inputs(f, g, n) : deepest_input(f, g, n);
  if (!weft__node_is(n, KIND_SWITCH) || weft__frames_is_loop_switch(f, g, n->id)) return WEFT_OK;
  WEFT_TRY(make_branch(f, *alive, weft__out_behind_identity(g, n->in[1]), 0, a));
  return make_branch(f, *alive, weft__out_behind_identity(g, n->in[1]), 1, a);
}

/* Finds loops that are still being built: no Merge of theirs has its NextIteration yet. */
static weft_err find_open(frames *f, const weft_graph *g, arena *a) {
  map round = {0}; /* the names of frames that have a NextIteration */
  loop_var v;
  weft_err err = WEFT_OK;
  f->open = weft__arena_alloc(a, (size_t)(f->n_node + 1) * sizeof *f->open);
  if (!f->open) return frames_oom();
  for (int i = 0; i < f->n_node && !err; i++)
    if (is_var_merge(g, g->node[i], &v))
      err = weft__map_put(&round, weft__node_str(g->node[v.enter], "frame_name").data, f->open);
  for (int i = 0; i < f->n_node && !err; i++)
    f->open[i] =
        weft__node_is(g->node[i], KIND_ENTER) && !weft__map_get(&round, weft__node_str(g->node[i], "frame_name").data);
  weft__map_finish(&round);
  return err;
}

weft_err weft__frames_find(frames *f, const weft_graph *g, bool open, arena *a) {
  *f = (frames){.n_node = g->n_node};
  f->home = weft__arena_alloc(a, (size_t)(f->n_node + 1) * sizeof *f->home);
  f->alive = weft__arena_alloc(a, (size_t)(f->n_node + 1) * sizeof *f->alive);
  if (!f->home || !f->alive) return frames_oom();
  if (open) WEFT_TRY(find_open(f, g, a));
  WEFT_TRY(assign_homes(f, g, a));
  WEFT_TRY(collect_parts(f, g, a));
  WEFT_TRY(find_vars(f, g, a));
  WEFT_TRY(make_branch(f, -1, WEFT_NONE, 0, a));
  for (int i = 0; i < f->n_node; i++) /* branches outside loops are not used */
    if (f->home[i] > 0 || weft__node_is(g->node[i], KIND_EXIT)) WEFT_TRY(assign_branch(f, g, g->node[i], a));
  return WEFT_OK;
}
