/* batch_function.c - BatchFunction: calls a function once for the rows of several concurrent steps. */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/function.h"
#include "graph/op.h"
#include "state/batch_queue.h"

/* Gives each task its rows of output i of the function. */
static weft_err batch_split(const batch *b, int i, const weft_tensor *t) {
  const kernel *k = b->first->k;
  if (t->shape.rank == 0)
    return weft__kernel_fail(k, WEFT_FAILED_PRECONDITION, "Batched output tensor has 0 dimensions");
  if (t->shape.dim[0] != b->padded)
    return weft__kernel_fail(k, WEFT_FAILED_PRECONDITION,
                             "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes "
                             "of the input tensors: %lld is not %lld",
                             (long long)t->shape.dim[0], (long long)b->padded);
  int64_t at = 0;
  for (const batch_task *task = b->first; task; at += task->rows, task = task->next)
    WEFT_TRY(weft__batch_rows(t, at, at + task->rows, &task->out[i]));
  return WEFT_OK;
}

/* The captured tensors are those of the first task. */
static weft_err batch_call(batch *b) {
  kernel *k = b->first->k;
  const int n = b->first->n;
  weft_tensor **all = weft__alloc_zero((size_t)(k->n_in + k->n_out) + 1, sizeof *all);
  if (!all) return WEFT_OOM;
  weft_tensor **ret = all + k->n_in;
  const weft_tensor **args = (const weft_tensor **)weft__alloc_zero((size_t)k->n_in + 1, sizeof *args);
  weft_err err = args ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < n && !err; i++) {
    err = weft__batch_join(b, i, &all[i]);
    args[i] = all[i];
  }
  for (int i = n; i < k->n_in && !err; i++) args[i] = k->in[i];
  if (!err) err = weft__function_call(k->state, k->step, k->n_in, args, k->n_out, ret);
  for (int i = 0; i < k->n_out && !err; i++) err = batch_split(b, i, ret[i]);
  for (int i = 0; i < k->n_in + k->n_out; i++) weft_tensor_destroy(all[i]);
  weft__free(args);
  weft__free(all);
  return err;
}

static weft_err batch_function_run(kernel *k, weft_tensor **out) {
  batch_queue *q = NULL;
  batch_task t;
  int first = 0, n = 0;
  WEFT_TRY(weft__node_in_range(k->node, "in_tensors", &first, &n));
  WEFT_TRY(weft__batch_queue_of_node(k, &q));
  weft_err err = weft__batch_task_init(&t, k, n);
  t.out = out;
  if (!err) err = weft__batch_queue_run(q, &t, batch_call);
  weft__object_release((object *)q);
  return err;
}

static weft_err batch_function_cpu(kernel *k) {
  weft_tensor **out = weft__alloc_zero((size_t)k->n_out + 1, sizeof *out);
  if (!out) return WEFT_OOM;
  weft_err err = batch_function_run(k, out);
  for (int i = 0; i < k->n_out && !err; i++) err = weft__out_share(k, i, out[i]);
  for (int i = 0; i < k->n_out; i++) weft_tensor_destroy(out[i]);
  weft__free(out);
  return err;
}

OPS(batch_function) = {
    {"BatchFunction(in_tensors:@Tin, captured_tensors:@Tcaptured) -> (out_tensors:@Tout) | f:func "
     "num_batch_threads:int max_batch_size:int batch_timeout_micros:int max_enqueued_batches:int=10 "
     "allowed_batch_sizes:list(int)=[] container:string='' shared_name:string='' batching_queue:string='' "
     "low_priority_max_batch_size:int=0 low_priority_batch_timeout_micros:int=0 "
     "low_priority_allowed_batch_sizes:list(int)=[] low_priority_max_enqueued_batches:int=0 Tin:list(type)>=1 "
     "Tcaptured:list(type)>=0 Tout:list(type)>=1 enable_large_batch_splitting:bool=false",
     "What a function gives for the rows of several concurrent steps.", .flags = OP_BLOCKING | OP_NO_FOLD,
     .infer = weft__infer_none, .cpu = batch_function_cpu, .prepare = weft__function_prepare,
     .unprepare = weft__function_unprepare},
    {.scenario = "tests/parity/test_batching.py"},
};
