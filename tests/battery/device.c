/* device.c - runs the cases of an op on another device and compares the results with the CPU's.
 *
 * Both sides name their device, because nodes without one are placed on a GPU too.
 * Outputs, the variables afterwards and the gradients must agree.  They must do so in the first run, which records
 * how much memory is needed, and in later runs, which may be captured and launched as a CUDA graph.  A case of
 * floats runs in every float type that both devices support.  An error that a GPU kernel cannot detect without
 * waiting for values, such as an index out of range, may be missing there. */
#include "graph/gradient.h"
#include "kernels/gpu/gpu_host.h"
#include "tests/battery/battery.h"

enum { ROUNDS = 4 };

typedef struct side {
  case_graph cg;
  weft_session *s;
  weft_out fetch[4 * MAX_INPUTS];
  int n, n_values; /* outputs and variables first, gradients behind them */
} side;

static weft_err retype(weft_tensor **t, weft_dtype type) {
  weft_tensor *made;
  const int64_t n = weft__tensor_count(*t);
  WEFT_TRY(weft__tensor_create(&made, type, &(*t)->shape));
  for (int64_t i = 0; i < n; i++) {
    const double v = weft__tensor_double(*t, i);
    if (type == WEFT_DOUBLE)
      TENSOR_DATA(made, double)[i] = v;
    else
      TENSOR_DATA(made, uint16_t)
    [i] = type == WEFT_HALF ? weft__half_from_float((float)v) : weft__bfloat16_from_float((float)v);
  }
  weft_tensor_destroy(*t);
  *t = made;
  return WEFT_OK;
}

/* Every float input becomes one of `type`; false if there is none, or the case insists on float. */
static bool retype_all(test_case *c, weft_dtype type) {
  bool any = false;
  if (type == WEFT_FLOAT) return true;
  if ((c->from->flags & (CASE_FIXED_TYPE | CASE_RANDOM)) || (c->from->attr && strstr(c->from->attr, "=float")))
    return false;
  for (int i = 0; i < c->n_in; i++)
    if (c->in[i].value->dtype == WEFT_FLOAT) any = retype(&c->in[i].value, type) == WEFT_OK;
  return any;
}

static bool smooth(weft_dtype t) { return t == WEFT_FLOAT || t == WEFT_DOUBLE; }

/* The gradients towards the inputs, of the sum of all outputs. */
static void add_gradients(side *p, const test_case *c) {
  weft_out all[MAX_INPUTS], ys[MAX_INPUTS], xs[MAX_INPUTS];
  grad_value d[MAX_INPUTS];
  int n_y = 0, n_x = 0;
  const int n = battery_outputs(&p->cg, all);
  if ((c->from->flags & (CASE_NO_GRAD | CASE_RANDOM)) || !c->op->grad) return;
  for (int i = 0; i < n; i++)
    if (smooth(weft__out_type(p->cg.g, all[i]))) ys[n_y++] = all[i];
  for (int i = 0; i < c->n_in; i++)
    if (smooth(c->in[i].value->dtype) && !c->in[i].is_variable) xs[n_x++] = p->cg.feed[i];
  if (!n_x || !n_y || weft__gradients(p->cg.g, n_y, ys, n_x, xs, NULL, NULL, d) != WEFT_OK) return;
  for (int i = 0; i < n_x; i++) {
    const weft_out dx = weft__gradient_dense(p->cg.g, &d[i]);
    if (dx.node >= 0) p->fetch[p->n++] = dx;
  }
}

/* Fails where the op does not take the case in this type.  A session that cannot be created fails the case. */
static weft_err prepare(side *p, const test_case *c, const op_table *ops, const char *on) {
  *p = (side){0};
  WEFT_TRY(case_build(&p->cg, ops, c));
  p->n = battery_outputs(&p->cg, p->fetch);
  p->n_values = p->n;
  add_gradients(p, c);
  for (int i = 0; i < p->cg.g->n_node; i++) p->cg.g->node[i]->device = on;
  const session_opts opts = {.intra_threads = 1, .inter_threads = 1, .allow_soft_placement = true};
  const weft_err err = weft__session_create(&p->s, p->cg.g, &opts);
  if (err) battery_fail(c, "no session on %s: %s", on, weft__error_message());
  return err;
}

static void finish(side *p) {
  weft__session_destroy(p->s);
  weft__graph_destroy(p->cg.g);
}

static void drop(weft_tensor **t, int n) {
  for (int i = 0; i < n; i++) weft_tensor_destroy(t[i]);
}

/* The variables as an update left them: in a run of their own. */
static void compare_variables(const test_case *c, side *cpu, side *gpu) {
  for (int i = 0; i < c->n_in; i++) {
    if (cpu->cg.read[i].node < 0) continue;
    weft_tensor *want = NULL, *got = NULL;
    const plan_request a = {.n_fetch = 1, .fetch = &cpu->cg.read[i]}, b = {.n_fetch = 1, .fetch = &gpu->cg.read[i]};
    if (weft__session_run(cpu->s, &a, NULL, &want, NULL) != WEFT_OK) continue;
    if (weft__session_run(gpu->s, &b, NULL, &got, NULL) != WEFT_OK)
      battery_fail(c, "variable %d cannot be read: %s", i, weft__error_message());
    else
      battery_agree(c, "variable", i, want, got);
    weft_tensor_destroy(want);
    weft_tensor_destroy(got);
  }
}

/* One run of both; false when there is nothing more to compare, not even the variables.  A kernel that is UNIMPLEMENTED
 * for a case says so, as MaxPool over channels does. */
static bool compare_round(const test_case *c, side *cpu, side *gpu, int round) {
  weft_tensor *want[4 * MAX_INPUTS] = {NULL}, *got[4 * MAX_INPUTS] = {NULL};
  weft_err err = battery_run(&cpu->cg, cpu->s, c, cpu->n, cpu->fetch, want);
  if (err) { /* the device may refuse it as well, or not know; it must only survive */
    if (battery_run(&gpu->cg, gpu->s, c, gpu->n, gpu->fetch, got) == WEFT_OK) drop(got, gpu->n);
    return false;
  }
  err = battery_run(&gpu->cg, gpu->s, c, gpu->n, gpu->fetch, got);
  if (err == WEFT_UNIMPLEMENTED) {
    drop(want, cpu->n);
    return false;
  }
  if (err) battery_fail(c, "run %d fails on the device: %s", round, weft__error_message());
  for (int i = 0; i < cpu->n && !err; i++)
    battery_agree(c, i < cpu->n_values ? "on the device, output" : "on the device, gradient", i, want[i], got[i]);
  drop(want, cpu->n);
  drop(got, gpu->n);
  return !err;
}

/* Seeds of its own make a random node's numbers those of the CPU.  A stateful op without inputs tells something of its
 * device, such as BytesInUse. */
static bool comparable(const test_case *c) {
  if (c->op->opdef.stateful && c->n_in == 0) return false;
  return !(c->from->flags & CASE_RANDOM) || (c->from->attr && strstr(c->from->attr, "seed="));
}

static int ask_type(const op_table *ops, const op *o, const op_case *oc, const char *on, weft_dtype type) {
  test_case c;
  side cpu = {0}, gpu = {0};
  int asked = 0;
  if (case_read(&c, o, oc) != WEFT_OK) return 0;
  if (comparable(&c) && retype_all(&c, type) && prepare(&cpu, &c, ops, "/device:CPU:0") == WEFT_OK &&
      prepare(&gpu, &c, ops, on) == WEFT_OK && weft__gpu_kernel(gpu.cg.node).op) {
    asked = 1;
    if (battery_init(&cpu.cg, cpu.s, &c) != WEFT_OK || battery_init(&gpu.cg, gpu.s, &c) != WEFT_OK)
      battery_fail(&c, "the variables cannot be set: %s", weft__error_message());
    else
      for (int round = 0; round < ROUNDS; round++)
        if (compare_round(&c, &cpu, &gpu, round))
          compare_variables(&c, &cpu, &gpu);
        else
          break;
  }
  finish(&cpu);
  finish(&gpu);
  case_finish(&c);
  return asked;
}

int ask_device(const op_table *ops, const op *o, const op_case *oc, const char *on) {
  static const weft_dtype types[] = {WEFT_FLOAT, WEFT_DOUBLE, WEFT_HALF, WEFT_BFLOAT16};
  int asked = 0;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) asked += ask_type(ops, o, oc, on, types[i]);
  return asked;
}
