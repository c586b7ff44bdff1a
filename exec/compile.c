/* compile.c - compiles a request to a plan: orders the nodes, numbers the slots, folds constants, runs the passes and
 * finds the last use of each slot.  The graph's lock is held meanwhile.
 *
 * Include cycle with exec/passes/unroll, exec/variants: a plan owns its variants, which are plans made here. */
#include "exec/compile.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "exec/branches/branches.h"
#include "exec/executors/cuda_graph.h"
#include "exec/executors/dataflow_iteration.h"
#include "exec/executors/frame.h"
#include "exec/executors/staged.h"
#include "exec/feeds.h"
#include "exec/fused_groups/fused_group.h"
#include "exec/passes/aliases.h"
#include "exec/passes/copy_insertion.h"
#include "exec/passes/defer_updates.h"
#include "exec/passes/fuse.h"
#include "exec/passes/mixed_precision.h"
#include "exec/passes/order.h"
#include "exec/passes/owned_inputs.h"
#include "exec/passes/regroup.h"
#include "exec/passes/relu_pool_swap.h"
#include "exec/passes/round_operands.h"
#include "exec/passes/share_operands.h"
#include "exec/passes/skip_forwards.h"
#include "exec/passes/unroll.h"
#include "exec/variants.h"
#include "graph/fold.h"
#include "graph/fusion.h"

#include <stdlib.h>
#include <string.h>

/* The state of one compilation. */
typedef struct maker {
  plan *p;
  weft_graph *g;
  const plan_request *r;
  feeds feeds;
  const plan_devices *where; /* NULL: all on the host */
  int *order, n_order;
  int *stage;          /* per node id, if the plan is staged */
  int *first_slot;     /* per node id: the slot of its output 0, or -1 */
  int *item_of;        /* per node id: its item, or -1 (folded, or not needed) */
  bool *kept_read;     /* per node id, with several devices: a read whose value goes to another device */
  bool *alias;         /* per node id: its output follows a variable (exec/passes/aliases.h); NULL: none does */
  bool straight;       /* no node of the order belongs to control flow or waits for something else */
  bool *waited;        /* per node id: it was folded, though it, or a constant behind it, has control inputs */
  bool *known;         /* per slot: a constant */
  weft_tensor *value;  /* per slot: the constant */
  int n_slot, n_value; /* slots now; those of nodes */
} maker;

static void *plan_zeroed(maker *m, int count, size_t size) {
  return weft__arena_alloc(&m->p->arena, (size_t)(count ? count : 1) * size);
}

static bool is_plain_read(const maker *m, const weft_node *n) { return weft__is_plain_read(m->g, n, m->kept_read); }

/* Returns true if n is an alias outside control flow.  Its readers then read the variable itself, after n has run. */
static bool is_seen_through(const maker *m, const weft_node *n) {
  return m->alias && m->alias[n->id] && !(n->op->flags & OP_CONTROL_FLOW);
}

/* Returns true if n is a part of control flow that passes on the reference of a variable. */
static bool passes_reference(const maker *m, const weft_node *n) {
  return m->alias && m->alias[n->id] && (n->op->flags & OP_CONTROL_FLOW);
}

/* Marks the reads whose value another device needs.  They do run, so that the value is copied there once. */
static weft_err keep_reads(maker *m) {
  m->kept_read = weft__arena_alloc(&m->p->arena, (size_t)m->g->n_node + 1);
  if (!m->kept_read) return WEFT_OOM;
  for (int i = 0; i < m->n_order; i++) {
    const weft_node *n = m->g->node[m->order[i]];
    for (int j = 0; j < n->n_in; j++)
      if (m->where->of_node[n->id] != m->where->of_node[n->in[j].node]) m->kept_read[n->in[j].node] = true;
  }
  return WEFT_OK;
}

static bool compile_is_fed(const maker *m, weft_out o) { return weft__feeds_find(&m->feeds, o) >= 0; }

/* Returns the output that has the value of o: o itself, or what is behind a plain read or a node that is seen
 * through. */
static weft_out source_of(const maker *m, weft_out o) {
  while (!compile_is_fed(m, o) && (is_plain_read(m, m->g->node[o.node]) || is_seen_through(m, m->g->node[o.node])))
    o = m->g->node[o.node]->in[0];
  return o;
}

/* Returns true if the slot of the output holds a reference, or may hold one. */
static bool is_reference(const maker *m, weft_out o) {
  const weft_node *n = m->g->node[o.node];
  if (compile_is_fed(m, o)) return false;
  return weft__out_is_ref(m->g, o) || (passes_reference(m, n) && weft__output_is_forwarded(n, o.slot));
}

static int compile_slot_of(const maker *m, weft_out from) {
  weft_out o = source_of(m, from);
  int feed = weft__feeds_find(&m->feeds, o);
  WEFT_ASSERT(feed >= 0 || m->first_slot[o.node] >= 0);     /* the order has every node whose value is read */
  return feed >= 0 ? feed : m->first_slot[o.node] + o.slot; /* slot i < n_feed is feed i */
}

/* ---- constants ------------------------------------------------------------------------------- */

/* A constant with control inputs, as programs make it under tf.control_dependencies, is folded as well: its readers
 * wait for what it waited for (link_control).  In a plan with control flow it may be dead, and stays. */
static bool node_is_foldable(const maker *m, const weft_node *n) {
  if (!weft__node_may_fold(m->g, n)) return false;
  if (weft__node_is(n, KIND_CONST)) return !n->n_control || m->straight;
  if (n->n_control || n->n_in == 0) return false;
  for (int i = 0; i < n->n_in; i++) {
    if (!m->known[compile_slot_of(m, n->in[i])]) return false;
    if (m->waited[n->in[i].node] && n->n_out > 1) return false; /* one output may be fed, and waits for nothing */
  }
  return true;
}

enum { FOLD_LIMIT = 10 << 20 }; /* bytes: a big folded value costs more memory than it saves time */

/* Runs n on constants, so that its outputs become constants.  Returns false if that fails or the outputs are large: the
 * node then becomes an item, and an error is reported when the plan runs it. */
static bool fold_node(maker *m, const weft_node *n) {
  value out[FOLD_MAX_OUT] = {{.dead = false}};
  const weft_tensor *in[FOLD_MAX_IN];
  for (int i = 0; i < n->n_in; i++) in[i] = &m->value[compile_slot_of(m, n->in[i])];
  const weft_err err = weft__node_fold(n, in, out, n->n_in ? FOLD_LIMIT : 0);
  size_t total = 0;
  for (int i = 0; i < n->n_out && !err; i++) total += out[i].t.buf ? weft__tensor_bytes(&out[i].t) : FOLD_LIMIT;
  bool ok = !err && (total < FOLD_LIMIT || n->n_in == 0);
  for (int i = 0; i < n->n_out; i++) {
    int slot = m->first_slot[n->id] + i;
    if (ok) {
      weft__tensor_share(&m->value[slot], &out[i].t);
      m->known[slot] = true;
    }
    weft__tensor_clear(&out[i].t);
  }
  return ok;
}

/* ---- items ------------------------------------------------------------------------------------- */

static weft_err cannot_run(const weft_node *n) {
  if (!n->op)
    return weft__fail(WEFT_UNIMPLEMENTED, "unimplemented op %s: node '%s' cannot be run", n->op_name, n->name);
  return weft__fail_node(WEFT_INVALID_ARGUMENT,
                         "No OpKernel was registered to support Op '%s' used by {{node %s}}: there is only a "
                         "definition of it, as in TensorFlow without a GPU\n\t [[{{node %s}}]]",
                         n->op_name, n->name, n->name);
}

/* Returns the NARROW_* flag of a type, or 0. */
static unsigned narrow_flag(weft_dtype t) {
  switch (weft__dtype_base(t)) {
  case WEFT_FLOAT8_E5M2:
  case WEFT_FLOAT8_E4M3FN: return NARROW_FLOAT8;
  case WEFT_INT4:
  case WEFT_UINT4: return NARROW_INT4;
  default: return 0;
  }
}

/* Fails if an attribute of the node is a narrow type on which its op does not run. */
static weft_err check_narrow_types(const weft_node *n) {
  if (n->op->narrow == NARROW_ALL || n->op_name[0] == '_') return WEFT_OK;
  for (int i = 0; i < n->n_attr; i++) {
    const attr *a = &n->attr[i];
    if (a->kind == ATTR_TYPE && !a->is_list && narrow_flag(a->type) & ~n->op->narrow)
      return weft__fail_node(
          WEFT_INVALID_ARGUMENT,
          "No OpKernel was registered to support Op '%s' used by {{node %s}} with the type %s: cast to "
          "a wider type first, as in TensorFlow\n\t [[{{node %s}}]]",
          n->op_name, n->name, weft__dtype_name(a->type), n->name);
  }
  return WEFT_OK;
}

static weft_err number_slots(maker *m) {
  m->n_slot = m->r->n_feed;
  for (int i = 0; i < m->n_order; i++) {
    const weft_node *n = m->g->node[m->order[i]];
    m->first_slot[n->id] = m->n_slot;
    m->n_slot += n->n_out;
  }
  m->n_value = m->n_slot;
  m->known = weft__alloc_zero((size_t)m->n_slot + 1, sizeof *m->known);
  m->value = weft__alloc_zero((size_t)m->n_slot + 1, sizeof *m->value);
  return m->known && m->value ? WEFT_OK : WEFT_OOM;
}

/* Copies of a node in an unrolled loop have one state, as the iterations of the loop would have: random numbers go on.
 */
static weft_err prepare_item(const maker *m, plan_item *it) {
  const weft_node *n = it->node;
  const int first = m->p->unrolled ? m->p->unrolled->first_copy[n->id] : n->id;
  if (first != n->id && m->item_of[first] >= 0) {
    it->state = m->p->item[m->item_of[first]].state;
    it->shares_state = true;
    return WEFT_OK;
  }
  return n->op->prepare ? n->op->prepare(n, &it->state) : WEFT_OK;
}

static weft_err compile_add_item(maker *m, const weft_node *n) {
  WEFT_ASSERT(m->p->n_item < m->n_order && m->item_of[n->id] < 0);
  plan_item *it = &m->p->item[m->p->n_item];
  m->item_of[n->id] = m->p->n_item++;
  *it = (plan_item){
      .node = n, .op = n->op, .run = n->op->cpu, .n_in = n->n_in, .n_out = n->n_out, .first_out = m->first_slot[n->id]};
  if (m->p->unrolled && m->p->unrolled->padded[n->id]) it->op = n->op->fusion->padded;
  if (m->where) weft__plan_choose_kernel(it, m->where->device[m->where->of_node[n->id]]);
  it->in = plan_zeroed(m, n->n_in, sizeof *it->in);
  if (!it->in) return WEFT_OOM;
  for (int i = 0; i < n->n_in; i++) {
    const weft_out from = source_of(m, n->in[i]);
    const bool reference = is_reference(m, from);
    const bool passed_on = reference && passes_reference(m, n) && weft__input_is_forwarded(n, i);
    it->in[i] = (plan_input){compile_slot_of(m, from), passed_on || weft__node_takes_ref(n, i), reference,
                             weft__input_is_index(n, i)};
    if (it->in[i].wants_ref && compile_is_fed(m, from))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Input %d of '%s' takes a reference and cannot be fed", i, n->name);
  }
  if (n->op->flags & OP_BLOCKING) m->p->waits = true;
  if (m->stage)
    it->stage = m->stage[n->id];
  else if (n->op->flags & (OP_CONTROL_FLOW | OP_ASYNC))
    m->p->executor = PLAN_DATAFLOW;
  return prepare_item(m, it);
}

static bool order_is_straight(const maker *m) {
  for (int i = 0; i < m->n_order; i++) {
    const op *o = m->g->node[m->order[i]]->op;
    if (!o || (o->flags & (OP_CONTROL_FLOW | OP_ASYNC))) return false;
  }
  return true;
}

static weft_err make_items(maker *m) {
  m->p->item = plan_zeroed(m, m->n_order, sizeof *m->p->item);
  m->waited = plan_zeroed(m, m->g->n_node, sizeof *m->waited);
  if (!m->p->item || !m->waited) return WEFT_OOM;
  m->straight = order_is_straight(m);
  for (int i = 0; i < m->n_order; i++) {
    const weft_node *n = m->g->node[m->order[i]];
    if (!n->op || (!n->op->cpu && !(n->op->flags & OP_CONTROL_FLOW))) return cannot_run(n);
    WEFT_TRY(check_narrow_types(n));
    if (is_plain_read(m, n)) continue;
    if (node_is_foldable(m, n) && fold_node(m, n)) {
      m->waited[n->id] = n->n_control > 0;
      for (int j = 0; j < n->n_in; j++) m->waited[n->id] |= m->waited[n->in[j].node];
      continue;
    }
    WEFT_TRY(compile_add_item(m, n));
  }
  return WEFT_OK;
}

/* Stores the items of the nodes between n and its sources that are seen through (item NULL: only counts them): n runs
 * after them.  A plain read has no item. */
static int seen_through(const maker *m, const weft_node *n, int *item) {
  int count = 0;
  for (int i = 0; i < n->n_in && m->alias; i++)
    for (weft_out o = n->in[i]; !compile_is_fed(m, o) && is_seen_through(m, m->g->node[o.node]);
         o = m->g->node[o.node]->in[0]) {
      if (m->item_of[o.node] < 0) continue;
      if (item) item[count] = m->item_of[o.node];
      count++;
    }
  return count;
}

/* Sets the control edges between items.  Edges from folded nodes are dropped, or replaced if these had waited. */
static weft_err link_control(maker *m) {
  waits w;
  weft_err err = weft__waits_init(&w, m->g, m->order, m->n_order);
  if (m->straight) w.folded = m->waited;
  for (int i = 0; i < m->p->n_item && !err; i++) {
    plan_item *it = &m->p->item[i];
    weft__waits_of(&w, it->node->id);
    it->control = plan_zeroed(m, w.n + seen_through(m, it->node, NULL), sizeof *it->control);
    if (!it->control) err = WEFT_OOM;
    for (int j = 0; j < w.n && !err; j++) {
      int from = m->item_of[w.from[j]];
      if (from >= 0) it->control[it->n_control++] = from;
    }
    if (!err) it->n_control += seen_through(m, it->node, it->control + it->n_control);
  }
  weft__waits_finish(&w);
  return err;
}

/* ---- slots ------------------------------------------------------------------------------------- */

static weft_err keep_constants(maker *m) {
  plan *p = m->p;
  for (int s = 0; s < m->n_slot; s++) p->n_constant += m->known[s];
  p->constant_slot = plan_zeroed(m, p->n_constant, sizeof *p->constant_slot);
  p->constant = plan_zeroed(m, p->n_constant, sizeof *p->constant);
  if (!p->constant_slot || !p->constant) {
    p->n_constant = 0;
    return WEFT_OOM;
  }
  for (int s = 0, i = 0; s < m->n_slot; s++) {
    if (!m->known[s]) continue;
    p->constant_slot[i] = s;
    weft__tensor_share(&p->constant[i++], &m->value[s]);
  }
  return WEFT_OK;
}

static weft_err connect_ends(maker *m) {
  plan *p = m->p;
  p->n_slot = m->n_slot;
  p->n_feed = m->r->n_feed;
  p->n_fetch = m->r->n_fetch;
  p->slot_item = plan_zeroed(m, m->n_slot, sizeof *p->slot_item);
  p->fetch_slot = plan_zeroed(m, p->n_fetch, sizeof *p->fetch_slot);
  p->feed_node = plan_zeroed(m, p->n_feed, sizeof *p->feed_node);
  p->feed_out = plan_zeroed(m, p->n_feed, sizeof *p->feed_out);
  if (!p->slot_item || !p->fetch_slot || !p->feed_node || !p->feed_out) return WEFT_OOM;
  for (int i = 0; i < p->n_feed; i++) {
    p->feed_node[i] = m->g->node[m->r->feed[i].node];
    p->feed_out[i] = m->r->feed[i].slot;
  }
  for (int s = 0; s < m->n_slot; s++) p->slot_item[s] = -1;
  for (int i = 0; i < p->n_item; i++)
    for (int j = 0; j < p->item[i].n_out; j++) p->slot_item[p->item[i].first_out + j] = i;
  for (int i = 0; i < p->n_fetch; i++) p->fetch_slot[i] = compile_slot_of(m, m->r->fetch[i]);
  return WEFT_OK;
}

/* Makes each item's release list and its last_read bits.  last[s] is the item that reads slot s last; -1: the slot
 * keeps its value until the run has ended.  count[i] becomes the number of slots that item i reads last. */
static weft_err set_last_uses(maker *m, const int *last, int *count) {
  plan *p = m->p;
  for (int s = 0; s < m->n_slot; s++)
    if (last[s] >= 0) count[last[s]]++;
  for (int i = 0; i < p->n_item; i++) {
    plan_item *it = &p->item[i];
    it->release = plan_zeroed(m, count[i], sizeof(int));
    if (!it->release) return WEFT_OOM;
    for (int j = 0; j < it->n_in && j < 64; j++)
      if (last[it->in[j].slot] == i) it->last_read |= UINT64_C(1) << j;
  }
  for (int s = 0; s < m->n_slot; s++) {
    if (last[s] < 0) continue;
    plan_item *it = &p->item[last[s]];
    WEFT_ASSERT(last[s] >= p->slot_item[s] && it->n_release < count[last[s]]);
    it->release[it->n_release++] = s;
  }
  return WEFT_OK;
}

/* Finds where each slot is read last.  Slots that are fetched, constant, made once or copied to the host are kept. */
static weft_err find_last_uses(maker *m) {
  plan *p = m->p;
  int *last = weft__alloc(((size_t)m->n_slot + 1) * sizeof *last);
  int *count = weft__alloc_zero((size_t)p->n_item + 1, sizeof *count);
  weft_err err = last && count ? WEFT_OK : WEFT_OOM;
  if (!err) {
    for (int s = 0; s < m->n_slot; s++) last[s] = p->slot_item[s]; /* a slot that no item reads is cleared at once */
    for (int i = 0; i < p->n_item; i++)
      for (int j = 0; j < p->item[i].n_in; j++) last[p->item[i].in[j].slot] = i;
    for (int i = 0; i < p->n_fetch; i++) last[p->fetch_slot[i]] = -1;
    for (int i = 0; i < p->n_constant; i++) last[p->constant_slot[i]] = -1;
    for (int s = 0; s < m->n_slot; s++)
      if (p->slot_item[s] >= 0 && (p->item[p->slot_item[s]].op->flags & OP_ONCE)) last[s] = -1;
    for (int i = 0; i < p->n_item; i++) /* a copy to the host may run until the step ends */
      if (weft__is_copy_to_host(&p->item[i])) last[p->item[i].in[0].slot] = -1;
    err = weft__branches_share_releases(p, last);
  }
  if (!err) err = set_last_uses(m, last, count);
  weft__free(last);
  weft__free(count);
  return err;
}

/* Returns true if the host reads nothing that a run computes on its one GPU.  What a run of several GPUs does is always
 * waited for: their streams are ordered by the copies between them only. */
static bool may_end_early(const plan *p) {
  if (p->executor != PLAN_SEQUENTIAL || p->n_device != 1 || !p->device[0]->ops->end_step || p->n_fetch) return false;
  for (int i = 0; i < p->n_item; i++)
    if (weft__is_copy_to_host(&p->item[i])) return false;
  return true;
}

/* Finds the first copies to a device that are next to each other (exec/passes/regroup.c). */
static void find_copies(plan *p) {
  int i = 0, end;
  while (i < p->n_item && !weft__is_copy_to_device(&p->item[i])) i++;
  for (end = i; end < p->n_item && weft__is_copy_to_device(&p->item[end]); end++)
    if (p->item[end].device != p->item[i].device || p->item[end].in[0].from_ref) break;
  const bool several = end - i > 1 && p->item[i].device->ops->copy_in_many;
  p->straight.copy_from = i;
  p->straight.copy_to = several ? end : i;
}

/* Runs the passes in order.  Those behind weft__defer_updates need a straight plan. */
static weft_err compile_make_plan(maker *m) {
  WEFT_TRY(weft__feeds_init(&m->feeds, m->r->n_feed, m->r->feed));
  if (m->feeds.twice >= 0) {
    const weft_out o = m->r->feed[m->feeds.twice];
    return weft__fail(WEFT_INVALID_ARGUMENT, "'%s:%d' is fed twice", m->g->node[o.node]->name, o.slot);
  }
  if (m->r->n_fetch + m->r->n_target == 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  WEFT_TRY(weft__order(m->g, m->r, &m->order, &m->n_order));
  WEFT_TRY(weft__staged_order(m->g, m->order, m->n_order, &m->stage));
  m->p->executor = m->stage ? PLAN_STAGED : PLAN_SEQUENTIAL;
  m->first_slot = weft__alloc(((size_t)m->g->n_node + 1) * sizeof(int));
  m->item_of = weft__alloc(((size_t)m->g->n_node + 1) * sizeof(int));
  if (!m->first_slot || !m->item_of) return WEFT_OOM;
  for (int i = 0; i < m->g->n_node; i++) m->first_slot[i] = m->item_of[i] = -1;
  if (m->where) WEFT_TRY(keep_reads(m));
  const alias_request aliases = {m->g, m->r, &m->feeds, m->order, m->n_order, m->kept_read};
  WEFT_TRY(weft__aliases_find(&aliases, &m->alias));
  WEFT_TRY(number_slots(m));
  WEFT_TRY(make_items(m));
  WEFT_TRY(link_control(m));
  WEFT_TRY(keep_constants(m));
  WEFT_TRY(connect_ends(m));
  if (m->where) WEFT_TRY(weft__plan_insert_copies(m->p));
  m->n_slot = m->p->n_slot;
  if (m->p->executor != PLAN_DATAFLOW) WEFT_TRY(weft__plan_drop_implied_controls(m->p));
  WEFT_TRY(weft__defer_updates(m->p));
  if (m->p->executor == PLAN_DATAFLOW) return weft__dataflow_map_create(&m->p->dataflow, m->p);
  WEFT_TRY(weft__skip_forwards(m->p));
  WEFT_TRY(weft__round_operands(m->p));
  WEFT_TRY(weft__regroup(m->p));
  WEFT_TRY(weft__fuse_groups(m->p));
  m->n_slot = m->p->n_slot;
  WEFT_TRY(weft__fuse(m->p));
  WEFT_TRY(weft__share_operands(m->p));
  m->n_slot = m->p->n_slot;
  WEFT_TRY(weft__swap_relu_pool(m->p));
  WEFT_TRY(weft__branches_find(m->p));
  if (m->p->executor == PLAN_STAGED) WEFT_TRY(weft__staged_prepare(m->p));
  WEFT_TRY(find_last_uses(m));
  m->p->straight.ends_early = may_end_early(m->p);
  if (m->p->executor == PLAN_SEQUENTIAL && m->p->n_device) find_copies(m->p);
  return weft__cuda_graph_find(m->p);
}

/* Returns true if plans may be made for the shapes and values of feeds (exec/variants.h). */
static bool may_have_variants(const maker *m, const plan_devices *where) {
  const char *set = getenv("WEFT_GPU_FED_LENGTHS");
  const bool varies = m->r->n_feed > 0 || !m->where; /* on a GPU, what no feed decides has been unrolled */
  return where && where->may_vary && !m->p->mixed && varies && !getenv("WEFT_GPU_NO_REPLAY") &&
         !(set && strcmp(set, "0") == 0);
}

/* Returns true if a plan would know more if it knew the shapes of the feeds. */
static bool feeds_are_unknown(const maker *m) {
  bool unknown = false, gpu = !m->where; /* a plan without devices: all of its nodes are where they can be fused */
  for (int i = 0; i < m->r->n_feed; i++) unknown |= !weft__shape_known(weft__out_shape(m->g, m->r->feed[i]));
  for (int i = 0; i < m->g->n_node && unknown && !gpu; i++)
    gpu = !weft__device_is_host(m->where->device[m->where->of_node[i]]);
  return unknown && gpu;
}

/* Returns true if the request adds several tensors at once, as the gradients of weights that are used several times
 * are: copying the graph may turn that into one product (exec/passes/unroll_sums.c). */
static bool adds_many(const maker *m) {
  enum { MANY = 3 };
  for (int i = 0; i < m->n_order; i++) {
    const weft_node *n = m->g->node[m->order[i]];
    if (weft__node_is(n, KIND_SUM) && n->n_in >= MANY && n->out_shape[0].rank == 2) return true;
  }
  return false;
}

weft_err weft__plan_create(plan **out, weft_graph *g, const plan_request *r) {
  return weft__plan_create_on(out, g, r, NULL);
}

/* Up to three graphs take part: the program's, a copy for mixed precision, and a copy of either with unrolled loops.
 * The plan is made from the last of them.  Only one graph is locked at a time. */
weft_err weft__plan_create_on(plan **out, weft_graph *g, const plan_request *r, const plan_devices *where) {
  plan *p = weft__alloc_zero(1, sizeof *p);
  if (!p) return WEFT_OOM;
  pthread_mutex_init(&p->lock, NULL);
  weft_err err = WEFT_OK;
  plan_devices rewritten;
  maker m = {.p = p, .g = g, .r = r, .where = where && where->host_only ? NULL : where};
  pthread_mutex_lock(&g->lock);
  if (m.where && where->mixed_precision) err = weft__mixed_precision(&p->mixed, g, r, where);
  if (p->mixed) {
    pthread_mutex_unlock(&g->lock);
    rewritten = (plan_devices){.device = where->device, .of_node = p->mixed->of_node};
    m = (maker){.p = p, .g = p->mixed->graph, .r = &p->mixed->request, .where = &rewritten};
    pthread_mutex_lock(&m.g->lock);
  }
  plan_devices unrolled;
  decisions *on_feeds = NULL;
  const bool by_feeds = may_have_variants(&m, where), host_only = !m.where;
  if (!err && where && (m.where || where->assumed || where->may_vary))
    err = weft__unroll(&p->unrolled, m.g, m.r, m.where ? m.where : where, by_feeds ? &on_feeds : NULL);
  if (!err && by_feeds && (on_feeds || feeds_are_unknown(&m)))
    err = weft__variants_create(&p->variants, r->n_feed, on_feeds, host_only ? MOST_HOST_VARIANTS : MOST_VARIANTS);
  if (!p->variants) weft__decisions_destroy(on_feeds);
  if (p->unrolled) {
    pthread_mutex_unlock(&m.g->lock);
    unrolled = (plan_devices){.device = where->device, .of_node = p->unrolled->of_node};
    m = (maker){.p = p, .g = p->unrolled->graph, .r = &p->unrolled->request, .where = host_only ? NULL : &unrolled};
    pthread_mutex_lock(&m.g->lock);
  }
  p->graph = m.g;
  if (!err && host_only && where && where->assumed && !p->unrolled)
    err = weft__fail(WEFT_UNIMPLEMENTED, "the plan keeps its loops or waits, as the one for all feeds does");
  if (!err) err = compile_make_plan(&m);
  const bool may_change = !err && (p->executor == PLAN_DATAFLOW || (p->executor == PLAN_SEQUENTIAL && adds_many(&m)));
  if (may_change && by_feeds && host_only && !p->variants) /* it may be unrolled, or its sums merged */
    err = weft__variants_create(&p->variants, r->n_feed, NULL, MOST_HOST_VARIANTS);
  pthread_mutex_unlock(&m.g->lock);
  for (int s = 0; s < m.n_value && m.value; s++) weft__tensor_clear(&m.value[s]);
  weft__feeds_finish(&m.feeds);
  weft__free(m.order);
  weft__free(m.stage);
  weft__free(m.first_slot);
  weft__free(m.item_of);
  weft__free(m.alias);
  weft__free(m.known);
  weft__free(m.value);
  if (err)
    weft__plan_destroy(p);
  else
    *out = p;
  return err;
}

void weft__plan_destroy(plan *p) {
  if (!p) return;
  weft__frames_destroy(p);
  weft__dataflow_destroy_idle(p);
  for (int i = 0; i < p->n_item; i++)
    if (p->item[i].op->unprepare && !p->item[i].shares_state) p->item[i].op->unprepare(p->item[i].state);
  for (int i = 0; i < p->n_constant; i++) weft__tensor_clear(&p->constant[i]);
  weft__variants_destroy(p->variants);
  weft__unrolled_graph_destroy(p->unrolled);
  weft__mixed_graph_destroy(p->mixed);
  weft__arena_finish(&p->arena);
  pthread_mutex_destroy(&p->lock);
  weft__free(p);
}
