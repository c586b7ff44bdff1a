/* input.c - input queues, their enqueue ops and their queue runners, with TensorFlow's names. */
#include "train/model/input.h"

#include "base/choice.h"
#include "base/alloc.h"
#include "graph/scope.h"
#include "train/model/named.h"
#include "train/session/queue_runner.h"
#include "train/model/summary.h"
#include "train/model/variable_nodes.h"

enum { CAPACITY = 32 }; /* TensorFlow's */

static void input_keep_error(weft_graph *g, weft_err err) { weft__status_update(&g->sticky, err); }

/* Adds a node named QUEUE_what in the current scope. */
static weft_out queue_node(weft_graph *g, const char *type, weft_out queue, const char *what, int n,
                           const weft_out *more, int n_attr, const attr *attrs) {
  if (g->sticky.code || queue.node < 0) return WEFT_NONE;
  const char *name = g->node[queue.node]->name, *last = strrchr(name, '/');
  char *full = weft__sprintf("%s_%s", last ? last + 1 : name, what);
  weft_out *in = weft__alloc(sizeof *in * (size_t)(n + 1)), made = WEFT_NONE;
  if (!full || !in) input_keep_error(g, WEFT_OOM);
  if (full && in) {
    in[0] = queue;
    for (int i = 0; i < n; i++) in[i + 1] = more[i];
    made = weft__b_node(g, type, full, n + 1, in, n_attr, attrs);
  }
  weft__free(full);
  weft__free(in);
  return made;
}

/* Adds a summary of the fill level of the queue: (size - reserve) / (capacity - reserve). */
static void input_summarize(weft_graph *g, weft_out queue, const char *name, int64_t capacity, int64_t reserve) {
  weft_out size = queue_node(g, "QueueSizeV2", queue, "Size", 0, NULL, 0, NULL);
  if (reserve >= 0) {
    size = weft__named_binary(g, "Sub", "sub", OUT(size), NUM((double)reserve));
    size = weft__named_binary(g, "Maximum", "Maximum", NUM(0), OUT(size));
    capacity -= reserve;
  }
  weft_out part = weft__b_cast(g, size, WEFT_FLOAT);
  part = weft__named_binary(g, "Mul", "mul", OUT(part), NUM(1. / (double)capacity));
  weft__summary_scalar(g, name, part, NULL);
}

/* ---- producers ---- */

weft_out weft__input_limit_epochs(weft_graph *g, weft_out x, int64_t epochs, const char *name) {
  if (epochs <= 0) {
    input_keep_error(g, weft__fail(WEFT_INVALID_ARGUMENT, "num_epochs must be > 0 not %lld.", (long long)epochs));
    return WEFT_NONE;
  }
  weft__named_push(g, name, "limit_epochs");
  weft_out zero = weft__n_scalar(g, "Const", WEFT_INT64, 0);
  new_variable v = {.name = "epochs", .initial = OUT(zero), .local = true};
  weft_out count = weft__variable_new(g, &v), made = WEFT_NONE;
  if (count.node >= 0) {
    weft__b_push_colocate(g, count.node);
    weft_out next = weft__b_node(g, "CountUpTo", NULL, 1, &count, 1, &A_INT("limit", epochs));
    weft__b_pop(g);
    weft__b_push_control(g, next.node >= 0, &next.node);
    made = weft__n_scope_node(g, "Identity", 1, &x, 0, NULL);
    weft__b_pop(g);
  }
  weft__b_pop(g);
  return made;
}

static weft_out fifo_queue(weft_graph *g, const char *type, const char *name, int64_t capacity, int n,
                           weft_dtype *types, shape *shapes, const char *shared) {
  attr attrs[] = {A_TYPES("component_types", types, n), A_SHAPES("shapes", shapes, n), A_INT("capacity", capacity),
                  A_STR("shared_name", shared ? shared : "")};
  bool plain = strcmp(type, "FIFOQueueV2") == 0;
  if (plain) {
    weft__b_push_control(g, -1, NULL);
    weft__n_push_device(g, "/device:CPU:*");
  }
  weft_out q = weft__b_node(g, type, name, 0, NULL, 4, attrs);
  if (plain) {
    weft__b_pop(g);
    weft__b_pop(g);
  }
  return q;
}

static weft_out input_shuffle(weft_graph *g, weft_out x, const weft_producer_opts *o) {
  int64_t seed, seed2;
  weft__graph_seeds(g, o->has_seed, o->seed, &seed, &seed2);
  return weft__b_node(g, "RandomShuffle", NULL, 1, &x, 2, (attr[]){A_INT("seed", seed), A_INT("seed2", seed2)});
}

/* Adds the queue in the scope of the producer.  With `named`, the queue has the name of the scope, and a summary. */
static weft_out input_produce(weft_graph *g, weft_out x, const weft_producer_opts *o, bool named) {
  if (g->sticky.code || x.node < 0) return WEFT_NONE;
  shape rows = *weft__out_shape(g, x), element = rows;
  weft_dtype type = weft__out_type(g, x);
  if (rows.rank < 1) {
    input_keep_error(g, weft__fail(WEFT_INVALID_ARGUMENT,
                                   "a producer takes the rows of a tensor, and '%s' has the shape %s",
                                   g->node[x.node]->name, weft__shape_text(&rows)));
    return WEFT_NONE;
  }
  element.rank--;
  for (int i = 0; i < element.rank; i++) element.dim[i] = rows.dim[i + 1];
  int64_t capacity = o->capacity > 0 ? o->capacity : CAPACITY;
  if (weft__choice_yes(o->shuffle)) x = input_shuffle(g, x, o);
  if (o->num_epochs) x = weft__input_limit_epochs(g, x, o->num_epochs, NULL);
  char *exact = named ? weft__sprintf("%s/", weft__scope_prefix(g)) : NULL;
  weft_out q = fifo_queue(g, "FIFOQueueV2", exact, capacity, 1, &type, &element, o->shared_name);
  weft__free(exact);
  weft_out fill = queue_node(g, "QueueEnqueueManyV2", q, "EnqueueMany", 1, &x, 0, NULL);
  if (!g->sticky.code) input_keep_error(g, weft__queue_runner_add(g, q, 1, &fill, NULL));
  if (named) {
    char *name = weft__sprintf("fraction_of_%lld_full", (long long)capacity);
    if (name)
      input_summarize(g, q, name, capacity, -1);
    else
      input_keep_error(g, WEFT_OOM);
    weft__free(name);
  }
  return g->sticky.code ? WEFT_NONE : q;
}

static const weft_producer_opts no_opts = {0};

weft_out weft__input_producer(weft_graph *g, weft_out x, const weft_producer_opts *opts) {
  const weft_producer_opts *o = opts ? opts : &no_opts;
  weft__named_push(g, o->name, "input_producer");
  weft_out q = input_produce(g, x, o, false);
  weft__b_pop(g);
  return q;
}

static weft_out input_size_of(weft_graph *g, weft_out x) {
  int64_t n = x.node < 0 ? -1 : weft__shape_count(weft__out_shape(g, x));
  return n >= 0 ? weft__n_scalar(g, "Size", WEFT_INT32, (double)n) : weft__b_unary(g, "Size", x);
}

/* Returns x with a check that it has elements. */
static weft_out not_empty(weft_graph *g, weft_out x) {
  static const char why[] = "string_input_producer requires a non-null input tensor";
  weft_out some = weft__named_binary(g, "Greater", "Greater", OUT(input_size_of(g, x)), NUM(0));
  weft_out check = weft__named_assert(g, some, 1, &(assert_data){why, WEFT_NONE}, 3);
  weft__b_push_control(g, check.node >= 0, &check.node);
  x = weft__b_node(g, "Identity", NULL, 1, &x, 0, NULL);
  weft__b_pop(g);
  return x;
}

weft_out weft__input_string_producer(weft_graph *g, weft_out x, int n, const char *const *strings,
                                     const weft_producer_opts *opts) {
  const weft_producer_opts *o = opts ? opts : &no_opts;
  weft__named_push(g, o->name, "input_producer");
  if (n > 0) x = weft__n_strings(g, "Const", n, strings);
  weft_out q = input_produce(g, not_empty(g, x), o, true);
  weft__b_pop(g);
  return q;
}

weft_out weft__input_range_producer(weft_graph *g, weft_out x, int64_t limit, const weft_producer_opts *opts) {
  const weft_producer_opts *o = opts ? opts : &no_opts;
  weft__named_push(g, o->name, "input_producer");
  weft__b_push_name(g, "range");
  weft_out start = weft__n_scalar(g, "start", WEFT_INT32, 0);
  if (x.node < 0) x = weft__n_scalar(g, "limit", WEFT_INT32, (double)limit);
  weft_out delta = weft__n_scalar(g, "delta", WEFT_INT32, 1);
  weft_out range = weft__n_scope_node(g, "Range", 3, (weft_out[]){start, x, delta}, 0, NULL);
  weft__b_pop(g);
  weft_out q = input_produce(g, range, o, true);
  weft__b_pop(g);
  return q;
}

static weft_out input_shape_of(weft_graph *g, weft_out x) {
  const shape *s = weft__out_shape(g, x);
  return weft__shape_known(s) ? weft__named_ints(g, "Shape", s->dim, s->rank) : weft__b_unary(g, "Shape", x);
}

void weft__input_slice_producer(weft_graph *g, int n, const weft_out *x, weft_out *out,
                                const weft_producer_opts *opts) {
  weft_producer_opts inner = opts ? *opts : no_opts;
  weft_dtype index_type = WEFT_INT32;
  for (int i = 0; i < n; i++) out[i] = WEFT_NONE;
  if (n <= 0)
    input_keep_error(g, weft__fail(WEFT_INVALID_ARGUMENT, "slice_input_producer() requires tensor_list not be empty"));
  if (g->sticky.code || x[0].node < 0) return;
  weft__named_push(g, inner.name, "input_producer");
  inner.name = NULL;
  weft_out q = weft__input_range_producer(g, weft__named_element(g, input_shape_of(g, x[0]), 0), 0, &inner);
  weft_out index =
      queue_node(g, "QueueDequeueV2", q, "Dequeue", 0, NULL, 1, &A_TYPES("component_types", &index_type, 1));
  for (int i = 0; i < n; i++) out[i] = weft__named_gather(g, x[i], index);
  weft__b_pop(g);
}

/* ---- batches ---- */

typedef struct batcher {
  weft_graph *g;
  const weft_batch_opts *o;
  int lists, n;
  const weft_out *x;
  bool shuffle;
  int64_t capacity;
  weft_dtype *types;
  shape *shapes;
} batcher;

static weft_err batch_component(batcher *b, int i) {
  shape s = *weft__out_shape(b->g, b->x[i]);
  b->types[i] = weft__out_type(b->g, b->x[i]);
  for (int l = 1; l < b->lists; l++) {
    weft_out other = b->x[l * b->n + i];
    const shape *so = weft__out_shape(b->g, other);
    if (weft__out_type(b->g, other) != b->types[i])
      return weft__fail(WEFT_INVALID_ARGUMENT, "list %d has the type %s where list 0 has %s", l,
                        weft__dtype_name(weft__out_type(b->g, other)), weft__dtype_name(b->types[i]));
    if (so->rank != s.rank) s = SHAPE_UNKNOWN;
    for (int d = 0; d < s.rank; d++)
      if (so->dim[d] != s.dim[d]) s.dim[d] = -1;
  }
  if (b->o->enqueue_many && s.rank > 0) {
    s.rank--;
    memmove(s.dim, s.dim + 1, sizeof s.dim[0] * (size_t)s.rank);
  }
  if (s.rank < 0 || (!b->o->dynamic_pad && !weft__shape_known(&s)))
    return weft__fail(WEFT_INVALID_ARGUMENT, "All shapes must be fully defined: tensor %d ('%s') has elements of %s", i,
                      b->g->node[b->x[i].node]->name, weft__shape_text(&s));
  b->shapes[i] = s;
  return WEFT_OK;
}

static weft_out batch_queue(batcher *b) {
  weft_graph *g = b->g;
  int64_t seed, seed2;
  if (!b->shuffle)
    return fifo_queue(g, b->o->dynamic_pad ? "PaddingFIFOQueueV2" : "FIFOQueueV2",
                      b->o->dynamic_pad ? "padding_fifo_queue" : "fifo_queue", b->capacity, b->n, b->types, b->shapes,
                      b->o->shared_name);
  weft__graph_seeds(g, b->o->has_seed, b->o->seed, &seed, &seed2);
  attr attrs[] = {A_TYPES("component_types", b->types, b->n),
                  A_SHAPES("shapes", b->shapes, b->n),
                  A_INT("capacity", b->capacity),
                  A_STR("shared_name", b->o->shared_name ? b->o->shared_name : ""),
                  A_INT("min_after_dequeue", b->o->min_after_dequeue),
                  A_INT("seed", seed),
                  A_INT("seed2", seed2)};
  return weft__b_node(g, "RandomShuffleQueueV2", "random_shuffle_queue", 0, NULL, 7, attrs);
}

/* Adds the enqueue ops: one that several threads run, or one for each list. */
static void fill_queue(batcher *b, weft_out q) {
  int threads = b->lists > 1 ? b->lists : b->o->num_threads > 0 ? b->o->num_threads : 1;
  weft_out *fill = weft__alloc(sizeof *fill * (size_t)threads);
  if (!fill) {
    input_keep_error(b->g, WEFT_OOM);
    return;
  }
  for (int i = 0; i < threads; i++)
    fill[i] = i < b->lists ? queue_node(b->g, b->o->enqueue_many ? "QueueEnqueueManyV2" : "QueueEnqueueV2", q,
                                        b->o->enqueue_many ? "EnqueueMany" : "enqueue", b->n, b->x + i * b->n, 0, NULL)
                           : fill[0];
  if (!b->g->sticky.code) input_keep_error(b->g, weft__queue_runner_add(b->g, q, threads, fill, NULL));
  weft__free(fill);
}

static void summarize_batch(batcher *b, weft_out q) {
  long long reserve = b->o->min_after_dequeue, capacity = b->capacity;
  char *name = b->shuffle ? weft__sprintf("fraction_over_%lld_of_%lld_full", reserve, capacity - reserve)
                          : weft__sprintf("fraction_of_%lld_full", capacity);
  if (name)
    input_summarize(b->g, q, name, capacity, b->shuffle ? reserve : -1);
  else
    input_keep_error(b->g, WEFT_OOM);
  weft__free(name);
}

static weft_out build_batch(batcher *b) {
  static const char *const names[] = {"batch", "shuffle_batch", "batch_join", "shuffle_batch_join"};
  weft_graph *g = b->g;
  weft__named_push(g, b->o->name, names[b->shuffle + 2 * (b->lists > 1)]);
  weft__n_scalar(g, "Const", WEFT_BOOL, 1); /* keep_input */
  weft_out q = batch_queue(b);
  fill_queue(b, q);
  summarize_batch(b, q);
  weft_out n = weft__n_scalar(g, "n", WEFT_INT32, b->o->batch_size);
  weft_out made = weft__n_scope_node(g, b->o->allow_smaller_final_batch ? "QueueDequeueUpToV2" : "QueueDequeueManyV2",
                                     2, (weft_out[]){q, n}, 1, &A_TYPES("component_types", b->types, b->n));
  weft__b_pop(g);
  return made;
}

static weft_err check_batch(const batcher *b) {
  const weft_batch_opts *o = b->o;
  if (b->n <= 0 || b->lists <= 0) return weft__fail(WEFT_INVALID_ARGUMENT, "Expected at least one tensor in batch().");
  if (o->batch_size <= 0) return weft__fail(WEFT_INVALID_ARGUMENT, "a batch size of %d", o->batch_size);
  if (b->shuffle && b->capacity <= o->min_after_dequeue)
    return weft__fail(WEFT_INVALID_ARGUMENT, "capacity %lld must be bigger than min_after_dequeue %lld.",
                      (long long)b->capacity, (long long)o->min_after_dequeue);
  for (int i = 0; i < b->n * b->lists; i++)
    if (b->x[i].node < 0) return weft__fail(WEFT_INVALID_ARGUMENT, "tensor %d of a batch is no output", i);
  return WEFT_OK;
}

weft_out weft__input_batch(weft_graph *g, int lists, int n, const weft_out *x, const weft_batch_opts *opts,
                           bool shuffle) {
  batcher b = {.g = g, .o = opts, .lists = lists, .n = n, .x = x, .shuffle = shuffle};
  weft_out made = WEFT_NONE;
  if (g->sticky.code) return made;
  b.capacity = opts->capacity > 0 ? opts->capacity : CAPACITY;
  weft_err err = check_batch(&b);
  if (!err) {
    b.types = weft__alloc(sizeof *b.types * (size_t)n);
    b.shapes = weft__alloc(sizeof *b.shapes * (size_t)n);
    err = b.types && b.shapes ? WEFT_OK : WEFT_OOM;
  }
  for (int i = 0; !err && i < n; i++) err = batch_component(&b, i);
  input_keep_error(g, err);
  if (!err) made = build_batch(&b);
  weft__free(b.types);
  weft__free(b.shapes);
  return made;
}
