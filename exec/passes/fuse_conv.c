/* fuse_conv.c - a bias and an activation are applied to each part of a convolution's result while it is in the cache.
 *
 * The inputs besides the result are vectors along the channels, which are repeated until they fill a block.  If they
 * turn out to have another shape when it runs, or the convolution was computed in another layout or type, the program
 * runs over the whole result afterwards: it is the same, only slower. */
#include "base/alloc.h"
#include "exec/passes/program.h"
#include "ops/nn/conv.h"

enum { SPAN = 1024 }; /* floats of a repeated vector, at most */

typedef struct conv_program {
  const weft_node *node; /* of the convolution, with its op and state */
  const op *op;
  void *state;
  int from; /* the program's input that is its result */
  program program;
} conv_program;

typedef struct finish {
  const program *program;
  const void *in[ELEM_MAX_IN]; /* repeated to `span` floats */
  int from;
  int64_t span;
} finish;

static void finish_part(const void *arg, float *part, int64_t n) {
  const finish *f = arg;
  const void *in[ELEM_MAX_IN];
  for (int i = 0; i < ELEM_MAX_IN; i++) in[i] = f->in[i];
  for (int64_t at = 0; at < n; at += f->span) {
    in[f->from] = part + at;
    weft__program_run(part + at, in, n - at < f->span ? n - at : f->span, f->program);
  }
}

static bool repeat(float *to, int64_t span, int64_t channels, const weft_tensor *t) {
  if (t->shape.rank != 1 || t->shape.dim[0] != channels) return false;
  for (int64_t i = 0; i < span; i++) to[i] = TENSOR_DATA(t, float)[i % channels];
  return true;
}

/* The program's inputs: those of this kernel from the third on, with the convolution's result put in. */
static int operands(const kernel *k, const conv_program *c, const weft_tensor *result, const weft_tensor **in) {
  int n = 0;
  for (int i = 2; i < k->n_in; i++) {
    if (n == c->from) in[n++] = result;
    in[n++] = k->in[i];
  }
  if (n == c->from) in[n++] = result;
  return n;
}

static weft_err run_after(kernel *k, const conv_program *c) {
  weft_tensor *y = &k->out[0].t;
  const weft_tensor *in[ELEM_MAX_IN];
  const int n = operands(k, c, y, in);
  shape s = y->shape;
  for (int i = 0; i < n; i++) {
    const weft_err err = weft__shape_broadcast(&s, &s, &in[i]->shape);
    if (err) return weft__kernel_fail(k, err, "%s", weft__error_message());
  }
  if (!weft__shape_equal(&s, &y->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s does not broadcast to %s", weft__shape_text(&s),
                             weft__shape_text(&y->shape));
  weft__elementwise_run(k, weft__program_run, c->program.cost, &c->program, false, n, in, y);
  return WEFT_OK;
}

static weft_err conv_program_cpu(kernel *k) {
  const conv_program *c = k->state;
  _Alignas(64) float room[ELEM_MAX_IN][SPAN];
  const weft_tensor *in[ELEM_MAX_IN], *filter = k->in[1];
  const int64_t channels = filter->shape.rank == 4 ? filter->shape.dim[3] : 0;
  finish f = {.program = &c->program, .from = c->from};
  bool ready = channels > 0 && channels <= SPAN;
  f.span = ready ? SPAN / channels * channels : 0;
  const int n = operands(k, c, NULL, in);
  for (int i = 0; i < n && ready; i++) {
    if (i == c->from) continue;
    ready = repeat(room[i], f.span, channels, in[i]);
    f.in[i] = room[i];
  }
  kernel first = *k;
  first.node = c->node, first.op = c->op, first.state = c->state, first.n_in = 2;
  conv_after after = {finish_part, &f, false};
  WEFT_TRY(weft__conv2d(&first, ready ? &after : NULL));
  return after.done ? WEFT_OK : run_after(k, c);
}

static void conv_program_unprepare(void *state) {
  conv_program *c = state;
  if (c->op->unprepare) c->op->unprepare(c->state);
  weft__free(c);
}

static const op conv_program_op = {
    .def = "_Conv2DProgram", .cpu = conv_program_cpu, .unprepare = conv_program_unprepare};

weft_err weft__fuse_conv(plan *p, plan_item *root, plan_item *convolution, int from) {
  conv_program *c = weft__alloc(sizeof *c);
  plan_input *in = weft__arena_alloc(&p->arena, sizeof *in * (size_t)(root->n_in + 1));
  if (!c || !in) {
    weft__free(c);
    return WEFT_OOM;
  }
  *c = (conv_program){convolution->node, convolution->op, convolution->state, from, *(const program *)root->state};
  int n = 0;
  in[n++] = convolution->in[0], in[n++] = convolution->in[1];
  for (int i = 0; i < root->n_in; i++)
    if (i != from) in[n++] = root->in[i];
  root->op->unprepare(root->state);
  root->op = &conv_program_op, root->run = conv_program_cpu, root->state = c, root->in = in, root->n_in = n;
  return WEFT_OK;
}
