/* gather_tree.c - GatherTree: the sequences of a beam search, followed backwards from the last ids through their
 * parents. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"

static weft_err tree_infer(infer *s) {
  shape ids, parents, lengths;
  WEFT_TRY(weft__infer_rank(s, 0, 3, &ids));
  WEFT_TRY(weft__infer_rank(s, 1, 3, &parents));
  WEFT_TRY(weft__infer_rank(s, 2, 1, &lengths));
  WEFT_TRY(weft__infer_rank(s, 3, 0, NULL));
  for (int d = 0; d < 3; d++) {
    if (ids.dim[d] >= 0 && parents.dim[d] >= 0 && ids.dim[d] != parents.dim[d])
      return weft__infer_fail(s, "Dimension %d in both shapes must be equal, but are %lld and %lld", d,
                              (long long)ids.dim[d], (long long)parents.dim[d]);
    if (ids.dim[d] < 0) ids.dim[d] = parents.dim[d];
  }
  if (ids.dim[1] >= 0 && lengths.dim[0] >= 0 && ids.dim[1] != lengths.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)ids.dim[1],
                            (long long)lengths.dim[0]);
  if (ids.dim[1] < 0) ids.dim[1] = lengths.dim[0];
  s->out[0] = ids;
  return WEFT_OK;
}

static weft_err tree_check(kernel *k) {
  const shape *ids = &k->in[0]->shape, *parents = &k->in[1]->shape, *lengths = &k->in[2]->shape;
  if (ids->rank != 3)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "step_ids must be a 3-tensor, but has rank %d", ids->rank);
  if (!weft__shape_equal(ids, parents))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "step_ids and parent_ids must have the same shape");
  if (lengths->rank != 1 || lengths->dim[0] != ids->dim[1])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "max_sequence_lengths must be a vector of %lld lengths",
                             (long long)ids->dim[1]);
  return weft__kernel_scalar(k, 3, "end_token");
}

/* The tensors, all (time, row, beam). `step` is the distance in elements from one time to the next. */
typedef struct tree {
  const int32_t *ids, *parents;
  int32_t *out;
  int64_t beams, step;
  int32_t end;
} tree;

/* Writes one sequence of n ids.  Returns false if a parent is not a valid beam; then *time and the parent are set. */
static bool tree_trace(const tree *t, int64_t row, int64_t beam, int64_t n, int64_t *time, int32_t *bad) {
  int64_t at = row * t->beams, parent = beam;
  for (int64_t i = n - 1; i >= 0; i--) {
    int64_t from = i * t->step + at + parent;
    t->out[i * t->step + at + beam] = t->ids[from];
    int32_t next = t->parents[from];
    if (i > 0 && (next < 0 || next >= t->beams)) {
      *time = i;
      *bad = next;
      return false;
    }
    parent = next;
  }
  bool ended = false;
  for (int64_t i = 0; i < n; i++) {
    int32_t *id = &t->out[i * t->step + at + beam];
    if (ended) *id = t->end;
    ended = ended || *id == t->end;
  }
  return true;
}

static weft_err tree_cpu(kernel *k) {
  WEFT_TRY(tree_check(k));
  const shape *s = &k->in[0]->shape;
  weft_tensor *y = weft__out(k, 0, s);
  if (!y) return WEFT_OOM;
  tree t = {TENSOR_DATA(k->in[0], int32_t), TENSOR_DATA(k->in[1], int32_t),   TENSOR_DATA(y, int32_t), s->dim[2],
            s->dim[1] * s->dim[2],          TENSOR_DATA(k->in[3], int32_t)[0]};
  const int32_t *lengths = TENSOR_DATA(k->in[2], int32_t);
  for (int64_t i = 0, n = weft__shape_count(s); i < n; i++) t.out[i] = t.end;
  for (int64_t row = 0; row < s->dim[1]; row++) {
    int64_t n = lengths[row] < s->dim[0] ? lengths[row] : s->dim[0], time = 0;
    int32_t bad = 0;
    for (int64_t beam = 0; beam < t.beams; beam++)
      if (!tree_trace(&t, row, beam, n, &time, &bad))
        return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                                 "Saw invalid parent id %d at (batch, time, beam) == (%lld, %lld, %lld)", bad,
                                 (long long)row, (long long)time, (long long)beam);
  }
  return WEFT_OK;
}

static const op_case tree_cases[] = {
    /* The example of TensorFlow's documentation: the second step of beam 0 came from beam 0, and so on. */
    {"i32[3,1,3] 1 2 3 4 5 6 7 8 9; i32[3,1,3] 0 0 0 0 1 1 2 1 2; i32[1] 3; i32[] 10", "i32[3,1,3] 2 2 2 6 5 6 7 8 9",
     NULL, CASE_NO_PARITY},
    {"i32[2,2,1] 1 2 3 4; i32[2,2,1] 0; i32[2] 2 1; i32[] 9", "i32[2,2,1] 1 2 3 9", NULL, CASE_NO_PARITY},
    {"i32[3,1,1] 1 9 3; i32[3,1,1] 0; i32[1] 7; i32[] 9", "i32[3,1,1] 1 9 9", NULL, CASE_NO_PARITY},
    {"i32[2,1,1] 1 2; i32[2,1,1] 0 1; i32[1] 2; i32[] 9", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {"i32[2,1,1] 1 2; i32[2,1,2] 0; i32[1] 2; i32[] 9", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {"i32[0,1,2]; i32[0,1,2]; i32[1] 2; i32[] 9", "i32[0,1,2]", NULL, CASE_NO_PARITY},
    {0},
};

OPS(gather_tree) = {
    {"GatherTree(step_ids:T, parent_ids:T, max_sequence_lengths:int32, end_token:T) -> (beams:T) | T:type{int32}",
     "The sequences of a beam search, from the ids and the parents of its steps.", .infer = tree_infer, .cpu = tree_cpu,
     .cases = tree_cases},
    {0},
};
