/* rnn.c - BasicLSTMCell and GRUCell, static_rnn and dynamic_rnn.
 *
 * The variables have TensorFlow's names ("rnn/basic_lstm_cell/kernel"), so that checkpoints are compatible.  As in
 * TensorFlow, inputs beyond a sequence's length give zeros and keep the state. */
#include "train/model/rnn.h"
#include "base/assert.h"
#include "graph/scope.h"
#include "train/model/while_loop.h"

int weft__rnn_cell_states(const cell *c) { return c->kind == CELL_BASIC_LSTM ? 2 : 1; }

typedef struct weights {
  weft_out kernel[2], bias[2]; /* GRU: gates and candidate */
} weights;

static weft_out rnn_unary(weft_graph *g, const char *type, weft_out x) { return weft__named_unary(g, type, type, x); }

/* ---- weights ---- */

/* The weights are read once on the device of the cell; otherwise every time step would fetch them. */
static weft_out make_weight(weft_graph *g, const char *name, shape s, weft_dtype type, initializer init) {
  weight w = {.name = name, .shape = s, .dtype = type, .init = init, .cached = true};
  return weft__layer_variable(g, &w, NULL);
}

/* Creates the weights in the cell's variable scope, where its nodes go too. */
static bool cell_weights(weft_graph *g, const cell *c, weft_out x, weights *w) {
  const shape *s = weft__shape_of(g, x);
  weft_dtype type = weft__type_of(g, x);
  int64_t depth = s->rank > 0 ? s->dim[s->rank - 1] : -1, in = depth + c->units;
  const initializer zeros = {.kind = INIT_ZEROS}, ones = {.kind = INIT_CONSTANT, .a = 1};
  if (depth < 0)
    return weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT, "Expected inputs.shape[-1] to be known, saw shape: %s",
                                          weft__shape_text(s)));
  if (c->kind == CELL_BASIC_LSTM) {
    w->kernel[0] = make_weight(g, "kernel", SHAPE2(in, 4 * c->units), type, c->kernel);
    w->bias[0] = make_weight(g, "bias", SHAPE1(4 * c->units), type, zeros);
  } else {
    w->kernel[0] = make_weight(g, "gates/kernel", SHAPE2(in, 2 * c->units), type, c->kernel);
    w->bias[0] = make_weight(g, "gates/bias", SHAPE1(2 * c->units), type, ones);
    w->kernel[1] = make_weight(g, "candidate/kernel", SHAPE2(in, c->units), type, c->kernel);
    w->bias[1] = make_weight(g, "candidate/bias", SHAPE1(c->units), type, zeros);
  }
  return !g->sticky.code;
}

/* ---- one step ---- */

static weft_out rnn_affine(weft_graph *g, weft_out x, weft_out y, const weights *w, int i) {
  weft_out product =
      weft__b_node(g, "MatMul", NULL, 2, (weft_out[]){weft__named_concat(g, x, y, 1), w->kernel[i]}, 0, NULL);
  return weft__b_node(g, "BiasAdd", NULL, 2, (weft_out[]){product, w->bias[i]}, 0, NULL);
}

/* i, j, f, o: input gate, new value, forget gate, output gate. */
static void lstm_step(weft_graph *g, const cell *c, const weights *w, weft_out x, const weft_out *old, weft_out *new) {
  weft_out axis = weft__n_scalar(g, "Const", WEFT_INT32, 1), gates = rnn_affine(g, x, old[1], w, 0);
  weft_out s = weft__b_node(g, "Split", "split", 2, (weft_out[]){axis, gates}, 1, &A_INT("num_split", 4));
  if (s.node < 0) return;
  weft_out bias = weft__n_scalar(g, "Const", weft__type_of(g, s), c->forget_bias);
  weft_out forget = rnn_unary(g, "Sigmoid", weft__named_binary_of(g, "AddV2", "Add", weft__b_slot(s, 2), bias));
  weft_out kept = weft__named_binary_of(g, "Mul", "Mul", old[0], forget), in = rnn_unary(g, "Sigmoid", s);
  weft_out added = weft__named_binary_of(g, "Mul", "Mul", in, rnn_unary(g, "Tanh", weft__b_slot(s, 1)));
  new[0] = weft__named_binary_of(g, "AddV2", "Add", kept, added);
  weft_out shown = rnn_unary(g, "Tanh", new[0]);
  new[1] = weft__named_binary_of(g, "Mul", "Mul", shown, rnn_unary(g, "Sigmoid", weft__b_slot(s, 3)));
}

/* r, u: the reset and the update gate. */
static void gru_step(weft_graph *g, const weights *w, weft_out x, const weft_out *old, weft_out *new) {
  weft_out gates = rnn_unary(g, "Sigmoid", rnn_affine(g, x, old[0], w, 0));
  weft__b_push_name(g, "split");
  weft_out axis = weft__n_scalar(g, "split_dim", WEFT_INT32, 1);
  weft_out s = weft__n_scope_node(g, "Split", 2, (weft_out[]){axis, gates}, 1, &A_INT("num_split", 2));
  weft__b_pop(g);
  weft_out seen = weft__named_binary_of(g, "Mul", "mul", s, old[0]), u = weft__b_slot(s, 1);
  weft_out candidate = rnn_unary(g, "Tanh", rnn_affine(g, x, seen, w, 1));
  weft_out stays = weft__named_binary_of(g, "Mul", "mul", u, old[0]);
  weft_out comes =
      weft__named_binary_of(g, "Mul", "mul", weft__named_binary(g, "Sub", "sub", NUM(1), OUT(u)), candidate);
  new[0] = weft__named_binary_of(g, "AddV2", "add", stays, comes);
}

static void cell_step(weft_graph *g, const cell *c, const weights *w, weft_out x, const weft_out *old, weft_out *new) {
  for (int i = 0; i < CELL_STATES; i++) new[i] = WEFT_NONE;
  if (g->sticky.code) return;
  if (c->kind == CELL_BASIC_LSTM)
    lstm_step(g, c, w, x, old, new);
  else
    gru_step(g, w, x, old, new);
}

/* ---- states ---- */

static const char *cell_scope(const cell *c) { return c->kind == CELL_BASIC_LSTM ? "basic_lstm_cell" : "gru_cell"; }

/* Returns zeros (batch, units), where batch is the size of x's axis. */
static weft_out rnn_zeros(weft_graph *g, weft_out x, int axis, int64_t units) {
  int64_t batch = weft__shape_of(g, x)->rank > axis ? weft__shape_of(g, x)->dim[axis] : -1;
  weft_out dims;
  if (batch >= 0) {
    dims = weft__named_ints(g, "Const", (int64_t[]){batch, units}, 2);
  } else {
    weft_out n = weft__named_element(g, rnn_unary(g, "Shape", x), axis);
    dims = weft__named_pack(g, "stack", 2, (weft_out[]){n, weft__n_scalar(g, "Const", WEFT_INT32, (double)units)}, 0);
  }
  weft__b_push_name(g, "zeros");
  weft_out in[] = {dims, weft__n_scalar(g, "Const", weft__type_of(g, x), 0)};
  weft_out o = weft__n_scope_node(g, "Fill", 2, in, 0, NULL);
  weft__b_pop(g);
  if (o.node >= 0) g->node[o.node]->out_shape[0] = SHAPE2(batch, units);
  return o;
}

static void initial_state(weft_graph *g, const cell *c, const rnn *r, weft_out x, int batch_axis, weft_out *state) {
  for (int i = 0; i < weft__rnn_cell_states(c) && r->initial; i++) state[i] = r->initial[i];
  if (r->initial) return;
  weft__b_push_name(g, c->kind == CELL_BASIC_LSTM ? "BasicLSTMCellZeroState" : "GRUCellZeroState");
  for (int i = 0; i < weft__rnn_cell_states(c); i++) state[i] = rnn_zeros(g, x, batch_axis, c->units);
  weft__b_pop(g);
}

/* Keeps the old value in rows whose sequence has ended. */
static weft_out rnn_hold(weft_graph *g, weft_out over, weft_out old, weft_out new) {
  return weft__b_node(g, "Select", NULL, 3, (weft_out[]){over, old, new}, 0, NULL);
}

static weft_out rnn_lengths(weft_graph *g, const rnn *r) {
  return r->length.node < 0
             ? WEFT_NONE
             : weft__named_unary(g, "Identity", "sequence_length", weft__b_cast(g, r->length, WEFT_INT32));
}

/* ---- static ---- */

/* Builds time step t.  Replaces the old states by the new ones. */
static weft_out static_step(weft_graph *g, const cell *c, const weights *w, int t, weft_out x, weft_out length,
                            weft_out nothing, weft_out *state) {
  weft_out new[CELL_STATES];
  int n = weft__rnn_cell_states(c);
  cell_step(g, c, w, x, state, new);
  weft_out output = new[n - 1];
  if (length.node >= 0) {
    weft_out over = weft__named_binary(g, "LessEqual", "LessEqual", OUT(length), NUM(t));
    output = rnn_hold(g, over, nothing, output);
    for (int i = 0; i < n; i++) new[i] = rnn_hold(g, over, state[i], new[i]);
  }
  for (int i = 0; i < n; i++) state[i] = new[i];
  return output;
}

void weft__static_rnn(weft_graph *g, const cell *c, int n, const weft_out *x, const rnn *r, weft_out *outputs,
                      weft_out *state) {
  weights w;
  for (int i = 0; i < n; i++) outputs[i] = WEFT_NONE;
  if (n < 1) weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT, "inputs must not be empty"));
  if (n < 1 || x[0].node < 0 || !weft__layer_enter(g, r->name ? r->name : "rnn", NULL, r->reuse)) return;
  initial_state(g, c, r, x[0], 0, state);
  weft_out length = rnn_lengths(g, r), nothing = length.node < 0 ? WEFT_NONE : rnn_zeros(g, x[0], 0, c->units);
  if (weft__layer_enter(g, cell_scope(c), NULL, REUSE_INHERIT)) {
    bool ready = cell_weights(g, c, x[0], &w);
    for (int t = 0; t < n && ready && !g->sticky.code; t++)
      outputs[t] = static_step(g, c, &w, t, x[t], length, nothing, state);
    weft__b_pop(g);
  }
  weft__b_pop(g);
}

/* ---- dynamic ---- */

typedef struct steps {                 /* the values that the loop needs */
  weft_out size, limit;                /* size of the arrays; number of iterations */
  weft_out in, in_flow, out, out_flow; /* arrays and their flows */
  weft_out length, nothing;
} steps;

static weft_out rnn_array(weft_graph *g, weft_out size, weft_dtype type, const shape *of, weft_out *flow) {
  weft_out o = weft__b_node(g, "TensorArrayV3", "TensorArray", 1, &size, 3,
                            (attr[]){A_TYPE("dtype", type), A_SHAPE("element_shape", (shape *)(uintptr_t)of),
                                     A_BOOL("identical_element_shapes", true)});
  *flow = weft__b_slot(o, 1);
  return o;
}

/* Exchanges the first two axes. */
static weft_out rnn_swap_axes(weft_graph *g, weft_out x) {
  weft__b_push_name(g, "transpose");
  weft_out in[] = {x, weft__named_ints(g, "perm", (int64_t[]){1, 0, 2}, 3)};
  weft_out o = weft__n_scope_node(g, "Transpose", 2, in, 0, NULL);
  weft__b_pop(g);
  return o;
}

/* Returns the number of iterations: the length of the longest sequence, at least 1 and at most size. */
static weft_out rnn_iterations(weft_graph *g, weft_out size, weft_out length) {
  if (length.node < 0) return size;
  weft_out most = weft__named_reduce(g, "Max", "Max", length);
  most = weft__named_binary(g, "Maximum", "Maximum", NUM(1), OUT(most));
  return weft__named_binary_of(g, "Minimum", "Minimum", size, most);
}

static bool rnn_prepare(weft_graph *g, const cell *c, weft_out x, const rnn *r, steps *s) {
  const shape *of = weft__shape_of(g, x);
  weft_dtype type = weft__type_of(g, x);
  s->size = weft__named_element(g, rnn_unary(g, "Shape", x), 0);
  s->length = rnn_lengths(g, r);
  s->nothing = s->length.node < 0 ? WEFT_NONE : rnn_zeros(g, x, 1, c->units);
  s->limit = rnn_iterations(g, s->size, s->length);
  s->out = rnn_array(g, s->size, type, &SHAPE2(of->dim[1], c->units), &s->out_flow);
  s->in = rnn_array(g, s->size, type, &SHAPE2(of->dim[1], of->dim[2]), &s->in_flow);
  weft__b_push_name(g, "TensorArrayUnstack");
  weft_out in[] = {s->in, weft__named_range(g, s->size), x, s->in_flow};
  s->in_flow = weft__b_node(g, "TensorArrayScatterV3", NULL, 4, in, 0, NULL);
  weft__b_pop(g);
  return !g->sticky.code;
}

/* One iteration: var[0] is the time, var[1] the output array's flow, then the states. */
static void rnn_iteration(while_loop *l, const cell *c, const weights *w, const steps *s, const shape *of,
                          weft_out *next) {
  WEFT_ASSERT(2 + weft__rnn_cell_states(c) <= WHILE_LOOP_VARS);
  weft_graph *g = l->g;
  weft_out new[CELL_STATES], read[] = {s->in, l->var[0], s->in_flow};
  int n = weft__rnn_cell_states(c);
  weft_out x = weft__b_node(g, "TensorArrayReadV3", NULL, 3, read, 1, &A_TYPE("dtype", weft__type_of(g, l->var[2])));
  if (x.node >= 0) g->node[x.node]->out_shape[0] = *of;
  weft__b_push_name(g, cell_scope(c));
  cell_step(g, c, w, x, l->var + 2, new);
  weft__b_pop(g);
  weft_out output = new[n - 1];
  if (s->length.node >= 0) {
    weft_out over = weft__named_binary(g, "GreaterEqual", "GreaterEqual", OUT(l->var[0]), OUT(s->length));
    output = rnn_hold(g, over, s->nothing, output);
    for (int i = 0; i < n; i++) new[i] = rnn_hold(g, over, l->var[2 + i], new[i]);
  }
  weft_out write[] = {s->out, l->var[0], output, l->var[1]};
  next[1] = weft__b_node(g, "TensorArrayWriteV3", NULL, 4, write, 0, NULL);
  next[0] = weft__named_binary(g, "AddV2", "add", OUT(l->var[0]), NUM(1));
  for (int i = 0; i < n; i++) next[2 + i] = new[i];
}

static weft_out gather_outputs(weft_graph *g, const steps *s, weft_out flow, weft_dtype type, const shape *of) {
  weft__b_push_name(g, "TensorArrayStack");
  weft_out in[] = {s->out, weft__named_range(g, s->size), flow};
  weft_out o = weft__b_node(g, "TensorArrayGatherV3", NULL, 3, in, 2,
                            (attr[]){A_TYPE("dtype", type), A_SHAPE("element_shape", (shape *)(uintptr_t)of)});
  weft__b_pop(g);
  return o;
}

/* In the scope "rnn"; x is (time, batch, depth). */
static weft_out run_loop(weft_graph *g, const cell *c, weft_out x, const rnn *r, weft_out *state) {
  WEFT_ASSERT(weft__rnn_cell_states(c) <= CELL_STATES);
  const shape *of = weft__shape_of(g, x);
  shape one = SHAPE2(of->dim[1], of->dim[2]), made = SHAPE2(of->dim[1], c->units);
  weft_dtype type = weft__type_of(g, x);
  int n = weft__rnn_cell_states(c);
  weights w;
  steps s;
  weft_out first[WHILE_LOOP_VARS], next[WHILE_LOOP_VARS], last[WHILE_LOOP_VARS];
  while_loop l;
  initial_state(g, c, r, x, 1, state);
  if (!weft__layer_enter(g, cell_scope(c), NULL, REUSE_INHERIT)) return WEFT_NONE;
  bool ready = cell_weights(g, c, x, &w);
  weft__b_pop(g);
  if (!ready || !rnn_prepare(g, c, x, r, &s)) return WEFT_NONE;
  first[0] = weft__n_scalar(g, "time", WEFT_INT32, 0);
  first[1] = s.out_flow;
  for (int i = 0; i < n; i++) first[2 + i] = state[i];
  for (int i = 0; i < WHILE_LOOP_VARS; i++) next[i] = WEFT_NONE;
  weft__while_loop_begin(&l, g, "while", 2 + n, first);
  weft__while_loop_body(&l, weft__named_binary(g, "Less", "Less", OUT(l.var[0]), OUT(s.limit)));
  if (!g->sticky.code) rnn_iteration(&l, c, &w, &s, &one, next);
  weft__while_loop_end(&l, next, last);
  for (int i = 0; i < n; i++) state[i] = last[2 + i];
  return gather_outputs(g, &s, last[1], type, &made);
}

weft_out weft__dynamic_rnn(weft_graph *g, const cell *c, weft_out x, const rnn *r, weft_out *state) {
  if (g->sticky.code || x.node < 0) return WEFT_NONE;
  shape of = *weft__shape_of(g, x);
  if (of.rank != 3) {
    weft__named_keep(
        g, weft__fail(WEFT_INVALID_ARGUMENT, "dynamic_rnn: inputs have 3 axes, got %s", weft__shape_text(&of)));
    return WEFT_NONE;
  }
  if (!weft__layer_enter(g, r->name ? r->name : "rnn", NULL, r->reuse)) return WEFT_NONE;
  weft_out o = run_loop(g, c, r->time_major ? x : rnn_swap_axes(g, x), r, state);
  if (o.node >= 0 && !r->time_major) o = rnn_swap_axes(g, o);
  weft__b_pop(g);
  return o;
}
