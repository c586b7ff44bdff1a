/* fused_group.c - runs a group with the CPU's loops, which simulated GPUs use. */
#include "kernels/elementwise/fused_group.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "state/variable.h"
#include <math.h>
#include <string.h>

enum { BUNDLE_BLOCK = 64 };

typedef struct block { /* some columns of one row; all of them, if there are steps that work on whole rows */
  const fused_group *b;
  int64_t row, column;
  int n, room;
  size_t size;                         /* of an element */
  const weft_tensor *of[GPU_GROUP_IN]; /* the inputs; variables that are written are locked */
  char *kept;                          /* `room` elements of each input, then of each step */
} block;

static size_t element_size(const block *a, const gpu_view *v) { return v->kind == VIEW_BOOL ? sizeof(bool) : a->size; }

/* Returns the address of column c of the block in a tensor. */
static char *block_element(const block *a, const gpu_view *v, const weft_tensor *t, int c) {
  int64_t at = v->first + a->row * v->row + (a->column + c) * v->column;
  if (v->rank > 0) {
    int64_t i = a->row * a->b->gpu.columns + a->column + c;
    at = v->first;
    for (int d = v->rank - 1; d >= 0; i /= v->dim[d], d--) at += i % v->dim[d] * v->step[d];
  }
  return (char *)t->data + (size_t)at * element_size(a, v);
}

/* Returns an operand of a step: an input, or the result of an earlier step. */
static char *block_operand(const block *a, int arg) {
  return a->kept + (size_t)(arg >= 0 ? arg : GPU_GROUP_IN - 1 - arg) * (size_t)a->room * sizeof(double);
}

#define ROW_STEP(T, exp_)                                                                                              \
  static void row_step_##T(int function, const T *x, T *y, int n) {                                                    \
    T most = x[0], sum = 0;                                                                                            \
    for (int i = 1; i < n; i++) most = most < x[i] || x[i] != x[i] ? x[i] : most;                                      \
    for (int i = 0; i < n; i++) sum += function == GPU_ROW_SOFTMAX ? exp_(x[i] - most) : x[i];                         \
    const T number = function == GPU_ROW_MEAN ? sum / (T)n : sum;                                                      \
    for (int i = 0; i < n; i++) y[i] = function == GPU_ROW_SOFTMAX ? exp_(x[i] - most) / sum : number;                 \
  }
ROW_STEP(float, expf)
ROW_STEP(double, exp)
#undef ROW_STEP

/* Runs a step that works on the whole row. */
static void block_row_step(const block *a, int s) {
  const gpu_step *now = &a->b->gpu.step[s];
  const void *x = block_operand(a, now->arg[0]);
  void *y = block_operand(a, -1 - s);
  if (a->b->gpu.type == WEFT_DOUBLE)
    row_step_double(now->function, x, y, a->n);
  else
    row_step_float(now->function, x, y, a->n);
}

static void block_run(kernel *k, block *a) {
  const gpu_group *g = &a->b->gpu;
  for (int v = 0; v < g->n_in; v++) {
    const size_t size = element_size(a, &g->in[v]);
    for (int c = 0; c < a->n; c++)
      memcpy(block_operand(a, v) + (size_t)c * size, block_element(a, &g->in[v], a->of[g->in[v].tensor], c), size);
  }
  for (int s = 0; s < g->n_step; s++) {
    const void *from[3];
    for (int i = 0; i < g->step[s].n_in; i++) from[i] = block_operand(a, g->step[s].arg[i]);
    if (!a->b->loop[s])
      block_row_step(a, s);
    else
      a->b->loop[s](block_operand(a, -1 - s), from, a->n, NULL);
  }
  for (int v = 0; v < g->n_out; v++) {
    const int to = g->out[v].tensor;
    const size_t size = element_size(a, &g->out[v]);
    for (int c = 0; c < a->n; c++)
      memcpy(block_element(a, &g->out[v], to < 0 ? a->of[-1 - to] : &k->out[to].t, c),
             block_operand(a, g->result[v]) + (size_t)c * size, size);
  }
}

/* Finds the tensors of the inputs.  The caller holds the locks of the variables that are written. */
static weft_err find_inputs(kernel *k, block *a) {
  const gpu_group *g = &a->b->gpu;
  bool writes = false;
  for (int i = 0; i < k->n_in; i++) {
    a->of[i] = k->in[i];
    if (!k->ref[i]) continue;
    weft_tensor *now = NULL;
    WEFT_TRY(weft__variable_writable(k->ref[i], &now));
    if (weft__tensor_count(now) != g->rows * g->columns)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the variable has the shape %s, not that of its new value",
                               weft__shape_text(&now->shape));
    a->of[i] = now;
    writes = true;
  }
  if (writes && k->device)
    WEFT_TRY(k->device->ops->sync(k->device)); /* simulated: a copy to a variable may still be pending */
  return WEFT_OK;
}

static weft_err group_locked(kernel *k) {
  const fused_group *b = k->state;
  const gpu_group *g = &b->gpu;
  block a = {.b = b, .size = weft__dtype_size(g->type)};
  a.room = g->by_rows ? weft__int_sat(g->columns) : BUNDLE_BLOCK;
  for (int v = 0; v < g->n_out; v++) /* a GPU writes four elements at once, unless it is one number of a whole row */
    WEFT_ASSERT(g->by_rows || g->out[v].rank > 0 || g->out[v].column == 1);
  WEFT_TRY(find_inputs(k, &a));
  for (int i = 0; i < g->n_tensor; i++)
    if (!weft__out(k, i, &g->tensor[i])) return WEFT_RESOURCE_EXHAUSTED;
  a.kept = weft__alloc((size_t)(GPU_GROUP_IN + GPU_GROUP_STEPS) * (size_t)a.room * sizeof(double));
  if (!a.kept) return WEFT_OOM;
  for (a.row = 0; a.row < g->rows; a.row++)
    for (a.column = 0; a.column < g->columns; a.column += a.room) {
      const int64_t left = g->columns - a.column;
      a.n = left < a.room ? weft__int_sat(left) : a.room;
      block_run(k, &a);
    }
  weft__free(a.kept);
  return WEFT_OK;
}

static weft_err group_cpu(kernel *k) {
  variable *v[GPU_GROUP_IN];
  int n = 0;
  for (int i = 0; i < k->n_in; i++)
    if (k->ref[i]) v[n++] = k->ref[i];
  if (n) weft__variable_lock(n, v);
  const weft_err err = group_locked(k);
  if (n) weft__variable_unlock(n, v);
  return err;
}

const op weft__fused_group_op = {.def = "_FusedGroup", .cpu = group_cpu, .unprepare = weft__free};
