/* bundle.c - finds groups of elementwise items of a GPU that can be one kernel with several results.
 *
 * Tensors of any size are bundled if their kernels can be compiled (kernels/elementwise/formula.cuh), and small ones always, because
 * their launches take longer than the work.
 *
 * A bundle runs in the place of its last item, the root.  So an item can join if all readers of its output are members or
 * come behind the root.  Then no value can leave the bundle and come back into it. */
#include "exec/passes/bundle.h"

#include "base/alloc.h"
#include "exec/passes/fuse_step.h"
#include "kernels/elementwise/bundle.h"
#include "kernels/gpu/gpu_host.h"

enum {
  SMALL = 1 << 18, /* elements of a tensor whose bundle may be interpreted; parts of larger ones are not looked for */
  MAX_JOINS = 4
};

typedef struct bundler {
  plan *p;
  int *first_reader, *reader; /* per slot: where the items that read it begin in `reader` */
  bool *fetched;              /* per slot */
  int *waiter;                /* per item: the first item that waits for it, NoOps left out; else n_item */
  bool *gone;                 /* per item: it became part of a bundle */
  int *home;                  /* per item: the item that runs it now */
  int *refused;               /* per item: the root of the last bundle that it did not fit into */
  int *renamed;               /* per slot: the slot that has its value now; -1: the same */
} bundler;

typedef struct draft { /* a bundle that is being formed */
  int root;
  int join[MAX_JOINS], n_join; /* items that join results with each other or with other values; the root may be one */
  const shape *shape;
  weft_dtype type;
  int member[GPU_BUNDLE_STEPS], n_member; /* in the order of the plan, without those that join */
  int step[GPU_BUNDLE_STEPS];             /* per member: its step */
  int maker[GPU_BUNDLE_STEPS], n_maker;   /* items whose result was split, which are computed part by part */
  int part[GPU_BUNDLE_STEPS], operand[GPU_BUNDLE_STEPS], n_part; /* slots of such parts, and what stands for them */
  int n_view;                                                    /* how many parts of other tensors are read */
  bundle b;
  plan_input in[GPU_BUNDLE_IN];
  int n_in;
  int slot[GPU_BUNDLE_OUT]; /* per output of the kernel: the slot that it replaces */
} draft;

/* Returns what the item's op declares, if no other pass has replaced its kernel. */
static const fusion *declared(const plan_item *it) {
  static const fusion none = {0};
  return it->op == it->node->op ? weft__fusion_of(it) : &none;
}

static bool is_small(const draft *d) { return weft__shape_count(d->shape) <= SMALL; }

static int member_at(const draft *d, int item) {
  for (int m = 0; m < d->n_member; m++)
    if (d->member[m] == item) return m;
  return -1;
}

static bool is_join(const draft *d, int item) {
  bool is = false;
  for (int i = 0; i < d->n_join; i++) is = is || d->join[i] == item;
  return is;
}

/* Stores the step of a member: a sum of many has one for each input but the first.  A sum of 16-bit floats is rounded
 * once, and the steps of a bundle are each, so it is none. */
static bool member_step(const plan_item *it, fused_step *s) {
  if (weft__step_of(it, s)) return true;
  const weft_dtype t = weft__step_type(it);
  if (it->op != it->node->op || !weft__node_is(it->node, KIND_SUM) || it->n_in < 2) return false;
  return (t == WEFT_FLOAT || t == WEFT_DOUBLE) &&
         weft__step_named(it, "Add", weft__op_find(it->node->graph->ops, "Add"), 2, t, s);
}

/* ---- what a draft reads -------------------------------------------------------------------------- */

/* Describes rows of `columns` elements of a part, which is whole along all axes but one. */
static bool part_view(const shape *whole, const tensor_part *part, gpu_view *v) {
  const int last = whole->rank - 1;
  if (!weft__shape_known(whole) || (part->axis != last && part->axis != 0)) return false;
  if (weft__shape_count(whole) > INT32_MAX) return false; /* the kernel computes offsets in 32 bits */
  const int64_t inner = weft__shape_product(whole, 1, whole->rank);
  *v = (gpu_view){0, part->axis == last ? part->begin : part->begin * inner, whole->dim[last], 1};
  return true;
}

static bool add_view(draft *d, const plan_input *in, gpu_view v, int *operand) {
  gpu_bundle *g = &d->b.gpu;
  for (v.tensor = 0; v.tensor < d->n_in && d->in[v.tensor].slot != in->slot;) v.tensor++;
  if (v.tensor == GPU_BUNDLE_IN) return false;
  if (v.tensor == d->n_in) d->in[d->n_in++] = *in;
  for (int i = 0; i < g->n_in; i++) {
    const gpu_view *w = &g->in[i];
    *operand = i;
    if (w->tensor == v.tensor && w->first == v.first && w->row == v.row && w->column == v.column) return true;
  }
  if (g->n_in == GPU_BUNDLE_IN) return false;
  *operand = g->n_in;
  g->in[g->n_in++] = v;
  return true;
}

static bool add_step(draft *d, const fused_step *s) {
  gpu_bundle *g = &d->b.gpu;
  if (g->n_step == GPU_BUNDLE_STEPS) return false;
  d->b.loop[g->n_step] = s->loop;
  g->step[g->n_step++] = (gpu_step){(uint8_t)s->function, (int8_t)s->n_in, {(int8_t)s->arg[0], (int8_t)s->arg[1]}};
  return true;
}

/* Finds how an operand of shape s goes along with results of shape `whole`, of which the view `v` is computed. */
static bool operand_view(const shape *s, const shape *whole, const gpu_view *v, gpu_view *out) {
  if (!weft__shape_known(s)) return false;
  *out = *v;
  if (weft__shape_equal(s, whole)) return true;
  const int64_t n = weft__shape_count(s), columns = whole->dim[whole->rank - 1];
  *out = (gpu_view){0, 0, 0, 0};
  if (n == 1) return true;
  if (s->rank == whole->rank && n * columns == weft__shape_count(whole) && s->dim[s->rank - 1] == 1) { /* a column */
    *out = (gpu_view){0, v->first / columns, 1, 0};
    return columns > 1;
  }
  const int64_t begin = v->first < columns ? v->first : 0; /* of a part along the last axis */
  *out = (gpu_view){0, begin, 0, 1};
  return s->rank >= 1 && s->rank <= whole->rank && n == columns && s->dim[s->rank - 1] == columns;
}

/* Returns true if the item reads no variable that changes before the root runs. */
static bool reads_late(const bundler *b, int item, int root) {
  const plan_item *it = &b->p->item[item];
  for (int j = 0; j < it->n_in; j++)
    if (it->in[j].from_ref && weft__writes_between(b->p, item, &b->p->item[root], it->in[j].slot)) return false;
  return true;
}

static int reader_count(const bundler *b, int slot) { return b->first_reader[slot + 1] - b->first_reader[slot]; }

/* Returns true if only members read what the item makes. */
static bool only_members_read(const bundler *b, const draft *d, const plan_item *it) {
  for (int s = it->first_out; s < it->first_out + it->n_out; s++) {
    if (b->fetched[s]) return false;
    for (int r = b->first_reader[s]; r < b->first_reader[s + 1]; r++)
      if (member_at(d, b->reader[r]) < 0) return false;
  }
  return true;
}

/* Computes a part of what item `from` makes, which only a split reads, in place of reading it.  Returns false if it
 * cannot be computed; *full if there was no room for it. */
static bool compute_part(const bundler *b, draft *d, int from, const gpu_view *v, int *operand, bool *full) {
  const plan_item *it = from < 0 ? NULL : &b->p->item[from];
  fused_step s;
  gpu_view view[2];
  if (!it || b->gone[from] || b->waiter[from] <= d->root || it->device != b->p->item[d->root].device) return false;
  if (b->fetched[it->first_out] || reader_count(b, it->first_out) != 1 || !weft__step_of(it, &s)) return false;
  if (!reads_late(b, from, d->root)) return false;
  for (int j = 0; j < it->n_in; j++)
    if (!operand_view(weft__out_shape(it->node->graph, it->node->in[j]), &it->node->out_shape[0], v, &view[j]))
      return false;
  *full = d->n_maker == GPU_BUNDLE_STEPS;
  for (int j = 0; j < it->n_in && !*full; j++) *full = !add_view(d, &it->in[j], view[j], &s.arg[j]);
  if (!*full) *full = !add_step(d, &s);
  if (*full) return false;
  *operand = -d->b.gpu.n_step;
  bool known = false;
  for (int m = 0; m < d->n_maker; m++) known = known || d->maker[m] == from;
  if (!known) d->maker[d->n_maker++] = from;
  return true;
}

/* Reads input j of a member.  *found: it is a part of another tensor, and is read there. */
static bool add_part(const bundler *b, draft *d, const plan_item *it, int j, int *operand, bool *found) {
  const int maker = b->p->slot_item[it->in[j].slot];
  tensor_part part;
  gpu_view v;
  *found = false;
  if (maker < 0 || b->gone[maker] || it->in[j].from_ref) return true;
  const plan_item *q = &b->p->item[maker];
  const fusion *f = declared(q);
  const int out = it->in[j].slot - q->first_out;
  if (!f->part || q->device != it->device || !weft__shape_equal(&q->node->out_shape[out], d->shape)) return true;
  if (!f->part(q->node, out, &part) || q->in[part.of].from_ref) return true;
  if (!part_view(weft__out_shape(q->node->graph, q->node->in[part.of]), &part, &v)) return true;
  *found = true;
  d->n_view++;
  bool full = false;
  const bool split = part.axis == d->shape->rank - 1 && only_members_read(b, d, q);
  if (!split || !compute_part(b, d, b->p->slot_item[q->in[part.of].slot], &v, operand, &full))
    return !full && add_view(d, &q->in[part.of], v, operand);
  d->part[d->n_part] = it->in[j].slot; /* a part is a step, so there is room */
  d->operand[d->n_part++] = *operand;
  return true;
}

/* Reads the value that an item only repeats to fill the shape.  *found: there is such an item. */
static bool add_repeated(const bundler *b, draft *d, const plan_item *it, int j, int *operand, bool *found) {
  const int maker = b->p->slot_item[it->in[j].slot];
  const gpu_view same = {0, 0, d->shape->dim[d->shape->rank - 1], 1};
  gpu_view v;
  *found = false;
  if (maker < 0 || b->gone[maker] || it->in[j].from_ref) return true;
  const plan_item *q = &b->p->item[maker];
  if (declared(q)->role != ROLE_REPEAT || q->device != it->device || q->in[0].from_ref) return true;
  if (!weft__shape_equal(&q->node->out_shape[0], d->shape)) return true;
  if (!operand_view(weft__out_shape(q->node->graph, q->node->in[0]), d->shape, &same, &v)) return true;
  *found = true;
  return add_view(d, &q->in[0], v, operand);
}

static bool add_operand(const bundler *b, draft *d, const plan_item *it, int j, int *operand) {
  const int m = member_at(d, b->p->slot_item[it->in[j].slot]);
  const gpu_view same = {0, 0, d->shape->dim[d->shape->rank - 1], 1};
  gpu_view v;
  bool found;
  if (m >= 0) {
    *operand = -1 - d->step[m];
    return true;
  }
  for (int i = 0; i < d->n_part; i++) {
    *operand = d->operand[i];
    if (d->part[i] == it->in[j].slot) return true;
  }
  if (!add_repeated(b, d, it, j, operand, &found)) return false;
  if (!found && is_small(d) && !add_part(b, d, it, j, operand, &found)) return false;
  if (found) return true;
  if (!operand_view(weft__out_shape(it->node->graph, it->node->in[j]), d->shape, &same, &v)) return false;
  return add_view(d, &it->in[j], v, operand);
}

/* ---- what a draft writes ------------------------------------------------------------------------- */

static bool add_output(draft *d, int slot, const shape *s) {
  gpu_bundle *g = &d->b.gpu;
  if (g->n_tensor == GPU_BUNDLE_OUT) return false;
  g->tensor[g->n_tensor] = *s;
  d->slot[g->n_tensor++] = slot;
  return true;
}

static bool add_result(draft *d, gpu_view v, int operand) {
  gpu_bundle *g = &d->b.gpu;
  if (g->n_out == GPU_BUNDLE_OUT) return false;
  v.tensor = g->n_tensor - 1;
  g->result[g->n_out] = (int8_t)operand;
  g->out[g->n_out++] = v;
  return true;
}

/* What an item joins is written to its place in the item's output. */
static bool add_joined(const bundler *b, draft *d, int item) {
  const plan_item *it = &b->p->item[item];
  const shape *whole = &it->node->out_shape[0];
  tensor_part part;
  gpu_view v;
  if (!add_output(d, it->first_out, whole)) return false;
  const int tensor = d->b.gpu.n_tensor;
  for (int j = 0; j < it->n_in; j++) {
    int operand;
    if (!declared(it)->joins(it->node, j, &part)) continue;
    if (!part_view(whole, &part, &v) || !add_operand(b, d, it, j, &operand) || !add_result(d, v, operand)) return false;
  }
  return tensor == d->b.gpu.n_tensor;
}

static bool read_outside(const bundler *b, const draft *d, int slot) {
  for (int r = b->first_reader[slot]; r < b->first_reader[slot + 1]; r++)
    if (member_at(d, b->reader[r]) < 0 && !is_join(d, b->reader[r])) return true;
  return b->fetched[slot];
}

/* Adds the steps of member m. */
static bool add_member(const bundler *b, draft *d, int m) {
  const plan_item *it = &b->p->item[d->member[m]];
  fused_step s;
  if (!member_step(it, &s) || !add_operand(b, d, it, 0, &s.arg[0])) return false;
  if (it->n_in == 1 && !add_step(d, &s)) return false;
  for (int j = 1; j < it->n_in; j++) {
    if (!add_operand(b, d, it, j, &s.arg[1]) || !add_step(d, &s)) return false;
    s.arg[0] = -d->b.gpu.n_step;
  }
  d->step[m] = d->b.gpu.n_step - 1;
  return true;
}

/* Makes the kernel's state from the members.  Returns false if there are too many of something. */
static bool draft_build(const bundler *b, draft *d) {
  gpu_bundle *g = &d->b.gpu;
  const gpu_view all = {0, 0, d->shape->dim[d->shape->rank - 1], 1};
  d->b = (bundle){.gpu = {.type = d->type, .columns = all.row}};
  g->rows = weft__shape_count(d->shape) / all.row;
  d->n_in = d->n_maker = d->n_part = d->n_view = 0;
  for (int m = 0; m < d->n_member; m++)
    if (!add_member(b, d, m)) return false;
  for (int m = 0; m < d->n_member; m++) {
    const int slot = b->p->item[d->member[m]].first_out;
    if (!read_outside(b, d, slot)) continue;
    if (!add_output(d, slot, d->shape) || !add_result(d, all, -1 - d->step[m])) return false;
  }
  for (int i = 0; i < d->n_join; i++)
    if (!add_joined(b, d, d->join[i])) return false;
  return true;
}

/* ---- forming ------------------------------------------------------------------------------------- */

/* Returns true if an update of a variable reads the slot: a chain with the update at its end is better. */
static bool updates_with(const plan_item *it, int slot) {
  const update_form *u = declared(it)->updates;
  return u && it->in[u->change].slot == slot;
}

/* Returns true if item j may be a member: it works element by element on the draft's shape, and nothing needs its output
 * before the root has run. */
static bool may_join(const bundler *b, const draft *d, int j) {
  const plan_item *it = &b->p->item[j];
  fused_step s;
  if (b->gone[j] || it->device != b->p->item[d->root].device || b->waiter[j] <= d->root) return false;
  if (weft__step_type(it) != d->type || !weft__shape_equal(&it->node->out_shape[0], d->shape)) return false;
  if (!member_step(it, &s) || !reads_late(b, j, d->root)) return false;
  for (int r = b->first_reader[it->first_out]; r < b->first_reader[it->first_out + 1]; r++) {
    const int reader = b->reader[r];
    if (member_at(d, reader) < 0 && !is_join(d, reader) && b->home[reader] <= d->root) return false;
    if (updates_with(&b->p->item[reader], it->first_out)) return false;
  }
  return true;
}

static void draft_insert(draft *d, int item) {
  int at = d->n_member++;
  for (; at > 0 && d->member[at - 1] > item; at--) d->member[at] = d->member[at - 1];
  d->member[at] = item;
}

/* Makes the item a member if it fits. */
static bool try_join(bundler *b, draft *d, int item) {
  if (item < 0 || item > d->root || b->refused[item] == d->root || member_at(d, item) >= 0) return false;
  if (d->n_member == GPU_BUNDLE_STEPS || !may_join(b, d, item)) return false;
  const draft before = *d;
  draft_insert(d, item);
  if (draft_build(b, d)) return true;
  *d = before;
  b->refused[item] = d->root;
  return false;
}

/* Returns true if the item joins values of the draft's shape that are there when the root runs. */
static bool may_add_join(const bundler *b, const draft *d, int item) {
  const plan_item *it = &b->p->item[item];
  const fusion *f = declared(it);
  tensor_part part;
  if (!f->joins || b->gone[item] || it->n_out != 1 || it->device != b->p->item[d->root].device) return false;
  if (weft__dtype_base(it->node->out_type[0]) != d->type) return false;
  for (int j = 0; j < it->n_control; j++)
    if (b->home[it->control[j]] >= d->root) return false;
  for (int j = 0; j < it->n_in; j++) {
    if (!f->joins(it->node, j, &part)) continue;
    const int maker = b->p->slot_item[it->in[j].slot];
    if (it->in[j].from_ref || !weft__shape_equal(weft__out_shape(it->node->graph, it->node->in[j]), d->shape))
      return false;
    if (maker >= 0 && member_at(d, maker) < 0 && b->home[maker] >= d->root) return false;
  }
  return true;
}

/* Lets the bundle write the output of an item that joins what a member makes with values that are there already. */
static bool try_add_join(bundler *b, draft *d, int item) {
  if (item <= d->root || d->n_join == MAX_JOINS || !is_small(d) || b->refused[item] == d->root || is_join(d, item))
    return false;
  const draft before = *d;
  if (may_add_join(b, d, item)) {
    d->join[d->n_join++] = item;
    if (draft_build(b, d)) return true;
    *d = before;
  }
  b->refused[item] = d->root;
  return false;
}

/* Adds makers of what the members read and readers of what they make, until no more fit. */
static void draft_grow(bundler *b, draft *d, bool (*add)(bundler *b, draft *d, int item)) {
  for (bool more = true; more;) {
    more = false;
    for (int m = 0; m < d->n_member && !more; m++) {
      const plan_item *it = &b->p->item[d->member[m]];
      for (int j = 0; j < it->n_in && !more; j++) more = add(b, d, b->p->slot_item[it->in[j].slot]);
      for (int r = b->first_reader[it->first_out]; r < b->first_reader[it->first_out + 1] && !more; r++)
        more = add(b, d, b->reader[r]);
    }
  }
}

/* Begins with a root that joins values, of which one at least can become a member. */
static bool draft_begin_join(const bundler *b, draft *d) {
  const plan_item *it = &b->p->item[d->root];
  const fusion *f = declared(it);
  tensor_part part;
  if (!f->joins || it->n_out != 1 || !f->joins(it->node, 0, &part)) return false;
  d->shape = weft__out_shape(it->node->graph, it->node->in[0]);
  d->type = weft__dtype_base(it->node->out_type[0]);
  if (!weft__shape_known(d->shape) || !is_small(d) || !may_add_join(b, d, d->root)) return false;
  d->join[d->n_join++] = d->root;
  for (int j = 0; j < it->n_in; j++) {
    if (!f->joins(it->node, j, &part)) continue;
    const int maker = b->p->slot_item[it->in[j].slot];
    if (maker < 0 || d->n_member == GPU_BUNDLE_OUT || member_at(d, maker) >= 0) continue;
    if (may_join(b, d, maker)) draft_insert(d, maker);
  }
  return d->n_member > 0;
}

static bool draft_begin(const bundler *b, draft *d, int root) {
  const plan_item *it = &b->p->item[root];
  *d = (draft){.root = root};
  if (!it->device || b->gone[root] || it->n_out != 1) return false;
  if (!draft_begin_join(b, d)) {
    *d = (draft){.root = root, .shape = &it->node->out_shape[0], .type = weft__step_type(it)};
    if (d->type == WEFT_INVALID || !weft__shape_known(d->shape) || !may_join(b, d, root)) return false;
    draft_insert(d, root);
  }
  const gpu_chains *chains = weft__gpu_chains();
  const int64_t n = weft__shape_count(d->shape), most = chains ? chains->most_elements() : INT32_MAX;
  return d->shape->rank > 0 && n > 0 && n <= most && draft_build(b, d);
}

/* ---- replacing ----------------------------------------------------------------------------------- */

/* Makes the node that the bundle's item stands for: the root's with other outputs. */
static weft_node *bundle_node(plan *p, const draft *d) {
  const gpu_bundle *g = &d->b.gpu;
  weft_node *n = weft__arena_copy(&p->arena, p->item[d->root].node, sizeof *n);
  if (!n) return NULL;
  n->op = &weft__bundle_op, n->op_name = weft__bundle_op.def;
  n->n_in = 0, n->in = NULL, n->n_out = g->n_tensor;
  n->out_type = weft__arena_alloc(&p->arena, sizeof *n->out_type * (size_t)g->n_tensor);
  n->out_shape = weft__arena_copy(&p->arena, g->tensor, sizeof *n->out_shape * (size_t)g->n_tensor);
  for (int o = 0; n->out_type && o < g->n_tensor; o++) n->out_type[o] = d->type;
  return n->out_type && n->out_shape ? n : NULL;
}

/* The root waits for what its members and the makers of split values waited for. */
static weft_err bundle_controls(plan *p, const draft *d) {
  int all[2 * GPU_BUNDLE_STEPS + MAX_JOINS], n = 0;
  for (int m = 0; m < d->n_member; m++) all[n++] = d->member[m];
  for (int m = 0; m < d->n_maker; m++) all[n++] = d->maker[m];
  for (int i = 0; i < d->n_join; i++) all[n++] = d->join[i];
  return weft__join_controls(p, &p->item[d->root], n, all);
}

static void item_leaves(bundler *b, int item, int root) {
  plan_item *it = &b->p->item[item];
  if (it->op->unprepare && !it->shares_state) it->op->unprepare(it->state);
  it->shares_state = true; /* the plan must not free it again */
  b->gone[item] = item != root;
  b->home[item] = root;
}

static weft_err draft_replace(bundler *b, const draft *d, int *n_slot) {
  plan *p = b->p;
  plan_item *it = &p->item[d->root];
  const gpu_chains *chains = weft__gpu_chains();
  weft_node *node = bundle_node(p, d);
  plan_input *in = weft__arena_copy(&p->arena, d->in, sizeof *in * (size_t)d->n_in);
  bundle *state = weft__alloc(sizeof *state);
  weft_err err = node && in && state ? bundle_controls(p, d) : WEFT_OOM;
  if (err) {
    weft__free(state);
    return err;
  }
  *state = d->b;
  for (int m = 0; m < d->n_member; m++) item_leaves(b, d->member[m], d->root);
  for (int i = 0; i < d->n_join; i++) item_leaves(b, d->join[i], d->root);
  for (int o = 0; o < d->b.gpu.n_tensor; o++) b->renamed[d->slot[o]] = *n_slot + o;
  it->node = node, it->op = &weft__bundle_op, it->state = state, it->shares_state = false;
  it->run = chains ? chains->run_bundle : weft__program_simulated;
  it->host_in = it->host_out = 0;
  it->in = in, it->n_in = d->n_in;
  it->first_out = *n_slot, it->n_out = d->b.gpu.n_tensor;
  *n_slot += it->n_out;
  return WEFT_OK;
}

/* ---- the pass ------------------------------------------------------------------------------------ */

static weft_err list_readers(bundler *b) {
  const plan *p = b->p;
  int n = 0;
  for (int i = 0; i < p->n_item; i++)
    for (int j = 0; j < p->item[i].n_in; j++, n++) b->first_reader[p->item[i].in[j].slot + 2]++;
  b->reader = weft__alloc(((size_t)n + 1) * sizeof *b->reader);
  if (!b->reader) return WEFT_OOM;
  for (int i = 0; i < p->n_item; i++) b->home[i] = i, b->refused[i] = -1, b->waiter[i] = p->n_item;
  for (int s = 2; s < p->n_slot + 2; s++) b->first_reader[s] += b->first_reader[s - 1];
  for (int i = 0; i < p->n_item; i++) {
    const plan_item *it = &p->item[i];
    for (int j = 0; j < it->n_in; j++) b->reader[b->first_reader[it->in[j].slot + 1]++] = i;
  }
  for (int i = p->n_item - 1; i >= 0; i--) {
    const plan_item *it = &p->item[i];
    const int waiter = weft__node_is(it->node, KIND_NO_OP) ? b->waiter[i] : i;
    for (int j = 0; j < it->n_control; j++)
      if (b->waiter[it->control[j]] > waiter) b->waiter[it->control[j]] = waiter;
  }
  for (int s = 0; s < p->n_slot; s++) b->renamed[s] = -1;
  for (int i = 0; i < p->n_fetch; i++) b->fetched[p->fetch_slot[i]] = true;
  return WEFT_OK;
}

/* Gives the plan room for the new slots, which are all on the device of the item that makes them. */
static weft_err add_slots(bundler *b, int n_slot) {
  plan *p = b->p;
  int *maker = weft__arena_alloc(&p->arena, sizeof *maker * (size_t)n_slot);
  int *memory = weft__arena_alloc(&p->arena, sizeof *memory * (size_t)n_slot);
  if (!maker || !memory) return WEFT_OOM;
  for (int s = 0; s < p->n_slot; s++) {
    memory[s] = p->slot_memory[s];
    if (b->renamed[s] >= 0) memory[b->renamed[s]] = memory[s];
  }
  p->slot_item = maker, p->slot_memory = memory, p->n_slot = n_slot;
  return WEFT_OK;
}

static void rename_slots(bundler *b, int n_old) {
  plan *p = b->p;
  for (int i = 0; i < p->n_item; i++)
    for (int j = 0; j < p->item[i].n_in && !b->gone[i]; j++) {
      int *slot = &p->item[i].in[j].slot;
      if (*slot < n_old && b->renamed[*slot] >= 0) *slot = b->renamed[*slot];
    }
  for (int i = 0; i < p->n_item; i++) { /* who waited for a member waits for the bundle */
    plan_item *it = &p->item[i];
    const int n = it->n_control;
    it->n_control = 0;
    for (int j = 0; j < n && !b->gone[i];
         j++) { /* a NoOp in front of the bundle need not: those that wait for it come later */
      const int home = b->home[it->control[j]];
      if (home < i) it->control[it->n_control++] = home;
    }
  }
  for (int i = 0; i < p->n_fetch; i++)
    if (b->renamed[p->fetch_slot[i]] >= 0) p->fetch_slot[i] = b->renamed[p->fetch_slot[i]];
}

/* Drops copies of parts, and what only they read, now that bundles read the whole. */
static weft_err drop_unread(bundler *b, const bool *unread_may_go) {
  plan *p = b->p;
  int *uses = weft__alloc_zero((size_t)p->n_slot + 1, sizeof *uses);
  if (!uses) return WEFT_OOM;
  for (int i = 0; i < p->n_item; i++)
    for (int j = 0; j < p->item[i].n_in && !b->gone[i]; j++) uses[p->item[i].in[j].slot]++;
  for (int i = 0; i < p->n_fetch; i++) uses[p->fetch_slot[i]]++;
  for (int i = p->n_item - 1; i >= 0; i--) {
    const plan_item *it = &p->item[i];
    bool read = b->gone[i] || !unread_may_go[i] || (b->waiter[i] < p->n_item && b->home[i] == i);
    for (int o = 0; o < it->n_out && !read; o++) read = uses[it->first_out + o] > 0;
    if (read) continue;
    for (int j = 0; j < it->n_in; j++) uses[it->in[j].slot]--;
    item_leaves(b, i, b->home[i] == i ? -1 : b->home[i]);
  }
  weft__free(uses);
  return WEFT_OK;
}

/* Returns true if a chain would not do as well. */
static bool is_better(const bundler *b, const draft *d) {
  if (d->n_join || d->n_view) return true;
  bool more = d->b.gpu.n_out > 1; /* a chain leaves out what others wait for, and what is read twice */
  for (int m = 0; m < d->n_member; m++) {
    const int slot = b->p->item[d->member[m]].first_out;
    more = more || b->waiter[d->member[m]] < b->p->n_item || reader_count(b, slot) > 1;
  }
  return d->n_member > 1 && more;
}

static weft_err find_bundles(bundler *b, int *n_slot, bool *unread_may_go) {
  for (int i = b->p->n_item - 1; i >= 0; i--) {
    draft d;
    const fusion *f = declared(&b->p->item[i]);
    if (f->part || f->role == ROLE_REPEAT) unread_may_go[i] = true;
    if (!draft_begin(b, &d, i)) continue;
    draft_grow(b, &d, try_join);
    draft_grow(b, &d, try_add_join);
    if (!is_better(b, &d)) continue;
    WEFT_TRY(draft_replace(b, &d, n_slot));
    for (int m = 0; m < d.n_maker; m++) unread_may_go[d.maker[m]] = true, b->home[d.maker[m]] = i;
  }
  return WEFT_OK;
}

static weft_err bundle_items(bundler *b, bool *unread_may_go, int *to) {
  plan *p = b->p;
  const int n_old = p->n_slot;
  int n_slot = p->n_slot;
  WEFT_TRY(list_readers(b));
  weft_err err = find_bundles(b, &n_slot, unread_may_go);
  if (n_slot == n_old) return err;
  WEFT_TRY(err);
  WEFT_TRY(add_slots(b, n_slot));
  rename_slots(b, n_old);
  WEFT_TRY(drop_unread(b, unread_may_go));
  weft__plan_remove_items(p, b->gone, to);
  return WEFT_OK;
}

weft_err weft__bundle(plan *p) {
  if (!p->n_device || p->sync_runs < 0) return WEFT_OK;
  const size_t items = (size_t)p->n_item + 1, slots = (size_t)p->n_slot + 3;
  bundler b = {.p = p,
               .first_reader = weft__alloc_zero(slots, sizeof(int)),
               .fetched = weft__alloc_zero(slots, 1),
               .waiter = weft__alloc_zero(items, sizeof(int)),
               .gone = weft__alloc_zero(items, 1),
               .home = weft__alloc_zero(items, sizeof(int)),
               .refused = weft__alloc_zero(items, sizeof(int)),
               .renamed = weft__alloc_zero(slots, sizeof(int))};
  bool *unread_may_go = weft__alloc_zero(items, 1);
  int *to = weft__alloc(items * sizeof *to);
  const bool room = b.first_reader && b.fetched && b.waiter && b.gone && b.home && b.refused && b.renamed;
  const weft_err err = room && unread_may_go && to ? bundle_items(&b, unread_may_go, to) : WEFT_OOM;
  weft__free(b.first_reader);
  weft__free(b.reader);
  weft__free(b.fetched);
  weft__free(b.waiter);
  weft__free(b.gone);
  weft__free(b.home);
  weft__free(b.refused);
  weft__free(b.renamed);
  weft__free(unread_may_go);
  weft__free(to);
  return err;
}
