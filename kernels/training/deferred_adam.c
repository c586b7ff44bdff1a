/* deferred_adam.c - checks the arguments of a step of sparse Adam, and defers it or applies it at once.
 *
 * The step, over the whole table, is: m *= beta1; m[indices] += mean_rows; v *= beta2; v[indices] += square_rows;
 * value -= rate * m / (sqrt(v) + epsilon).  A step that touches a large share of the rows is applied to all rows at
 * once, because deferring it would cost more than it saves. */
#include "kernels/training/deferred_adam.h"

#include "graph/kernel.h"
#include "state/deferred.h"

enum { LARGE_SHARE = 4 }; /* a step is deferred if it touches less than 1/LARGE_SHARE of the rows */

static weft_err read_scalar(const kernel *k, int i, const char *name, float *out) {
  WEFT_TRY(weft__kernel_scalar(k, i, name));
  *out = TENSOR_DATA(k->in[i], float)[0];
  return WEFT_OK;
}

static weft_err read_step(const kernel *k, deferred_step *s) {
  WEFT_TRY(read_scalar(k, ADAM_BETA1, "beta1", &s->beta1));
  WEFT_TRY(read_scalar(k, ADAM_BETA2, "beta2", &s->beta2));
  WEFT_TRY(read_scalar(k, ADAM_RATE, "learning_rate", &s->rate));
  return read_scalar(k, ADAM_EPSILON, "epsilon", &s->epsilon);
}

/* Checks that the variables have values of one shape, in host memory.  The caller holds the locks. */
static weft_err check_tables(const kernel *k, variable *const *v) {
  for (int t = 0; t < DEFERRED_TABLES; t++) {
    if (!v[t]->value.buf) return weft__kernel_in(k, weft__variable_uninitialized_error(v[t]));
    if (v[t]->dtype != WEFT_FLOAT || v[t]->value.buf->memory) return weft__kernel_no_type(k, v[t]->dtype);
    if (!weft__shape_equal(&v[t]->value.shape, &v[0]->value.shape))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s has shape %s, but its slot %s has shape %s", v[0]->name,
                               weft__shape_text(&v[0]->value.shape), v[t]->name, weft__shape_text(&v[t]->value.shape));
  }
  if (v[0]->value.shape.rank > 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "params must be at least 1-D, got shape %s",
                           weft__shape_text(&v[0]->value.shape));
}

/* Checks that the rows of an update have the shape indices.shape + table.shape[1:], or are one number. */
static weft_err deferred_adam_check_rows(const kernel *k, const shape *table, int arg) {
  const shape *updates = &k->in[arg]->shape, *indices = &k->in[ADAM_INDICES]->shape;
  bool fits = updates->rank == 0 || updates->rank == indices->rank + table->rank - 1;
  for (int d = 0; fits && d < updates->rank; d++)
    fits = updates->dim[d] == (d < indices->rank ? indices->dim[d] : table->dim[d - indices->rank + 1]);
  if (fits) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                           "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
                           "updates.shape %s, indices.shape %s, params.shape %s",
                           weft__shape_text(updates), weft__shape_text(indices), weft__shape_text(table));
}

static weft_err deferred_adam_check_indices(const kernel *k, int64_t rows) {
  const weft_tensor *t = k->in[ADAM_INDICES];
  const int64_t n = weft__tensor_count(t);
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = t->dtype == WEFT_INT64 ? TENSOR_DATA(t, int64_t)[i] : TENSOR_DATA(t, int32_t)[i];
    if (at < 0 || at >= rows)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices[%lld] = %lld is not in [0, %lld)", (long long)i,
                               (long long)at, (long long)rows);
  }
  return WEFT_OK;
}

static weft_err apply_all(const kernel *k, variable *const *v, const deferred_step *s, const deferred_rows *r) {
  float *data[DEFERRED_TABLES];
  weft_tensor *now = NULL;
  const shape of = v[0]->value.shape;
  for (int t = 0; t < DEFERRED_TABLES; t++) {
    WEFT_TRY(weft__variable_writable(v[t], &now));
    data[t] = TENSOR_DATA(now, float);
  }
  weft__deferred_apply_all(data, of.dim[0], weft__shape_product(&of, 1, of.rank), s, r, k->step->intra);
  return WEFT_OK;
}

static weft_err step_locked(const kernel *k, variable *const *v, const deferred_step *s, bool distinct) {
  WEFT_TRY(check_tables(k, v));
  const shape of = v[0]->value.shape;
  WEFT_TRY(deferred_adam_check_rows(k, &of, ADAM_MEAN_ROWS));
  WEFT_TRY(deferred_adam_check_rows(k, &of, ADAM_SQUARE_ROWS));
  WEFT_TRY(deferred_adam_check_indices(k, of.dim[0]));
  const int64_t width = weft__shape_product(&of, 1, of.rank), n = weft__tensor_count(k->in[ADAM_INDICES]);
  const deferred_rows r = {.indices = k->in[ADAM_INDICES],
                           .mean = TENSOR_DATA(k->in[ADAM_MEAN_ROWS], float),
                           .square = TENSOR_DATA(k->in[ADAM_SQUARE_ROWS], float),
                           .mean_stride = k->in[ADAM_MEAN_ROWS]->shape.rank > 0 ? width : 0,
                           .square_stride = k->in[ADAM_SQUARE_ROWS]->shape.rank > 0 ? width : 0};
  if (width == 0 || of.dim[0] == 0) return WEFT_OK;
  if (!v[0]->deferred) {
    if (!distinct || n >= of.dim[0] / LARGE_SHARE) return apply_all(k, v, s, &r);
    WEFT_TRY(weft__deferred_join(v));
  }
  return weft__deferred_add(v[0]->deferred, s, &r, k->step->intra);
}

static weft_err deferred_adam_cpu(kernel *k) {
  variable *v[DEFERRED_TABLES];
  deferred_step s;
  for (int t = 0; t < DEFERRED_TABLES; t++) WEFT_TRY(weft__kernel_variable(k, ADAM_VALUE + t, &v[t]));
  WEFT_TRY(read_step(k, &s));
  const bool distinct = v[0] != v[1] && v[0] != v[2] && v[1] != v[2];
  if (distinct)
    weft__deferred_lock(v);
  else
    weft__variable_lock(DEFERRED_TABLES, v);
  const weft_err err = step_locked(k, v, &s, distinct);
  weft__variable_unlock(DEFERRED_TABLES, v);
  if (err == WEFT_OK && k->n_out > 0) weft__out_ref(k, 0, v[0]);
  return err;
}

const op weft__deferred_adam_op = {.def = "_DeferredAdam", .cpu = deferred_adam_cpu, .opdef.stateful = true};
