/* conv_fast.h - types and functions that the fast convolutions share: padded images, and sweeps over them.
 *
 * A sweep computes every pixel of a result (n, height, width, channels) from a window over an image.  conv_fast.c
 * runs it with plain tiles.  conv_amx.c uses the matrix unit of x86 processors that have one.  conv_winograd_1d.c and
 * conv_winograd_2d.c need fewer multiplications, and can run windows with stride 1.
 *
 * The kernel's thread owns a sweep.  The threads of the step only read it, except for `failed` and `infinite`. */
#ifndef WEFT_KERNELS_CONV_CONV_FAST_H
#define WEFT_KERNELS_CONV_CONV_FAST_H

#include "kernels/conv/conv.h"
#include "kernels/gemm/microkernel.h"

enum {
  IMAGE_BYTES = 384 * 1024, /* of the part of an image that is processed at a time: it should stay in the L2 cache */
  COPIES_BYTES = 1 << 26,   /* of all private sums of a filter gradient */
  FLOPS_PER_NS = 64         /* assumed speed of one thread, only to estimate how long a unit of work takes */
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

/* Runs a tile in parts of at most `terms` terms.  Each part is summed by itself and then added to the others.  One
 * long sum loses digits as it grows, and the transforms of the Winograd convolutions would lose even more. */
static inline void weft__tile_in_parts(tile_fn *fn, const tile *whole, int64_t terms) {
  tile t = *whole;
  const int64_t taps = conv_max(terms / conv_max(t.run, 1), 1), parts = t.run > terms ? (t.run - 1) / terms + 1 : 1;
  if (t.taps == 0 || (t.taps <= taps && parts == 1)) { /* without taps the result is zero, or unchanged with `add` */
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
  int64_t size[2], channels; /* of the image in memory */
  int64_t pad[2];            /* rows above, columns to the left; negative: that many are skipped */
  int64_t padded[2];         /* the size that the windows cover */
  bool direct;               /* no copy is needed */
  int64_t row;               /* floats from one row to the next in the memory that the tiles read */
} padded;

void weft__conv_padded_init(padded *m); /* sets direct and row */
/* Returns padded rows [first, first + n) of the image at src: in place, or copied to scratch. */
const float *weft__conv_padded_rows(const padded *m, const float *src, int64_t first, int64_t n, float *scratch);
/* Stores in [*begin, *end) which of `count` rows, from `first` on and `every` apart, are in the image and not
 * padding. */
void weft__conv_padded_inside(const padded *m, int64_t first, int64_t every, int64_t count, int64_t *begin,
                              int64_t *end);

typedef struct sweep {
  const conv *c;
  const tile_set *set;
  bool transposed; /* the gradient of the input: the two channel axes of the filter are exchanged */
  padded image;
  const float *src;
  int64_t step[2]; /* pixels from one window to the next */
  /* The taps of each axis, in ascending order of offset: the offset in the padded image, and the row or column of
   * the filter. */
  int64_t count[2], *offset[2], *key[2];
  bool merged;                  /* the columns of a row of taps are adjacent and form one run */
  int64_t taps, run, *tap;      /* arguments of the tiles */
  const float *packed;          /* the filter in panels: (taps * run, width) each */
  float *dst;                   /* the first pixel of this result */
  int64_t channels;             /* of the result */
  int64_t size[2], stride[2];   /* pixels of the result, and floats from one to the next along each axis */
  int64_t src_image, dst_image; /* floats from one image of the batch to the next */
  int64_t chunk, chunks;        /* rows of the result in one unit of work; units in an image */
  bool failed;                  /* no memory; written by any thread, only ever to true */
  /* Likewise: another way must compute this, because a result is infinite or NaN, or AMX cannot split a number. */
  bool infinite;
} sweep;

/* The gradient of a filter over fewer pixels than this uses short plain sums: TensorFlow's error is that small there
 * (tests/parity/test_conv_numbers.py). */
enum { CONV_FEW_PIXELS = 2048 };

/* Returns true if the sums may round no more than one short sum per tap does.  TensorFlow computes the gradient of the
 * input in this way if it does not use oneDNN.  On x86_64 it uses oneDNN, whose sums round more where the convolution
 * has padding (measured by tests/parity/test_conv_numbers.py). */
static inline bool weft__sweep_is_exact(const sweep *s) {
#if defined(__x86_64__)
  const window_axis *at = s->c->at;
  return s->transposed && at[0].before == 0 && at[1].before == 0;
#else
  return s->transposed;
#endif
}
/* Stores the taps [*begin, *end) along the height that are inside the image for row i of the result. */
void weft__conv_sweep_taps_of_row(const sweep *s, int64_t i, int64_t *begin, int64_t *end);
/* Sets the number of rows in a unit of work, so that a unit is small enough for the cache and there are enough units
 * for all threads. */
void weft__conv_sweep_chunks(sweep *s, int64_t threads, int64_t bytes_of_row);

/* Some columns of a result: the first one, and as many as a panel is wide. */
typedef struct sweep_panel {
  int64_t column;
  int width;
} sweep_panel;

/* Packs the filter f into panels, sets s->packed, and stores in *packed the memory that the caller frees, or NULL.
 * The taps of the sweep are set. */
weft_err weft__conv_sweep_pack(kernel *k, sweep *s, const float *f, float **packed);
/* Computes one panel of one row of the result, for taps [begin, end), whose offsets from a are in `tap`.  If `add` is
 * set, adds to the row. */
void weft__conv_sweep_row(const sweep *s, const int64_t *tap, const float *a, float *dst, sweep_panel of, int64_t begin,
                          int64_t end, bool add);

/* Returns true if each of n floats is finite. */
bool weft__conv_all_finite(const float *x, int64_t n);
/* Calls the convolution's `after` (conv.h), if it has one, for `rows` finished rows of the result. */
void weft__conv_sweep_after(const sweep *s, float *dst, int64_t rows);
/* The same for the Winograd convolutions.  Their sums would carry an infinite input into results whose windows do not
 * contain it, so this sets s->infinite if a result in the rows is infinite or NaN. */
void weft__conv_sweep_after_sums(sweep *s, float *dst, int64_t rows);

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
/* conv_amx.c: the same two functions.  sweep sets s->infinite before it has called `after`, and another way must then
 * compute the result. */
bool weft__conv_amx_fits(const sweep *s);
weft_err weft__conv_amx_sweep(kernel *k, sweep *s, const float *f);
/* conv_filter_amx.c: the gradient of the filter likewise.  If it sets *inexact, another way must compute df. */
bool weft__filter_amx_fits(const conv *c);
weft_err weft__filter_amx(kernel *k, const conv *c, const float *x, const float *dy, float *df, bool *inexact);

#endif
