/* slope.c - compares a gradient with finite differences.
 *
 * The case runs in double precision if the op allows it.  The function is a weighted sum of the outputs.  A few
 * elements of every input are changed a little in both directions.  If the two one-sided slopes differ, the function
 * has a kink there, and the element is skipped. */
#include "base/alloc.h"
#include "graph/gradient.h"
#include "tests/battery/battery.h"
#include <math.h>

enum { PLACES = 12 };

static bool allows_double(const op *o, const char *type_attr) {
  const attr_def *d = type_attr ? weft__opdef_attr(&o->opdef, type_attr) : NULL;
  if (!d || d->allowed.kind == ATTR_NONE) return d != NULL;
  for (int i = 0; i < d->allowed.n; i++)
    if (d->allowed.types[i] == WEFT_DOUBLE) return true;
  return false;
}

static weft_err as_double(weft_tensor **t) {
  weft_tensor *wide;
  WEFT_TRY(weft__tensor_create(&wide, WEFT_DOUBLE, &(*t)->shape));
  for (int64_t i = 0, n = weft__tensor_count(*t); i < n; i++) TENSOR_DATA(wide, double)[i] = weft__tensor_double(*t, i);
  weft_tensor_destroy(*t);
  *t = wide;
  return WEFT_OK;
}

/* Widens float inputs whose argument may be double.  Lists are left alone unless all share one attribute. */
static weft_err widen(test_case *c) {
  const opdef *d = &c->op->opdef;
  if (c->from->flags & CASE_FIXED_TYPE) return WEFT_OK;
  if (c->from->attr && strstr(c->from->attr, "=float")) return WEFT_OK; /* the case insists */
  for (int i = 0; i < c->n_in; i++) {
    const arg_def *arg = NULL;
    for (int j = 0; j < d->n_in && !arg; j++)
      if (j == i || d->in[j].number_attr || j == d->n_in - 1) arg = &d->in[j];
    if (c->in[i].value->dtype == WEFT_FLOAT && arg && allows_double(c->op, arg->type_attr))
      WEFT_TRY(as_double(&c->in[i].value));
  }
  return WEFT_OK;
}

static bool smooth(weft_dtype t) { return t == WEFT_FLOAT || t == WEFT_DOUBLE; }

typedef struct slope {
  case_graph cg;
  weft_session *s;
  test_case c;
  weft_out ys[MAX_INPUTS], seeds[MAX_INPUTS], dx[MAX_INPUTS];
  weft_tensor *seed[MAX_INPUTS];
  int n_y;
} slope;

/* A fixed spread of weights, so that no output's share can hide. */
static double weight(int64_t i, int y) { return 0.4 + 0.3 * sin(1.7 * (double)i + y); }

static weft_err make_seeds(slope *p) {
  weft_out all[MAX_INPUTS];
  int n = battery_outputs(&p->cg, all);
  for (int i = 0; i < n; i++)
    if (smooth(weft__out_type(p->cg.g, all[i]))) p->ys[p->n_y++] = all[i];
  weft_tensor *now[MAX_INPUTS] = {NULL};
  WEFT_TRY(battery_init(&p->cg, p->s, &p->c));
  WEFT_TRY(battery_run(&p->cg, p->s, &p->c, p->n_y, p->ys, now));
  weft_err err = WEFT_OK;
  for (int y = 0; y < p->n_y && !err; y++) {
    err = weft__tensor_create(&p->seed[y], now[y]->dtype, &now[y]->shape);
    for (int64_t i = 0, count = weft__tensor_count(now[y]); i < count && !err; i++)
      if (now[y]->dtype == WEFT_DOUBLE)
        TENSOR_DATA(p->seed[y], double)[i] = weight(i, y);
      else
        TENSOR_DATA(p->seed[y], float)[i] = (float)weight(i, y);
    weft_node *n_seed;
    attr a[] = {A_TENSOR("value", p->seed[y]), A_TYPE("dtype", now[y]->dtype)};
    if (!err)
      err = weft__graph_add(p->cg.g, &(node_spec){.op = "Const", .name = "seed", .n_attr = 2, .attr = a}, &n_seed);
    if (!err) p->seeds[y] = (weft_out){n_seed->id, 0};
  }
  for (int y = 0; y < p->n_y; y++) weft_tensor_destroy(now[y]);
  return err;
}

static weft_err function(slope *p, double *out) {
  weft_tensor *now[MAX_INPUTS] = {NULL};
  WEFT_TRY(battery_run(&p->cg, p->s, &p->c, p->n_y, p->ys, now));
  *out = 0;
  for (int y = 0; y < p->n_y; y++) {
    for (int64_t i = 0, n = weft__tensor_count(now[y]); i < n; i++)
      *out += weight(i, y) * weft__tensor_double(now[y], i);
    weft_tensor_destroy(now[y]);
  }
  return WEFT_OK;
}

static void move(weft_tensor *t, int64_t i, double to) {
  if (t->dtype == WEFT_DOUBLE)
    TENSOR_DATA(t, double)[i] = to;
  else
    TENSOR_DATA(t, float)[i] = (float)to;
}

static void compare_at(slope *p, int input, int64_t i, double got) {
  weft_tensor *x = p->c.in[input].value;
  double at = weft__tensor_double(x, i), by = x->dtype == WEFT_DOUBLE ? 1e-6 : 4e-3, low, mid, high;
  if (function(p, &mid) != WEFT_OK) return;
  move(x, i, at - by);
  weft_err err = function(p, &low);
  move(x, i, at + by);
  if (!err) err = function(p, &high);
  move(x, i, at);
  if (err || !isfinite(low) || !isfinite(high)) return;
  double left = (mid - low) / by, right = (high - mid) / by, want = (high - low) / (2 * by);
  double bound =
      (x->dtype == WEFT_DOUBLE ? 1e-4 : 3e-2) * (1 + fabs(want) + fabs(mid) * (x->dtype == WEFT_DOUBLE ? 1e-4 : 1e-2));
  if (fabs(left - right) > 2 * bound) return; /* a kink */
  if (!(fabs(got - want) <= bound))
    battery_fail(&p->c, "the gradient towards element %lld of input %d is %g, the slope is %g", (long long)i, input,
                 got, want);
}

static void compare_inputs(slope *p, const int *input, int n_x) {
  weft_out dx[MAX_INPUTS];
  weft_tensor *got[MAX_INPUTS] = {NULL};
  int n = 0, of[MAX_INPUTS];
  for (int i = 0; i < n_x; i++)
    if (p->dx[i].node >= 0) of[n] = input[i], dx[n++] = p->dx[i];
  if (battery_run(&p->cg, p->s, &p->c, n, dx, got) != WEFT_OK) {
    battery_fail(&p->c, "the gradient does not run: %s", weft__error_message());
    return;
  }
  for (int i = 0; i < n; i++) {
    const weft_tensor *x = p->c.in[of[i]].value;
    int64_t count = weft__tensor_count(x), stride = count / PLACES + 1;
    if (!weft__shape_equal(&got[i]->shape, &x->shape))
      battery_fail(&p->c, "the gradient of input %d has the shape %s, the input %s", of[i],
                   weft__shape_text(&got[i]->shape), weft__shape_text(&x->shape));
    else
      for (int64_t e = 0; e < count; e += stride) compare_at(p, of[i], e, weft__tensor_double(got[i], e));
    weft_tensor_destroy(got[i]);
  }
}

static weft_err differentiate(slope *p, int *input, int *n_x) {
  weft_out xs[MAX_INPUTS];
  grad_value d[MAX_INPUTS];
  for (int i = 0; i < p->c.n_in; i++)
    if (smooth(p->c.in[i].value->dtype) && !p->c.in[i].is_variable) {
      xs[*n_x] = p->cg.feed[i];
      input[(*n_x)++] = i;
    }
  if (!*n_x || !p->n_y) return WEFT_OK;
  WEFT_TRY(weft__gradients(p->cg.g, p->n_y, p->ys, *n_x, xs, p->seeds, NULL, d));
  for (int i = 0; i < *n_x; i++) p->dx[i] = weft__gradient_dense(p->cg.g, &d[i]);
  return weft__status_raise(&p->cg.g->sticky);
}

void ask_gradient(const test_case *original, const op_table *ops) {
  slope p = {0};
  int input[MAX_INPUTS], n_x = 0;
  if (case_read(&p.c, original->op, original->from) != WEFT_OK) return;
  weft_err err = widen(&p.c);
  if (!err) err = case_build(&p.cg, ops, &p.c);
  if (!err) err = weft__session_create(&p.s, p.cg.g, &(session_opts){.intra_threads = 1, .inter_threads = 1});
  if (!err) err = make_seeds(&p);
  if (!err) err = differentiate(&p, input, &n_x);
  if (err)
    battery_fail(original, "no gradient: %s", weft__error_message());
  else if (n_x && p.n_y)
    compare_inputs(&p, input, n_x);
  for (int y = 0; y < p.n_y; y++) weft_tensor_destroy(p.seed[y]);
  weft__session_destroy(p.s);
  weft__graph_destroy(p.cg.g);
  case_finish(&p.c);
}
