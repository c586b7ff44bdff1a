/* queue.c - the ops of queues: creating queues and sending requests to them.
 *
 * state/queue.h defines the requests.  This file turns a kernel into a request and the response into outputs.  Each
 * op exists twice: with a resource handle (V2) and with a reference to the strings {container, name}. */
#include "base/alloc.h"
#include "base/text.h"
#include "graph/build.h"
#include "state/queue.h"
#include "state/sync_token.h"
#include "state/variable.h"

enum { MAX_COMPONENTS = 256 };

/* ---- making ---- */

typedef struct spec_room { /* the lists of a priority queue have one more entry than those of the node */
  weft_dtype types[MAX_COMPONENTS];
  shape shapes[MAX_COMPONENTS];
} spec_room;

static queue_kind queue_kind_of(const weft_node *n) {
  static const char *const prefix[] = {"FIFO", "RandomShuffle", "PaddingFIFO", "Priority"};
  for (int i = 0; i < 4; i++)
    if (!strncmp(n->op_name, prefix[i], strlen(prefix[i]))) return (queue_kind)i;
  return QUEUE_FIFO;
}

static weft_err queue_read_spec(const weft_node *n, queue_spec *out, spec_room *room) {
  const attr *types = weft__node_attr(n, "component_types"), *shapes = weft__node_attr(n, "shapes");
  int n_types = types ? types->n : 0, n_shapes = shapes ? shapes->n : 0;
  if (n_types >= MAX_COMPONENTS || n_shapes >= MAX_COMPONENTS)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s '%s' has %d components; at most %d are supported", n->op_name, n->name,
                      n_types, MAX_COMPONENTS - 1);
  int first = queue_kind_of(n) == QUEUE_PRIORITY;
  room->types[0] = WEFT_INT64;
  room->shapes[0] = SHAPE_SCALAR;
  for (int i = 0; i < n_types; i++) room->types[first + i] = types->types[i];
  for (int i = 0; i < n_shapes; i++) room->shapes[first + i] = shapes->shapes[i];
  *out = (queue_spec){.kind = queue_kind_of(n),
                      .n_component = n_types + first,
                      .types = room->types,
                      .n_shape = n_shapes + first,
                      .shapes = room->shapes,
                      .capacity = weft__node_int(n, "capacity", -1),
                      .min_after_dequeue = weft__node_int(n, "min_after_dequeue", 0),
                      .seed = (uint64_t)weft__node_int(n, "seed", 0),
                      .seed2 = (uint64_t)weft__node_int(n, "seed2", 0)};
  return WEFT_OK;
}

static weft_err queue_make(resource **out, void *arg) {
  const resource_maker *m = arg;
  queue_spec spec;
  spec_room *room = weft__alloc(sizeof *room);
  if (!room) return WEFT_OOM;
  weft_err err = queue_read_spec(m->node, &spec, room);
  if (err == WEFT_OK) err = weft__queue_create((queue **)out, &spec, m->name);
  weft__free(room);
  return err;
}

static weft_err check_shared(const weft_node *n, const queue *q) {
  queue_spec spec;
  spec_room *room = weft__alloc(sizeof *room);
  if (!room) return WEFT_OOM;
  weft_err err = queue_read_spec(n, &spec, room);
  if (err == WEFT_OK) err = weft__queue_matches(q, &spec, n->op_name);
  weft__free(room);
  return err;
}

static const resource_kind queue_resource = {QUEUE_TYPE, true, queue_make};

static weft_err queue_cpu(kernel *k) {
  resource *q = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__resource_output(k, &queue_resource, &q)));
  return weft__node_str(k->node, "shared_name").size ? weft__kernel_in(k, check_shared(k->node, (queue *)q)) : WEFT_OK;
}

/* ---- asking ---- */

static weft_err queue_find(const kernel *k, queue **out) {
  if (weft__node_int(k->node, "timeout_ms", -1) != -1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Timeout not supported yet.");
  return weft__kernel_in(k, weft__kernel_resource(k, 0, QUEUE_TYPE, (resource **)out));
}

static void add_types(text *t, int n, const weft_dtype *types, bool after_handle) {
  for (int i = 0; i < n; i++) {
    if (i || after_handle) weft__text_puts(t, ", ");
    weft__text_puts(t, weft__dtype_short(types[i]));
  }
}

/* Compares the node's argument (or output) types with those of the queue. */
static weft_err check_signature(const kernel *k, const queue *q, const char *list_attr, bool takes) {
  const queue_spec *spec = weft__queue_spec(q);
  const attr *have = weft__node_attr(k->node, list_attr);
  int n = have ? have->n : 0;
  bool same = n == spec->n_component;
  for (int i = 0; same && i < n; i++) same = have->types[i] == spec->types[i];
  if (same) return WEFT_OK;
  const char *kind = k->ref[0] ? "string_ref" : "resource";
  text is = {0}, wants = {0};
  add_types(&is, n, have ? have->types : NULL, takes);
  add_types(&wants, spec->n_component, spec->types, takes);
  weft_err err = weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Signature mismatch, have: %s%s%s%s expected: %s%s%s%s",
                                   kind, takes ? "" : "->", weft__text_get(&is), takes ? "->" : "", kind,
                                   takes ? "" : "->", weft__text_get(&wants), takes ? "->" : "");
  weft__text_finish(&is);
  weft__text_finish(&wants);
  return err;
}

static void queue_done(void *arg, weft_err err, element *const *got, int64_t n) {
  (void)got, (void)n;
  kernel *k = arg;
  weft__kernel_done(k, weft__kernel_in(k, err));
}

static weft_err queue_enqueue(kernel *k, bool many) {
  queue *q = NULL;
  WEFT_TRY(queue_find(k, &q));
  weft_err err = check_signature(k, q, "Tcomponents", true);
  if (err == WEFT_OK) {
    weft__kernel_defer(k);
    weft__queue_enqueue(q, k->in + 1, many, k->step->cancel, queue_done, k);
  }
  weft__object_release((object *)q);
  return err;
}

static weft_err enqueue_cpu(kernel *k) { return queue_enqueue(k, false); }
static weft_err enqueue_many_cpu(kernel *k) { return queue_enqueue(k, true); }

static weft_err queue_close_cpu(kernel *k) {
  queue *q = NULL;
  WEFT_TRY(queue_find(k, &q));
  weft__kernel_defer(k);
  weft__queue_close(q, weft__node_bool(k->node, "cancel_pending_enqueues", false), k->step->cancel, queue_done, k);
  weft__object_release((object *)q);
  return WEFT_OK;
}

static void dequeue_done(void *arg, weft_err err, element *const *got, int64_t n) {
  (void)n;
  kernel *k = arg;
  for (int i = 0; err == WEFT_OK && i < k->n_out; i++) err = weft__out_share(k, i, &got[0]->part[i]);
  if (err == WEFT_OK) weft__sync_token_taken(k, got[0]);
  weft__kernel_done(k, weft__kernel_in(k, err));
}

static weft_err dequeue_cpu(kernel *k) {
  queue *q = NULL;
  WEFT_TRY(queue_find(k, &q));
  weft_err err = check_signature(k, q, "component_types", false);
  if (err == WEFT_OK) {
    weft__sync_token_requested(k, q);
    weft__kernel_defer(k);
    weft__queue_dequeue(q, 1, false, k->step->cancel, dequeue_done, k);
  }
  weft__object_release((object *)q);
  return err;
}

typedef struct batch_request {
  kernel *k;
  queue *q;
} batch_request;

static void batch_done(void *arg, weft_err err, element *const *got, int64_t n) {
  batch_request r = *(batch_request *)arg;
  weft__free(arg);
  for (int i = 0; err == WEFT_OK && i < r.k->n_out; i++) {
    shape of;
    err = weft__queue_stacked_shape(r.q, got, n, i, &of);
    weft_tensor *out = err == WEFT_OK ? weft__out(r.k, i, &of) : NULL;
    if (err == WEFT_OK) err = out ? weft__queue_stack(r.q, got, n, i, out) : WEFT_OOM;
  }
  err = weft__kernel_in(r.k, err);
  weft__object_release((object *)r.q);
  weft__kernel_done(r.k, err);
}

static weft_err dequeue_batch(kernel *k, queue *q, bool up_to, int64_t n) {
  shape of;
  WEFT_TRY(check_signature(k, q, "component_types", false));
  if (n < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Dequeue%sOp requested %lld < 0 elements",
                             up_to ? "UpTo" : "Many", (long long)n);
  if (k->n_out)
    WEFT_TRY(weft__kernel_in(k, weft__queue_stacked_shape(q, NULL, 0, 0, &of))); /* fails before the request waits */
  batch_request *r = weft__alloc(sizeof *r);
  if (!r) return WEFT_OOM;
  *r = (batch_request){k, q};
  weft__object_retain((object *)q);
  weft__kernel_defer(k);
  weft__queue_dequeue(q, n, up_to, k->step->cancel, batch_done, r);
  return WEFT_OK;
}

static weft_err dequeue_some(kernel *k, bool up_to) {
  queue *q = NULL;
  WEFT_TRY(weft__kernel_scalar(k, 1, "n"));
  WEFT_TRY(queue_find(k, &q));
  weft_err err = dequeue_batch(k, q, up_to, weft__tensor_int(k->in[1], 0));
  weft__object_release((object *)q);
  return err;
}

static weft_err dequeue_many_cpu(kernel *k) { return dequeue_some(k, false); }
static weft_err dequeue_up_to_cpu(kernel *k) { return dequeue_some(k, true); }

static weft_err queue_size_cpu(kernel *k) {
  queue *q = NULL;
  WEFT_TRY(queue_find(k, &q));
  int64_t size = weft__queue_size(q);
  weft__object_release((object *)q);
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, int32_t)[0] = (int32_t)size;
  return WEFT_OK;
}

static weft_err is_closed_cpu(kernel *k) {
  queue *q = NULL;
  WEFT_TRY(queue_find(k, &q));
  bool closed = weft__queue_is_closed(q);
  weft__object_release((object *)q);
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, bool)[0] = closed;
  return WEFT_OK;
}

/* ---- FakeQueue: the older handle of a queue, for a resource handle ---- */

typedef struct fake_handle { /* handles that this plan has given out, which live as long as it */
  variable *ref;
  char *container, *name;
  struct fake_handle *next;
} fake_handle;

typedef struct fake_handles {
  pthread_mutex_t lock; /* guards `first` */
  fake_handle *first;
} fake_handles;

static weft_err fake_prepare(const weft_node *n, void **state) {
  (void)n;
  fake_handles *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  pthread_mutex_init(&f->lock, NULL);
  *state = f;
  return WEFT_OK;
}

static void fake_free(fake_handle *h) {
  weft__object_release((object *)h->ref);
  weft__free(h->container);
  weft__free(h->name);
  weft__free(h);
}

static void fake_unprepare(void *state) {
  fake_handles *f = state;
  if (!f) return;
  for (fake_handle *h = f->first, *next; h; h = next) next = h->next, fake_free(h);
  pthread_mutex_destroy(&f->lock);
  weft__free(f);
}

/* Finds or creates the handle.  The caller holds the lock. */
static weft_err fake_find(fake_handles *f, const handle *of, variable **out) {
  for (fake_handle *h = f->first; h; h = h->next)
    if (!strcmp(h->container, of->container) && !strcmp(h->name, of->name)) {
      *out = h->ref;
      return WEFT_OK;
    }
  fake_handle *h = weft__alloc_zero(1, sizeof *h);
  if (!h) return WEFT_OOM;
  h->container = weft__strndup(of->container, strlen(of->container));
  h->name = weft__strndup(of->name, strlen(of->name));
  weft_err err = h->container && h->name ? weft__resource_ref_create(&h->ref, of->container, of->name) : WEFT_OOM;
  if (err) {
    fake_free(h);
    return err;
  }
  h->next = f->first;
  f->first = h;
  *out = h->ref;
  return WEFT_OK;
}

static weft_err fake_cpu(kernel *k) {
  resource *q = NULL;
  variable *ref = NULL;
  fake_handles *f = k->state;
  WEFT_TRY(weft__kernel_in(k, weft__handle_get(k->in[0], QUEUE_TYPE, &q)));
  pthread_mutex_lock(&f->lock);
  const weft_err err = fake_find(f, weft__handle_of(k->in[0]), &ref);
  pthread_mutex_unlock(&f->lock);
  if (!err) weft__out_ref(k, 0, ref);
  return err;
}

static weft_err fake_infer(infer *s) {
  s->out[0] = SHAPE1(2);
  return WEFT_OK;
}

/* ---- shape rules: what the queue's node declares, where it can be seen ---- */

static weft_err component_shapes(infer *s) {
  const weft_node *origin = weft__handle_origin(s->graph, s->node->in[0]);
  const attr *shapes = origin ? weft__node_attr(origin, "shapes") : NULL;
  bool is_queue = origin && strstr(origin->op_name, "Queue") && weft__node_attr(origin, "component_types");
  if (!is_queue || !shapes || !shapes->n) return WEFT_OK;
  int first = queue_kind_of(origin) == QUEUE_PRIORITY;
  if (shapes->n + first != s->n_out) return WEFT_OK;
  s->out[0] = SHAPE_SCALAR;
  for (int i = 0; i < shapes->n; i++) s->out[i + first] = shapes->shapes[i];
  return WEFT_OK;
}

static weft_err batch_shapes(infer *s, bool up_to) {
  shape scalar;
  WEFT_TRY(weft__infer_rank(s, 1, 0, &scalar));
  const weft_tensor *known = weft__infer_value(s, 1);
  int64_t n = known ? weft__tensor_int(known, 0) : -1;
  if (known && n < 0) return weft__infer_fail(s, "Input 'n' must be >= 0, but is %lld", (long long)n);
  WEFT_TRY(component_shapes(s));
  for (int i = 0; i < s->n_out; i++) {
    shape *o = &s->out[i];
    if (o->rank < 0 || o->rank + 1 > WEFT_MAX_RANK) continue;
    memmove(o->dim + 1, o->dim, (size_t)o->rank * sizeof *o->dim);
    o->dim[0] = up_to ? -1 : n;
    o->rank++;
  }
  return WEFT_OK;
}

static weft_err queue_many_infer(infer *s) { return batch_shapes(s, false); }
static weft_err up_to_infer(infer *s) { return batch_shapes(s, true); }

/* ---- table: every row twice ---- */

#define STATE " container:string='' shared_name:string='' ; stateful"
#define MAKES(NAME, ATTRS, DOC)                                                                                        \
  {NAME "V2() -> (handle:resource) | " ATTRS STATE,                                                                    \
   DOC,                                                                                                                \
   .infer = weft__resource_infer,                                                                                      \
   .cpu = queue_cpu,                                                                                                   \
   .prepare = weft__resource_prepare,                                                                                  \
   .unprepare = weft__resource_unprepare},                                                                             \
  {                                                                                                                    \
    NAME "() -> (handle:&string) | " ATTRS STATE, DOC, .infer = weft__resource_infer, .cpu = queue_cpu,                \
                                                       .prepare = weft__resource_prepare,                              \
                                                       .unprepare = weft__resource_unprepare                           \
  }
#define ASKS(NAME, ARGS, RESULT, ATTRS, STATEFUL, DOC, FLAGS, INFER, FN, STOPS)                                        \
  {NAME "V2(handle:resource" ARGS ") -> (" RESULT ")" ATTRS STATEFUL, DOC, .flags = FLAGS, .infer = INFER, .cpu = FN}, \
  {                                                                                                                    \
    NAME "(handle:&string" ARGS ") -> (" RESULT ")" ATTRS, DOC, .flags = FLAGS, .infer = INFER, .cpu = FN,             \
                                                                .no_grad = STOPS                                       \
  }
#define COMPONENTS "component_types:list(type)>=1 shapes:list(shape)>=0=[] capacity:int=-1"
#define TAKES " | Tcomponents:list(type)>=1 timeout_ms:int=-1"
#define GIVES " | component_types:list(type)>=1 timeout_ms:int=-1"
#define STATEFUL " ; stateful"

OPS(queue) = {
    MAKES("FIFOQueue", COMPONENTS, "A queue: first in, first out."),
    MAKES("PaddingFIFOQueue", COMPONENTS, "A queue whose batches are padded to the largest element."),
    MAKES("RandomShuffleQueue", COMPONENTS " min_after_dequeue:int=0 seed:int=0 seed2:int=0",
          "A queue that gives out a random element."),
    MAKES("PriorityQueue", "component_types:list(type)>=0=[] shapes:list(shape)>=0 capacity:int=-1",
          "A queue that gives out the smallest first component."),
    ASKS("QueueEnqueue", ", components:@Tcomponents", "", TAKES, STATEFUL, "Adds one element, waiting for room.",
         OP_ASYNC, weft__infer_none, enqueue_cpu, true),
    ASKS("QueueEnqueueMany", ", components:@Tcomponents", "", TAKES, STATEFUL,
         "Adds the slices of a batch, waiting for room.", OP_ASYNC, weft__infer_none, enqueue_many_cpu, true),
    ASKS("QueueDequeue", "", "components:@component_types", GIVES, STATEFUL, "Takes one element, waiting for one.",
         OP_ASYNC | OP_TAKES, component_shapes, dequeue_cpu, true),
    ASKS("QueueDequeueMany", ", n:int32", "components:@component_types", GIVES, STATEFUL,
         "Takes n elements as one batch, waiting for them.", OP_ASYNC | OP_TAKES, queue_many_infer, dequeue_many_cpu,
         true),
    ASKS("QueueDequeueUpTo", ", n:int32", "components:@component_types", GIVES, STATEFUL,
         "Takes n elements, or the last ones of a closed queue.", OP_ASYNC | OP_TAKES, up_to_infer, dequeue_up_to_cpu,
         true),
    ASKS("QueueClose", "", "", " | cancel_pending_enqueues:bool=false", STATEFUL, "No element will be added any more.",
         OP_ASYNC, weft__infer_none, queue_close_cpu, true),
    ASKS("QueueSize", "", "size:int32", "", STATEFUL, "How many elements are in the queue.", 0, weft__infer_scalar,
         queue_size_cpu, true),
    ASKS("QueueIsClosed", "", "is_closed:bool", "", STATEFUL, "Has the queue been closed?", 0, weft__infer_scalar,
         is_closed_cpu, false),
    {"FakeQueue(resource:resource) -> (handle:&string) ; stateful", "The older handle of a queue.", .infer = fake_infer,
     .cpu = fake_cpu, .prepare = fake_prepare, .unprepare = fake_unprepare},
    {.scenario = "tests/parity/test_queues.py tests/parity/test_old_names.py"},
};
