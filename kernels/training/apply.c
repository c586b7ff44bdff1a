/* apply.c - the code that all optimizer updates share around their element loops.
 *
 * The variables of one update are locked together, so an update is atomic even with use_locking=false.  Nothing
 * waits for a lock longer than one update takes, and readers never wait.  The loop makes one pass over memory, split
 * over the threads: a dense update by elements, a sparse one by rows of the variable.  Each thread applies the
 * indices of its rows in input order, so that repeated indices accumulate as in a sequential loop. */
#include "kernels/training/apply.h"
#include "base/alloc.h"
#include "base/prefetch.h"
#include "base/row_parts.h"
#include "kernels/gpu/gpu.h"
#include "kernels/simd/widen.h"
#include "state/variable.h"
#include <string.h>

enum { TILE = 256 };

typedef enum role { ROLE_VARIABLE, ROLE_GRADIENT, ROLE_INDICES, ROLE_SCALAR } role;

static role apply_role_of(const arg_def *arg) {
  if (arg->is_ref || arg->type == WEFT_RESOURCE) return ROLE_VARIABLE;
  if (!strcmp(arg->name, "grad") || !strcmp(arg->name, "delta")) return ROLE_GRADIENT;
  return strcmp(arg->name, "indices") ? ROLE_SCALAR : ROLE_INDICES;
}

/* ---- the roles of the arguments ---- */

typedef struct layout {
  int vars, grad, indices; /* variables are the first arguments; indices is -1 for a dense update */
  int scalars, scalar[APPLY_MAX_SCALARS];
} layout;

static weft_err layout_read(layout *l, const opdef *d) {
  *l = (layout){.grad = -1, .indices = -1};
  for (int i = 0; i < d->n_in; i++) switch (apply_role_of(&d->in[i])) {
    case ROLE_VARIABLE: l->vars++; break;
    case ROLE_GRADIENT: l->grad = i; break;
    case ROLE_INDICES: l->indices = i; break;
    case ROLE_SCALAR:
      if (l->scalars < APPLY_MAX_SCALARS) l->scalar[l->scalars] = i;
      l->scalars++;
      break;
    }
  if (l->vars > APPLY_MAX_VARS || l->scalars > APPLY_MAX_SCALARS || l->grad < 0)
    return weft__fail(WEFT_INTERNAL, "%s is not an optimizer update", d->name);
  return WEFT_OK;
}

weft_err weft__apply_prepare(const weft_node *node, void **state) {
  layout *l = weft__alloc(sizeof *l);
  if (!l) return WEFT_OOM;
  *state = l;
  const weft_err err = layout_read(l, &node->op->opdef);
  if (err == WEFT_OK) return WEFT_OK;
  weft__free(l);
  *state = NULL;
  return err;
}

weft_err weft__apply_roles(const kernel *k, struct gpu_roles *r) {
  const layout *l = k->state;
  *r = (struct gpu_roles){.vars = l->vars, .grad = l->grad, .indices = l->indices, .scalars = l->scalars};
  for (int i = 0; i < l->scalars; i++) r->scalar[i] = l->scalar[i];
  return WEFT_OK;
}

void weft__apply_unprepare(void *state) { weft__free(state); }

/* ---- shapes ---- */

static weft_err apply_merge(infer *s, shape *into, const shape *more) {
  shape both;
  if (weft__shape_merge(&both, into, more) != WEFT_OK) return weft__infer_fail(s, "%s", weft__error_message());
  *into = both;
  return WEFT_OK;
}

/* Checks that a sparse gradient has one row per index and otherwise the shape of the variable. */
static weft_err infer_slices(infer *s, const layout *l, shape *var) {
  shape indices, rows = *var, grad = s->in[l->grad];
  WEFT_TRY(weft__infer_rank(s, l->indices, 1, &indices));
  if (rows.rank < 1) return WEFT_OK;
  rows.dim[0] = indices.dim[0];
  return apply_merge(s, &rows, &grad);
}

weft_err weft__apply_infer(infer *s) {
  layout l;
  shape unused;
  WEFT_TRY(layout_read(&l, &s->node->op->opdef));
  shape var = SHAPE_UNKNOWN;
  for (int i = 0; i < l.vars; i++) {
    shape declared;
    weft_dtype type;
    weft__infer_variable(s, i, &type, &declared);
    WEFT_TRY(apply_merge(s, &var, &declared));
  }
  for (int i = 0; i < l.scalars; i++) WEFT_TRY(weft__infer_rank(s, l.scalar[i], 0, &unused));
  if (l.indices >= 0)
    WEFT_TRY(infer_slices(s, &l, &var));
  else
    WEFT_TRY(apply_merge(s, &var, &s->in[l.grad]));
  if (s->n_out > 0) s->out[0] = var;
  return WEFT_OK;
}

/* ---- the arguments of one run ---- */

typedef union scalars { /* in the type of the loop */
  float f[APPLY_MAX_SCALARS];
  double d[APPLY_MAX_SCALARS];
  float _Complex cf[APPLY_MAX_SCALARS];
  double _Complex cd[APPLY_MAX_SCALARS];
} scalars;

typedef struct apply_work {
  apply_loop *loop;
  weft_dtype type;
  size_t size; /* of an element */
  bool option;
  int vars;
  char *var[APPLY_MAX_VARS];
  const char *grad;
  scalars scalar;
  const weft_tensor *indices; /* NULL if the update is dense */
  int64_t row;                /* elements of one row if sparse */
  row_parts parts;            /* if sparse */
} apply_work;

static apply_loop *loop_for(const optimizer *of, weft_dtype type) {
  switch (type) {
  case WEFT_HALF:
  case WEFT_BFLOAT16:
  case WEFT_FLOAT: return of->of_float;
  case WEFT_DOUBLE: return of->of_double;
  case WEFT_COMPLEX64: return of->of_complex64;
  case WEFT_COMPLEX128: return of->of_complex128;
  default: return NULL;
  }
}

/* Returns the name of an argument in TensorFlow's messages. */
static const char *apply_called(const char *arg) {
  if (!strcmp(arg, "l1")) return "l1 regularization strength";
  if (!strcmp(arg, "l2")) return "l2 regularization strength";
  if (!strcmp(arg, "l2_shrinkage")) return "l2 shrinkage regularization strength";
  return arg;
}

static weft_err check_scalar(const kernel *k, int i, bool signs) {
  const char *arg = k->op->opdef.in[i].name, *what = "a scalar";
  const weft_tensor *t = k->in[i];
  bool right = true;
  if (signs) {
    const double v = t->shape.rank == 0 ? weft__tensor_double(t, 0) : 0;
    if (!strcmp(arg, "lr"))
      right = v > 0, what = "a positive scalar";
    else if (!strcmp(arg, "lr_power"))
      right = v <= 0, what = "a non-positive scalar";
    else
      right = v >= 0, what = "a non-negative scalar";
  }
  if (t->shape.rank == 0 && right) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s is not %s: %s", apply_called(arg), what,
                           weft__shape_text(&t->shape));
}

/* Stores a scalar argument.  The only real argument of a complex update is global_step. */
static void store_scalar(apply_work *j, int slot, const weft_tensor *t) {
  const bool real = weft__dtype_class(t->dtype) != CLASS_COMPLEX;
  switch (j->type) {
  case WEFT_DOUBLE: j->scalar.d[slot] = weft__tensor_double(t, 0); break;
  case WEFT_COMPLEX64:
    j->scalar.cf[slot] = real ? (float)weft__tensor_double(t, 0) : *TENSOR_DATA(t, const float _Complex);
    break;
  case WEFT_COMPLEX128:
    j->scalar.cd[slot] = real ? weft__tensor_double(t, 0) : *TENSOR_DATA(t, const double _Complex);
    break;
  default: j->scalar.f[slot] = (float)weft__tensor_double(t, 0);
  }
}

static inline int64_t apply_index_at(const weft_tensor *t, int64_t i) {
  return t->dtype == WEFT_INT32 ? TENSOR_DATA(t, const int32_t)[i] : TENSOR_DATA(t, const int64_t)[i];
}

static weft_err check_slices(const kernel *k, const layout *l, const shape *var) {
  const weft_tensor *grad = k->in[l->grad], *indices = k->in[l->indices];
  if (var->rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "var must be at least 1 dimensional");
  if (indices->shape.rank != 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "indices must be one-dimensional");
  if (grad->shape.rank != var->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "var and grad must have the same rank: %s %s",
                             weft__shape_text(var), weft__shape_text(&grad->shape));
  for (int i = 1; i < var->rank; i++)
    if (var->dim[i] != grad->shape.dim[i])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "var and grad must match in dimension %d", i);
  const int64_t n = indices->shape.dim[0];
  if (grad->shape.dim[0] != n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "grad must be the same size as indices in the first dimension.");
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = apply_index_at(indices, i);
    if (at < 0 || at >= var->dim[0])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Index %lld at offset %lld in indices is out of range",
                               (long long)at, (long long)i);
  }
  return WEFT_OK;
}

static weft_err same_shape(const kernel *k, const shape *var, const shape *other, const char *name) {
  if (weft__shape_equal(var, other)) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "var and %s do not have the same shape%s %s", name,
                           weft__shape_text(var), weft__shape_text(other));
}

/* Checks everything before anything is written.  The caller holds the locks. */
static weft_err apply_check(const kernel *k, const optimizer *of, const layout *l, variable *const *v) {
  const arg_def *arg = k->op->opdef.in;
  const weft_dtype type = k->in[l->grad]->dtype;
  const bool sparse = l->indices >= 0;
  for (int i = 0; i < l->vars; i++) {
    if (!v[i]->value.buf) return weft__kernel_in(k, weft__variable_uninitialized_error(v[i]));
    if (v[i]->value.dtype != type)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s holds %s, the gradient is %s", v[i]->name,
                               weft__dtype_name(v[i]->value.dtype), weft__dtype_name(type));
  }
  const shape *var = &v[0]->value.shape;
  for (int i = 1; i < l->vars; i++) WEFT_TRY(same_shape(k, var, &v[i]->value.shape, arg[i].name));
  const bool signs = of->signs == SIGNS_CHECKED || (of->signs == SIGNS_CHECKED_SPARSE && sparse);
  for (int i = 0; i < l->scalars; i++) WEFT_TRY(check_scalar(k, l->scalar[i], signs));
  if (sparse) return check_slices(k, l, var);
  return same_shape(k, var, &k->in[l->grad]->shape, arg[l->grad].name);
}

/* ---- running the loop ---- */

/* Widens 16-bit numbers one tile at a time, updates them as floats and stores them again. */
static void span_of_halves(const apply_work *j, int64_t at, int64_t grad_at, int64_t n) {
  float var[APPLY_MAX_VARS][TILE], grad[TILE];
  apply_span s = {.var = {var[0], var[1], var[2], var[3]}, .grad = grad, .scalar = &j->scalar, .option = j->option};
  for (int64_t done = 0; done < n; done += TILE) {
    s.n = n - done < TILE ? n - done : TILE;
    weft__widen(grad, (const uint16_t *)(const void *)j->grad + grad_at + done, s.n, j->type);
    for (int v = 0; v < j->vars; v++) weft__widen(var[v], (uint16_t *)(void *)j->var[v] + at + done, s.n, j->type);
    j->loop(&s);
    for (int v = 0; v < j->vars; v++) weft__narrow((uint16_t *)(void *)j->var[v] + at + done, var[v], s.n, j->type);
  }
}

/* Updates n elements from `at` on with the gradient from `grad_at` on. */
static void apply_rows(const apply_work *j, int64_t at, int64_t grad_at, int64_t n) {
  if (j->type == WEFT_HALF || j->type == WEFT_BFLOAT16) {
    span_of_halves(j, at, grad_at, n);
    return;
  }
  const int64_t size = (int64_t)j->size;
  apply_span s = {.grad = j->grad + grad_at * size, .scalar = &j->scalar, .n = n, .option = j->option};
  for (int v = 0; v < j->vars; v++) s.var[v] = j->var[v] + at * size;
  j->loop(&s);
}

static void apply_dense(void *arg, int64_t begin, int64_t end) { apply_rows(arg, begin, begin, end - begin); }

static void prefetch_row(const apply_work *j, int64_t row) {
  const size_t size = (size_t)j->row * j->size;
  for (int v = 0; v < j->vars; v++) weft__prefetch(j->var[v] + (size_t)row * size, size);
}

static void apply_sparse(void *arg, int64_t begin, int64_t end) {
  const apply_work *j = arg;
  const int64_t n = j->indices->shape.dim[0];
  for (int64_t part = begin; part < end; part++)
    for (int64_t i = 0; i < n; i++) {
      const int64_t at = apply_index_at(j->indices, i);
      const int64_t later = apply_index_at(j->indices, i + PREFETCH_ROWS < n ? i + PREFETCH_ROWS : i);
      if (weft__row_parts_owns(j->parts, part, later)) prefetch_row(j, later);
      if (weft__row_parts_owns(j->parts, part, at)) apply_rows(j, at * j->row, i * j->row, j->row);
    }
}

static void apply_run(const kernel *k, apply_work *j, const shape *var) {
  enum { SERIAL_ELEMENTS = 1 << 13 }; /* fewer are not worth a second thread */
  if (!j->indices) {
    weft__kernel_loop(k, weft__shape_count(var), 2, apply_dense, j);
    return;
  }
  j->row = weft__shape_product(var, 1, var->rank);
  const int64_t elements = j->indices->shape.dim[0] * j->row;
  pool *p = elements < SERIAL_ELEMENTS || !k->step ? NULL : k->step->intra;
  j->parts = weft__row_parts(weft__pool_threads(p), (size_t)j->row * j->size);
  weft__pool_loop(p, j->parts.parts, 1, apply_sparse, j);
}

static weft_err apply_update(kernel *k, const optimizer *of, const layout *l, variable *const *v) {
  WEFT_TRY(apply_check(k, of, l, v));
  const weft_tensor *grad = k->in[l->grad];
  apply_work j = {.loop = loop_for(of, grad->dtype), .type = grad->dtype, .vars = l->vars, .grad = grad->data};
  if (!j.loop) return weft__kernel_no_type(k, grad->dtype);
  j.size = weft__dtype_size(j.type);
  j.option = of->option && weft__node_bool(k->node, of->option, false);
  j.indices = l->indices >= 0 ? k->in[l->indices] : NULL;
  for (int i = 0; i < l->scalars; i++) store_scalar(&j, i, k->in[l->scalar[i]]);
  for (int i = 0; i < l->vars; i++) {
    weft_tensor *t = NULL;
    WEFT_TRY(weft__variable_writable(v[i], &t));
    j.var[i] = t->data;
  }
  apply_run(k, &j, &v[0]->value.shape);
  return WEFT_OK;
}

weft_err weft__apply(kernel *k, const optimizer *of) {
  const layout *l = k->state;
  variable *v[APPLY_MAX_VARS];
  for (int i = 0; i < l->vars; i++) WEFT_TRY(weft__kernel_variable(k, i, &v[i]));
  weft__variable_lock(l->vars, v);
  const weft_err err = apply_update(k, of, l, v);
  weft__variable_unlock(l->vars, v);
  if (err == WEFT_OK && k->n_out > 0) weft__out_ref(k, 0, v[0]);
  return err;
}
