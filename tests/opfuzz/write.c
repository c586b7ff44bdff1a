/* write.c - writes a model in one of its forms, as a GraphDef and the request that runs it. */
#include "tests/opfuzz/flat.h"
#include "base/alloc.h"
#include <stdio.h>

const char *const fuzz_form_names[FORMS] = {"plain", "call", "named", "if",      "while",
                                            "case",  "cond", "loop",  "symbolic"};

typedef struct writer {
  request *q;
  flat *f;
  fuzz_random *r;
  flat_function body;
  int last;                         /* the flat node of the model's last node */
  Tensorflow__FunctionDef *made[8]; /* functions of this graph */
  int n_made;
} writer;

static const char *keep(writer *w, const char *text) { return weft__arena_strdup(&w->q->arena, text); }

static void want(writer *w, const char *name, int slot) {
  char line[128];
  if (w->q->n_fetch == 16) return;
  snprintf(line, sizeof line, "%s:%d", name, slot);
  w->q->fetch[w->q->n_fetch++] = keep(w, line);
}

static void run_also(writer *w, const char *name) {
  if (w->q->n_target < 64) w->q->target[w->q->n_target++] = keep(w, name);
}

static bool can_be_fetched(weft_dtype t) { return t != WEFT_INVALID && t != WEFT_RESOURCE && t != WEFT_VARIANT; }

/* ---- inside a function ---- */

static bool is_body_node(const flat_node *n) { return n->inner; }

/* What the nodes inside read from those outside are the arguments. */
static void find_args(writer *w) {
  flat_function *b = &w->body;
  b->f = w->f;
  b->name = "body";
  for (int i = 0; i < w->f->n; i++) {
    if (!is_body_node(&w->f->node[i])) continue;
    for (int k = 0; k < w->f->node[i].n_in; k++) {
      flat_edge e = w->f->node[i].in[k];
      bool known = w->f->node[e.node].inner || b->n_arg == 64;
      for (int j = 0; j < b->n_arg && !known; j++) known = b->arg[j].node == e.node && b->arg[j].slot == e.slot;
      if (known) continue;
      b->arg_type[b->n_arg] = flat_type(w->f, e);
      b->arg[b->n_arg++] = e;
    }
  }
}

static void find_rets(writer *w) {
  int n = model_out_count(w->f->m, w->f->node[w->last].from);
  for (int i = 0; i < n && i < 4; i++) {
    flat_edge e = {w->last, i};
    weft_dtype t = flat_type(w->f, e);
    if (t == WEFT_INVALID) continue;
    w->body.ret_type[w->body.n_ret] = t;
    w->body.ret[w->body.n_ret++] = e;
  }
}

static attr types(writer *w, const char *name, const weft_dtype *list, int n) {
  weft_dtype *copy = weft__arena_copy(&w->q->arena, list, sizeof *list * (size_t)(n ? n : 1));
  return A_TYPES(name, copy, n);
}

static attr function(const char *name, const char *of) {
  return (attr){.name = name, .kind = ATTR_FUNC, .s = {of, strlen(of)}};
}

/* A node that calls, with the arguments as inputs from `first` on. */
static flat_node *call_node(writer *w, const char *kind, int first) {
  flat_node *n = flat_add(w->f, kind, "call", WEFT_INVALID, "output", false);
  if (!n) return NULL;
  for (int i = 0; i < w->body.n_arg && first + i < MAX_IN + 8; i++) n->in[first + i] = w->body.arg[i];
  n->n_in = first + w->body.n_arg;
  return n;
}

static void add_types(writer *w, flat_node *n) {
  n->attr[n->n_attr++] = types(w, "Tin", w->body.arg_type, w->body.n_arg);
  n->attr[n->n_attr++] = types(w, "Tout", w->body.ret_type, w->body.n_ret);
}

static void fetch_call(writer *w) {
  for (int i = 0; i < w->body.n_ret; i++)
    if (can_be_fetched(w->body.ret_type[i])) want(w, "call", i);
  run_also(w, "call");
}

static void write_call(writer *w) {
  const bool named = w->q->form == FORM_NAMED;
  flat_node *n = call_node(w, named ? "body" : fuzz_one_in(w->r, 2) ? "PartitionedCall" : "StatefulPartitionedCall", 0);
  if (!n) return;
  if (!named) {
    add_types(w, n);
    n->attr[n->n_attr++] = function("f", "body");
  }
  fetch_call(w);
}

/* The condition: a constant or fed, mostly a bool. */
static int add_choice(writer *w, weft_dtype type, double value) {
  fuzz_in *in = weft__arena_alloc(&w->q->arena, sizeof *in);
  int at = flat_scalar(w->f, "choice", type, value, false);
  if (!fuzz_one_in(w->r, 2) || !in) return at;
  *in = *w->f->node[at].constant;
  w->f->n--;
  in->fed = true;
  flat_node *n = flat_placeholder(w->f, "choice", in);
  return n ? (int)(n - w->f->node) : 0;
}

static void write_if(writer *w) {
  const weft_dtype kinds[] = {WEFT_BOOL, WEFT_BOOL, WEFT_INT32, WEFT_FLOAT};
  int choice = add_choice(w, kinds[fuzz_below(w->r, 4)], fuzz_below(w->r, 2));
  flat_node *n = call_node(w, fuzz_one_in(w->r, 2) ? "If" : "StatelessIf", 1);
  if (!n) return;
  n->in[0] = (flat_edge){choice, 0};
  add_types(w, n);
  n->attr[n->n_attr++] = function("then_branch", "body");
  n->attr[n->n_attr++] = function("else_branch", "body");
  fetch_call(w);
}

static void write_case(writer *w) {
  int choice = add_choice(w, WEFT_INT32, fuzz_below(w->r, 6) - 1);
  flat_node *n = call_node(w, fuzz_one_in(w->r, 2) ? "Case" : "StatelessCase", 1);
  attr_str *list = weft__arena_alloc(&w->q->arena, 3 * sizeof *list);
  if (!n || !list) return;
  n->in[0] = (flat_edge){choice, 0};
  for (int i = 0; i < 3; i++) list[i] = (attr_str){"body", 4};
  add_types(w, n);
  n->attr[n->n_attr++] = (attr){.name = "branches", .kind = ATTR_FUNC, .is_list = true, .n = 3, .ss = list};
  fetch_call(w);
}

static void write_symbolic(writer *w) {
  flat_function *b = &w->body;
  weft_dtype in[80];
  char name[32];
  flat_node *n = call_node(w, "SymbolicGradient", 0);
  if (!n || b->n_arg + b->n_ret > MAX_IN) return;
  memcpy(in, b->arg_type, sizeof *in * (size_t)b->n_arg);
  for (int i = 0; i < b->n_ret; i++) {
    snprintf(name, sizeof name, "dy%d", i);
    in[b->n_arg + i] = b->ret_type[i];
    int at = can_be_fetched(b->ret_type[i]) ? flat_scalar(w->f, name, b->ret_type[i], 1, false) : 0;
    n->in[n->n_in++] = (flat_edge){at, 0};
  }
  n->attr[n->n_attr++] = types(w, "Tin", in, b->n_arg + b->n_ret);
  n->attr[n->n_attr++] = types(w, "Tout", b->arg_type, b->n_arg);
  n->attr[n->n_attr++] = function("f", "body");
  for (int i = 0; i < b->n_arg; i++)
    if (can_be_fetched(b->arg_type[i])) want(w, "call", i);
  run_also(w, "call");
}

/* ---- While: the body counts, and gives its arguments back ---- */

static Tensorflow__FunctionDef *condition(writer *w) {
  static flat f;
  static model none;
  flat_function fn = w->body;
  none.ops = w->f->m->ops;
  f = (flat){.m = &none, .arena = &w->q->arena};
  fn.f = &f;
  fn.name = "condition";
  int limit = flat_scalar(&f, "limit", WEFT_INT32, 2, true);
  flat_node *less = flat_add(&f, "Less", "less", WEFT_BOOL, "z", true);
  less->n_in = 2;
  less->in[0] = (flat_edge){-1, 0};
  less->in[1] = (flat_edge){limit, 0};
  for (int i = 0; i < fn.n_arg; i++) fn.arg[i] = (flat_edge){-1 - i, 0};
  fn.n_ret = 1;
  fn.ret_type[0] = WEFT_BOOL;
  fn.ret[0] = (flat_edge){(int)(less - f.node), 0};
  Tensorflow__FunctionDef *d = flat_function_def(&fn);
  for (size_t i = 0; i < d->n_node_def; i++) d->node_def[i]->name = (char *)(uintptr_t)keep(w, d->node_def[i]->name);
  return d;
}

static void write_while(writer *w) {
  flat_function *b = &w->body;
  if (b->n_arg > 24) return;
  int start = flat_scalar(w->f, "start", WEFT_INT32, 0, false);
  memmove(b->arg + 1, b->arg, sizeof *b->arg * (size_t)b->n_arg);
  memmove(b->arg_type + 1, b->arg_type, sizeof *b->arg_type * (size_t)b->n_arg);
  b->arg[0] = (flat_edge){start, 0};
  b->arg_type[0] = WEFT_INT32;
  b->n_arg++;
  int one = flat_scalar(w->f, "one", WEFT_INT32, 1, true);
  flat_node *next = flat_add(w->f, "AddV2", "next", WEFT_INT32, "z", true);
  if (!next) return;
  next->n_in = 2;
  next->in[0] = b->arg[0];
  next->in[1] = (flat_edge){one, 0};
  for (int i = 0; i < w->f->n; i++)
    if (w->f->node[i].from >= 0 && next->n_control < MAX_NODES) next->control[next->n_control++] = i;
  b->n_ret = b->n_arg > 16 ? 16 : b->n_arg;
  memcpy(b->ret, b->arg, sizeof *b->ret * (size_t)b->n_ret);
  memcpy(b->ret_type, b->arg_type, sizeof *b->ret_type * (size_t)b->n_ret);
  b->ret[0] = (flat_edge){(int)(next - w->f->node), 0};
  flat_node *n = call_node(w, fuzz_one_in(w->r, 2) ? "While" : "StatelessWhile", 0);
  if (!n) return;
  n->attr[n->n_attr++] = types(w, "T", b->arg_type, b->n_arg);
  n->attr[n->n_attr++] = function("cond", "condition");
  n->attr[n->n_attr++] = function("body", "body");
  w->made[w->n_made++] = condition(w);
  want(w, "call", 0);
}

/* ---- Switch and Merge; Enter, NextIteration and Exit ---- */

static void after(flat_node *n, int what) {
  if (n->n_control < MAX_NODES + 8) n->control[n->n_control++] = what;
}

/* A node for every argument that the inner nodes read instead. */
static void insert(writer *w, const char *kind, const char *ref_kind, int other, int slot, int n_inner) {
  char name[48];
  for (int i = 0; i < w->body.n_arg; i++) {
    flat_edge e = w->body.arg[i];
    const bool ref = flat_is_ref(w->f, e);
    snprintf(name, sizeof name, "in%d", i);
    flat_node *n = flat_add(w->f, ref ? ref_kind : kind, name, flat_type(w->f, e), "output", false);
    if (!n) return;
    n->ref = ref;
    n->in[n->n_in++] = e;
    if (other >= 0) n->in[n->n_in++] = (flat_edge){other, 0};
    if (other < 0) {
      n->attr[n->n_attr++] = A_STR("frame_name", "frame");
      n->attr[n->n_attr++] = A_BOOL("is_constant", true);
    }
    for (int k = 0; k < n_inner; k++)
      for (int j = 0; j < w->f->node[k].n_in && w->f->node[k].inner; j++)
        if (w->f->node[k].in[j].node == e.node && w->f->node[k].in[j].slot == e.slot)
          w->f->node[k].in[j] = (flat_edge){(int)(n - w->f->node), slot};
  }
}

static flat_node *unary(writer *w, const char *kind, const char *name, weft_dtype type, flat_edge in) {
  flat_node *n = flat_add(w->f, kind, name, type, "output", false);
  if (!n) n = &w->f->node[w->f->n - 1]; /* no room: the graph will be refused, which is as good */
  n->n_in = 1;
  n->in[0] = in;
  return n;
}

static int place(const writer *w, const flat_node *n) { return (int)(n - w->f->node); }

static void write_cond(writer *w) {
  const int n_inner = w->f->n;
  bool yes = !fuzz_one_in(w->r, 4);
  int choice = add_choice(w, WEFT_BOOL, yes);
  w->q->taken = yes;
  flat_node *sw = unary(w, "Switch", "pred", WEFT_BOOL, (flat_edge){choice, 0});
  sw->in[sw->n_in++] = (flat_edge){choice, 0};
  int at = place(w, sw);
  int pivot = place(w, unary(w, "Identity", "pivot_t", WEFT_BOOL, (flat_edge){at, 1}));
  int other = place(w, unary(w, "Identity", "pivot_f", WEFT_BOOL, (flat_edge){at, 0}));
  insert(w, "Switch", "RefSwitch", choice, 1, n_inner);
  for (int i = 0; i < n_inner; i++)
    if (w->f->node[i].inner) after(&w->f->node[i], pivot);
  weft_dtype t = flat_type(w->f, (flat_edge){w->last, 0});
  if (can_be_fetched(t) && model_out_count(w->f->m, w->f->node[w->last].from) > 0) {
    int zero = flat_scalar(w->f, "zero", t, 0, false);
    after(&w->f->node[zero], other);
    flat_node *merge = unary(w, "Merge", "merge", t, (flat_edge){w->last, 0});
    merge->in[merge->n_in++] = (flat_edge){zero, 0};
    want(w, "merge", 0);
  }
  for (int i = 0; i < n_inner; i++)
    if (w->f->node[i].from >= 0) run_also(w, w->f->node[i].name);
}

static void write_loop(writer *w) {
  const int n_inner = w->f->n;
  int start = flat_scalar(w->f, "start", WEFT_INT32, 0, false),
      limit = flat_scalar(w->f, "limit", WEFT_INT32, 2, false);
  attr frame = A_STR("frame_name", "frame");
  flat_node *enter = unary(w, "Enter", "enter", WEFT_INT32, (flat_edge){start, 0});
  enter->attr[enter->n_attr++] = frame;
  flat_node *bound = unary(w, "Enter", "bound", WEFT_INT32, (flat_edge){limit, 0});
  bound->attr[bound->n_attr++] = frame;
  bound->attr[bound->n_attr++] = A_BOOL("is_constant", true);
  flat_node *merge = unary(w, "Merge", "merge", WEFT_INT32, (flat_edge){place(w, enter), 0});
  flat_node *less = unary(w, "Less", "less", WEFT_BOOL, (flat_edge){place(w, merge), 0});
  less->in[less->n_in++] = (flat_edge){place(w, bound), 0};
  flat_node *cond = unary(w, "LoopCond", "loop_cond", WEFT_BOOL, (flat_edge){place(w, less), 0});
  flat_node *sw = unary(w, "Switch", "switch", WEFT_INT32, (flat_edge){place(w, merge), 0});
  sw->in[sw->n_in++] = (flat_edge){place(w, cond), 0};
  flat_node *pivot = unary(w, "Identity", "pivot", WEFT_INT32, (flat_edge){place(w, sw), 1});
  int one = flat_scalar(w->f, "one", WEFT_INT32, 1, false);
  after(&w->f->node[one], place(w, pivot));
  flat_node *add = unary(w, "AddV2", "add", WEFT_INT32, (flat_edge){place(w, pivot), 0});
  add->in[add->n_in++] = (flat_edge){one, 0};
  flat_node *next = unary(w, "NextIteration", "next", WEFT_INT32, (flat_edge){place(w, add), 0});
  merge->in[merge->n_in++] = (flat_edge){place(w, next), 0};
  unary(w, "Exit", "exit", WEFT_INT32, (flat_edge){place(w, sw), 0});
  insert(w, "Enter", "RefEnter", -1, 0, n_inner);
  for (int i = 0; i < n_inner; i++) {
    if (!w->f->node[i].inner) continue;
    after(&w->f->node[i], place(w, pivot));
    if (w->f->node[i].from >= 0) after(add, i);
  }
  want(w, "exit", 0);
}

static void write_plain(writer *w) {
  int n = model_out_count(w->f->m, w->f->node[w->last].from);
  for (int i = 0; i < n && i < 8; i++)
    if (can_be_fetched(flat_type(w->f, (flat_edge){w->last, i})) || fuzz_one_in(w->r, 20))
      want(w, w->f->node[w->last].name, i);
  for (int i = 0; i < w->f->n; i++)
    if (w->f->node[i].from >= 0) run_also(w, w->f->node[i].name);
}

/* ---- the message ---- */

static bool calls_library(const model *m) {
  for (int i = 0; i < m->n_node; i++)
    for (int k = 0; k < m->node[i].n_attr; k++)
      if (m->node[i].attr[k].kind == ATTR_FUNC) return true;
  return false;
}

static weft_err add_library(writer *w, Tensorflow__GraphDef *g) {
  Tensorflow__FunctionDef **list = NULL;
  size_t n = 0;
  if (calls_library(w->f->m)) WEFT_TRY(flat_library(w->f->m->ops, &list, &n));
  if (n + (size_t)w->n_made == 0) return WEFT_OK;
  Tensorflow__FunctionDefLibrary *l = g->library = weft__arena_alloc(&w->q->arena, sizeof *l);
  tensorflow__function_def_library__init(l);
  l->function = weft__arena_alloc(&w->q->arena, sizeof *l->function * (n + 8));
  for (int i = 0; i < w->n_made; i++) l->function[l->n_function++] = w->made[i];
  for (size_t i = 0; i < n; i++) l->function[l->n_function++] = list[i];
  return WEFT_OK;
}

static weft_err pack(writer *w, bool in_function) {
  request *q = w->q;
  Tensorflow__GraphDef g = TENSORFLOW__GRAPH_DEF__INIT;
  Tensorflow__VersionDef v = TENSORFLOW__VERSION_DEF__INIT;
  v.producer = 1645;
  g.versions = &v;
  g.node = weft__arena_alloc(&q->arena, sizeof *g.node * (size_t)(w->f->n + 1));
  if (!g.node) return WEFT_OOM;
  for (int i = 0; i < w->f->n; i++) {
    const flat_node *n = &w->f->node[i];
    q->op[q->n_op++] = keep(w, n->op);
    if (in_function && n->inner) continue;
    g.node[g.n_node++] = flat_node_def(w->f, n, NULL);
    if (strcmp(n->op, "Placeholder") == 0 && q->n_feed < 64) {
      q->feed[q->n_feed] = keep(w, n->name);
      q->fed[q->n_feed++] = n->constant->value;
    }
    if ((strcmp(n->op, "Assign") == 0 || strcmp(n->op, "AssignVariableOp") == 0) && n->from < 0 && q->n_init < 16)
      q->init[q->n_init++] = keep(w, n->name);
  }
  WEFT_TRY(add_library(w, &g));
  q->size = tensorflow__graph_def__get_packed_size(&g);
  if (!(q->bytes = weft__arena_alloc(&q->arena, q->size + 1))) return WEFT_OOM;
  tensorflow__graph_def__pack(&g, q->bytes);
  return WEFT_OK;
}

static int last_node(const flat *f) {
  for (int i = f->n - 1; i > 0; i--)
    if (f->node[i].from >= 0) return i;
  return 0;
}

weft_err request_write(request *q, model *m, form kind, fuzz_random *r) {
  static flat f; /* large */
  static void (*const write[FORMS])(writer *) = {write_plain, write_call, write_call, write_if,      write_while,
                                                 write_case,  write_cond, write_loop, write_symbolic};
  const bool in_function = kind != FORM_PLAIN && kind != FORM_COND && kind != FORM_LOOP;
  memset(q, 0, sizeof *q);
  q->form = kind;
  q->taken = true;
  q->differentiate = -1;
  WEFT_TRY(flat_make(&f, m, &q->arena));
  writer w = {.q = q, .f = &f, .r = r};
  w.last = last_node(&f);
  if (kind != FORM_PLAIN) find_args(&w);
  if (in_function) find_rets(&w);
  write[kind](&w);
  if (in_function) w.made[w.n_made++] = flat_function_def(&w.body);
  return pack(&w, in_function);
}

void request_finish(request *q) { weft__arena_finish(&q->arena); }
