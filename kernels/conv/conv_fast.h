/* conv_fast.h - what the fast convolutions share: images with their padding, and sweeps over them.
 *
 * A sweep computes every pixel of a result (n, height, width, channels) from a window over an image.  conv_fast.c runs
 * it with plain tiles.  conv_winograd_1d.c and conv_winograd_2d.c need fewer products, and can run windows that move by
 * single pixels.
 *
 * The kernel's thread owns a sweep.  The threads of the step only read it, except for `failed` and `infinite`. */
#ifndef WEFT_KERNELS_CONV_CONV_FAST_H
#define WEFT_KERNELS_CONV_CONV_FAST_H

#include "kernels/conv/conv.h"
#include "kernels/gemm/microkernel.h"

enum {
  IMAGE_BYTES = 384 * 1024, /* of an image's part that is worked on at a time: should stay in the second cache */
  COPIES_BYTES = 1 << 26,   /* of all private sums of a filter gradient */
  FLOPS_PER_NS = 64
};

static inline int64_t conv_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t conv_max(int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t weft__kernel_threads(const kernel *k) {
  return k->step && k->step->intra ? weft__pool_threads(k->step->intra) : 1;
}

/* Returns how many partial sums a filter gradient is divided into.  There are two for each thread, so that the others
 * do not wait long for a slow one, and no more than COPIES_BYTES allows. */
static inline int64_t weft__filter_copies(int64_t threads, int64_t units, int64_t bytes_each) {
  return conv_max(1, conv_min(conv_min(threads > 1 ? 2 * threads : 1, units), COPIES_BYTES / bytes_each));
}

/* The products of a tile in parts of at most `terms`, each added up by itself and then to the others.  A long sum in
 * one piece loses digits as it grows, and what the Winograd convolutions make of such sums would lose more. */
static inline void weft__tile_in_parts(tile_fn *fn, const tile *whole, int64_t terms) {
  tile t = *whole;
  const int64_t taps = conv_max(terms / conv_max(t.run, 1), 1), parts = t.run > terms ? (t.run - 1) / terms + 1 : 1;
  if (t.taps == 0 || (t.taps <= taps && parts == 1)) { /* of no taps: zero, unless it is added */
    fn(&t);
    return;
  }
  for (int64_t i = 0; i < whole->taps; i += taps)
    for (int64_t p = 0; p < parts; p++, t.add = true) {
      const int64_t first = whole->run * p / parts;
      t.tap = whole->tap + i, t.taps = conv_min(taps, whole->taps - i);
      t.run = whole->run * (p + 1) / parts - first;
      t.a = whole->a + first * whole->a_col;
      t.b = whole->b + (i * whole->run + first) * whole->b_row;
      fn(&t);
    }
}

typedef struct padded {
  int64_t size[2], channels; /* of the image as it lies in memory */
  int64_t pad[2];            /* rows above, columns to the left; negative: so many are skipped */
  int64_t padded[2];         /* what the windows reach */
  bool direct;               /* no copy is needed */
  int64_t row;               /* floats from one row to the next, as the tiles see it */
} padded;

void weft__padded_init(padded *m); /* sets direct and row */
/* Padded rows [first, first + n) of the image at src: in place, or copied to scratch. */
const float *weft__padded_rows(const padded *m, const float *src, int64_t first, int64_t n, float *scratch);
/* Of `count` rows from `first` on, `every` apart, those that are in the image and not padding: [*begin, *end). */
void weft__padded_inside(const padded *m, int64_t first, int64_t every, int64_t count, int64_t *begin, int64_t *end);

typedef struct sweep {
  const conv *c;
  const tile_set *set;
  bool transposed; /* the gradient of the input: the two channel axes of the filter are exchanged */
  padded image;
  const float *src;
  int64_t step[2]; /* pixels from one window to the next */
  /* The taps of each axis, offsets ascending: where in the padded image, and which row or column of the filter. */
  int64_t count[2], *offset[2], *key[2];
  bool merged;                  /* the columns of a row of taps are one run */
  int64_t taps, run, *tap;      /* what the tiles get */
  const float *packed;          /* the filter in panels: (taps * run, width) each */
  float *dst;                   /* the first pixel of this result */
  int64_t channels;             /* of the result */
  int64_t size[2], stride[2];   /* pixels of the result, and floats from one to the next along each axis */
  int64_t src_image, dst_image; /* floats from one image of the batch to the next */
  int64_t chunk, chunks;        /* rows of the result in one unit of work; units in an image */
  bool failed;                  /* no memory; written by any thread, only ever to true */
  bool infinite;                /* likewise: a result is infinite or no number */
} sweep;

/* Returns true if the sums must be rounded as little as one short sum for each tap.  TensorFlow computes the gradient
 * of the input so where it has no oneDNN, which it has on x86_64. */
static inline bool weft__sweep_is_exact(const sweep *s) {
#if defined(__x86_64__)
  (void)s;
  return false;
#else
  return s->transposed;
#endif
}
/* The taps [*begin, *end) along the height that meet the image for row i of the result. */
void weft__sweep_taps_of_row(const sweep *s, int64_t i, int64_t *begin, int64_t *end);
/* Rows in a unit of work: few enough bytes, and enough units for all threads. */
void weft__sweep_chunks(sweep *s, int64_t threads, int64_t bytes_of_row);

/* Returns true if each of n floats is finite. */
bool weft__all_finite(const float *x, int64_t n);
/* Calls the convolution's `after` (conv.h), if it has one, for `rows` finished rows of the result. */
void weft__sweep_after(const sweep *s, float *dst, int64_t rows);
/* The same for the Winograd convolutions.  Their sums would carry an infinite input into results whose windows do not
 * contain it, so this sets s->infinite if a result in the rows is infinite or NaN. */
void weft__sweep_after_sums(sweep *s, float *dst, int64_t rows);

/* conv_winograd_1d.c.  fits: returns true if it can run this sweep and is faster than plain tiles.  sweep: runs it; if
 * it sets s->infinite, the caller must compute the result again with plain tiles. */
bool weft__winograd_1d_fits(const sweep *s);
weft_err weft__winograd_1d_sweep(kernel *k, sweep *s, const float *f);
/* The same for the gradient of the filter. */
bool weft__winograd_1d_filter_fits(const conv *c, const tile_set *set);
weft_err weft__winograd_1d_filter(kernel *k, const conv *c, const float *x, const float *dy, float *df, bool *infinite);
/* conv_winograd_2d.c: the same two functions. */
bool weft__winograd_2d_fits(const sweep *s);
weft_err weft__winograd_2d_sweep(kernel *k, sweep *s, const float *f);

#endif
