/* copy_insertion.c - inserts copies between devices.
 *
 * A copy looks at the value to learn which memory it is in: a kernel may have passed on memory of another device than
 * was planned. */
#include "exec/passes/copy_insertion.h"

#include "base/alloc.h"
#include "base/array.h"
#include "device/collective.h"
#include "kernels/gpu/gpu_host.h"
#include <stdlib.h>

/* ---- kernels ----------------------------------------------------------------------------------- */

void weft__plan_choose_kernel(plan_item *it, device *d) {
  if (weft__device_is_host(d)) return;
  const bool own = it->op == it->node->op; /* or the op that a pass has put in its place */
  const gpu_kernel g = own ? weft__gpu_kernel(it->node) : weft__gpu_kernel_as(it->op->def, it->node);
  if (!g.op || (!g.run && g.host && strcmp(g.host, "*") == 0)) return;
  it->device = d;
  if (g.run) it->run = g.run;
  it->no_capture = g.waits;
  for (int i = 0; i < it->n_in; i++)
    if (weft__gpu_host_in(&g, it->node, i)) it->host_in |= weft__gpu_host_bit(it->n_in, i);
  for (int i = 0; i < it->n_out && i < 64; i++)
    if (weft__gpu_host_out(&g, it->node, i)) it->host_out |= UINT64_C(1) << i;
}

/* ---- the copy ---------------------------------------------------------------------------------- */

typedef struct copying {
  bool wait;    /* of a copy to the host: the item waits until the value has arrived */
  device *from; /* of an item that only waits: it waits for all copies from this device */
} copying;

static weft_err copy_out(kernel *k, device *from) {
  const weft_tensor *in = k->in[0];
  weft_tensor *out = &k->out[0].t;
  WEFT_TRY(from->ops->alloc_host(from, &out->buf, in->dtype, weft__tensor_count(in)));
  out->dtype = in->dtype;
  out->shape = in->shape;
  out->data = out->buf->data;
  WEFT_TRY(from->ops->copy_out(from, out, in));
  return ((const copying *)k->state)->wait ? from->ops->sync_copies_out(from) : WEFT_OK;
}

static weft_err copy_run(kernel *k) {
  const weft_tensor *in = k->in[0];
  memory_space *from = in->buf->memory, *to = k->device ? &k->device->memory : NULL;
  if (from == to) return weft__tensor_clone(&k->out[0].t, in);
  if (!to) return copy_out(k, weft__memory_device(from));
  weft_tensor *out = weft__out(k, 0, &in->shape);
  if (!out) return WEFT_RESOURCE_EXHAUSTED;
  if (!from) return k->device->ops->copy_in(k->device, out, in);
  return k->device->ops->copy_over(k->device, out, weft__memory_device(from), in);
}

static const op copy_op = {.def = "_Copy", .cpu = copy_run};

static weft_err wait_run(kernel *k) {
  device *d = ((const copying *)k->state)->from;
  return d->ops->sync_copies_out(d);
}

static const op wait_op = {.def = "_Arrive", .cpu = wait_run};

bool weft__is_copy_to_host(const plan_item *it) { return it->op == &copy_op && !it->device; }
bool weft__is_copy_to_device(const plan_item *it) { return it->op == &copy_op && it->device; }
bool weft__is_copy_wait(const plan_item *it) { return it->op == &wait_op; }

/* ---- sums over cards --------------------------------------------------------------------------- */

/* AddN of values on different GPUs: they are not copied to one GPU, but added by a collective of all of them. */
static weft_err sum_run(kernel *k) {
  device *d[GPU_MAX_CARDS];
  int root = 0;
  for (int i = 0; i < k->n_in; i++) {
    if (!weft__shape_equal(&k->in[i]->shape, &k->in[0]->shape))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Inputs to operation %s of type AddN must have the same size and shape.  Input 0: %s != "
                               "input %d: %s",
                               k->node->name, weft__shape_text(&k->in[0]->shape), i,
                               weft__shape_text(&k->in[i]->shape));
    d[i] = weft__memory_device(k->in[i]->buf->memory);
    if (d[i] == k->device) root = i;
  }
  weft_tensor *out = weft__out(k, 0, &k->in[0]->shape);
  return out ? weft__devices_sum(k->n_in, d, k->in, root, out) : WEFT_RESOURCE_EXHAUSTED;
}

/* ---- inserting --------------------------------------------------------------------------------- */

typedef struct copy { /* of a slot to a device */
  int slot, to;       /* to: 0 the host, else 1 + an index into the plan's devices */
  int made;           /* the slot of the copy */
  int reader;         /* by reference: the only item that reads it; else -1 */
  int item;           /* where it stands in the new order; -1: a constant, copied already */
} copy;

typedef struct copy_inserter {
  plan *p;
  copy *list;
  int n;
  int64_t room;
  int *memory; /* per slot, copies included */
  int n_slot;
  int64_t room_slot;
  plan_item *item; /* the new order */
  int n_item;
  int64_t room_item;
  int *moved;    /* per old item: its new number */
  bool *coming;  /* per device: true if a copy to the host was queued and not waited for yet */
  bool *awaited; /* per old item: true if others wait for it */
  int *held;     /* old items that are delayed to the end of their stage */
  int n_held;
} copy_inserter;

static int index_of(const plan *p, const device *d) {
  for (int i = 0; d && i < p->n_device; i++)
    if (p->device[i] == d) return i + 1;
  return 0;
}

static weft_err list_devices(plan *p) {
  p->device = weft__arena_alloc(&p->arena, sizeof *p->device * (size_t)(p->n_item + 1));
  if (!p->device) return WEFT_OOM;
  for (int i = 0; i < p->n_item; i++) {
    device *d = p->item[i].device;
    if (d && !index_of(p, d)) p->device[p->n_device++] = d;
  }
  return WEFT_OK;
}

/* Returns the memory of an item's output, as slot_memory counts them; for a reference, that of its variable. */
static int memory_of_output(const plan *p, const plan_item *it, int out) {
  if ((int)it->node->out_type[out] > WEFT_REF_BASE) return index_of(p, it->device);
  return out < 64 && it->host_out >> out & 1 ? 0 : index_of(p, it->device);
}

static weft_err new_slot(copy_inserter *s, int to, int *out) {
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->memory, s->room_slot, s->n_slot + 1));
  s->memory[s->n_slot] = to;
  *out = s->n_slot++;
  return WEFT_OK;
}

static weft_err new_copy(copy_inserter *s, int slot, int to, int reader, copy **out) {
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->list, s->room, s->n + 1));
  *out = &s->list[s->n++];
  **out = (copy){.slot = slot, .to = to, .reader = reader, .item = -1};
  return new_slot(s, to, &(*out)->made);
}

static copy *find_copy(copy_inserter *s, int slot, int to, int reader) {
  for (int i = 0; i < s->n; i++)
    if (s->list[i].slot == slot && s->list[i].to == to && s->list[i].reader == reader) return &s->list[i];
  return NULL;
}

/* Returns the node that names the copy in errors and traces: the one whose output is copied. */
static weft_node *copy_insertion_node(plan *p, int slot) {
  const int item = p->slot_item[slot];
  const weft_node *from = item >= 0 ? p->item[item].node : p->feed_node[slot];
  const int out = item >= 0 ? slot - p->item[item].first_out : p->feed_out[slot];
  weft_node *n = weft__arena_copy(&p->arena, from, sizeof *n);
  weft_dtype *type = weft__arena_alloc(&p->arena, sizeof *type);
  if (!n || !type) return NULL;
  *type = weft__dtype_base(from->out_type[out]);
  n->op_name = (char *)(uintptr_t) "_Copy";
  n->op = &copy_op;
  n->n_in = n->n_control = 0;
  n->n_out = 1;
  n->out_type = type;
  n->out_shape = from->out_shape + out;
  return n;
}

static weft_err copy_insertion_add_item(copy_inserter *s, const plan_item *it) {
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->item, s->room_item, s->n_item + 1));
  s->item[s->n_item++] = *it;
  return WEFT_OK;
}

/* Adds an item that computes nothing: it waits until the copies from a device have arrived. */
static weft_err add_wait_item(copy_inserter *s, int slot, int from, int stage) {
  plan *p = s->p;
  plan_item it = {
      .node = copy_insertion_node(p, slot), .op = &wait_op, .run = wait_run, .first_out = 0, .stage = stage};
  copying *state = weft__arena_alloc(&p->arena, sizeof *state);
  it.in = weft__arena_alloc(&p->arena, sizeof *it.in);
  it.control = weft__arena_alloc(&p->arena, sizeof *it.control);
  if (!it.node || !it.in || !it.control || !state) return WEFT_OOM;
  state->from = p->device[from];
  it.state = state;
  s->coming[from] = false;
  return copy_insertion_add_item(s, &it);
}

static weft_err add_copy_item(copy_inserter *s, copy *c, bool from_ref, int stage) {
  plan *p = s->p;
  plan_item it = {.node = copy_insertion_node(p, c->slot),
                  .op = &copy_op,
                  .run = copy_run,
                  .device = c->to ? p->device[c->to - 1] : NULL,
                  .n_in = 1,
                  .n_out = 1,
                  .first_out = c->made,
                  .stage = stage};
  it.in = weft__arena_alloc(&p->arena, sizeof *it.in);
  it.control = weft__arena_alloc(&p->arena, sizeof *it.control);
  it.state = weft__arena_alloc(&p->arena, sizeof(copying));
  if (!it.node || !it.in || !it.control || !it.state) return WEFT_OOM;
  it.in[0] = (plan_input){c->slot, false, from_ref};
  ((copying *)it.state)->wait = p->executor == PLAN_DATAFLOW; /* the dataflow executor knows no order */
  if (!c->to) s->coming[s->memory[c->slot] - 1] = true;
  c->item = s->n_item;
  return copy_insertion_add_item(s, &it);
}

static int constant_of(const plan *p, int slot) {
  for (int i = 0; i < p->n_constant; i++)
    if (p->constant_slot[i] == slot) return i;
  return -1;
}

/* Copies a constant now, so that the copy is a constant of the plan too. */
static weft_err copy_constant(copy_inserter *s, const copy *c, int constant) {
  plan *p = s->p;
  const size_t n = (size_t)p->n_constant + 1;
  int *slots = weft__arena_alloc(&p->arena, sizeof *slots * n);
  weft_tensor *values = weft__arena_alloc(&p->arena, sizeof *values * n);
  device *d = p->device[c->to - 1];
  if (!slots || !values) return WEFT_OOM;
  memcpy(slots, p->constant_slot, sizeof *slots * (n - 1));
  memcpy(values, p->constant, sizeof *values * (n - 1));
  const weft_tensor *from = &values[constant];
  weft_tensor *to = &values[n - 1];
  WEFT_TRY(weft__tensor_init_in(to, &d->memory, from->dtype, &from->shape));
  weft_err err = d->ops->copy_in(d, to, from);
  if (err) {
    weft__tensor_clear(to);
    return err;
  }
  slots[n - 1] = c->made;
  p->constant_slot = slots;
  p->constant = values;
  p->n_constant++;
  return WEFT_OK;
}

/* Returns an error if an item takes a reference to a variable of another device: only the value of a variable is
 * copied. */
static weft_err check_reference(const copy_inserter *s, const plan_item *it, const plan_input *in) {
  const int maker = s->p->slot_item[in->slot];
  if (maker < 0 || !(s->p->item[maker].op->flags & OP_ONCE) || s->p->item[maker].device == it->device) return WEFT_OK;
  const weft_node *v = s->p->item[maker].node;
  if (!in->wants_ref && !weft__node_is(v, KIND_HANDLE)) return WEFT_OK;
  return weft__fail_node(WEFT_INVALID_ARGUMENT,
                         "'%s' runs on %s and wants the variable '%s' itself, which is on %s\n\t [[{{node %s}}]]",
                         it->node->name, it->device ? it->device->name : "the CPU", v->name,
                         s->p->item[maker].device ? s->p->item[maker].device->name : "the CPU", it->node->name);
}

/* Input j of item i is slot in->slot.  If that is not in the memory in which the item reads it, adds a copy. */
static weft_err copy_input(copy_inserter *s, int i, int j, plan_input *in) {
  plan *p = s->p;
  const plan_item *it = &p->item[i];
  const bool on_host = it->host_in & weft__gpu_host_bit(it->n_in, j);
  const int to = on_host ? 0 : index_of(p, it->device), from = s->memory[in->slot];
  const bool plain = weft__dtype_is_plain(weft__out_type(it->node->graph, it->node->in[j]));
  if (in->wants_ref || !plain) return check_reference(s, it, in);
  if (to == from) return WEFT_OK;
  const int reader = in->from_ref ? i : -1, constant = constant_of(p, in->slot);
  copy *c = find_copy(s, in->slot, to, reader);
  if (!c) {
    WEFT_TRY(new_copy(s, in->slot, to, reader, &c));
    const int maker = p->slot_item[in->slot];
    if (constant >= 0)
      WEFT_TRY(copy_constant(s, c, constant));
    else if (maker < i) /* else its maker comes later, over the back edge of a loop, and the copy follows that */
      WEFT_TRY(add_copy_item(s, c, in->from_ref, it->stage));
  }
  *in = (plan_input){c->made, false, false};
  return WEFT_OK;
}

/* Adds the copies of an item's outputs that readers before it need. */
static weft_err add_late(copy_inserter *s, int i) {
  const plan_item *it = &s->p->item[i];
  for (int c = 0; c < s->n; c++) {
    copy *at = &s->list[c];
    if (at->item < 0 && s->p->slot_item[at->slot] == i) WEFT_TRY(add_copy_item(s, at, at->reader >= 0, it->stage));
  }
  return WEFT_OK;
}

/* In a straight plan the feeds are copied to the devices first, so that all that follows can be queued without a
 * pause. */
static weft_err bring_feeds(copy_inserter *s) {
  for (int i = 0; i < s->p->n_item; i++)
    for (int j = 0; j < s->p->item[i].n_in; j++) {
      plan_input *in = &s->p->item[i].in[j];
      if (in->slot < s->p->n_feed) WEFT_TRY(copy_input(s, i, j, in));
    }
  return WEFT_OK;
}

/* Returns true if the item is an AddN that the GPUs of its inputs can compute together; one of them is the item's
 * own. */
static bool sums_over_cards(const copy_inserter *s, const plan_item *it) {
  device *d[GPU_MAX_CARDS];
  bool own = false;
  if (!it->device || !weft__node_is(it->node, KIND_SUM) || it->n_in < 2 || it->n_in > GPU_MAX_CARDS ||
      s->p->executor == PLAN_DATAFLOW)
    return false;
  for (int j = 0; j < it->n_in; j++) {
    const int from = s->memory[it->in[j].slot];
    if (!from || it->in[j].from_ref) return false;
    d[j] = s->p->device[from - 1];
    own = own || d[j] == it->device;
  }
  return own && weft__devices_can_sum(it->n_in, d, weft__dtype_base(it->node->out_type[0]));
}

/* Adds an item in front of one that reads a copy from a device; it waits until the copy has arrived. */
static weft_err await_inputs(copy_inserter *s, const plan_item *it) {
  for (int j = 0; j < it->n_in && s->p->executor != PLAN_DATAFLOW; j++)
    for (int c = 0; c < s->n; c++) {
      const copy *at = &s->list[c];
      const int from = s->memory[at->slot] - 1;
      if (at->made == it->in[j].slot && !at->to && s->coming[from])
        WEFT_TRY(add_wait_item(s, at->slot, from, it->stage));
    }
  return WEFT_OK;
}

static weft_err copy_item_inputs(copy_inserter *s, int i) {
  WEFT_TRY(await_inputs(s, &s->p->item[i]));
  s->moved[i] = s->n_item;
  WEFT_TRY(copy_insertion_add_item(s, &s->p->item[i]));
  return add_late(s, i);
}

static weft_err put_held(copy_inserter *s) {
  for (int i = 0; i < s->n_held; i++) WEFT_TRY(copy_item_inputs(s, s->held[i]));
  s->n_held = 0;
  return WEFT_OK;
}

/* Returns true if the item sends a value of a device whose computation has not been waited for. */
static bool can_be_held(const copy_inserter *s, int i) {
  const plan_item *it = &s->p->item[i];
  return s->p->executor == PLAN_STAGED && it->op->flags & OP_ASYNC && it->n_out == 0 && it->n_in == 1 &&
         !s->awaited[i] && s->memory[it->in[0].slot] != 0;
}

static weft_err rewrite_items(copy_inserter *s) {
  plan *p = s->p;
  for (int i = 0; i < p->n_item; i++)
    for (int j = 0; j < p->item[i].n_control; j++) s->awaited[p->item[i].control[j]] = true;
  for (int i = 0; i < p->n_item; i++) {
    plan_item *it = &p->item[i];
    const bool hold = can_be_held(s, i);
    if (i && it->stage != p->item[i - 1].stage) WEFT_TRY(put_held(s));
    if (sums_over_cards(s, it))
      it->run = sum_run, it->no_capture = true;
    else
      for (int j = 0; j < it->n_in; j++) WEFT_TRY(copy_input(s, i, j, &it->in[j]));
    if (hold)
      s->held[s->n_held++] = i;
    else
      WEFT_TRY(copy_item_inputs(s, i));
  }
  return put_held(s);
}

static weft_err copy_rewrite(copy_inserter *s) {
  plan *p = s->p;
  if (p->executor == PLAN_SEQUENTIAL) WEFT_TRY(bring_feeds(s));
  WEFT_TRY(rewrite_items(s));
  for (int i = 0; i < p->n_fetch; i++) {
    const int slot = p->fetch_slot[i], from = p->slot_item[slot];
    const bool ref = from >= 0 && (int)p->item[from].node->out_type[slot - p->item[from].first_out] > WEFT_REF_BASE;
    if (s->memory[slot] == 0) continue;
    copy *c = ref ? NULL : find_copy(s, slot, 0, -1);
    if (!c) {
      WEFT_TRY(new_copy(s, slot, 0, ref ? p->n_item + i : -1, &c));
      WEFT_TRY(add_copy_item(s, c, ref, p->n_item ? p->item[p->n_item - 1].stage : 0));
    }
    p->fetch_slot[i] = c->made;
  }
  return WEFT_OK;
}

/* A copy of a variable's value waits for what its only reader waits for: it must not read the variable earlier. */
static weft_err inherit_controls(copy_inserter *s) {
  plan *p = s->p;
  for (int c = 0; c < s->n; c++) {
    const copy *at = &s->list[c];
    if (at->reader < 0 || at->reader >= p->n_item || at->item < 0) continue;
    const plan_item *reader = &s->item[s->moved[at->reader]];
    plan_item *it = &s->item[at->item];
    if (reader->n_control == 0) continue;
    it->control = weft__arena_copy(&p->arena, reader->control, sizeof(int) * (size_t)reader->n_control);
    if (!it->control) return WEFT_OOM;
    it->n_control = reader->n_control;
  }
  return WEFT_OK;
}

static weft_err plan_replace_items(copy_inserter *s) {
  plan *p = s->p;
  for (int i = 0; i < s->n_item; i++)
    if (s->item[i].op != &copy_op && s->item[i].op != &wait_op)
      for (int j = 0; j < s->item[i].n_control; j++) s->item[i].control[j] = s->moved[s->item[i].control[j]];
  WEFT_TRY(inherit_controls(s));
  p->item = weft__arena_copy(&p->arena, s->item, sizeof *p->item * (size_t)s->n_item);
  p->slot_memory = weft__arena_copy(&p->arena, s->memory, sizeof *s->memory * (size_t)s->n_slot);
  p->slot_item = weft__arena_alloc(&p->arena, sizeof *p->slot_item * (size_t)(s->n_slot + 1));
  if (!p->item || !p->slot_memory || !p->slot_item) return WEFT_OOM;
  p->n_item = s->n_item;
  p->n_slot = s->n_slot;
  for (int i = 0; i < p->n_slot; i++) p->slot_item[i] = -1;
  for (int i = 0; i < p->n_item; i++)
    for (int o = 0; o < p->item[i].n_out; o++) p->slot_item[p->item[i].first_out + o] = i;
  return WEFT_OK;
}

static weft_err insert_copies(copy_inserter *s) {
  plan *p = s->p;
  s->moved = weft__alloc(sizeof *s->moved * (size_t)(p->n_item + 1));
  s->held = weft__alloc(sizeof *s->held * (size_t)(p->n_item + 1));
  s->awaited = weft__alloc_zero((size_t)p->n_item + 1, sizeof *s->awaited);
  s->coming = weft__alloc_zero((size_t)p->n_device, sizeof *s->coming);
  if (!s->moved || !s->held || !s->awaited || !s->coming) return WEFT_OOM;
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->item, s->room_item, p->n_item + 2));
  for (int i = 0, made; i < p->n_slot; i++) WEFT_TRY(new_slot(s, 0, &made));
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->memory, s->room_slot, s->n_slot + 2));
  for (int i = 0; i < p->n_item; i++)
    for (int o = 0; o < p->item[i].n_out; o++)
      s->memory[p->item[i].first_out + o] = memory_of_output(p, &p->item[i], o);
  WEFT_TRY(copy_rewrite(s));
  return plan_replace_items(s);
}

weft_err weft__plan_insert_copies(plan *p) {
  WEFT_TRY(list_devices(p));
  if (!p->n_device) return WEFT_OK;
  const char *sync_runs = getenv("WEFT_GPU_CAREFUL");
  p->sync_runs = getenv("WEFT_GPU_NO_REPLAY") ? -1 : sync_runs ? atoi(sync_runs) : 0;
  copy_inserter s = {.p = p};
  weft_err err = insert_copies(&s);
  weft__free(s.list);
  weft__free(s.memory);
  weft__free(s.item);
  weft__free(s.moved);
  weft__free(s.held);
  weft__free(s.awaited);
  weft__free(s.coming);
  return err;
}
