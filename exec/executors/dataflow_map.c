/* dataflow_map.c - finds the loops of a plan, and numbers the nodes, slots, Enters and Exits of each loop.
 *
 * In the plan's order every node comes after its inputs, except over the back edge of a loop.  So one pass in that
 * order finds each node's loop from any of its inputs, and a second pass checks that all inputs agree. */
#include "exec/executors/dataflow_map.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"

typedef struct mapper {
  plan *p;
  dataflow_map *m;
  int *slot_index; /* per slot of the plan: its number in its iteration or, for a constant Enter, in its frame */
  int64_t cap_loop;
} mapper;

static void *map_zeroed(mapper *w, int count, size_t size) {
  return weft__arena_alloc(&w->p->arena, (size_t)(count ? count : 1) * size);
}

/* ---- kinds ------------------------------------------------------------------------------------- */

static dataflow_kind dataflow_map_kind_of(const weft_node *n) {
  switch (n->op->kind) {
  case KIND_MERGE: return DATAFLOW_MERGE;
  case KIND_ENTER: return weft__node_bool(n, "is_constant", false) ? DATAFLOW_ENTER_CONSTANT : DATAFLOW_ENTER;
  case KIND_EXIT: return DATAFLOW_EXIT;
  case KIND_NEXT_ITERATION: return DATAFLOW_NEXT;
  case KIND_CONTROL_TRIGGER: return DATAFLOW_TRIGGER;
  case KIND_SEND:
  case KIND_RECV: return DATAFLOW_TRANSFER;
  default: return DATAFLOW_PLAIN;
  }
}

static bool node_enters_frame(const dataflow_node *n) {
  return n->kind == DATAFLOW_ENTER || n->kind == DATAFLOW_ENTER_CONSTANT;
}

/* ---- loops ------------------------------------------------------------------------------------- */

static weft_err add_loop(mapper *w, const char *name, int parent, int64_t parallel, int *out) {
  dataflow_map *m = w->m;
  WEFT_TRY(WEFT_ARENA_RESERVE(&w->p->arena, m->loop, w->cap_loop, m->n_loop + 1));
  dataflow_loop *l = &m->loop[m->n_loop];
  *l = (dataflow_loop){.name = name, .parent = parent};
  l->parallel = parallel < 1 ? 1 : parallel > 1 << 20 ? 1 << 20 : weft__int_sat(parallel);
  if (parent >= 0) l->number = m->loop[parent].n_child++;
  *out = m->n_loop++;
  return WEFT_OK;
}

/* Finds or adds the loop that an Enter in loop `parent` leads into. */
static weft_err loop_of_enter(mapper *w, const weft_node *n, int parent, int *out) {
  const char *name = weft__node_str(n, "frame_name").data;
  for (int i = 1; i < w->m->n_loop; i++)
    if (w->m->loop[i].parent == parent && strcmp(w->m->loop[i].name, name) == 0) {
      *out = i;
      return WEFT_OK;
    }
  return add_loop(w, name, parent, weft__node_int(n, "parallel_iterations", 10), out);
}

static weft_err find_target(mapper *w, int i) {
  dataflow_node *n = &w->m->node[i];
  const weft_node *graph_node = w->p->item[i].node;
  n->target = n->loop;
  if (node_enters_frame(n)) return loop_of_enter(w, graph_node, n->loop, &n->target);
  /* Loop 0, which is the graph outside all loops, has one iteration.  A NextIteration there only forwards its value,
   * as in TensorFlow. */
  if (n->kind == DATAFLOW_NEXT && n->loop == 0) n->kind = DATAFLOW_PLAIN;
  if (n->kind != DATAFLOW_EXIT) return WEFT_OK;
  if (n->loop == 0)
    return weft__fail_node(WEFT_INVALID_ARGUMENT,
                           "Invalid Exit op: Cannot find a corresponding Enter op.\n\t [[{{node %s}}]]",
                           graph_node->name);
  n->target = w->m->loop[n->loop].parent;
  return WEFT_OK;
}

/* Returns the item that edge e of item i comes from, or -1 for a feed or a constant.  Data inputs come before
 * control inputs. */
static int dataflow_map_edge_source(const plan *p, int i, int e) {
  const plan_item *it = &p->item[i];
  return e < it->n_in ? p->slot_item[it->in[e].slot] : it->control[e - it->n_in];
}

static weft_err dataflow_map_find_loops(mapper *w) {
  int ignored;
  WEFT_TRY(add_loop(w, "", -1, 1, &ignored));
  for (int i = 0; i < w->p->n_item; i++) {
    const plan_item *it = &w->p->item[i];
    dataflow_node *n = &w->m->node[i];
    n->kind = dataflow_map_kind_of(it->node);
    for (int e = 0; e < it->n_in + it->n_control; e++) {
      int from = dataflow_map_edge_source(w->p, i, e);
      if (from < 0 || from >= i) continue; /* known, or a back edge */
      n->loop = w->m->node[from].target;
      break;
    }
    WEFT_TRY(find_target(w, i));
  }
  return WEFT_OK;
}

static weft_err check_loops(const mapper *w) {
  for (int i = 0; i < w->p->n_item; i++) {
    const plan_item *it = &w->p->item[i];
    for (int e = 0, first = -1; e < it->n_in + it->n_control; e++) {
      int from = dataflow_map_edge_source(w->p, i, e);
      if (from < 0) continue;
      if (first < 0) first = from;
      if (w->m->node[from].target == w->m->node[i].loop) continue;
      return weft__fail_node(
          WEFT_INVALID_ARGUMENT,
          "{{node %s}} has inputs from different frames. The input {{node %s}} is in frame '%s'. The "
          "input {{node %s}} is in frame '%s'.",
          it->node->name, w->p->item[first].node->name, w->m->loop[w->m->node[first].target].name,
          w->p->item[from].node->name, w->m->loop[w->m->node[from].target].name);
    }
  }
  for (int i = 0; i < w->p->n_fetch; i++) {
    int item = w->p->slot_item[w->p->fetch_slot[i]];
    if (item >= 0 && w->m->node[item].target != 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "'%s' cannot be fetched: it is inside the loop '%s'",
                        w->p->item[item].node->name, w->m->loop[w->m->node[item].target].name);
  }
  return WEFT_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

/* Numbers the nodes and slots of each loop, and counts its Enters and Exits.  In loop 0, where feeds and constants
 * are too, slots keep their numbers of the plan. */
static void number_nodes(mapper *w) {
  dataflow_map *m = w->m;
  m->loop[0].n_slot = w->p->n_slot;
  for (int s = 0; s < w->p->n_slot; s++) w->slot_index[s] = s;
  for (int i = 0; i < w->p->n_item; i++) {
    const plan_item *it = &w->p->item[i];
    dataflow_node *n = &m->node[i];
    dataflow_loop *own = &m->loop[n->loop], *target = &m->loop[n->target];
    n->place = own->n_node++;
    n->first_in = own->n_in;
    own->n_in += it->n_in;
    if (node_enters_frame(n)) target->n_enter++;
    if (n->kind == DATAFLOW_EXIT) own->n_exit++;
    int *next = n->kind == DATAFLOW_ENTER_CONSTANT ? &target->n_constant_enter : &target->n_slot;
    if (n->target == 0) {
      n->first_out = it->first_out;
      continue;
    }
    n->first_out = *next;
    for (int o = 0; o < it->n_out; o++) w->slot_index[it->first_out + o] = (*next)++;
  }
}

/* Lists the nodes, Enters and Exits of each loop; constant Enters come before the others. */
static weft_err list_nodes(mapper *w) {
  dataflow_map *m = w->m;
  for (int i = 0; i < m->n_loop; i++) {
    dataflow_loop *l = &m->loop[i];
    l->node = map_zeroed(w, l->n_node, sizeof(int));
    l->readers = map_zeroed(w, l->n_slot, sizeof(int));
    l->enter = map_zeroed(w, l->n_enter, sizeof(int));
    l->exit = map_zeroed(w, l->n_exit, sizeof(int));
    if (!l->node || !l->readers || !l->enter || !l->exit) return WEFT_OOM;
    l->n_exit = 0;
  }
  int *other = map_zeroed(w, m->n_loop, sizeof(int)); /* per loop: its Enters that are not constant, so far */
  if (!other) return WEFT_OOM;
  for (int i = 0; i < w->p->n_item; i++) {
    dataflow_node *n = &m->node[i];
    dataflow_loop *own = &m->loop[n->loop], *target = &m->loop[n->target];
    own->node[n->place] = i;
    if (n->kind == DATAFLOW_EXIT) own->exit[own->n_exit++] = i;
    if (n->kind == DATAFLOW_ENTER_CONSTANT) target->enter[n->first_out] = i;
    if (n->kind == DATAFLOW_ENTER) target->enter[target->n_constant_enter + other[n->target]++] = i;
  }
  return WEFT_OK;
}

/* ---- inputs and edges --------------------------------------------------------------------------- */

/* Finds where each input of item i is stored: in the plan, in a frame or in an iteration. */
static weft_err locate_inputs(mapper *w, int i) {
  const plan_item *it = &w->p->item[i];
  dataflow_node *n = &w->m->node[i];
  n->in = map_zeroed(w, it->n_in, sizeof *n->in);
  if (!n->in) return WEFT_OOM;
  for (int j = 0; j < it->n_in; j++) {
    int slot = it->in[j].slot, from = w->p->slot_item[slot];
    dataflow_input *in = &n->in[j];
    bool constant = from >= 0 && w->m->node[from].kind == DATAFLOW_ENTER_CONSTANT;
    *in = (dataflow_input){from < 0 ? HOME_PLAN : constant ? HOME_FRAME : HOME_ITERATION, w->slot_index[slot], 0};
    for (int k = 0; k < it->n_in; k++) in->uses += it->in[k].slot == slot;
    if (in->home == HOME_ITERATION) w->m->loop[n->loop].readers[in->index]++;
  }
  return WEFT_OK;
}

/* Counts the edges of item i: at their sources, and as values to wait for.  A Merge does not wait for its data
 * inputs. */
static void count_edges(mapper *w, int i) {
  const plan_item *it = &w->p->item[i];
  dataflow_node *n = &w->m->node[i];
  for (int e = 0; e < it->n_in + it->n_control; e++) {
    int from = dataflow_map_edge_source(w->p, i, e);
    if (from < 0) continue;
    w->m->node[from].n_edge++;
    if (n->kind != DATAFLOW_MERGE || e >= it->n_in) n->n_wait++;
  }
}

/* Adds the edges of item i to the lists of their sources. */
static void link_edges(mapper *w, int i) {
  const plan_item *it = &w->p->item[i];
  for (int e = 0; e < it->n_in + it->n_control; e++) {
    int from = dataflow_map_edge_source(w->p, i, e);
    if (from < 0) continue;
    dataflow_node *n = &w->m->node[from];
    bool data = e < it->n_in;
    int out = data ? it->in[e].slot - w->p->item[from].first_out : -1;
    WEFT_ASSERT(out >= -1 && out < w->p->item[from].n_out);
    n->edge[n->n_edge++] = (dataflow_edge){i, data ? e : -1, out};
  }
}

static weft_err map_connect(mapper *w) {
  for (int i = 0; i < w->p->n_item; i++) {
    WEFT_TRY(locate_inputs(w, i));
    count_edges(w, i);
  }
  for (int i = 0; i < w->p->n_item; i++) {
    dataflow_node *n = &w->m->node[i];
    n->edge = map_zeroed(w, n->n_edge, sizeof *n->edge);
    if (!n->edge) return WEFT_OOM;
    n->n_edge = 0;
  }
  for (int i = 0; i < w->p->n_item; i++) link_edges(w, i);
  for (int i = 0; i < w->p->n_fetch; i++) w->m->loop[0].readers[w->p->fetch_slot[i]]++;
  return WEFT_OK;
}

weft_err weft__dataflow_map_create(dataflow_map **out, plan *p) {
  mapper w = {.p = p};
  w.m = map_zeroed(&w, 1, sizeof *w.m);
  if (!w.m) return WEFT_OOM;
  w.m->node = map_zeroed(&w, p->n_item, sizeof *w.m->node);
  w.slot_index = map_zeroed(&w, p->n_slot, sizeof *w.slot_index);
  if (!w.m->node || !w.slot_index) return WEFT_OOM;
  WEFT_TRY(dataflow_map_find_loops(&w));
  WEFT_TRY(check_loops(&w));
  number_nodes(&w);
  WEFT_TRY(list_nodes(&w));
  WEFT_TRY(map_connect(&w));
  *out = w.m;
  return WEFT_OK;
}
