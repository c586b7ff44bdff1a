/* batch.c - Batch: the rows of concurrent steps, joined in one of them.  Unbatch deals them out again.
 *
 * The step whose rows come last in a batch gets the joined tensors and an index with a row (id, begin, end) for each
 * step; the others get tensors without rows. */
#include "base/alloc.h"
#include "graph/op.h"
#include "state/batch_queue.h"

/* ---- Batch ---- */

static weft_err index_create(const batch *b, weft_tensor **out) {
  int64_t n = 0, at = 0;
  for (const batch_task *t = b->first; t; t = t->next) n++;
  WEFT_TRY(weft__tensor_create(out, WEFT_INT64, &SHAPE2(n, 3)));
  int64_t *row = TENSOR_DATA(*out, int64_t);
  for (const batch_task *t = b->first; t; at += t->rows, t = t->next, row += 3)
    row[0] = t->id, row[1] = at, row[2] = at + t->rows;
  return WEFT_OK;
}

static weft_err batch_deal(batch *b) {
  for (const batch_task *t = b->first; t; t = t->next) {
    const bool last = t == b->last;
    for (int i = 0; i < t->n; i++)
      WEFT_TRY(last ? weft__batch_join(b, i, &t->out[i]) : weft__batch_rows(t->k->in[i], 0, 0, &t->out[i]));
    WEFT_TRY(last ? index_create(b, &t->out[t->n]) : weft__tensor_create(&t->out[t->n], WEFT_INT64, &SHAPE2(0, 3)));
  }
  return WEFT_OK;
}

/* Without rows there is nothing to wait for: every output is empty, the id too. */
static weft_err batch_nothing(kernel *k) {
  for (int i = 0; i < k->n_out; i++)
    if (!weft__out(k, i, &SHAPE1(0))) return WEFT_OOM;
  return WEFT_OK;
}

static weft_err batch_run(kernel *k, batch_queue *q, weft_tensor **out) {
  batch_task t;
  WEFT_TRY(weft__batch_task_init(&t, k, k->n_in));
  if (t.rows == 0) return batch_nothing(k);
  t.out = out;
  WEFT_TRY(weft__batch_queue_run(q, &t, batch_deal));
  for (int i = 0; i <= k->n_in; i++) WEFT_TRY(weft__out_share(k, i, out[i]));
  weft_tensor *id = weft__out(k, k->n_in + 1, &SHAPE_SCALAR);
  if (!id) return WEFT_OOM;
  *TENSOR_DATA(id, int64_t) = t.id;
  return WEFT_OK;
}

static weft_err batch_cpu(kernel *k) {
  batch_queue *q = NULL;
  WEFT_TRY(weft__batch_queue_of_node(k, &q));
  weft_tensor **out = weft__alloc_zero((size_t)k->n_out + 1, sizeof *out);
  const weft_err err = out ? batch_run(k, q, out) : WEFT_OOM;
  for (int i = 0; out && i < k->n_out; i++) weft_tensor_destroy(out[i]);
  weft__free(out);
  weft__object_release((object *)q);
  return err;
}

static weft_err batch_infer(infer *s) {
  for (int i = 0; i < s->n_in; i++) {
    s->out[i] = s->in[i];
    if (s->out[i].rank > 0) s->out[i].dim[0] = -1;
  }
  s->out[s->n_in] = SHAPE2(-1, 3);
  s->out[s->n_in + 1] = SHAPE_SCALAR;
  return WEFT_OK;
}

OPS(batch) = {
    {"Batch(in_tensors:@T) -> (batched_tensors:@T, batch_index:int64, id:int64) | num_batch_threads:int "
     "max_batch_size:int max_enqueued_batches:int=10 batch_timeout_micros:int allowed_batch_sizes:list(int)=[] "
     "grad_timeout_micros:int container:string='' shared_name:string='' batching_queue:string='' T:list(type)>=1",
     "The rows of several concurrent steps, in one of them.", .flags = OP_BLOCKING | OP_NO_FOLD, .infer = batch_infer,
     .cpu = batch_cpu},
    {.scenario = "tests/parity/test_batching.py"},
};
