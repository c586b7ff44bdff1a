/* conv_amx_test.c - convolutions of the sizes that the matrix unit computes, against sums in double. */
#include "kernels/conv/conv.h"
#include "tests/check.h"
#include <math.h>
#include <stdlib.h>

static const kernel alone;

static float noise(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) / (float)(1 << 23) - 1.0f;
}

static float *numbers(int64_t n, uint32_t seed) {
  float *p = malloc((size_t)n * sizeof *p);
  for (int64_t i = 0; i < n; i++) p[i] = noise(&seed);
  return p;
}

/* height and width of the image, channels in and out, filter, stride, dilation, padding before and after */
typedef struct size {
  int64_t height, width, in, out, filter, stride, dilation, pad;
} size;

typedef struct example {
  conv c;
  float *x, *f, *y, *dy, *dx, *df;
} example;

static window_axis axis_of(int64_t n, const size *s) {
  const int64_t reach = (s->filter - 1) * s->dilation + 1;
  return (window_axis){.in = n,
                       .out = (n + 2 * s->pad - reach) / s->stride + 1,
                       .size = s->filter,
                       .stride = s->stride,
                       .dilation = s->dilation,
                       .before = s->pad};
}

static example make(const size *s) {
  example e = {.c = {.batch = 2, .in_ch = s->in, .out_ch = s->out, .groups = 1}};
  e.c.at[0] = axis_of(s->height, s), e.c.at[1] = axis_of(s->width, s);
  const int64_t pixels = 2 * s->height * s->width, results = 2 * e.c.at[0].out * e.c.at[1].out;
  e.x = numbers(pixels * s->in, 1), e.f = numbers(s->filter * s->filter * s->in * s->out, 2);
  e.dy = numbers(results * s->out, 3), e.y = numbers(results * s->out, 4), e.dx = numbers(pixels * s->in, 5);
  e.df = numbers(s->filter * s->filter * s->in * s->out, 6);
  return e;
}

static void end(const example *e) { free(e->x), free(e->f), free(e->y), free(e->dy), free(e->dx), free(e->df); }

/* Calls fn with every pair of an index into x and one into y, and the index into f of their factor. */
typedef void pair_fn(const example *e, int64_t x, int64_t f, int64_t y, double *sums);

static void each_tap(const example *e, int64_t n, const int64_t at[2], pair_fn *fn, double *sums) {
  const window_axis *h = &e->c.at[0], *w = &e->c.at[1];
  for (int64_t i = 0; i < h->size; i++)
    for (int64_t j = 0; j < w->size; j++) {
      const int64_t row = at[0] * h->stride - h->before + i * h->dilation;
      const int64_t column = at[1] * w->stride - w->before + j * w->dilation;
      if (row < 0 || row >= h->in || column < 0 || column >= w->in) continue;
      const int64_t x = ((n * h->in + row) * w->in + column) * e->c.in_ch;
      const int64_t y = ((n * h->out + at[0]) * w->out + at[1]) * e->c.out_ch;
      for (int64_t a = 0; a < e->c.in_ch; a++)
        for (int64_t b = 0; b < e->c.out_ch; b++)
          fn(e, x + a, ((i * w->size + j) * e->c.in_ch + a) * e->c.out_ch + b, y + b, sums);
    }
}

static void forward(const example *e, int64_t x, int64_t f, int64_t y, double *sums) {
  sums[y] += (double)e->x[x] * (double)e->f[f];
}

static void backward(const example *e, int64_t x, int64_t f, int64_t y, double *sums) {
  sums[x] += (double)e->dy[y] * (double)e->f[f];
}

static void by_filter(const example *e, int64_t x, int64_t f, int64_t y, double *sums) {
  sums[f] += (double)e->x[x] * (double)e->dy[y];
}

static void expect(const example *e, pair_fn *fn, const float *got, int64_t n) {
  double *sums = calloc((size_t)n, sizeof *sums);
  for (int64_t image = 0; image < e->c.batch; image++)
    for (int64_t i = 0; i < e->c.at[0].out; i++)
      for (int64_t j = 0; j < e->c.at[1].out; j++) each_tap(e, image, (int64_t[2]){i, j}, fn, sums);
  for (int64_t i = 0; i < n; i++) {
    if (isnan(sums[i]) || isinf(sums[i]))
      EXPECT(isnan(sums[i]) ? isnan(got[i]) : (double)got[i] == sums[i]);
    else if (fabs(sums[i]) < 3e38) /* others may round to infinity */
      EXPECT_NEAR(got[i], sums[i], 1e-4 * fmax(1, fabs(sums[i])));
  }
  free(sums);
}

static void check(const example *e) {
  const conv *c = &e->c;
  kernel k = alone;
  EXPECT_OK(weft__conv_forward(&k, c, e->x, e->f, e->y));
  expect(e, forward, e->y, c->batch * c->at[0].out * c->at[1].out * c->out_ch);
  EXPECT_OK(weft__conv_input(&k, c, e->f, e->dy, e->dx));
  expect(e, backward, e->dx, c->batch * c->at[0].in * c->at[1].in * c->in_ch);
  EXPECT_OK(weft__conv_filter(&k, c, e->x, e->dy, e->df));
  expect(e, by_filter, e->df, c->at[0].size * c->at[1].size * c->in_ch * c->out_ch);
}

/* Whole strips in each row, strips that run on from row to row, strips that end in a row, columns that fill no tile,
 * taps that are apart, and steps.  For the gradient of the filter also even and odd taps, taps that are apart without
 * padding, and more channels than a task has. */
static const size SIZES[] = {{32, 32, 16, 16, 3, 1, 1, 1}, {16, 16, 32, 32, 3, 1, 1, 1}, {9, 8, 64, 64, 3, 1, 1, 1},
                             {20, 21, 24, 40, 3, 1, 1, 0}, {17, 30, 32, 48, 3, 2, 1, 1}, {24, 24, 32, 20, 3, 1, 2, 2},
                             {12, 40, 48, 50, 7, 1, 1, 3}, {14, 50, 32, 64, 3, 1, 1, 2}, {14, 14, 32, 64, 5, 1, 1, 2},
                             {20, 20, 64, 48, 3, 1, 2, 0}, {6, 6, 144, 160, 3, 1, 1, 1}};

TEST(results_are_those_of_plain_sums) {
  for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
    const example e = make(&SIZES[i]);
    check(&e);
    end(&e);
  }
}

/* Plain sums of floats over the 25,088 pixels have an error of 1e-5. */
TEST(the_gradient_of_a_filter_is_as_exact_as_short_sums) {
  example e = make(&(size){28, 28, 32, 64, 5, 1, 1, 2});
  e.c.batch = 32;
  free(e.x), free(e.dy);
  const int64_t pixels = 32 * 28 * 28, taps = 25;
  e.x = numbers(pixels * 32, 7), e.dy = numbers(pixels * 64, 8);
  kernel k = alone;
  EXPECT_OK(weft__conv_filter(&k, &e.c, e.x, e.dy, e.df));
  double error = 0, sums = 0;
  for (int64_t i = 0; i < taps; i++) { /* one number of each tap */
    double sum = 0;
    for (int64_t p = 0; p < pixels; p++) {
      const int64_t row = p / 28 % 28 + i / 5 - 2, column = p % 28 + i % 5 - 2;
      if (row < 0 || row >= 28 || column < 0 || column >= 28) continue;
      sum += (double)e.x[(p / 784 * 784 + row * 28 + column) * 32 + 5] * (double)e.dy[p * 64 + 9];
    }
    const double off = (double)e.df[(i * 32 + 5) * 64 + 9] - sum;
    error += off * off, sums += sum * sum;
  }
  EXPECT(sqrt(error / sums) < 1e-6);
  end(&e);
}

TEST(numbers_without_exact_pieces_reach_only_their_windows) {
  const float odd[] = {INFINITY, NAN, 3e38f, 1e-36f};
  for (size_t o = 0; o < sizeof odd / sizeof *odd; o++) {
    for (int i = 1; i <= 2; i++) {
      const example e = make(&SIZES[i]);
      e.x[1000] = e.dy[1760] = odd[o]; /* not beside padding, likewise */
      check(&e);
      e.x[1000] = e.dy[1760] = 1;
      e.f[300] = isfinite(odd[o]) ? odd[o] : 1; /* times the zeros of padding, an infinite one is not a number */
      check(&e);
      end(&e);
    }
  }
}
