/* steplog.c - collects node times and packs them as TensorFlow's StepStats. */
#include "exec/executors/steplog.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/arena.h"
#include "base/clock.h"
#include "graph/kernel_memory.h"
#include "state/variable.h"
#include "tensor/tensor_proto.h"
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_OUTPUTS = 8 };

typedef struct entry {
  const plan_item *item;
  int64_t begin, end;
  uint32_t thread;
  bool on_gpu;
  int64_t scratch; /* bytes that the kernel took and gave back */
  int n_out;
  struct {
    weft_dtype type; /* WEFT_INVALID: there is none */
    shape shape;
    int64_t bytes;
    bool own, ref; /* the kernel allocated it; it is a variable */
  } out[MAX_OUTPUTS];
} entry;

struct step_log {
  pthread_mutex_t lock;
  entry *entry;
  int n;
  int64_t capacity;
  int64_t wall_offset_ns; /* wall clock minus monotonic clock */
};

weft_err weft__step_log_create(step_log **out) {
  step_log *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return WEFT_OOM;
  pthread_mutex_init(&l->lock, NULL);
  l->wall_offset_ns = weft__clock_wall_us() * 1000 - weft__clock_now_ns();
  *out = l;
  return WEFT_OK;
}

void weft__step_log_destroy(step_log *l) {
  if (!l) return;
  pthread_mutex_destroy(&l->lock);
  weft__free(l->entry);
  weft__free(l);
}

void weft__step_log_begin(void) { (void)weft__scratch_taken(); }

static bool is_an_input(const kernel *k, const weft_tensor *t) {
  for (int i = 0; i < k->n_in; i++)
    if (k->in[i] && k->in[i]->buf == t->buf) return true;
  return false;
}

static void steplog_add_output(entry *e, const kernel *k, const value *v) {
  weft_tensor now = {0};
  const bool is_ref = v->ref && weft__variable_initialized(v->ref) && weft__variable_read(v->ref, &now) == WEFT_OK;
  const weft_tensor *t = is_ref ? &now : &v->t;
  const int o = e->n_out++;
  if (t->buf) {
    e->out[o].type = t->dtype;
    e->out[o].shape = t->shape;
    e->out[o].bytes = (int64_t)weft__tensor_bytes(t);
    e->out[o].ref = is_ref;
    e->out[o].own = !is_ref && !is_an_input(k, t);
  }
  weft__tensor_clear(&now);
}

void weft__step_log_add(step_log *l, const plan_item *it, const kernel *k, int64_t begin_ns, int64_t end_ns) {
  entry e = {.item = it, .begin = begin_ns, .end = end_ns, .thread = (uint32_t)syscall(SYS_gettid)};
  e.on_gpu = k->device != NULL;
  e.scratch = (int64_t)weft__scratch_taken();
  for (int o = 0; o < it->n_out && o < MAX_OUTPUTS; o++) steplog_add_output(&e, k, &k->out[o]);
  pthread_mutex_lock(&l->lock);
  if (!WEFT_ARRAY_RESERVE(l->entry, l->capacity, l->n + 1))
    l->entry[l->n++] = e; /* without memory the trace has a gap; the step goes on */
  pthread_mutex_unlock(&l->lock);
}

/* As TF names them. */
static const char *allocator_of(const entry *e) { return e->on_gpu ? "GPU_0_bfc" : "cpu"; }

static weft_err pack_output(Tensorflow__NodeOutput **out, const entry *e, int slot, arena *a) {
  Tensorflow__NodeOutput *o = weft__arena_alloc(a, sizeof *o);
  Tensorflow__TensorDescription *d = weft__arena_alloc(a, sizeof *d);
  Tensorflow__TensorShapeProto *s = weft__arena_alloc(a, sizeof *s);
  Tensorflow__AllocationDescription *m = weft__arena_alloc(a, sizeof *m);
  if (!o || !d || !s || !m) return WEFT_OOM;
  tensorflow__node_output__init(o);
  tensorflow__tensor_description__init(d);
  tensorflow__tensor_shape_proto__init(s);
  tensorflow__allocation_description__init(m);
  WEFT_TRY(weft__shape_to_proto(s, &e->out[slot].shape, a));
  m->allocator_name = (char *)(uintptr_t)allocator_of(e);
  m->requested_bytes = e->out[slot].bytes;
  m->allocated_bytes = e->out[slot].own ? e->out[slot].bytes : 0;
  d->dtype = (int32_t)e->out[slot].type;
  d->shape = s;
  d->allocation_description = m;
  o->slot = slot;
  o->tensor_description = d;
  *out = o;
  return WEFT_OK;
}

/* "name = Op(input, input)", as TF labels a span. */
static char *span_label(const weft_node *n, arena *a) {
  char line[512];
  int at = snprintf(line, sizeof line, "%s = %s(", n->name, n->op_name);
  for (int i = 0; i < n->n_in && at < (int)sizeof line - 2; i++)
    at += snprintf(line + at, sizeof line - (size_t)at, "%s%s", i ? ", " : "", n->graph->node[n->in[i].node]->name);
  if (at < (int)sizeof line - 2) snprintf(line + at, sizeof line - (size_t)at, ")");
  return weft__arena_strdup(a, line);
}

/* What the kernel allocated: its own outputs and scratch memory.  Variables are persistent. */
static weft_err pack_memory(Tensorflow__NodeExecStats *s, const entry *e, arena *a) {
  int64_t live = 0, persistent = 0;
  for (int o = 0; o < e->n_out; o++) {
    live += e->out[o].own ? e->out[o].bytes : 0;
    persistent += e->out[o].ref && e->item->node->n_in == 0 ? e->out[o].bytes : 0;
  }
  if (live + e->scratch > 0) {
    Tensorflow__AllocatorMemoryUsed *m = weft__arena_alloc(a, sizeof *m);
    s->memory = weft__arena_alloc(a, sizeof *s->memory);
    if (!m || !s->memory) return WEFT_OOM;
    tensorflow__allocator_memory_used__init(m);
    m->allocator_name = (char *)(uintptr_t)allocator_of(e);
    m->total_bytes = m->peak_bytes = live + e->scratch;
    m->live_bytes = live;
    s->memory[s->n_memory++] = m;
  }
  if (e->scratch + persistent > 0) {
    s->memory_stats = weft__arena_alloc(a, sizeof *s->memory_stats);
    if (!s->memory_stats) return WEFT_OOM;
    tensorflow__memory_stats__init(s->memory_stats);
    s->memory_stats->temp_memory_size = e->scratch;
    s->memory_stats->persistent_memory_size = persistent;
  }
  return WEFT_OK;
}

static weft_err pack_node(Tensorflow__NodeExecStats **out, const step_log *l, const entry *e, arena *a) {
  Tensorflow__NodeExecStats *s = weft__arena_alloc(a, sizeof *s);
  if (!s) return WEFT_OOM;
  tensorflow__node_exec_stats__init(s);
  int64_t begin = e->begin + l->wall_offset_ns, length = e->end - e->begin;
  s->node_name = weft__arena_strdup(a, e->item->node->name);
  s->timeline_label = span_label(e->item->node, a);
  s->all_start_micros = begin / 1000;
  s->scheduled_micros = begin / 1000;
  s->op_end_rel_micros = s->all_end_rel_micros = (length + 999) / 1000;
  s->all_start_nanos = s->scheduled_nanos = begin;
  s->op_end_rel_nanos = s->all_end_rel_nanos = length;
  s->thread_id = e->thread;
  s->output = weft__arena_alloc(a, sizeof *s->output * MAX_OUTPUTS);
  if (!s->node_name || !s->timeline_label || !s->output) return WEFT_OOM;
  for (int o = 0; o < e->n_out; o++)
    if (e->out[o].type != WEFT_INVALID) WEFT_TRY(pack_output(&s->output[s->n_output++], e, o, a));
  *out = s;
  return pack_memory(s, e, a);
}

/* whole: as RunMetadata. */
static weft_err steplog_pack(const step_log *l, const char *on_device, bool whole, text *out, arena *a) {
  Tensorflow__RunMetadata meta = TENSORFLOW__RUN_METADATA__INIT;
  Tensorflow__StepStats stats = TENSORFLOW__STEP_STATS__INIT;
  Tensorflow__DeviceStepStats dev = TENSORFLOW__DEVICE_STEP_STATS__INIT, *devs[1] = {&dev};
  dev.device = weft__arena_strdup(a, on_device);
  dev.node_stats = weft__arena_alloc(a, sizeof *dev.node_stats * (size_t)(l->n + 1));
  if (!dev.device || !dev.node_stats) return WEFT_OOM;
  for (int i = 0; i < l->n; i++) WEFT_TRY(pack_node(&dev.node_stats[dev.n_node_stats++], l, &l->entry[i], a));
  stats.n_dev_stats = 1;
  stats.dev_stats = devs;
  meta.step_stats = &stats;
  const ProtobufCMessage *m = whole ? &meta.base : &stats.base;
  uint8_t *to = (uint8_t *)weft__text_reserve(out, protobuf_c_message_get_packed_size(m));
  if (!to) return WEFT_OOM;
  out->size += protobuf_c_message_pack(m, to);
  return WEFT_OK;
}

weft_err weft__step_log_write(const step_log *l, const char *on_device, text *out) {
  arena a = {0};
  weft_err err = steplog_pack(l, on_device, true, out, &a);
  weft__arena_finish(&a);
  return err;
}

weft_err weft__step_log_write_stats(const step_log *l, const char *on_device, text *out) {
  arena a = {0};
  weft_err err = steplog_pack(l, on_device, false, out, &a);
  weft__arena_finish(&a);
  return err;
}
