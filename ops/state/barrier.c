/* barrier.c - the ops of barriers. state/barrier.h describes their behavior. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "state/barrier.h"
#include <string.h>

enum { MAX_COMPONENTS = 256 };

/* ---- making ---- */

static weft_err barrier_read_spec(const weft_node *n, barrier_spec *out) {
  const attr *types = weft__node_attr(n, "component_types"), *shapes = weft__node_attr(n, "shapes");
  if (weft__node_int(n, "capacity", -1) != -1)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to enforce a "
                      "limited capacity.");
  if (!types || types->n < 1 || types->n > MAX_COMPONENTS || !shapes || shapes->n != types->n)
    return weft__fail(WEFT_INVALID_ARGUMENT, "All of the component shapes must be specified");
  for (int i = 0; i < shapes->n; i++)
    if (weft__shape_count(&shapes->shapes[i]) < 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Shape %s is not fully defined", weft__shape_text(&shapes->shapes[i]));
  *out = (barrier_spec){types->n, types->types, shapes->shapes};
  return WEFT_OK;
}

static weft_err barrier_make(resource **out, void *arg) {
  const resource_maker *m = arg;
  barrier_spec spec;
  WEFT_TRY(barrier_read_spec(m->node, &spec));
  return weft__barrier_create((barrier **)out, &spec, m->name);
}

static weft_err barrier_matches(const barrier *b, const barrier_spec *spec) {
  const barrier_spec *is = weft__barrier_spec(b);
  bool same = is->n == spec->n;
  for (int i = 0; same && i < is->n; i++)
    same = is->types[i] == spec->types[i] && weft__shape_equal(&is->shapes[i], &spec->shapes[i]);
  if (same) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Shared barrier '%s' has other component types or shapes than were requested",
                    weft__barrier_name(b));
}

static const resource_kind barrier_resource = {BARRIER_TYPE, true, barrier_make};

static weft_err barrier_cpu(kernel *k) {
  barrier *b = NULL;
  barrier_spec spec;
  WEFT_TRY(weft__kernel_in(k, weft__resource_output(k, &barrier_resource, (resource **)&b)));
  WEFT_TRY(weft__kernel_in(k, barrier_read_spec(k->node, &spec)));
  return weft__kernel_in(k, barrier_matches(b, &spec));
}

/* ---- asking ---- */

static weft_err barrier_find(const kernel *k, barrier **out) {
  return weft__kernel_in(k, weft__kernel_resource(k, 0, BARRIER_TYPE, (resource **)out));
}

static weft_err barrier_check_values(const kernel *k, const barrier *b, int64_t component) {
  const barrier_spec *spec = weft__barrier_spec(b);
  const weft_tensor *keys = k->in[1], *values = k->in[2];
  if (component < 0 || component >= spec->n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The component ID is out of range %lld > num_components (= %d)",
                             (long long)component, spec->n);
  if (values->dtype != spec->types[component])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Signature mismatch, have: string_ref, string, %s-> expected: string_ref, string, %s->",
                             weft__dtype_short(values->dtype), weft__dtype_short(spec->types[component]));
  const shape *row = &spec->shapes[component], *s = &values->shape;
  bool fits = keys->shape.rank == 1 && s->rank == row->rank + 1 && s->dim[0] == keys->shape.dim[0];
  for (int i = 0; fits && i < row->rank; i++) fits = s->dim[i + 1] == row->dim[i];
  if (fits) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "keys of shape %s and values of shape %s do not fit: there must be a value of shape %s for "
                           "each key",
                           weft__shape_text(&keys->shape), weft__shape_text(s), weft__shape_text(row));
}

static weft_err barrier_insert_cpu(kernel *k) {
  barrier *b = NULL;
  const int64_t component = weft__node_int(k->node, "component_index", 0);
  WEFT_TRY(barrier_find(k, &b));
  weft_err err = barrier_check_values(k, b, component);
  if (!err) err = weft__kernel_in(k, weft__barrier_insert(b, weft__int_sat(component), k->in[1], k->in[2]));
  weft__object_release((object *)b);
  return err;
}

typedef struct take_request {
  kernel *k;
  barrier *b;
} take_request;

static void take_done(void *arg, weft_err err, element *const *got, int64_t n) {
  const take_request r = *(take_request *)arg;
  const queue *q = weft__barrier_queue(r.b);
  weft__free(arg);
  for (int i = 0; !err && i < r.k->n_out; i++) {
    shape s;
    err = weft__queue_stacked_shape(q, got, n, i, &s);
    weft_tensor *out = err ? NULL : weft__out(r.k, i, &s);
    if (!err) err = out ? weft__queue_stack(q, got, n, i, out) : WEFT_OOM;
  }
  err = weft__kernel_in(r.k, err);
  weft__object_release((object *)r.b);
  weft__kernel_done(r.k, err);
}

static weft_err take_check(const kernel *k, const barrier *b) {
  const barrier_spec *spec = weft__barrier_spec(b);
  bool same = k->n_out == spec->n + 2;
  for (int i = 0; same && i < spec->n; i++) same = k->node->out_type[i + 2] == spec->types[i];
  if (!same)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "component_types must be those of barrier '%s'",
                             weft__barrier_name(b));
  if (weft__node_int(k->node, "timeout_ms", -1) != -1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Timeout not supported yet.");
  WEFT_TRY(weft__kernel_scalar(k, 1, "num_elements"));
  if (weft__tensor_int(k->in[1], 0) < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "num_elements must not be negative, but is %lld",
                             (long long)weft__tensor_int(k->in[1], 0));
  return WEFT_OK;
}

static weft_err barrier_take_cpu(kernel *k) {
  barrier *b = NULL;
  WEFT_TRY(barrier_find(k, &b));
  weft_err err = take_check(k, b);
  take_request *r = err ? NULL : weft__alloc(sizeof *r);
  if (!err && !r) err = WEFT_OOM;
  if (err) {
    weft__object_release((object *)b);
    return err;
  }
  *r = (take_request){k, b};
  const barrier_take t = {weft__tensor_int(k->in[1], 0), weft__node_bool(k->node, "allow_small_batch", false),
                          weft__node_bool(k->node, "wait_for_incomplete", false)};
  weft__kernel_defer(k);
  weft__barrier_take(b, &t, k->step->cancel, take_done, r);
  return WEFT_OK;
}

static weft_err barrier_close_cpu(kernel *k) {
  barrier *b = NULL;
  WEFT_TRY(barrier_find(k, &b));
  const weft_err err = weft__barrier_close(b, weft__node_bool(k->node, "cancel_pending_enqueues", false));
  weft__object_release((object *)b);
  return weft__kernel_in(k, err);
}

static weft_err put_size(kernel *k, bool incomplete) {
  barrier *b = NULL;
  WEFT_TRY(barrier_find(k, &b));
  const int64_t n = weft__barrier_size(b, incomplete);
  weft__object_release((object *)b);
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, int32_t)[0] = weft__int_sat(n);
  return WEFT_OK;
}

static weft_err ready_cpu(kernel *k) { return put_size(k, false); }
static weft_err incomplete_cpu(kernel *k) { return put_size(k, true); }

static weft_err insert_infer(infer *s) {
  shape keys;
  WEFT_TRY(weft__infer_rank(s, 1, 1, &keys));
  WEFT_TRY(weft__infer_rank_at_least(s, 2, 1));
  if (keys.dim[0] >= 0 && s->in[2].rank > 0 && s->in[2].dim[0] >= 0 && keys.dim[0] != s->in[2].dim[0])
    return weft__infer_fail(s, "Dimension 0 in both shapes must be equal, but are %lld and %lld",
                            (long long)keys.dim[0], (long long)s->in[2].dim[0]);
  return WEFT_OK;
}

/* ---- table ---- */

OPS(barrier) = {
    {"Barrier() -> (handle:&string) | component_types:list(type)>=1 shapes:list(shape)>=0=[] capacity:int=-1 "
     "container:string='' shared_name:string='' ; stateful",
     "A barrier: tuples whose components arrive one by one.", .infer = weft__resource_infer, .cpu = barrier_cpu,
     .prepare = weft__resource_prepare, .unprepare = weft__resource_unprepare},
    {"BarrierInsertMany(handle:&string, keys:string, values:T) -> () | T:type component_index:int",
     "Gives the tuples of keys one component.", .infer = insert_infer, .cpu = barrier_insert_cpu},
    {"BarrierTakeMany(handle:&string, num_elements:int32) -> (indices:int64, keys:string, values:@component_types) | "
     "component_types:list(type)>=1 allow_small_batch:bool=false wait_for_incomplete:bool=false timeout_ms:int=-1",
     "Takes complete tuples, waiting for them.", OP_ASYNC | OP_TAKES, .infer = weft__infer_none,
     .cpu = barrier_take_cpu},
    {"BarrierClose(handle:&string) -> () | cancel_pending_enqueues:bool=false", "No new key will be inserted any more.",
     .infer = weft__infer_none, .cpu = barrier_close_cpu},
    {"BarrierReadySize(handle:&string) -> (size:int32)", "How many tuples are complete.", .infer = weft__infer_scalar,
     .cpu = ready_cpu},
    {"BarrierIncompleteSize(handle:&string) -> (size:int32)", "How many tuples are not complete.",
     .infer = weft__infer_scalar, .cpu = incomplete_cpu},
    {.scenario = "tests/parity/test_barriers.py"},
};
