/* conv_epilogue.c - Conv2D with an epilogue: a bias and an activation are applied to each part of the result while
 * it is in the cache.
 *
 * The inputs of the epilogue besides the result are vectors along the channels, which are repeated to fill a block.
 * If at run time they have another shape, or the convolution uses another layout or type, the epilogue runs over the
 * whole result afterwards, which is only slower. */
#include "kernels/elementwise/program.h"
#include "ops/nn/conv.h"

enum { SPAN = 1024 }; /* maximum length of a repeated vector, in floats */

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

static bool conv_epilogue_repeat(float *to, int64_t span, int64_t channels, const weft_tensor *t) {
  if (t->shape.rank != 1 || t->shape.dim[0] != channels) return false;
  for (int64_t i = 0; i < span; i++) to[i] = TENSOR_DATA(t, float)[i % channels];
  return true;
}

static weft_err conv_epilogue_cpu(kernel *k) {
  const fused_epilogue *e = k->state;
  _Alignas(64) float room[ELEM_MAX_IN][SPAN];
  const weft_tensor *in[ELEM_MAX_IN], *filter = k->in[1];
  const int64_t channels = filter->shape.rank == 4 ? filter->shape.dim[3] : 0;
  finish f = {.program = &e->program, .from = e->from};
  bool ready = channels > 0 && channels <= SPAN;
  f.span = ready ? SPAN / channels * channels : 0;
  const int n = weft__epilogue_operands(k, e, NULL, in);
  for (int i = 0; i < n && ready; i++) {
    if (i == e->from) continue;
    ready = conv_epilogue_repeat(room[i], f.span, channels, in[i]);
    f.in[i] = room[i];
  }
  kernel first = weft__fused_first(k, &e->first, 0);
  conv_after after = {finish_part, &f, false};
  WEFT_TRY(weft__conv2d(&first, ready ? &after : NULL));
  return after.done ? WEFT_OK : weft__epilogue_run(k, e);
}

/* Returns true if the result is floats with the channels last, so that its parts are whole pixels. */
static bool conv_fits(const weft_node *n) {
  return n->out_type[0] == WEFT_FLOAT && n->out_shape[0].rank == 4 && !weft__node_str_is(n, "data_format", "NCHW");
}

static const op conv_epilogue_op = {
    .def = "_Conv2DProgram", .cpu = conv_epilogue_cpu, .unprepare = weft__fused_epilogue_unprepare};

const fusion weft__conv2d_fusion = {.fits = conv_fits, .with_epilogue = &conv_epilogue_op};
