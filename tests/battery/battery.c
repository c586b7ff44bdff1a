/* battery.c - the checks that every registered op must pass.
 *
 *   battery STEM...                the ops of ops/STEM.c; without an argument all of them
 *   battery --device NAME STEM...  those that have a kernel on that device, against the CPU's (device.c)
 *   battery --peer STEM...         while another thread writes to their inputs (peer.c)
 *
 * For each case of an op, it checks that
 *   - the node accepts the inputs and is unchanged after export to a GraphDef and import;
 *   - it gives the expected values, in the first run and again after the plan has laid out its memory;
 *   - the shapes of the outputs agree with the shape rule;
 *   - inputs of other shapes give an error or a value;
 *   - the gradient agrees with finite differences;
 *   - every failed allocation is reported as an error;
 *   - no guard byte around a tensor, on the heap or in the plan's arena, is overwritten (base/guard.h).
 * A file without cases names the tests that run its ops (scenario.c).  If a case has no expected values,
 * tests/parity compares with TensorFlow. tests/battery_wrong/ has ops that each of these checks must reject. */
#include "ops/all.h"
#include "base/alloc.h"
#include "base/guard.h"
#include "base/text.h"
#include "exec/session.h"
#include "graph/graphdef.h"
#include "tests/battery/battery.h"
#include <math.h>
#include <stdio.h>

static int failures, asked;

void battery_fail(const test_case *c, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  printf("FAILED %s { %s | %s }: ", c->op->opdef.name, c->from->in ? c->from->in : "",
         c->from->attr ? c->from->attr : "");
  vprintf(fmt, args);
  printf("\n");
  va_end(args);
  failures++;
}

void battery_fail_file(const char *stem, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  printf("FAILED file %s.c: ", stem);
  vprintf(fmt, args);
  printf("\n");
  va_end(args);
  failures++;
}

/* ---- running a case ------------------------------------------------------------------------------- */

weft_session *battery_session(const case_graph *cg, const test_case *c, int intra_threads) {
  weft_session *s = NULL;
  const session_opts opts = {.intra_threads = intra_threads, .inter_threads = 1};
  if (weft__session_create(&s, cg->g, &opts) == WEFT_OK) return s;
  battery_fail(c, "no session: %s", weft__error_message());
  return NULL;
}

weft_err battery_run(const case_graph *cg, weft_session *s, const test_case *c, int n_fetch, const weft_out *fetch,
                     weft_tensor **out) {
  return battery_run_for(cg, s, c, n_fetch, fetch, out, 0);
}

weft_err battery_run_for(const case_graph *cg, weft_session *s, const test_case *c, int n_fetch, const weft_out *fetch,
                         weft_tensor **out, int64_t timeout_ms) {
  weft_out feed[MAX_INPUTS];
  const weft_tensor *fed[MAX_INPUTS];
  int n = 0;
  for (int i = 0; i < c->n_in; i++) {
    if (c->in[i].is_variable || strcmp(cg->g->node[cg->feed[i].node]->op_name, "Const") == 0) continue;
    feed[n] = cg->feed[i];
    fed[n++] = c->in[i].value;
  }
  plan_request r = {
      .n_feed = n, .n_fetch = n_fetch, .n_target = 1, .feed = feed, .fetch = fetch, .target = &cg->node->id};
  return weft__session_run(s, &r, fed, out, &(run_opts){.timeout_ms = timeout_ms});
}

weft_err battery_init(const case_graph *cg, weft_session *s, const test_case *c) {
  if (!cg->n_init) return WEFT_OK;
  weft_out feed[MAX_INPUTS];
  const weft_tensor *fed[MAX_INPUTS];
  int n = 0;
  for (int i = 0; i < c->n_in; i++) {
    if (!c->in[i].is_variable) continue;
    feed[n] = cg->feed[i];
    fed[n++] = c->in[i].value;
  }
  plan_request r = {.n_feed = n, .n_target = cg->n_init, .feed = feed, .target = cg->init};
  return weft__session_run(s, &r, fed, NULL, NULL);
}

/* The outputs that can be fetched: not handles. */
int battery_outputs(const case_graph *cg, weft_out *fetch) {
  int n = 0;
  for (int i = 0; i < cg->node->n_out && n < MAX_INPUTS; i++) {
    weft_dtype t = weft__dtype_base(cg->node->out_type[i]);
    if (t != WEFT_RESOURCE && t != WEFT_VARIANT) fetch[n++] = (weft_out){cg->node->id, (uint16_t)i};
  }
  return n;
}

/* ---- comparing ------------------------------------------------------------------------------------ */

static double slack = 1; /* other devices add in another order */

static double tolerance(weft_dtype t) {
  return slack * (t == WEFT_HALF                             ? 2e-3
                  : t == WEFT_BFLOAT16                       ? 2e-2
                  : t == WEFT_DOUBLE || t == WEFT_COMPLEX128 ? 1e-7
                                                             : 1e-5);
}

static bool near(double a, double b, double tol) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return a == b || fabs(a - b) <= tol * (1 + fabs(a));
}

/* Returns the greatest magnitude in a tensor of floats; 0 for other types. */
static double greatest(const weft_tensor *t) {
  double most = 0;
  for (int64_t i = 0; t->dtype == WEFT_FLOAT && i < weft__tensor_count(t); i++)
    if (isfinite(TENSOR_DATA(t, float)[i])) most = fmax(most, fabs((double)TENSOR_DATA(t, float)[i]));
  return most;
}

/* An element that is a sum of large terms may be small.  Its error is that of the terms, and elements of the same
 * tensor show how large these are. */
static bool is_rounding(const weft_tensor *want, const weft_tensor *got, int64_t i) {
  if (slack == 1 || want->dtype != WEFT_FLOAT) return false;
  const double difference = (double)TENSOR_DATA(want, float)[i] - (double)TENSOR_DATA(got, float)[i];
  return fabs(difference) <= 2e-6 * greatest(want);
}

static bool same_element(const weft_tensor *a, const weft_tensor *b, int64_t i) {
  if (a->dtype == WEFT_STRING) {
    const str *x = &TENSOR_DATA(a, str)[i], *y = &TENSOR_DATA(b, str)[i];
    return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
  }
  size_t size = weft__dtype_size(a->dtype);
  dtype_class k = weft__dtype_class(a->dtype);
  if (k == CLASS_FLOAT) return near(weft__tensor_double(a, i), weft__tensor_double(b, i), tolerance(a->dtype));
  if (a->dtype == WEFT_COMPLEX64)
    return near((double)TENSOR_DATA(a, float)[2 * i], (double)TENSOR_DATA(b, float)[2 * i], 1e-5) &&
           near((double)TENSOR_DATA(a, float)[2 * i + 1], (double)TENSOR_DATA(b, float)[2 * i + 1], 1e-5);
  if (a->dtype == WEFT_COMPLEX128)
    return near(TENSOR_DATA(a, double)[2 * i], TENSOR_DATA(b, double)[2 * i], 1e-7) &&
           near(TENSOR_DATA(a, double)[2 * i + 1], TENSOR_DATA(b, double)[2 * i + 1], 1e-7);
  return memcmp((char *)a->data + (size_t)i * size, (char *)b->data + (size_t)i * size, size) == 0;
}

bool battery_agree(const test_case *c, const char *what, int i, const weft_tensor *want, const weft_tensor *got) {
  if (want->dtype != got->dtype || !weft__shape_equal(&want->shape, &got->shape)) {
    battery_fail(c, "%s %d is %s%s, expected %s%s", what, i, weft__dtype_name(got->dtype),
                 weft__shape_text(&got->shape), weft__dtype_name(want->dtype), weft__shape_text(&want->shape));
    return false;
  }
  for (int64_t e = 0, n = weft__tensor_count(want); e < n; e++) {
    if (same_element(want, got, e) || is_rounding(want, got, e)) continue;
    text a = {0}, b = {0};
    weft__tensor_print(&a, want, 12);
    weft__tensor_print(&b, got, 12);
    battery_fail(c, "%s %d differs at element %lld: got %s, expected %s", what, i, (long long)e, weft__text_get(&b),
                 weft__text_get(&a));
    weft__text_finish(&a);
    weft__text_finish(&b);
    return false;
  }
  return true;
}

static void check_expected(const test_case *c, int n, weft_tensor *const *got) {
  int i = 0;
  for (const char *at = c->from->out; *at; i++) {
    const char *end = case_part_end(at);
    bool is_variable;
    weft_tensor *want;
    if (case_value(&want, at, end, (uint64_t)i, &is_variable) != WEFT_OK) {
      battery_fail(c, "the expected value cannot be read: %s", weft__error_message());
      return;
    }
    if (i < n) battery_agree(c, "output", i, want, got[i]);
    weft_tensor_destroy(want);
    at = *end ? end + 1 : end;
  }
  if (i > n) battery_fail(c, "%d outputs are expected, the op has %d", i, n);
}

/* ---- the questions ------------------------------------------------------------------------------------ */

static void ask_shape_rule(const test_case *c, const case_graph *cg, int n, const weft_out *fetch,
                           weft_tensor *const *got) {
  for (int i = 0; i < n; i++) {
    const shape *s = weft__out_shape(cg->g, fetch[i]);
    if (!weft__shape_compatible(s, &got[i]->shape))
      battery_fail(c, "the shape rule says %s for output %d, the kernel made %s", weft__shape_text(s), fetch[i].slot,
                   weft__shape_text(&got[i]->shape));
  }
}

/* The second and third run use the memory the first one planned: the values must not change. */
static void ask_again(const test_case *c, const case_graph *cg, int n, const weft_out *fetch,
                      weft_tensor *const *first) {
  if ((c->from->flags & CASE_RANDOM) || cg->n_init) return;
  weft_session *s = battery_session(cg, c, 2);
  for (int round = 0; s && round < 3; round++) {
    weft_tensor *got[MAX_INPUTS] = {NULL};
    if (battery_run(cg, s, c, n, fetch, got) != WEFT_OK) {
      battery_fail(c, "run %d fails: %s", round, weft__error_message());
      break;
    }
    for (int i = 0; i < n; i++) {
      battery_agree(c, "in a later run, output", i, first[i], got[i]);
      weft_tensor_destroy(got[i]);
    }
  }
  weft__session_destroy(s);
}

/* What is fetched stays on the heap.  Fetched by nobody, the outputs lie in the arena from the second run on. */
static void ask_arena(const test_case *c, const case_graph *cg) {
  weft_session *s = battery_session(cg, c, 2);
  weft_err err = WEFT_OK;
  int round = 0;
  if (s) err = battery_init(cg, s, c);
  for (; s && round < 3 && !err; round++) err = battery_run(cg, s, c, 0, NULL, NULL);
  const bool moved_on = cg->n_init && round > 1; /* a changed variable may refuse a second run */
  if (err && !moved_on) battery_fail(c, "a run without fetches fails: %s", weft__error_message());
  weft__session_destroy(s);
}

static void ask_guards(const test_case *c) {
  static long before;
  char last[256];
  const long now = weft__guard_failures(last, sizeof last);
  if (now > before) battery_fail(c, "memory outside of %ld tensors was written; the last: %s", now - before, last);
  before = now;
}

static void ask_wire(const test_case *c, const case_graph *cg, const op_table *ops) {
  uint8_t *bytes = NULL;
  size_t size;
  weft_graph *copy = NULL;
  weft_err err = weft__graph_export(cg->g, NULL, &bytes, &size);
  if (!err) err = weft__graph_create(&copy, ops);
  if (!err) err = weft__graph_import(copy, bytes, size, NULL);
  if (err)
    battery_fail(c, "the node does not survive export and import: %s", weft__error_message());
  else {
    const weft_node *a = cg->node, *b = weft__graph_find(copy, a->name);
    if (!b || a->n_attr != b->n_attr || a->n_out != b->n_out || a->n_in != b->n_in)
      battery_fail(c, "the node has changed on its way through GraphDef");
    for (int i = 0; b && i < a->n_attr; i++) {
      const attr *other = weft__node_attr(b, a->attr[i].name);
      if (!other || !weft__attr_equal(&a->attr[i], other))
        battery_fail(c, "attr '%s' has changed on its way through GraphDef", a->attr[i].name);
    }
  }
  weft__free(bytes);
  weft__graph_destroy(copy);
}

/* Fails the first, second, ... allocation of building and running: an error or success each time, no crash. */
static void ask_memory(const test_case *c, const op_table *ops) {
  for (long n = 1; n < 400; n += n < 60 ? 1 : 17) {
    case_graph cg;
    weft_session *s = NULL;
    weft_tensor *got[MAX_INPUTS] = {NULL};
    weft_out fetch[MAX_INPUTS];
    weft__alloc_fail_after(n);
    weft_err err = case_build(&cg, ops, c);
    if (!err) err = weft__session_create(&s, cg.g, &(session_opts){.intra_threads = 1, .inter_threads = 1});
    if (!err) err = battery_init(&cg, s, c);
    int n_out = err ? 0 : battery_outputs(&cg, fetch);
    if (!err) err = battery_run(&cg, s, c, n_out, fetch, got);
    weft__alloc_fail_after(0);
    for (int i = 0; i < n_out; i++) weft_tensor_destroy(got[i]);
    weft__session_destroy(s);
    weft__graph_destroy(cg.g);
    if (!err) return;
  }
}

static void expect_error(const test_case *c, weft_err err, const char *name) {
  const char *got = weft__error_name(err);
  if (strcmp(got, name) != 0)
    battery_fail(c, "expected the error %s, got %s%s%s", name, got, err ? ": " : "", err ? weft__error_message() : "");
}

static void ask_values(const test_case *c, case_graph *cg, weft_session *s, const op_table *ops) {
  weft_out fetch[MAX_INPUTS];
  weft_tensor *got[MAX_INPUTS] = {NULL};
  int n = battery_outputs(cg, fetch);
  weft_err err = battery_init(cg, s, c);
  if (!err) err = battery_run(cg, s, c, n, fetch, got);
  if (c->from->out && strncmp(c->from->out, "error ", 6) == 0)
    expect_error(c, err, c->from->out + 6);
  else if (err)
    battery_fail(c, "%s: %s", weft__error_name(err), weft__error_message());
  else {
    if (c->from->out) check_expected(c, n, got);
    ask_shape_rule(c, cg, n, fetch, got);
    ask_again(c, cg, n, fetch, got);
    ask_arena(c, cg);
    ask_wire(c, cg, ops);
    if (!(c->from->flags & (CASE_NO_GRAD | CASE_RANDOM)) && c->op->grad) ask_gradient(c, ops);
  }
  for (int i = 0; i < n; i++) weft_tensor_destroy(got[i]);
}

/* The node could not be added to a graph. */
static void ask_refused(const test_case *c, weft_err err) {
  if (c->from->out && strncmp(c->from->out, "error ", 6) == 0)
    expect_error(c, err, c->from->out + 6);
  else
    battery_fail(c, "cannot be built: %s", weft__error_message());
}

static void ask_case(const op_table *ops, const op *o, const op_case *oc, bool first) {
  test_case c;
  asked++;
  if (case_read(&c, o, oc) != WEFT_OK) {
    c = (test_case){.op = o, .from = oc};
    battery_fail(&c, "%s", weft__error_message());
    return;
  }
  case_graph cg;
  weft_session *s = NULL;
  weft_err err = case_build(&cg, ops, &c);
  if (err)
    ask_refused(&c, err);
  else if ((s = battery_session(&cg, &c, 2)))
    ask_values(&c, &cg, s, ops);
  weft__session_destroy(s);
  weft__graph_destroy(cg.g);
  if (first) ask_memory(&c, ops);
  ask_odd(&c, ops);
  case_finish(&c);
}

static bool chosen(const char *stem, int argc, char **argv) {
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], stem) == 0) return true;
  return argc == 0;
}

static bool peer;

static void ask_on(const char *on, const op_table *ops, const op *o, const op_case *c) {
  if (peer)
    asked += ask_peer(ops, o, c);
  else if (on)
    asked += ask_device(ops, o, c, on);
  else
    ask_case(ops, o, c, c == o->cases);
  ask_guards(&(test_case){.op = o, .from = c});
}

/* The ops of one file; how many there are. */
static int ask_file(const char *on, const op_table *ops, const char *stem, const op *list) {
  int rows = 0;
  bool has_cases = false;
  for (const op *row = list; row->def; row++, rows++) {
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(row->def, "("), row->def);
    const op *o = weft__op_find(ops, name);
    if (!on && !o->cases) {
      ask_odd_without_cases(o, ops);
      ask_guards(&(test_case){.op = o, .from = &(op_case){.in = "no cases"}});
    }
    for (const op_case *c = o->cases; c && (c->in || c->attr || c->out); c++, has_cases = true) ask_on(on, ops, o, c);
  }
  if (!on && !peer) ask_scenario(stem, list, has_cases);
  return rows;
}

int main(int argc, char **argv) {
  const op_table *ops;
  const char *on = argc > 2 && strcmp(argv[1], "--device") == 0 ? argv[2] : NULL;
  peer = argc > 1 && strcmp(argv[1], "--peer") == 0;
  const int skip = on ? 3 : peer ? 2 : 1;
  if (peer) setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  if (on) slack = 5;
  weft__guard_enable();
  if (weft__ops_table(&ops) != WEFT_OK) {
    printf("the table of ops cannot be made: %s\n", weft__error_message());
    return 2;
  }
  const op *const *list = weft__ops_all();
  const char *const *stem = weft__ops_stems();
  int rows = 0;
  for (; *list; list++, stem++)
    if (chosen(*stem, argc - skip, argv + skip)) rows += ask_file(on, ops, *stem, *list);
  if (!rows) {
    printf("there is no ops file of that name\n");
    return 2;
  }
  printf("%d ops, %d cases, %d failures\n", rows, asked, failures);
  return failures != 0;
}
