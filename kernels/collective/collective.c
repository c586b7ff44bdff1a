/* collective.c - the algorithms of collective ops, each as a sequence of receives.
 *
 * A run is a state machine. `next` processes the last buffer received, sends what it can, and names the next buffer
 * to receive, or reports that it is done. run_drive calls `next` until a buffer is not there yet.  Then the thread
 * that delivers the buffer continues the run. `phase` decides which of the two threads continues, so there is no
 * lock.
 *
 * Reductions and gathers pass their sections around a ring of all members, as TensorFlow does.  In pass 0 the
 * section of rank r travels from r to r-1 and on, and each member adds its value.  In pass 1 the results travel
 * around the ring. */
#include "kernels/collective/collective.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/clock.h"
#include "state/rendezvous.h"
#include <inttypes.h>
#include <stdio.h>

enum { ALIGN = 64, KEY_SIZE = 96 };
static const char local_task[] = "/job:localhost/replica:0/task:0";

typedef struct wanted { /* a buffer to receive; from < 0: none, the run is done */
  int from;
  int64_t count; /* in elements */
  char key[KEY_SIZE];
} wanted;

typedef struct collective_run collective_run;
struct collective_run {
  atomic_int refs; /* one until completion, plus one for each thread that fires the token */
  kernel *k;
  collective_spec spec;
  collectives *table;
  collective_group *group;
  char device[WEFT_DEVICE_TEXT];
  int rank, source;
  weft_tensor in;    /* the data of this member, or empty */
  weft_tensor whole; /* reduce-scatter: all sections */
  weft_tensor *out;  /* the kernel's output */
  char *to;          /* the data of the output or of `whole` */
  size_t size;       /* bytes of an element */
  int64_t count;     /* elements of the output */
  int64_t chunk;     /* elements of a section */
  int64_t at;        /* number of buffers received */
  wanted want;
  weft_tensor got;
  weft_err (*next)(collective_run *r);
  atomic_int phase; /* 0: a receive was started; 1: one of the two threads has arrived */
  status result;
  cancel token; /* ends the wait for other members if the step is canceled or times out */
  cancel_watch watch;
  bool watched;
  timer timeout;
  timers *timers;
};

/* ---- sending and receiving ---- */

char *weft__collective_buffer_key(const char *source, uint64_t incarnation, const char *destination, int64_t bytes,
                                  const char *key) {
  return weft__sprintf("%s;%016" PRIx64 ";%s;buf:%" PRId64 ":%s;0:0", source, incarnation, destination, bytes, key);
}

static char *buffer_key(const collective_run *r, int from, int to, int64_t count, const char *tail) {
  WEFT_ASSERT(from >= 0 && from < r->group->size && to >= 0 && to < r->group->size && count >= 0);
  char key[2 * KEY_SIZE];
  const collective_member *source = &r->group->member[from], *destination = &r->group->member[to];
  snprintf(key, sizeof key, "%d:%d:%" PRIu64 ":%" PRId64 "%s", r->spec.group_key, r->spec.instance_key, r->k->frame_id,
           r->k->iteration, tail);
  return weft__collective_buffer_key(source->device, source->incarnation, destination->device, count * (int64_t)r->size,
                                     key);
}

/* Sends elements of a tensor that no longer change.  The buffer that waits for its receiver shares their memory, so
 * what runs behind this op does not write to it.  The memory of an arena is copied, because the next step reuses it. */
static weft_err run_send(collective_run *r, int to, const weft_tensor *of, const char *data, int64_t count,
                         const char *tail) {
  WEFT_ASSERT(weft__dtype_is_plain(of->dtype) && of->buf);
  weft_tensor t = {0}, part = *of;
  part.data = (void *)(uintptr_t)data;
  part.shape = SHAPE1(count);
  char *key = buffer_key(r, r->rank, to, count, tail);
  weft_err err = key ? weft__tensor_keep(&t, &part) : WEFT_OOM;
  if (!err) err = weft__rendezvous_send(r->k->step->rendezvous, key, &t, false);
  weft__tensor_clear(&t);
  weft__free(key);
  return err;
}

static void run_release(collective_run *r) {
  if (atomic_fetch_sub(&r->refs, 1) != 1) return;
  weft__tensor_clear(&r->got);
  weft__tensor_clear(&r->in);
  weft__tensor_clear(&r->whole);
  weft__collective_group_release(r->group);
  weft__collectives_release(r->table);
  weft__cancel_finish(&r->token);
  weft__status_finish(&r->result);
  weft__free(r);
}

/* Keeps the section of this rank: the result of a reduce-scatter. */
static void run_scatter(collective_run *r) {
  const size_t share = (size_t)weft__tensor_count(r->out) * r->size;
  if (share) memcpy(r->out->data, r->to + (size_t)r->rank * share, share);
}

static void run_complete(collective_run *r, weft_err err) {
  kernel *k = r->k;
  weft__status_update(&r->result, err);
  if (!err && r->spec.type == COLLECTIVE_REDUCE_SCATTER) run_scatter(r);
  if (r->timers) weft__timer_cancel(r->timers, &r->timeout);
  if (r->watched) weft__cancel_watch_remove(k->step->cancel, &r->watch);
  const weft_err why = weft__cancel_fired(&r->token) && err ? weft__cancel_raise(&r->token) : WEFT_OK;
  err = why ? why : weft__status_raise(&r->result);
  run_release(r);
  weft__kernel_done(k, err ? weft__kernel_in(k, err) : WEFT_OK);
}

static void run_drive(collective_run *r);

static void run_on_value(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  collective_run *r = arg;
  if (!err && dead) err = weft__fail(WEFT_INTERNAL, "a member of the collective op did not run in this step");
  const size_t bytes = (size_t)r->want.count * r->size; /* a buffer from another task is bytes without a type */
  if (!err && (!weft__dtype_is_plain(t->dtype) || weft__tensor_bytes(t) != bytes))
    err = weft__fail(WEFT_INTERNAL, "a member sent a buffer of type %s and shape %s for one of %zu bytes",
                     weft__dtype_name(t->dtype), weft__shape_text(&t->shape), bytes);
  if (!err) err = weft__tensor_keep(&r->got, t);
  weft__status_update(&r->result, err);
  if (atomic_exchange(&r->phase, 1) == 1) run_drive(r); /* the thread that started the receive has left */
}

/* Starts the receive of r->want.  Returns true if the buffer is already there. */
static bool run_receive(collective_run *r) {
  WEFT_ASSERT(r->want.from >= 0 && r->want.from < r->group->size && r->want.from != r->rank);
  char *key = buffer_key(r, r->want.from, r->rank, r->want.count, r->want.key);
  if (!key) {
    weft__status_update(&r->result, WEFT_OOM);
    return true;
  }
  atomic_store(&r->phase, 0);
  weft__rendezvous_recv(r->k->step->rendezvous, key, run_on_value, r);
  weft__free(key);
  return atomic_exchange(&r->phase, 1) == 1;
}

static void run_drive(collective_run *r) {
  for (;;) {
    weft_err err = weft__status_raise(&r->result);
    if (!err) err = r->next(r);
    weft__tensor_clear(&r->got);
    r->got = (weft_tensor){0};
    if (err || r->want.from < 0) {
      run_complete(r, err);
      return;
    }
    if (!run_receive(r)) return;
  }
}

static int64_t section_count(const collective_run *r, int64_t section) {
  WEFT_ASSERT(section >= 0 && r->chunk >= 0);
  const int64_t left = r->count - section * r->chunk;
  return left < 0 ? 0 : left < r->chunk ? left : r->chunk;
}

static char *section_data(const collective_run *r, int64_t section) {
  return r->to + (size_t)(section * r->chunk) * r->size;
}

/* The same section of this member's data. */
static const char *section_given(const collective_run *r, int64_t section) {
  return (const char *)r->in.data + (size_t)(section * r->chunk) * r->size;
}

/* The tensor whose memory `to` is. */
static const weft_tensor *run_result(const collective_run *r) { return r->whole.buf ? &r->whole : r->out; }

static int collective_around(int i, int n) { return (i % n + n) % n; }

/* ---- reductions ---- */

/* Returns the member at a position of a ring.  The order of devices in each task is rotated by `offset`. */
static int ring_member(const collective_group *g, int64_t offset, int place) {
  WEFT_ASSERT(place >= 0 && place < g->size && offset >= 0);
  int first = place, n = 0;
  while (first > 0 && g->member[first - 1].task == g->member[place].task) first--;
  while (first + n < g->size && g->member[first + n].task == g->member[place].task) n++;
  return first + weft__int_sat((place - first + offset) % n);
}

static int ring_place(const collective_run *r, int64_t offset) {
  int place = 0;
  while (ring_member(r->group, offset, place) != r->rank) place++;
  WEFT_ASSERT(place < r->group->size);
  return place;
}

static void reduce_tail(char tail[KEY_SIZE], int pass, int64_t section, int place) {
  snprintf(tail, KEY_SIZE, ":%d:%" PRId64 ":%d", pass, section, place);
}

/* Sends a section, whose elements are at `data` in the tensor `of`, to the next member of the ring. */
static weft_err ring_send(collective_run *r, int64_t offset, int place, int pass, int64_t section,
                          const weft_tensor *of, const char *data) {
  char tail[KEY_SIZE];
  const int64_t count = section_count(r, section);
  if (!count) return WEFT_OK;
  reduce_tail(tail, pass, section, place);
  return run_send(r, ring_member(r->group, offset, collective_around(place + 1, r->group->size)), of, data, count,
                  tail);
}

static weft_err divide_section(collective_run *r, int64_t section) {
  union {
    double f64;
    float f32;
    int32_t i32;
    int64_t i64;
    uint16_t half;
  } by = {0};
  const int n = r->group->size;
  switch (r->out->dtype) {
  case WEFT_DOUBLE: by.f64 = n; break;
  case WEFT_FLOAT: by.f32 = (float)n; break;
  case WEFT_INT32: by.i32 = n; break;
  case WEFT_INT64: by.i64 = n; break;
  case WEFT_HALF: by.half = weft__half_from_float((float)n); break;
  default: by.half = weft__bfloat16_from_float((float)n); break;
  }
  char *data = section_data(r, section);
  weft__combine(COMBINE_DIV, r->out->dtype, data, data, &by, 0, section_count(r, section));
  return WEFT_OK;
}

/* A step of a ring: the section that arrives in pass `pass` at tick `tick`. */
typedef struct ring_step {
  int subdiv, pass, tick, place;
  int64_t offset, section;
} ring_step;

static ring_step ring_step_at(const collective_run *r, int64_t at) {
  WEFT_ASSERT(r->group->size > 1 && at >= 0);
  const int n = r->group->size, ticks = n - 1;
  ring_step s = {.subdiv = weft__int_sat(at / (2 * ticks)),
                 .pass = weft__int_sat(at / ticks % 2),
                 .tick = weft__int_sat(at % ticks)};
  s.offset = r->spec.subdiv[s.subdiv];
  s.place = ring_place(r, s.offset);
  s.section = (int64_t)collective_around(s.place - 1 + s.pass - s.tick, n) * r->spec.n_subdiv + s.subdiv;
  return s;
}

/* Adds this member's section to the one that has arrived, and sends the sum on.  It has memory of its own, because the
 * output's gets the final value. */
static weft_err reduce_pass_on(collective_run *r, const ring_step *s) {
  weft_tensor sum = {0};
  WEFT_TRY(weft__tensor_init(&sum, r->out->dtype, &SHAPE1(r->want.count)));
  weft__combine(r->spec.merge, r->out->dtype, sum.data, section_given(r, s->section), r->got.data, 1, r->want.count);
  const weft_err err = ring_send(r, s->offset, s->place, 0, s->section, &sum, sum.data);
  weft__tensor_clear(&sum);
  return err;
}

/* Processes the section that has arrived in a step, and sends it on.  Each section of the output is written once: by
 * the last tick of pass 0, or in pass 1. */
static weft_err reduce_take(collective_run *r, const ring_step *s) {
  WEFT_ASSERT(r->got.data && section_count(r, s->section) == r->want.count);
  char *data = section_data(r, s->section);
  const bool last = s->tick == r->group->size - 2;
  if (s->pass == 0 && !last) return reduce_pass_on(r, s);
  if (s->pass == 1) {
    memcpy(data, r->got.data, (size_t)r->want.count * r->size);
    return last ? WEFT_OK : ring_send(r, s->offset, s->place, 1, s->section, run_result(r), data);
  }
  weft__combine(r->spec.merge, r->out->dtype, data, section_given(r, s->section), r->got.data, 1, r->want.count);
  if (r->spec.divide) WEFT_TRY(divide_section(r, s->section));
  return ring_send(r, s->offset, s->place, 1, s->section, run_result(r), data);
}

static weft_err reduce_begin(collective_run *r) {
  for (int i = 0; i < r->spec.n_subdiv; i++) {
    const int place = ring_place(r, r->spec.subdiv[i]);
    const int64_t section = (int64_t)place * r->spec.n_subdiv + i;
    WEFT_TRY(ring_send(r, r->spec.subdiv[i], place, 0, section, &r->in, section_given(r, section)));
  }
  return WEFT_OK;
}

static weft_err reduce_next(collective_run *r) {
  const int n = r->group->size;
  const int64_t all = (int64_t)2 * (n - 1) * r->spec.n_subdiv;
  if (r->at < 0) {
    WEFT_TRY(reduce_begin(r));
  } else {
    const ring_step was = ring_step_at(r, r->at);
    WEFT_TRY(reduce_take(r, &was));
  }
  for (r->at++; r->at < all; r->at++) {
    const ring_step s = ring_step_at(r, r->at);
    if (!section_count(r, s.section)) continue; /* empty sections are not sent */
    const int before = collective_around(s.place - 1, n);
    r->want.from = ring_member(r->group, s.offset, before);
    r->want.count = section_count(r, s.section);
    reduce_tail(r->want.key, s.pass, s.section, before);
    return WEFT_OK;
  }
  r->want.from = -1;
  return WEFT_OK;
}

/* Returns TensorFlow's section size: if the share is already aligned, it still adds one alignment unit. */
static int64_t reduce_chunk(int64_t count, int64_t n, size_t size) {
  const int64_t share = (count + n - 1) / n, odd = share * (int64_t)size % ALIGN;
  return share + (ALIGN - odd) / (int64_t)size;
}

/* ---- gathers ---- */

static weft_err gather_send(collective_run *r, int section) {
  char tail[KEY_SIZE];
  if (!r->chunk) return WEFT_OK;
  reduce_tail(tail, 0, section, r->rank);
  return run_send(r, collective_around(r->rank + 1, r->group->size), r->out, section_data(r, section), r->chunk, tail);
}

static weft_err gather_next(collective_run *r) {
  const int n = r->group->size;
  if (r->at < 0) {
    memcpy(section_data(r, r->rank), r->in.data, (size_t)r->chunk * r->size);
    WEFT_TRY(gather_send(r, r->rank));
  } else {
    const int section = collective_around(r->rank - 1 - weft__int_sat(r->at), n);
    memcpy(section_data(r, section), r->got.data, (size_t)r->chunk * r->size);
    if (r->at < n - 2) WEFT_TRY(gather_send(r, section));
  }
  r->at++;
  r->want.from = -1;
  if (r->at >= n - 1 || !r->chunk) return WEFT_OK;
  r->want.from = collective_around(r->rank - 1, n);
  r->want.count = r->chunk;
  reduce_tail(r->want.key, 0, collective_around(r->rank - 1 - weft__int_sat(r->at), n), r->want.from);
  return WEFT_OK;
}

/* ---- broadcasts ---- */

/* Returns the member that represents a task in the tree of tasks: the source, or the task's first device. */
static int task_head(const collective_run *r, int task) {
  if (r->group->member[r->source].task == task) return r->source;
  for (int i = 0; i < r->group->size; i++)
    if (r->group->member[i].task == task) return i;
  return 0;
}

/* Returns the task that sends to `task` in the tree whose root is the source's task. */
static int tree_parent(int root, int task) {
  if (root == 0) return (task - 1) / 2;
  const int parent = task / 2 - 1;
  return parent < 0 ? root : parent;
}

static weft_err broadcast_send(collective_run *r) {
  WEFT_ASSERT(r->rank < r->group->size && r->source < r->group->size && r->count > 0);
  char tail[KEY_SIZE];
  const collective_group *g = r->group;
  const int task = g->member[r->rank].task, root = g->member[r->source].task;
  if (task_head(r, task) != r->rank) return WEFT_OK;
  for (int t = 0; t < g->n_task; t++) {
    if (t == root || tree_parent(root, t) != task) continue;
    snprintf(tail, sizeof tail, ":0:%d:%d", task, t);
    WEFT_TRY(run_send(r, task_head(r, t), r->out, r->to, r->count, tail));
  }
  for (int i = 0; i < g->size; i++) {
    if (i == r->rank || g->member[i].task != task) continue;
    snprintf(tail, sizeof tail, ":1:%d:%d", r->rank, i);
    WEFT_TRY(run_send(r, i, r->out, r->to, r->count, tail));
  }
  return WEFT_OK;
}

static weft_err broadcast_next(collective_run *r) {
  const collective_group *g = r->group;
  const int task = g->member[r->rank].task, root = g->member[r->source].task;
  if (r->at >= 0) memcpy(r->to, r->got.data, (size_t)r->count * r->size);
  if (r->at >= 0 || r->rank == r->source) {
    r->want.from = -1;
    return r->count ? broadcast_send(r) : WEFT_OK;
  }
  r->at = 0;
  r->want.from = -1;
  if (!r->count) return WEFT_OK;
  r->want.count = r->count;
  if (task_head(r, task) == r->rank) {
    const int parent = tree_parent(root, task);
    r->want.from = task_head(r, parent);
    snprintf(r->want.key, KEY_SIZE, ":0:%d:%d", parent, task);
  } else {
    r->want.from = task_head(r, task);
    snprintf(r->want.key, KEY_SIZE, ":1:%d:%d", r->want.from, r->rank);
  }
  return WEFT_OK;
}

/* ---- all to all ---- */

static weft_err exchange_begin(collective_run *r) {
  char tail[KEY_SIZE];
  const char *data = r->in.data;
  for (int i = 0; i < r->group->size; i++) {
    const char *part = data + (size_t)(i * r->chunk) * r->size;
    snprintf(tail, sizeof tail, "%d%d", r->rank, i);
    if (i == r->rank)
      memcpy(section_data(r, i), part, (size_t)r->chunk * r->size);
    else
      WEFT_TRY(run_send(r, i, &r->in, part, r->chunk, tail));
  }
  return WEFT_OK;
}

static weft_err exchange_next(collective_run *r) {
  r->want.from = -1;
  if (!r->chunk) return WEFT_OK;
  if (r->at < 0)
    WEFT_TRY(exchange_begin(r));
  else
    memcpy(section_data(r, r->at), r->got.data, (size_t)r->chunk * r->size);
  r->at += 1 + (r->at + 1 == r->rank);
  if (r->at >= r->group->size) return WEFT_OK;
  r->want.from = weft__int_sat(r->at);
  r->want.count = r->chunk;
  snprintf(r->want.key, KEY_SIZE, "%d%d", r->want.from, r->rank);
  return WEFT_OK;
}

/* ---- starting a run ---- */

static weft_err run_check_exchange(const collective_run *r) {
  const shape *s = &r->in.shape;
  if (s->rank > 0 && s->dim[0] % r->group->size == 0) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "the first dimension of %s is no multiple of the group's size %d",
                    weft__shape_text(s), r->group->size);
}

static weft_err run_begin(collective_run *r) {
  const int n = r->group->size;
  r->out = weft__out(r->k, 0, &r->spec.out);
  if (!r->out) return WEFT_OOM;
  r->to = r->out->data;
  r->size = weft__dtype_size(r->out->dtype);
  r->count = weft__tensor_count(r->out);
  if (r->spec.type == COLLECTIVE_REDUCE_SCATTER) {
    WEFT_TRY(weft__tensor_init(&r->whole, r->in.dtype, &r->in.shape));
    r->to = r->whole.data;
    r->count = weft__tensor_count(&r->whole);
  }
  r->at = -1;
  switch (r->spec.type) {
  case COLLECTIVE_GATHER:
    r->chunk = r->count / n;
    r->next = gather_next;
    return WEFT_OK;
  case COLLECTIVE_ALL_TO_ALL:
    r->chunk = r->count / n;
    r->next = exchange_next;
    return run_check_exchange(r);
  case COLLECTIVE_BROADCAST: r->next = broadcast_next; break;
  default: r->chunk = reduce_chunk(r->count, (int64_t)n * r->spec.n_subdiv, r->size); r->next = reduce_next;
  }
  const bool copies = r->in.buf && r->count && (r->next != reduce_next || n == 1); /* a ring writes every element */
  if (copies) memcpy(r->to, r->in.data, (size_t)r->count * r->size);
  return WEFT_OK;
}

static void run_on_instance(void *arg, weft_err err, int source_rank) {
  collective_run *r = arg;
  r->source = source_rank;
  if (!err && r->spec.type == COLLECTIVE_BROADCAST && (source_rank < 0 || source_rank >= r->group->size))
    err = weft__fail(WEFT_INTERNAL, "the leader named rank %d of %d as the source of a broadcast", source_rank,
                     r->group->size);
  if (!err) err = run_begin(r);
  if (err)
    run_complete(r, err);
  else
    run_drive(r);
}

static collective_join run_join(collective_run *r) {
  const collective_spec *s = &r->spec;
  collective_join j = {.group_key = s->group_key, .group_size = s->group_size, .device_type = "CPU"};
  j.member.device = r->device;
  j.instance_key = s->instance_key;
  j.type = (int)s->type;
  j.dtype = r->k->node->out_type[0];
  j.shape = s->out;
  j.is_source = s->is_source;
  j.name = r->k->node->name;
  j.n_subdiv = s->n_subdiv;
  j.subdiv_offset = s->subdiv;
  return j;
}

static void run_on_group(void *arg, weft_err err, collective_group *g) {
  collective_run *r = arg;
  if (err) {
    run_complete(r, err);
    return;
  }
  weft__object_retain(&g->base);
  r->group = g;
  r->rank = weft__collective_rank(g, r->device);
  const collective_join j = run_join(r);
  weft__collective_join_instance(r->table, g, &j, false, &r->token, run_on_instance, r);
}

/* ---- waiting ---- */

static void run_canceled(void *arg) {
  collective_run *r = arg;
  const weft_err code = weft__cancel_raise(r->k->step->cancel);
  atomic_fetch_add(&r->refs, 1);
  weft__cancel_fire(&r->token, code, "%s", weft__error_message());
  run_release(r);
}

static void run_timed_out(void *arg) {
  static const char why[] = "Collective has timed out waiting for other workers.";
  collective_run *r = arg;
  rendezvous *of_step = r->k->step->rendezvous;
  weft__rendezvous_retain(of_step);
  atomic_fetch_add(&r->refs, 1);
  weft__cancel_fire(&r->token, WEFT_DEADLINE_EXCEEDED, "%s", why);
  run_release(r);
  weft__rendezvous_abort(of_step, weft__fail(WEFT_DEADLINE_EXCEEDED, "%s", why));
  weft__rendezvous_release(of_step);
}

/* Finds the full name of the node's device.  In a cluster, placement has set it; otherwise parts may be missing. */
static void run_name_device(const kernel *k, char name[WEFT_DEVICE_TEXT]) {
  device_spec full, given;
  if (weft__device_parse(&full, local_task) || weft__device_parse(&given, k->node->device ? k->node->device : ""))
    return;
  snprintf(full.type, sizeof full.type, "CPU");
  full.has_type = true;
  full.id = 0;
  weft__device_merge(&full, &given);
  weft__device_text(&full, name, WEFT_DEVICE_TEXT);
}

static weft_err run_watch(collective_run *r) {
  if (r->k->step->cancel) {
    WEFT_TRY(weft__cancel_watch_add(r->k->step->cancel, &r->watch, run_canceled, r));
    r->watched = true;
  }
  enum { LONGEST_S = 1000000000 }; /* thirty years: no limit */
  if (!(r->spec.timeout > 0) || (double)r->spec.timeout >= LONGEST_S) return WEFT_OK;
  timers *ts = NULL;
  WEFT_TRY(weft__collectives_timers(r->table, &ts));
  r->timers = ts;
  weft__timer_set(ts, &r->timeout, weft__clock_now_ns() + (int64_t)((double)r->spec.timeout * (double)NS_PER_S),
                  run_timed_out, r);
  return WEFT_OK;
}

weft_err weft__collective_run(kernel *k, const collective_spec *spec) {
  if (!k->step || !k->step->rendezvous || !k->step->resources)
    return weft__kernel_fail(k, WEFT_INTERNAL, "%s runs in a step that has no rendezvous", k->node->op_name);
  collective_run *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  atomic_init(&r->refs, 1);
  r->k = k;
  r->spec = *spec;
  weft__cancel_init(&r->token);
  run_name_device(k, r->device);
  weft_err err = weft__collectives_get(k->step->resources, &r->table);
  if (!err && spec->input >= 0) err = weft__tensor_keep(&r->in, k->in[spec->input]);
  weft__kernel_defer(k);
  if (!err) err = run_watch(r);
  if (err) {
    run_complete(r, err);
    return WEFT_OK;
  }
  const collective_join j = run_join(r);
  weft__collective_join_group(r->table, &j, false, &r->token, run_on_group, r);
  return WEFT_OK;
}
