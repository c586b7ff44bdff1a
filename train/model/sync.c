/* sync.c - the graph of synchronous training.  It is TensorFlow's, so that workers of both can take part in one job.
 *
 * Each variable has an accumulator on its ps, found by a shared name.  A worker adds its gradient with the step for
 * which it was computed (late ones are dropped), and waits for a token.  The chief repeats: take the mean of enough
 * gradients, apply it, increment the step, and enqueue a token for each worker.  A token is the number of the next
 * step. */
#include "train/model/sync.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/scope.h"
#include <string.h>

#define QUEUE "sync_token_q"

weft_err weft__sync_create(weft_sync **out, weft_optimizer *o, int aggregate, int replicas, const char *name) {
  *out = NULL;
  if (aggregate < 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "replicas_to_aggregate is %d: at least 1 gradient makes a step",
                      aggregate);
  weft_sync *s = weft__alloc_zero(1, sizeof *s);
  char *copy = weft__strdup(name ? name : "sync_replicas");
  if (!s || !copy) {
    weft__free(s);
    weft__free(copy);
    return WEFT_OOM;
  }
  s->o = o;
  s->name = copy;
  s->aggregate = aggregate;
  s->replicas = replicas > 0 ? replicas : aggregate;
  s->step = s->local_step = s->queue = s->train = s->sync = s->close = s->cancel = WEFT_NONE;
  s->local_init = s->chief_init = s->ready_for_local_init = WEFT_NONE;
  *out = s;
  return WEFT_OK;
}

void weft__sync_destroy(weft_sync *s) {
  if (!s) return;
  weft__free(s->averaged);
  weft__free(s->name);
  weft__free(s);
}

weft_err weft__sync_average(weft_sync *s, weft_average *a, int n, const weft_out *variables) {
  weft_out *copy = weft__alloc(((size_t)n + 1) * sizeof *copy);
  if (!copy) return WEFT_OOM;
  memcpy(copy, variables, (size_t)n * sizeof *copy);
  weft__free(s->averaged);
  s->averaged = copy;
  s->n_averaged = n;
  s->average = a;
  return WEFT_OK;
}

/* ---- the worker's local step ---- */

static weft_err all_variables(weft_graph *g, weft_out **out, int *n) {
  *n = weft__variables_in(g, "variables", NULL, 0);
  *out = weft__alloc(((size_t)*n + 1) * sizeof **out);
  if (!*out) return WEFT_OOM;
  weft__variables_in(g, "variables", *out, *n);
  return WEFT_OK;
}

static weft_out report_all(weft_graph *g) {
  weft_out *all = NULL, o = WEFT_NONE;
  int n;
  if (weft__named_keep(g, all_variables(g, &all, &n))) o = weft__variables_report(g, NULL, n, all);
  weft__free(all);
  return o;
}

/* Creates a variable on the worker, even if a device function puts variables on ps: it is colocated with a NoOp. */
static void make_local_step(weft_sync *s) {
  weft_graph *g = s->o->g;
  weft_out anchor = weft__b_node(g, "NoOp", NULL, 0, NULL, 0, NULL);
  if (anchor.node < 0) return;
  weft__b_push_colocate(g, anchor.node);
  s->local_step = weft__variable_new(g, &(new_variable){.name = "sync_rep_local_step",
                                                        .dtype = weft__variable_type(g, s->step),
                                                        .initial = NUM(0),
                                                        .local = true,
                                                        .resource = weft__variable_is_resource(g, s->step)});
  weft__b_pop(g);
  weft_out now = weft__variable_value(g, s->step);
  int set;
  weft__variable_change(g, CHANGE_SET, NULL, s->local_step, OUT(now), true, &set);
  s->local_init = (weft_out){set, 0};
  s->ready_for_local_init = report_all(g);
}

static weft_out as_int64(weft_graph *g, weft_out variable) {
  return weft__b_cast(g, weft__variable_value(g, variable), WEFT_INT64);
}

/* ---- accumulators ---- */

typedef struct gathered { /* the nodes of one variable */
  weft_out accumulator;
  bool sparse;
  int put;         /* the node that adds this worker's gradient */
  grad_value mean; /* the mean of enough gradients */
} gathered;

static weft_out make_accumulator(weft_sync *s, weft_out v, weft_dtype type, bool sparse) {
  weft_graph *g = s->o->g;
  shape of = sparse ? SHAPE_UNKNOWN : weft__variable_shape(g, v);
  if (sparse) of = SHAPE_SCALAR; /* TensorFlow passes (): the first gradient determines the shape */
  char *shared = weft__sprintf("%s:0/grad_accum", weft__variable_name(g, v));
  if (!shared) weft__named_keep(g, WEFT_OOM);
  attr attrs[] = {A_TYPE("dtype", type), A_SHAPE("shape", &of), A_STR("shared_name", shared ? shared : "")};
  weft_out o = weft__b_node(g, sparse ? "SparseConditionalAccumulator" : "ResourceConditionalAccumulator",
                            sparse ? "sparse_conditional_accumulator" : "conditional_accumulator", 0, NULL, 3, attrs);
  weft__free(shared);
  return o;
}

static weft_out sync_take(weft_graph *g, const char *type, weft_out accumulator, int required, weft_dtype dtype) {
  WEFT_ASSERT(required > 0);
  weft__b_push_name(g, type);
  weft_out in[] = {accumulator, weft__n_scalar(g, "num_required", WEFT_INT32, required)};
  weft_out o = weft__n_scope_node(g, type, 2, in, 1, &A_TYPE("dtype", dtype));
  weft__b_pop(g);
  return o;
}

static void gather_dense(weft_sync *s, weft_out v, weft_out d, gathered *out) {
  weft_graph *g = s->o->g;
  weft_dtype type = weft__type_of(g, d);
  out->accumulator = make_accumulator(s, v, type, false);
  weft_out in[] = {out->accumulator, as_int64(g, s->local_step), d};
  out->put = weft__b_node(g, "ResourceAccumulatorApplyGradient", NULL, 3, in, 0, NULL).node;
  weft_out mean = sync_take(g, "ResourceAccumulatorTakeGradient", out->accumulator, s->aggregate, type);
  if (mean.node >= 0) g->node[mean.node]->out_shape[0] = weft__variable_shape(g, v);
  out->mean = GRAD_DENSE(mean);
}

/* An op with a reference input is placed on the device of the accumulator. */
static weft_out sync_beside(weft_graph *g, weft_out accumulator, const char *type, int n, const weft_out *in,
                            int n_attr, const attr *attrs) {
  if (accumulator.node < 0) return WEFT_NONE;
  weft__b_push_colocate(g, accumulator.node);
  weft_out o = weft__b_node(g, type, NULL, n, in, n_attr, attrs);
  weft__b_pop(g);
  return o;
}

static void gather_slices(weft_sync *s, weft_out v, const grad_value *d, gathered *out) {
  weft_graph *g = s->o->g;
  weft_dtype type = weft__type_of(g, d->values);
  out->accumulator = make_accumulator(s, v, type, true);
  if (out->accumulator.node < 0) return;
  weft_out local = as_int64(g, s->local_step), indices = weft__b_cast(g, d->indices, WEFT_INT64);
  weft_out dims = d->dense_shape.node >= 0 ? weft__b_cast(g, d->dense_shape, WEFT_INT64) : WEFT_NONE;
  if (dims.node < 0) {
    weft_tensor *none = NULL;
    weft__named_keep(g, weft__tensor_ints(&none, WEFT_INT64, (int64_t[]){0}, 0));
    dims = weft__n_const(g, "Const", none);
  }
  weft_out in[] = {out->accumulator, local, indices, d->values, dims};
  out->put = sync_beside(g, in[0], "SparseAccumulatorApplyGradient", 5, in, 1,
                         &A_BOOL("has_known_shape", d->dense_shape.node >= 0))
                 .node;
  weft__b_push_name(g, "SparseAccumulatorTakeGradient");
  weft_out ask[] = {out->accumulator, weft__n_scalar(g, "num_required", WEFT_INT32, s->aggregate)};
  weft__b_push_colocate(g, out->accumulator.node);
  weft_out mean = weft__n_scope_node(g, "SparseAccumulatorTakeGradient", 2, ask, 1, &A_TYPE("dtype", type));
  weft__b_pop(g);
  weft__b_pop(g);
  out->mean = (grad_value){WEFT_NONE, mean, weft__b_slot(mean, 1), weft__b_slot(mean, 2)};
}

static void sync_gather(weft_sync *s, weft_out v, const grad_value *d, gathered *out) {
  weft_graph *g = s->o->g;
  *out = (gathered){WEFT_NONE, d->indices.node >= 0, -1, GRAD_NONE};
  if (d->dense.node < 0 && !out->sparse) return;
  weft__n_push_device(g, g->node[v.node]->device);
  if (out->sparse)
    gather_slices(s, v, d, out);
  else
    gather_dense(s, v, d->dense, out);
  weft__b_pop(g);
}

/* ---- tokens ---- */

static weft_out queue_op(weft_sync *s, const char *type, const char *name, weft_out value, int n_attr,
                         const attr *attrs) {
  weft_out in[] = {s->queue, value};
  return weft__b_node(s->o->g, type, name, value.node < 0 ? 1 : 2, in, n_attr, attrs);
}

static weft_out enqueue_tokens(weft_sync *s, int tokens) {
  weft_graph *g = s->o->g;
  int64_t count = tokens;
  weft__b_push_name(g, "Fill");
  weft_out in[] = {weft__named_ints(g, "dims", &count, 1), weft__variable_value(g, s->step)};
  weft_out all = weft__n_scope_node(g, "Fill", 2, in, 0, NULL);
  weft__b_pop(g);
  return all.node < 0 ? all : queue_op(s, "QueueEnqueueManyV2", QUEUE "_EnqueueMany", all, 0, NULL);
}

static void sync_make_queue(weft_sync *s) {
  weft_graph *g = s->o->g;
  weft_dtype type = weft__variable_type(g, s->step);
  shape one = SHAPE_SCALAR;
  attr attrs[] = {A_TYPES("component_types", &type, 1), A_SHAPES("shapes", &one, 1), A_INT("capacity", -1),
                  A_STR("shared_name", QUEUE)};
  weft__n_push_device(g, "/device:CPU:*");
  s->queue = weft__b_node(g, "FIFOQueueV2", QUEUE, 0, NULL, 4, attrs);
  weft__b_pop(g);
}

/* Makes the train op of a worker: adds all its gradients, then dequeues a token, whose value is its next local step. */
static void make_train(weft_sync *s, int n, const int *puts) {
  weft_graph *g = s->o->g;
  weft_dtype type = weft__variable_type(g, s->step);
  weft__b_push_control(g, n, puts);
  weft_out token = queue_op(s, "QueueDequeueV2", QUEUE "_Dequeue", WEFT_NONE, 1, &A_TYPES("component_types", &type, 1));
  if (token.node >= 0) g->node[token.node]->out_shape[0] = SHAPE_SCALAR;
  s->train = weft__variable_change(g, CHANGE_SET, NULL, s->local_step, OUT(token), true, NULL);
  weft__b_pop(g);
}

/* Makes the op of the chief's queue runner. */
static void make_sync(weft_sync *s, int updated) {
  weft_graph *g = s->o->g;
  weft__b_push_control(g, 1, &updated);
  s->sync = enqueue_tokens(s, s->replicas > s->aggregate ? s->replicas : s->aggregate);
  weft__b_pop(g);
  if (s->average && s->sync.node >= 0) {
    weft__b_push_control(g, 1, &s->sync.node);
    weft__b_push_name(g, NULL);
    s->sync = weft__average_apply(s->average, s->n_averaged, s->averaged);
    weft__b_pop(g);
    weft__b_pop(g);
  }
  s->close = queue_op(s, "QueueCloseV2", QUEUE "_Close", WEFT_NONE, 0, NULL);
  s->cancel = queue_op(s, "QueueCloseV2", QUEUE "_Close", WEFT_NONE, 1, &A_BOOL("cancel_pending_enqueues", true));
}

/* Adds the update and the tokens on the global step's ps, outside our scope. */
static void make_step(weft_sync *s, int n, const weft_out *vars, const gathered *all, grad_value *means, int *puts) {
  weft_graph *g = s->o->g;
  int n_put = 0;
  for (int i = 0; i < n; i++) {
    means[i] = all[i].mean;
    if (all[i].put >= 0) puts[n_put++] = all[i].put;
  }
  weft__n_push_device(g, g->node[s->step.node]->device);
  weft__b_push_name(g, NULL);
  weft_out updated = weft__optimizer_apply(s->o, n, vars, means, s->step, NULL);
  if (updated.node >= 0) sync_make_queue(s);
  if (s->queue.node >= 0) make_train(s, n_put, puts);
  if (s->train.node >= 0) make_sync(s, updated.node);
  weft__b_pop(g);
  weft__b_pop(g);
}

/* The accumulators start at the global step, so gradients from before a restart are dropped as late. */
static void make_chief_init(weft_sync *s, int n, const weft_out *vars, const gathered *all, int *ids) {
  weft_graph *g = s->o->g;
  int used = 0;
  ids[used++] = s->local_init.node;
  for (int i = 0; i < n && !g->sticky.code; i++) {
    if (all[i].put < 0) continue;
    weft__n_push_device(g, g->node[vars[i].node]->device);
    weft_out in[] = {all[i].accumulator, as_int64(g, s->step)};
    if (all[i].sparse) weft__b_push_colocate(g, in[0].node);
    ids[used++] = weft__b_node(g, all[i].sparse ? "AccumulatorSetGlobalStep" : "ResourceAccumulatorSetGlobalStep",
                               "SetGlobalStep", 2, in, 0, NULL)
                      .node;
    if (all[i].sparse) weft__b_pop(g);
    weft__b_pop(g);
  }
  if (!g->sticky.code) s->chief_init = weft__n_group(g, NULL, used, ids);
}

static void sync_build(weft_sync *s, int n, const weft_out *vars, const grad_value *d, gathered *all, grad_value *means,
                       int *ids) {
  weft_graph *g = s->o->g;
  make_local_step(s);
  weft__b_push_name(g, s->name);
  for (int i = 0; i < n && !g->sticky.code; i++) sync_gather(s, vars[i], &d[i], &all[i]);
  if (!g->sticky.code) make_step(s, n, vars, all, means, ids);
  if (!g->sticky.code) make_chief_init(s, n, vars, all, ids);
  weft__b_pop(g);
}

static weft_err sync_check(const weft_sync *s, int n, const weft_out *vars, weft_out step) {
  const weft_graph *g = s->o->g;
  WEFT_TRY(weft__b_ok(g));
  if (s->train.node >= 0) return weft__fail(WEFT_FAILED_PRECONDITION, "gradients were applied already");
  if (step.node < 0) return weft__fail(WEFT_INVALID_ARGUMENT, "Global step is required to check staleness");
  WEFT_TRY(weft__variable_check(g, "global_step", step));
  for (int i = 0; i < n; i++) WEFT_TRY(weft__variable_check(g, "apply_gradients", vars[i]));
  return WEFT_OK;
}

weft_out weft__sync_apply(weft_sync *s, int n, const weft_out *vars, const grad_value *d, weft_out step) {
  weft_graph *g = s->o->g;
  size_t room = (size_t)n + 1;
  if (!weft__named_keep(g, sync_check(s, n, vars, step))) return WEFT_NONE;
  gathered *all = weft__alloc_zero(room, sizeof *all);
  grad_value *means = weft__alloc_zero(room, sizeof *means);
  int *ids = weft__alloc(room * sizeof *ids);
  s->step = step;
  if (all && means && ids)
    sync_build(s, n, vars, d, all, means, ids);
  else
    weft__named_keep(g, WEFT_OOM);
  weft__free(all);
  weft__free(means);
  weft__free(ids);
  return g->sticky.code ? WEFT_NONE : s->train;
}

weft_out weft__sync_init_tokens(weft_sync *s, int tokens) {
  weft_graph *g = s->o->g;
  int needed = s->aggregate - s->replicas;
  weft_err err = weft__b_ok(g);
  if (err == WEFT_OK && s->train.node < 0)
    err = weft__fail(WEFT_FAILED_PRECONDITION, "init tokens should be called after apply_gradients");
  if (err == WEFT_OK && tokens >= 0 && tokens < needed)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "Too few tokens to finish the first step: %d (given) vs %d (needed)",
                     tokens, needed);
  if (!weft__named_keep(g, err)) return WEFT_NONE;
  if (tokens == 0) return weft__b_node(g, "NoOp", "no_init_tokens", 0, NULL, 0, NULL);
  weft__n_push_device(g, g->node[s->step.node]->device);
  weft__b_push_name(g, NULL);
  weft_out o = enqueue_tokens(s, tokens < 0 ? s->aggregate : tokens);
  weft__b_pop(g);
  weft__b_pop(g);
  return o;
}
