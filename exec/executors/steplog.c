/* steplog.c - collects node times and packs them as TF's StepStats. */
#include "exec/executors/steplog.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/arena.h"
#include "base/clock.h"
#include "tensor/tensor_proto.h"
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_OUTPUTS = 8 };

typedef struct entry {
  const plan_item *item;
  int64_t begin, end;
  uint32_t thread;
  int n_out;
  weft_dtype type[MAX_OUTPUTS];
  shape shape[MAX_OUTPUTS];
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

void weft__step_log_add(step_log *l, const plan_item *it, const value *out, int64_t begin_ns, int64_t end_ns) {
  entry e = {.item = it, .begin = begin_ns, .end = end_ns, .thread = (uint32_t)syscall(SYS_gettid)};
  for (int o = 0; o < it->n_out && o < MAX_OUTPUTS; o++) {
    const weft_tensor *t = &out[o].t;
    e.type[e.n_out] = t->buf ? t->dtype : WEFT_INVALID;
    e.shape[e.n_out++] = t->shape;
  }
  pthread_mutex_lock(&l->lock);
  if (!WEFT_ARRAY_RESERVE(l->entry, l->capacity, l->n + 1))
    l->entry[l->n++] = e; /* without memory the trace has a gap; the step goes on */
  pthread_mutex_unlock(&l->lock);
}

static weft_err pack_output(Tensorflow__NodeOutput **out, const entry *e, int slot, arena *a) {
  Tensorflow__NodeOutput *o = weft__arena_alloc(a, sizeof *o);
  Tensorflow__TensorDescription *d = weft__arena_alloc(a, sizeof *d);
  Tensorflow__TensorShapeProto *s = weft__arena_alloc(a, sizeof *s);
  if (!o || !d || !s) return WEFT_OOM;
  tensorflow__node_output__init(o);
  tensorflow__tensor_description__init(d);
  tensorflow__tensor_shape_proto__init(s);
  WEFT_TRY(weft__shape_to_proto(s, &e->shape[slot], a));
  d->dtype = (int32_t)e->type[slot];
  d->shape = s;
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
    if (e->type[o] != WEFT_INVALID) WEFT_TRY(pack_output(&s->output[s->n_output++], e, o, a));
  *out = s;
  return WEFT_OK;
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
