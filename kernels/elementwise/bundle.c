/* bundle.c - runs a bundle with the CPU's loops, which simulated GPUs use. */
#include "kernels/elementwise/bundle.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "state/variable.h"
#include <string.h>

enum { BUNDLE_BLOCK = 64 };

typedef struct block { /* some columns of one row */
  const bundle *b;
  int64_t row, column;
  int n;
  size_t size;                          /* of an element */
  const weft_tensor *of[GPU_BUNDLE_IN]; /* the inputs; variables that are written are locked */
  _Alignas(WEFT_ALIGN) char in[GPU_BUNDLE_IN][BUNDLE_BLOCK * sizeof(double)];
  _Alignas(WEFT_ALIGN) char made[GPU_BUNDLE_STEPS][BUNDLE_BLOCK * sizeof(double)];
} block;

static size_t element_size(const block *a, const gpu_view *v) { return v->kind == VIEW_BOOL ? sizeof(bool) : a->size; }

/* Returns the address of column c of the block in a tensor. */
static char *block_element(const block *a, const gpu_view *v, const weft_tensor *t, int c) {
  const int64_t at = v->first + a->row * v->row + (a->column + c) * v->column;
  return (char *)t->data + (size_t)at * element_size(a, v);
}

/* Returns an operand of a step: an input, or the result of an earlier step. */
static const char *block_operand(const block *a, int arg) { return arg >= 0 ? a->in[arg] : a->made[-1 - arg]; }

static void block_run(kernel *k, block *a) {
  const gpu_bundle *g = &a->b->gpu;
  for (int v = 0; v < g->n_in; v++) {
    const size_t size = element_size(a, &g->in[v]);
    for (int c = 0; c < a->n; c++)
      memcpy(a->in[v] + (size_t)c * size, block_element(a, &g->in[v], a->of[g->in[v].tensor], c), size);
  }
  for (int s = 0; s < g->n_step; s++) {
    const void *from[3];
    for (int i = 0; i < g->step[s].n_in; i++) from[i] = block_operand(a, g->step[s].arg[i]);
    a->b->loop[s](a->made[s], from, a->n, NULL);
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
  const gpu_bundle *g = &a->b->gpu;
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

static weft_err bundle_locked(kernel *k) {
  const bundle *b = k->state;
  const gpu_bundle *g = &b->gpu;
  block a = {.b = b, .size = weft__dtype_size(g->type)};
  WEFT_TRY(find_inputs(k, &a));
  for (int i = 0; i < g->n_tensor; i++)
    if (!weft__out(k, i, &g->tensor[i])) return WEFT_RESOURCE_EXHAUSTED;
  for (a.row = 0; a.row < g->rows; a.row++)
    for (a.column = 0; a.column < g->columns; a.column += BUNDLE_BLOCK) {
      const int64_t left = g->columns - a.column;
      a.n = left < BUNDLE_BLOCK ? weft__int_sat(left) : BUNDLE_BLOCK;
      block_run(k, &a);
    }
  return WEFT_OK;
}

static weft_err bundle_cpu(kernel *k) {
  variable *v[GPU_BUNDLE_IN];
  int n = 0;
  for (int i = 0; i < k->n_in; i++)
    if (k->ref[i]) v[n++] = k->ref[i];
  if (n) weft__variable_lock(n, v);
  const weft_err err = bundle_locked(k);
  if (n) weft__variable_unlock(n, v);
  return err;
}

const op weft__bundle_op = {.def = "_Bundle", .cpu = bundle_cpu, .unprepare = weft__free};
