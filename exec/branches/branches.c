/* branches.c - collects a window of short items, gives each a phase and a branch, and makes groups of wide phases.
 *
 * The items are visited in their order.  Short ones that touch nothing unknown enter the window; any other item closes
 * it.  An item of the window joins the branch of the items that it needs, if they are all in one branch; if they are in
 * several, it begins a branch of the next phase.  An item that many read ends its branch, so that its readers begin one
 * each.  Phases with enough branches become groups.  A window without one keeps its order. */
#include "exec/branches/branches.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/map.h"
#include "base/pool.h"
#include "graph/fusion.h"

#include <stdlib.h>

enum {
  MIN_BRANCHES = 4,
  LANES_PER_THREAD = 4,
  MANY_READERS = 8,
  NO_VARIABLE = -1,
  UNKNOWN_VARIABLE = -2,
  OUTSIDE = -1
};

typedef struct access { /* an item of the window that reads a variable */
  int item, next;       /* next: the access before; -1: none */
} access;

typedef struct finder {
  plan *p;
  map names;     /* of variables: the first item that names it */
  int *variable; /* per slot: the variable that it refers to, by that item's number; or NO_, UNKNOWN_VARIABLE */
  int *readers;  /* per item: how many inputs of others it makes */
  int *phase;    /* per item: its phase in the window, or OUTSIDE */
  int *branch;   /* per item of the window */
  int *writer;   /* per variable: the last item of the window that changes it, or OUTSIDE */
  int *reads;    /* per variable: the last access that reads it since then; -1: none */
  access *access;
  int n_access;
  int *window; /* the items of the window */
  int n_window, n_branch;
  int *order; /* the items in their new order */
  int n_order;
} finder;

/* ---- variables ---- */

static weft_dtype slot_type(const plan *p, int slot) {
  const plan_item *it = &p->item[p->slot_item[slot]];
  const int out = slot - it->first_out;
  return out < it->node->n_out ? it->node->out_type[out] : WEFT_INVALID;
}

/* Returns the variable that the item names.  Items with equal names share it. */
static int named_variable(finder *f, int i) {
  const weft_node *n = f->p->item[i].node;
  const attr *a = weft__node_attr(n, "shared_name");
  char *shared = a && a->kind == ATTR_STRING && !a->is_list && a->s.size ? weft__strndup(a->s.data, a->s.size) : NULL;
  const char *name = shared ? shared : n->name;
  const plan_item *first = weft__map_get(&f->names, name);
  int found = first ? weft__int_sat(first - f->p->item) : i;
  if (!first && weft__map_put(&f->names, name, &f->p->item[i])) found = UNKNOWN_VARIABLE;
  weft__free(shared);
  return found;
}

/* Finds the variable that each slot refers to.  An update passes on the reference of its first input. */
static void find_variables(finder *f) {
  const plan *p = f->p;
  for (int s = 0; s < p->n_slot; s++) f->variable[s] = p->slot_item[s] < 0 ? UNKNOWN_VARIABLE : NO_VARIABLE;
  for (int i = 0; i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    for (int o = 0; o < it->n_out; o++) {
      const int s = it->first_out + o;
      const weft_dtype type = slot_type(p, s);
      if (weft__dtype_base(type) == type && type != WEFT_RESOURCE) continue;
      f->variable[s] = UNKNOWN_VARIABLE;
      if (weft__node_is(it->node, KIND_VARIABLE) || weft__node_is(it->node, KIND_HANDLE))
        f->variable[s] = named_variable(f, i);
      else if (it->n_in > 0 && (it->op->flags & (OP_UPDATES | OP_FORWARDS)))
        f->variable[s] = f->variable[it->in[0].slot];
    }
  }
}

/* Returns the variable that input j refers to, NO_VARIABLE or UNKNOWN_VARIABLE. */
static int variable_of_input(const finder *f, const plan_item *it, int j) {
  const plan_input *in = &it->in[j];
  const int maker = f->p->slot_item[in->slot];
  if (!in->from_ref && !in->wants_ref && (maker < 0 || slot_type(f->p, in->slot) != WEFT_RESOURCE)) return NO_VARIABLE;
  return f->variable[in->slot] == NO_VARIABLE ? UNKNOWN_VARIABLE : f->variable[in->slot];
}

/* Returns true if the item changes the variables that it gets, as far as is known. */
static bool changes(const plan_item *it, int j) {
  const fusion *fused = it->node->op->fusion;
  if (weft__node_is(it->node, KIND_READ) || (fused && fused->role == ROLE_LOOKUP)) return false;
  return it->in[j].wants_ref || !it->in[j].from_ref;
}

/* ---- which items are members ---- */

/* Returns true if the item splits its own work, or may. */
static bool is_heavy(const plan_item *it) {
  const fusion *f = it->node->op->fusion;
  return f && (f->with_epilogue || f->with_update || f->role == ROLE_MATMUL || f->role == ROLE_MATMULS);
}

static bool has_objects(const finder *f, const plan_item *it) {
  for (int o = 0; o < it->n_out && o < it->node->n_out; o++)
    if (weft__dtype_base(it->node->out_type[o]) == WEFT_VARIANT) return true;
  for (int j = 0; j < it->n_in; j++)
    if (f->p->slot_item[it->in[j].slot] >= 0 && weft__dtype_base(slot_type(f->p, it->in[j].slot)) == WEFT_VARIANT)
      return true;
  return false;
}

static bool may_be_member(const finder *f, const plan_item *it) {
  const unsigned waits = OP_CONTROL_FLOW | OP_ASYNC | OP_ONCE | OP_BLOCKING | OP_TAKES | OP_STEP_OBJECT,
                 hidden = OP_NO_FOLD | OP_SEED;
  bool refers = false;
  if (it->device || (it->op->flags & (waits | hidden)) || is_heavy(it) || has_objects(f, it)) return false;
  for (int j = 0; j < it->n_in; j++) {
    const int v = variable_of_input(f, it, j);
    if (v == UNKNOWN_VARIABLE) return false;
    refers |= v != NO_VARIABLE;
  }
  return refers || !it->op->opdef.stateful;
}

/* ---- phases and branches ---- */

typedef struct needs { /* what an item needs from the window */
  int phase;           /* the first in which it can be */
  int branch;          /* the only branch of that phase that it needs; OUTSIDE: none, or several */
  bool several;
} needs;

static void add_need(const finder *f, needs *n, int from) {
  if (from < 0 || f->phase[from] == OUTSIDE) return;
  const bool ends = f->readers[from] >= MANY_READERS;
  const int phase = f->phase[from] + (ends ? 1 : 0), branch = ends ? OUTSIDE : f->branch[from];
  if (phase < n->phase) return;
  if (phase > n->phase) *n = (needs){phase, OUTSIDE, false};
  if (branch == OUTSIDE) return;
  n->several |= n->branch != OUTSIDE && n->branch != branch;
  n->branch = branch;
}

static needs needs_of(const finder *f, const plan_item *it) {
  needs n = {0, OUTSIDE, false};
  for (int j = 0; j < it->n_in; j++) {
    const int v = variable_of_input(f, it, j);
    add_need(f, &n, f->p->slot_item[it->in[j].slot]);
    if (v < 0) continue;
    add_need(f, &n, f->writer[v]);
    for (int a = changes(it, j) ? f->reads[v] : -1; a >= 0; a = f->access[a].next) add_need(f, &n, f->access[a].item);
  }
  for (int j = 0; j < it->n_control; j++) add_need(f, &n, it->control[j]);
  return n;
}

static void note_accesses(finder *f, int i) {
  const plan_item *it = &f->p->item[i];
  for (int j = 0; j < it->n_in; j++) {
    const int v = variable_of_input(f, it, j);
    if (v < 0) continue;
    if (changes(it, j)) {
      f->writer[v] = i;
      f->reads[v] = -1;
    } else {
      f->access[f->n_access] = (access){i, f->reads[v]};
      f->reads[v] = f->n_access++;
    }
  }
}

static void enter_window(finder *f, int i) {
  const needs n = needs_of(f, &f->p->item[i]);
  f->phase[i] = n.phase + (n.several ? 1 : 0);
  f->branch[i] = n.branch == OUTSIDE || n.several ? f->n_branch++ : n.branch;
  f->window[f->n_window++] = i;
  note_accesses(f, i);
}

/* ---- closing the window ---- */

static weft_err branches_add_group(finder *f, int from, int branches) {
  plan *p = f->p;
  plan_group *g = &p->straight.group[p->straight.n_group];
  const int most = LANES_PER_THREAD * weft__pool_processors();
  *g = (plan_group){.from = from, .to = f->n_order, .n_branch = branches, .n_lane = branches < most ? branches : most};
  g->begin = weft__arena_alloc(&p->arena, sizeof *g->begin * ((size_t)branches + 1));
  if (!g->begin) return WEFT_OOM;
  for (int at = from, b = 0; at < f->n_order; at++)
    if (at == from || f->branch[f->order[at]] != f->branch[f->order[at - 1]]) g->begin[b++] = at;
  g->begin[branches] = f->n_order;
  p->straight.n_group++;
  return WEFT_OK;
}

static int branches_compare_keys(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* Sorts the window by phase, branch and the old order; *wide becomes whether a phase has enough branches. */
static weft_err sort_window(finder *f, bool *wide) {
  int64_t *key = weft__alloc(sizeof *key * ((size_t)f->n_window + 1));
  int branches = 0;
  if (!key) return WEFT_OOM;
  for (int w = 0; w < f->n_window; w++)
    key[w] = ((int64_t)f->phase[f->window[w]] << 42) + ((int64_t)f->branch[f->window[w]] << 21) + w;
  qsort(key, (size_t)f->n_window, sizeof *key, branches_compare_keys);
  *wide = false;
  for (int w = 0; w < f->n_window; w++) {
    if (w == 0 || key[w] >> 42 != key[w - 1] >> 42) branches = 0;
    if (w == 0 || key[w] >> 21 != key[w - 1] >> 21) branches++;
    *wide |= branches >= MIN_BRANCHES;
    f->order[f->n_order + w] = f->window[key[w] & ((1 << 21) - 1)];
  }
  weft__free(key);
  return WEFT_OK;
}

static weft_err make_groups(finder *f, int end) {
  while (f->n_order < end) {
    const int from = f->n_order, phase = f->phase[f->order[from]];
    int branches = 0;
    for (; f->n_order < end && f->phase[f->order[f->n_order]] == phase; f->n_order++)
      branches += f->n_order == from || f->branch[f->order[f->n_order]] != f->branch[f->order[f->n_order - 1]];
    if (branches >= MIN_BRANCHES) WEFT_TRY(branches_add_group(f, from, branches));
  }
  return WEFT_OK;
}

static weft_err close_window(finder *f) {
  bool wide = false;
  const int end = f->n_order + f->n_window;
  if (f->n_window >= MIN_BRANCHES) WEFT_TRY(sort_window(f, &wide));
  if (wide)
    WEFT_TRY(make_groups(f, end));
  else
    for (int w = 0; w < f->n_window; w++) f->order[f->n_order++] = f->window[w];
  for (int w = 0; w < f->n_window; w++) {
    const plan_item *it = &f->p->item[f->window[w]];
    f->phase[f->window[w]] = OUTSIDE;
    for (int j = 0; j < it->n_in; j++) {
      const int v = variable_of_input(f, it, j);
      if (v >= 0) f->writer[v] = OUTSIDE, f->reads[v] = -1;
    }
  }
  f->n_window = f->n_branch = f->n_access = 0;
  return WEFT_OK;
}

static weft_err visit_items(finder *f) {
  enum { WINDOW_MAX = 1 << 20 };
  const plan *p = f->p;
  for (int i = 0; i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    const bool ends = i > 0 && it->stage != p->item[i - 1].stage;
    const bool member = may_be_member(f, it);
    if (!member || ends || f->n_window == WINDOW_MAX) WEFT_TRY(close_window(f));
    if (member)
      enter_window(f, i);
    else
      f->order[f->n_order++] = i;
  }
  return close_window(f);
}

/* ---- the pass ---- */

static void mark_members(plan *p) {
  int lanes = 0;
  for (int n = 0; n < p->straight.n_group; n++) {
    const plan_group *g = &p->straight.group[n];
    for (int l = 0; l < g->n_lane; l++) {
      lanes++;
      for (int i = g->begin[weft__lane_begin(g, l)]; i < g->begin[weft__lane_begin(g, l + 1)]; i++)
        p->item[i].group = n + 1, p->item[i].lane = lanes;
    }
  }
}

static weft_err find_groups(finder *f, int *to) {
  plan *p = f->p;
  size_t inputs = 0;
  for (int i = 0; i < p->n_item; i++) {
    f->phase[i] = f->writer[i] = OUTSIDE, f->reads[i] = -1;
    inputs += (size_t)p->item[i].n_in;
    for (int j = 0; j < p->item[i].n_in; j++)
      if (p->slot_item[p->item[i].in[j].slot] >= 0) f->readers[p->slot_item[p->item[i].in[j].slot]]++;
  }
  f->access = weft__alloc(sizeof *f->access * (inputs + 1));
  p->straight.group = weft__arena_alloc(&p->arena, sizeof *p->straight.group * ((size_t)p->n_item / MIN_BRANCHES + 1));
  if (!f->access || !p->straight.group) return WEFT_OOM;
  find_variables(f);
  WEFT_TRY(visit_items(f));
  WEFT_ASSERT(f->n_order == p->n_item);
  if (p->straight.n_group == 0) return WEFT_OK;
  WEFT_TRY(weft__plan_reorder(p, f->order, to));
  mark_members(p);
  return WEFT_OK;
}

weft_err weft__branches_find(plan *p) {
  if (p->n_device) return WEFT_OK;
  const size_t items = (size_t)p->n_item + 1, slots = (size_t)p->n_slot + 1;
  finder f = {.p = p,
              .variable = weft__alloc(slots * sizeof(int)),
              .readers = weft__alloc_zero(items, sizeof(int)),
              .phase = weft__alloc(items * sizeof(int)),
              .branch = weft__alloc(items * sizeof(int)),
              .writer = weft__alloc(items * sizeof(int)),
              .reads = weft__alloc(items * sizeof(int)),
              .window = weft__alloc(items * sizeof(int)),
              .order = weft__alloc(items * sizeof(int))};
  int *to = weft__alloc(items * sizeof *to);
  const bool room = f.variable && f.readers && f.phase && f.branch && f.writer && f.reads && f.window && f.order && to;
  const weft_err err = room ? find_groups(&f, to) : WEFT_OOM;
  weft__map_finish(&f.names);
  weft__free(f.variable);
  weft__free(f.readers);
  weft__free(f.phase);
  weft__free(f.branch);
  weft__free(f.writer);
  weft__free(f.reads);
  weft__free(f.access);
  weft__free(f.window);
  weft__free(f.order);
  weft__free(to);
  return err;
}

/* ---- releases ---- */

enum { NO_BRANCH = -1, SEVERAL = -2 };

/* Finds for each slot that the group reads last which of its branches do; only[s] is NO_BRANCH before. */
static int mark_shared(const plan *p, const plan_group *g, const int *last, int *only) {
  int shared = 0;
  for (int b = 0; b < g->n_branch; b++)
    for (int i = g->begin[b]; i < g->begin[b + 1]; i++)
      for (int j = 0; j < p->item[i].n_in; j++) {
        const int s = p->item[i].in[j].slot;
        if (last[s] < g->from || last[s] >= g->to || only[s] == b || only[s] == SEVERAL) continue;
        shared += only[s] != NO_BRANCH;
        only[s] = only[s] == NO_BRANCH ? b : SEVERAL;
      }
  return shared;
}

weft_err weft__branches_share_releases(plan *p, int *last) {
  if (p->straight.n_group == 0) return WEFT_OK;
  int *only = weft__alloc(sizeof *only * ((size_t)p->n_slot + 1));
  weft_err err = only ? WEFT_OK : WEFT_OOM;
  for (int s = 0; s < p->n_slot && !err; s++) only[s] = NO_BRANCH;
  for (int n = 0; n < p->straight.n_group && !err; n++) {
    plan_group *g = &p->straight.group[n];
    const int shared = mark_shared(p, g, last, only);
    g->release = weft__arena_alloc(&p->arena, sizeof *g->release * ((size_t)shared + 1));
    if (!g->release) err = WEFT_OOM;
    for (int i = g->from; i < g->to && !err; i++)
      for (int j = 0; j < p->item[i].n_in; j++) {
        const int s = p->item[i].in[j].slot;
        if (only[s] != SEVERAL || last[s] < 0) continue;
        g->release[g->n_release++] = s;
        last[s] = -1;
      }
  }
  weft__free(only);
  return err;
}
