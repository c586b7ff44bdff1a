/* gemm.c - one matrix product: chooses the library or kernel that computes it, and splits it over threads.
 *
 * Large products of floats go to the processor's matrix unit, where it has one (gemm_amx.c).  Other products of floats
 * go to oneDNN on x86.  Elsewhere they go to our packed microkernel, or to OpenBLAS where packing costs more than it
 * saves.  They go to our other microkernels if they are small or have few columns, or if neither library was built in.
 * A product of few rows with a transposed operand goes to gemm_few_rows.c.  Double and complex go to OpenBLAS if it
 * supports the processor.  For an unknown processor OpenBLAS uses the code of the oldest one, and our plain loops are
 * twice as fast.  Integers use only the plain loops.  The longer side of the result is split, so that the operand that
 * every thread reads completely is the smaller one.
 *
 * Include cycle with kernels/gemm/gemm_amx, kernels/gemm/gemm_few_rows, kernels/gemm/gemm_library,
 * kernels/gemm/gemm_narrow, kernels/gemm/gemm_packed, kernels/gemm/gemm_plain, kernels/gemm/gemm_tile: gemm.c chooses
 * among these ways to multiply, and each is given the `gemm` declared here. */
#include "kernels/gemm/gemm.h"
#include "base/cast.h"
#include "kernels/gemm/gemm_amx.h"
#include "kernels/gemm/gemm_few_rows.h"
#include "kernels/gemm/gemm_library.h"
#include "kernels/gemm/gemm_narrow.h"
#include "kernels/gemm/gemm_packed.h"
#include "kernels/gemm/gemm_plain.h"
#include "kernels/gemm/gemm_tile.h"
#include <limits.h>

enum { SMALL = 40000 }; /* below this many multiplications, calling a library costs more than it saves */

static bool fits_int(const gemm *g) {
  return g->m <= INT_MAX && g->n <= INT_MAX && g->k <= INT_MAX && g->lda <= INT_MAX && g->ldb <= INT_MAX &&
         g->ldc <= INT_MAX;
}

/* Rows of b that are whole pages apart map to the same cache sets.  This slows oneDNN's packing (100 x 3136 x 1024:
 * 90 GFLOP/s, where 1008 columns give 143), but not our microkernels (126).  With many rows of a it no longer
 * matters, and with few rows packing hurts ours more (32 x 576 x 2048: 80 GFLOP/s, where oneDNN gives 118). */
static bool slow_in_dnnl(const gemm *g) { return !g->tb && g->ldb % 1024 == 0 && g->m > 64 && g->m <= 256; }

bool weft__gemm_has(weft_dtype t) { return weft__gemm_plain_has(t); }

/* Returns true if a library supports this product and is worth calling.  The library may still decline. */
static bool by_library(const gemm *g) {
  const dtype_class c = weft__dtype_class(g->type);
  const double work = (double)g->m * (double)g->n * (double)g->k;
  if ((c != CLASS_FLOAT && c != CLASS_COMPLEX) || work < SMALL || !fits_int(g)) return false;
  if (g->type == WEFT_FLOAT && weft__gemm_library_has_dnnl()) return !slow_in_dnnl(g) && weft__gemm_library_dnnl(g);
  return weft__gemm_library_blas(g);
}

void weft__gemm_serial(const gemm *g) {
  if (weft__gemm_narrow_has(g)) {
    weft__gemm_narrow(g);
    return;
  }
  if (weft__gemm_few_rows(g)) return;
  if (g->type == WEFT_FLOAT && weft__gemm_packed(g)) return;
  if (by_library(g)) return;
  if (g->type == WEFT_FLOAT)
    weft__gemm_tile(g);
  else
    weft__gemm_plain(g);
}

/* ---- over threads ---- */
enum { ROWS = 4, LANES = 16 };     /* rows of a, or elements along a contiguous side, that are not split */
static const double PIECE = 2.5e5; /* multiplications that are worth a thread: five to ten microseconds */
/* size of a piece that is worth halving, so that one delayed thread does not hold up all */
static const double LONG = 1e7;

typedef struct split {
  gemm whole;
  bool by_rows;
  int64_t size; /* rows or columns of a piece */
} split;

static const void *gemm_offset(const void *p, int64_t elements, weft_dtype t) {
  return (const char *)p + (size_t)elements * weft__dtype_size(t);
}

static gemm gemm_part_of(const split *s, int64_t begin, int64_t end) {
  gemm g = s->whole;
  if (s->by_rows) {
    g.m = end - begin;
    g.a = gemm_offset(g.a, g.ta ? begin : begin * g.lda, g.type);
    g.c = (void *)(uintptr_t)gemm_offset(g.c, begin * g.ldc, g.type);
  } else {
    g.n = end - begin;
    g.b = gemm_offset(g.b, g.tb ? begin * g.ldb : begin, g.type);
    g.c = (void *)(uintptr_t)gemm_offset(g.c, begin, g.type);
  }
  return g;
}

static void run_parts(void *arg, int64_t begin, int64_t end) {
  const split *s = arg;
  const int64_t side = s->by_rows ? s->whole.m : s->whole.n;
  const int64_t first = begin * s->size, last = end * s->size;
  if (first >= side) return;
  const gemm g = gemm_part_of(s, first, last < side ? last : side);
  weft__gemm_serial(&g);
}

void weft__gemm(const kernel *k, const gemm *g) {
  if (weft__gemm_amx(k, g)) return;
  const double work = (double)g->m * (double)g->n * (double)g->k;
  const int threads = k->step && k->step->intra ? weft__pool_threads(k->step->intra) : 1;
  const int64_t most = work / threads < LONG ? threads : 2 * threads;
  int64_t pieces = work / PIECE < (double)most ? (int64_t)(work / PIECE) : most;
  if (pieces <= 1) {
    weft__gemm_serial(g);
    return;
  }
  split s = {.whole = *g, .by_rows = g->m >= g->n};
  const int64_t side = s.by_rows ? g->m : g->n, unit = s.by_rows && !g->ta ? ROWS : LANES;
  s.size = ((side + pieces - 1) / pieces + unit - 1) / unit * unit;
  pieces = (side + s.size - 1) / s.size;
  weft__kernel_loop(k, pieces, 1000000, run_parts, &s);
}
