/* map_defun.c - MapDefun: calls a function for each slice of its arguments along dimension 0. */
#include "base/alloc.h"
#include "graph/function.h"
#include "graph/op.h"
#include "state/batch_queue.h"

typedef struct map_work {
  kernel *k;
  int n;                    /* the first n inputs are sliced */
  int64_t count;            /* slices */
  const weft_tensor **args; /* of one call */
  weft_tensor **made;       /* of one call: the slices, and behind them the results */
} map_work;

/* Drops dimension 0, which is 1. */
static void slice_squeeze(weft_tensor *t) {
  t->shape.rank--;
  for (int d = 0; d < t->shape.rank; d++) t->shape.dim[d] = t->shape.dim[d + 1];
}

/* Checks the shape of result i against output_shapes, and copies it to its place. */
static weft_err map_store(map_work *j, int i, int64_t at) {
  kernel *k = j->k;
  const weft_tensor *t = j->made[j->n + i];
  const attr *shapes = weft__node_attr(k->node, "output_shapes");
  if (shapes && i < shapes->n && !weft__shape_compatible(&shapes->shapes[i], &t->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Mismatch in function retval shape, %s, and expected output shape, %s.",
                             weft__shape_text(&t->shape), weft__shape_text(&shapes->shapes[i]));
  if (t->dtype != k->node->out_type[i])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Mismatch in function return type and expected output type for output: %d", i);
  weft_tensor *out = &k->out[i].t;
  if (at == 0) {
    shape s = {.rank = t->shape.rank + 1, .dim = {j->count}};
    if (s.rank > WEFT_MAX_RANK)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "output %d would have %d dimensions", i, s.rank);
    for (int d = 0; d < t->shape.rank; d++) s.dim[d + 1] = t->shape.dim[d];
    if (!(out = weft__out(k, i, &s))) return weft__out_refused(&s);
  }
  bool same = out->shape.rank == t->shape.rank + 1;
  for (int d = 0; same && d < t->shape.rank; d++) same = out->shape.dim[d + 1] == t->shape.dim[d];
  if (!same)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "output %d of the function has shape %s for slice %lld, but the output is %s", i,
                             weft__shape_text(&t->shape), (long long)at, weft__shape_text(&out->shape));
  const int64_t n = weft__tensor_count(t);
  return weft__elements_copy(t->dtype, (char *)out->data + (size_t)(at * n) * weft__dtype_size(t->dtype), t->data, n);
}

static weft_err map_slice(map_work *j, int64_t at) {
  kernel *k = j->k;
  weft_err err = WEFT_OK;
  for (int i = 0; i < j->n && !err; i++) {
    err = weft__batch_rows(k->in[i], at, at + 1, &j->made[i]);
    if (!err) slice_squeeze(j->made[i]);
    j->args[i] = j->made[i];
  }
  for (int i = j->n; i < k->n_in; i++) j->args[i] = k->in[i];
  if (!err) err = weft__function_call(k->state, k->step, k->n_in, j->args, k->n_out, j->made + j->n);
  for (int i = 0; i < k->n_out && !err; i++) err = map_store(j, i, at);
  for (int i = 0; i < j->n + k->n_out; i++) {
    weft_tensor_destroy(j->made[i]);
    j->made[i] = NULL;
  }
  return err;
}

static weft_err map_empty(kernel *k) {
  const attr *shapes = weft__node_attr(k->node, "output_shapes");
  for (int i = 0; i < k->n_out; i++) {
    const shape *one = &shapes->shapes[i];
    if (!weft__shape_known(one))
      return weft__kernel_fail(k, WEFT_INTERNAL,
                               "Missing %d-th output: there is no slice, and output_shapes has %s (give a shape that "
                               "is known)",
                               i, weft__shape_text(one));
    shape s = {.rank = one->rank + 1};
    for (int d = 0; d < one->rank; d++) s.dim[d + 1] = one->dim[d];
    if (!weft__out(k, i, &s)) return WEFT_OOM;
  }
  return WEFT_OK;
}

static weft_err map_defun_cpu(kernel *k) {
  map_work j = {.k = k};
  int first = 0;
  WEFT_TRY(weft__node_in_range(k->node, "arguments", &first, &j.n));
  for (int i = 0; i < j.n; i++) {
    if (k->in[i]->shape.rank == 0)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "All inputs must have rank at least 1. Input %d has a rank of 0.", i);
    if (k->in[i]->shape.dim[0] != k->in[0]->shape.dim[0])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "All inputs must have the same dimension 0. Input %d has leading dimension %lld, while "
                               "all previous inputs have leading dimension %lld",
                               i, (long long)k->in[i]->shape.dim[0], (long long)k->in[0]->shape.dim[0]);
  }
  j.count = k->in[0]->shape.dim[0];
  if (j.count == 0) return map_empty(k);
  void **memory = weft__alloc_zero((size_t)(k->n_in + j.n + k->n_out), sizeof *memory);
  if (!memory) return WEFT_OOM;
  j.args = (const weft_tensor **)memory, j.made = (weft_tensor **)(memory + k->n_in);
  weft_err err = WEFT_OK;
  for (int64_t i = 0; i < j.count && !err; i++) err = map_slice(&j, i);
  weft__free(memory);
  return err;
}

static weft_err map_infer(infer *s) {
  int first = 0, n = 0;
  int64_t rows = -1;
  WEFT_TRY(weft__node_in_range(s->node, "arguments", &first, &n));
  for (int i = 0; i < n; i++) {
    if (s->in[i].rank == 0)
      return weft__infer_fail(s, "Arguments must have rank at least 1. Input %d has rank of 0.", i);
    if (s->in[i].rank < 0 || s->in[i].dim[0] < 0) continue;
    if (rows >= 0 && rows != s->in[i].dim[0]) return weft__infer_fail(s, "Arguments must have the same dimension 0.");
    rows = s->in[i].dim[0];
  }
  const attr *shapes = weft__node_attr(s->node, "output_shapes");
  if (!shapes || shapes->n != s->n_out)
    return weft__infer_fail(s, "`output_shapes` must be the same length as `output_types` (%d vs %d)",
                            shapes ? shapes->n : 0, s->n_out);
  for (int i = 0; i < s->n_out; i++) {
    const shape *one = &shapes->shapes[i];
    if (one->rank < 0 || one->rank >= WEFT_MAX_RANK) continue;
    s->out[i] = (shape){.rank = one->rank + 1, .dim = {rows}};
    for (int d = 0; d < one->rank; d++) s->out[i].dim[d + 1] = one->dim[d];
  }
  return WEFT_OK;
}

OPS(map_defun) = {
    {"MapDefun(arguments:@Targuments, captured_inputs:@Tcaptured) -> (output:@output_types) | "
     "Targuments:list(type)>=1 Tcaptured:list(type)>=0=[] output_types:list(type)>=1 output_shapes:list(shape)>=1 "
     "f:func max_intra_op_parallelism:int=1",
     "What a function gives for each slice of its arguments.", .flags = OP_BLOCKING | OP_NO_FOLD, .infer = map_infer,
     .cpu = map_defun_cpu, .prepare = weft__function_prepare, .unprepare = weft__function_unprepare},
    {.scenario = "tests/parity/test_functions.py"},
};
