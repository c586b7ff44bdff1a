/* glimpse.c - ExtractGlimpse: cuts windows around given points out of images.  Pixels outside the image are zero or
 * noise. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/random/philox.h"
#include <math.h>
#include <string.h>

typedef struct glimpse {
  int64_t batch, in[2], out[2], channels;
  bool centered, normalized, second; /* second: ExtractGlimpseV2 */
  enum { NOISE_ZERO, NOISE_UNIFORM, NOISE_GAUSSIAN } noise;
} glimpse;

static weft_err glimpse_read(const kernel *k, glimpse *g) {
  const shape *x = &k->in[0]->shape, *s = &k->in[1]->shape, *o = &k->in[2]->shape;
  const weft_node *n = k->node;
  *g =
      (glimpse){.centered = weft__node_bool(n, "centered", true), .normalized = weft__node_bool(n, "normalized", true)};
  g->second = !strcmp(n->op_name, "ExtractGlimpseV2");
  if (x->rank != 4)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "input must be 4-dimensional (batch_size, height, width, depth): %s", weft__shape_text(x));
  g->batch = x->dim[0], g->in[0] = x->dim[1], g->in[1] = x->dim[2], g->channels = x->dim[3];
  if (s->rank != 1 || s->dim[0] != 2 || o->rank != 2 || o->dim[0] != g->batch || o->dim[1] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "size must have two elements and offsets one row of two for each image, not %s and %s",
                             weft__shape_text(s), weft__shape_text(o));
  for (int i = 0; i < 2; i++) {
    g->out[i] = weft__tensor_int(k->in[1], i);
    if (g->out[i] <= 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "size must be positive");
  }
  const bool uniform = weft__node_bool(n, "uniform_noise", true);
  if (uniform || weft__node_str_is(n, "noise", "uniform"))
    g->noise = NOISE_UNIFORM;
  else if (weft__node_str_is(n, "noise", "gaussian"))
    g->noise = NOISE_GAUSSIAN;
  else if (!weft__node_str_is(n, "noise", "zero"))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "The noise should be 'zero', 'uniform' or 'gaussian', not '%s'",
                             weft__node_str(n, "noise").data);
  return WEFT_OK;
}

/* Returns where the glimpse begins along axis i.  Version 2 takes offsets in pixels from the center of the image
 * unchanged. */
static int64_t glimpse_start(const glimpse *g, const float *offset, int i) {
  float at = offset[i];
  if (g->second && g->centered && !g->normalized) {
    at += (float)g->in[i] / 2;
    return at > -1e15f && at < 1e15f ? (int64_t)at : -(INT64_C(1) << 50);
  }
  if (g->normalized) at *= (float)g->in[i];
  if (g->centered) at = (at + (float)g->in[i]) / 2;
  if (!g->second || g->centered) at -= (float)g->out[i] / 2;
  return at > -1e15f && at < 1e15f ? (int64_t)at : -(INT64_C(1) << 50);
}

/* The distribution of the noise outside the image: that of the image's pixels. */
typedef struct noise {
  double low, high, mean, deviation;
} noise;

static noise noise_of(const float *x, int64_t n) {
  noise s = {0};
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; i++) {
    const double v = (double)x[i];
    s.low = i == 0 || v < s.low ? v : s.low, s.high = i == 0 || v > s.high ? v : s.high;
    sum += v, squares += v * v;
  }
  s.mean = n ? sum / (double)n : 0;
  const double variance = n ? squares / (double)n - s.mean * s.mean : 0;
  s.deviation = variance > 0 ? sqrt(variance) : 0;
  return s;
}

static float noise_draw(const glimpse *g, const noise *s, philox_reader *r) {
  if (g->noise == NOISE_ZERO) return 0;
  const double u = weft__philox_double(r);
  if (g->noise == NOISE_UNIFORM) return (float)(s->low + u * (s->high - s->low));
  const double v = s->mean + s->deviation * sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * weft__philox_double(r));
  return (float)(v < s->low ? s->low : v > s->high ? s->high : v);
}

static weft_err glimpse_cpu(kernel *k) {
  glimpse g;
  WEFT_TRY(glimpse_read(k, &g));
  const shape s = SHAPE4(g.batch, g.out[0], g.out[1], g.channels);
  weft_tensor *out = weft__out(k, 0, &s);
  if (!out) return weft__out_refused(&s);
  const float *x = k->in[0]->data, *offsets = k->in[2]->data;
  const noise like = noise_of(x, g.noise == NOISE_ZERO ? 0 : weft__tensor_count(k->in[0]));
  float *y = out->data;
  philox gen = {0};
  if (g.noise != NOISE_ZERO) WEFT_TRY(weft__random_take(k, (uint64_t)weft__tensor_count(out) + 1, &gen));
  philox_reader r = weft__philox_reader(gen);
  for (int64_t n = 0; n < g.batch; n++) {
    const int64_t top = glimpse_start(&g, offsets + n * 2, 0), left = glimpse_start(&g, offsets + n * 2, 1);
    for (int64_t e = 0; e < g.out[0] * g.out[1]; e++, y += g.channels) {
      const int64_t row = top + e / g.out[1], column = left + e % g.out[1];
      if (row >= 0 && row < g.in[0] && column >= 0 && column < g.in[1])
        memcpy(y, x + ((n * g.in[0] + row) * g.in[1] + column) * g.channels, (size_t)g.channels * sizeof *y);
      else
        for (int64_t c = 0; c < g.channels; c++) y[c] = noise_draw(&g, &like, &r);
    }
  }
  return WEFT_OK;
}

static weft_err glimpse_infer(infer *s) {
  shape x, size, offsets;
  WEFT_TRY(weft__infer_rank(s, 0, 4, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 2, &offsets));
  if (x.dim[0] >= 0 && offsets.dim[0] >= 0 && x.dim[0] != offsets.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)x.dim[0],
                            (long long)offsets.dim[0]);
  if (offsets.dim[1] >= 0 && offsets.dim[1] != 2)
    return weft__infer_fail(s, "Dimension must be 2 but is %lld", (long long)offsets.dim[1]);
  if (x.dim[0] < 0) x.dim[0] = offsets.dim[0];
  WEFT_TRY(weft__infer_shape_value(s, 1, &size));
  const bool known = size.rank == 2;
  s->out[0] = SHAPE4(x.dim[0], known ? size.dim[0] : -1, known ? size.dim[1] : -1, x.dim[3]);
  return WEFT_OK;
}

#define ZERO " uniform_noise=false noise='zero'"
static const op_case glimpse_cases[] = {
    {"f32[2,5,5,2] rand; i32[2] 3 2; f32[2,2] .3 -.2 .9 .9", NULL, "centered=true normalized=true" ZERO, CASE_NO_GRAD},
    {"f32[2,5,5,2] rand; i32[2] 3 2; f32[2,2] .3 -.2 1.9 .9", NULL, "centered=false normalized=true" ZERO,
     CASE_NO_GRAD},
    {"f32[2,5,5,2] rand; i32[2] 3 4; f32[2,2] .3 -.2 1.9 2.9", NULL, "centered=true normalized=false" ZERO,
     CASE_NO_GRAD},
    {"f32[2,5,5,2] rand; i32[2] 7 7; f32[2,2] .3 -.2 1.9 2.9", NULL, "centered=false normalized=false" ZERO,
     CASE_NO_GRAD},
    {"f32[2,5,5,2] rand; i32[2] 7 7; f32[2,2] 0", NULL, NULL, CASE_NO_GRAD | CASE_RANDOM | CASE_NO_PARITY},
    {"f32[2,5,5,2] rand; i32[2] 7 7; f32[2,2] 0", NULL, "uniform_noise=false noise='gaussian'",
     CASE_NO_GRAD | CASE_RANDOM | CASE_NO_PARITY},
    {"f32[2,5,5,2] rand; i32[2] 0 7; f32[2,2] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_PARITY},
    {0},
};

#define GLIMPSE                                                                                                        \
  "(input:float, size:int32, offsets:float) -> (glimpse:float) | centered:bool=true normalized:bool=true "             \
  "uniform_noise:bool=true noise:string='uniform'"

OPS(glimpse) = {
    {"ExtractGlimpse" GLIMPSE, "A part of each image around a point.", OP_NO_FOLD, .no_grad = true,
     .infer = glimpse_infer, .cpu = glimpse_cpu, .prepare = weft__random_prepare, .unprepare = weft__random_unprepare,
     .cases = glimpse_cases},
    {"ExtractGlimpseV2" GLIMPSE, "A part of each image around or from a point.", OP_NO_FOLD, .infer = glimpse_infer,
     .cpu = glimpse_cpu, .prepare = weft__random_prepare, .unprepare = weft__random_unprepare, .cases = glimpse_cases},
    {0},
};
