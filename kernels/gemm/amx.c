/* amx.c - the matrix unit of x86 processors: its set-up, the packing of its operands and its innermost loop. */
#include "kernels/gemm/amx.h"

#if defined(__x86_64__) && defined(__linux__) && (__GNUC__ >= 12 || (defined(__clang__) && __clang_major__ >= 14))
#include <immintrin.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AMX __attribute__((target("amx-tile,amx-bf16")))
#define PACKS __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")))

/* ---- whether there is one ---- */
static struct {
  pthread_once_t once;
  bool has;
} amx = {.once = PTHREAD_ONCE_INIT};

/* Asks the kernel for the unit's registers: threads do not have them before. */
static bool amx_permitted(void) {
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
  return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

static bool amx_in_processor(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  enum { BF16 = 1 << 22, TILE = 1 << 24, AVX512_BF16 = 1 << 5 };
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return false;
  __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
  if (!(d & BF16) || !(d & TILE)) return false;
  __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(1));
  return a & AVX512_BF16;
}

static void amx_look(void) { amx.has = amx_in_processor() && amx_permitted(); }

bool weft__amx_has(void) {
  pthread_once(&amx.once, amx_look);
  return amx.has;
}

/* ---- packing ---- */

typedef struct pieces {
  __m512i of[AMX_PIECES]; /* 32 bfloat16 numbers: 16 of the first vector, 16 of the second */
} pieces;

typedef struct checked {
  __mmask16 bad;
} checked;

static inline PACKS __m512 pieces_widen(__m256i half) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

/* Notes whether a number of v has pieces that are not exact. */
static inline PACKS void pieces_check(checked *c, __m512 v) {
  enum { LOW = (127 - 102) << 23, HIGH = (127 + 127) << 23 }; /* 2^-102 and 2^127 as bits */
  const __m512i size = _mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(0x7fffffff));
  const __mmask16 out =
      _mm512_cmpge_epu32_mask(_mm512_sub_epi32(size, _mm512_set1_epi32(LOW)), _mm512_set1_epi32(HIGH - LOW));
  c->bad |= _mm512_mask_test_epi32_mask(out, size, size);
}

static inline PACKS pieces pieces_of(checked *c, __m512 first, __m512 second) {
  pieces p;
  pieces_check(c, first);
  pieces_check(c, second);
  for (int i = 0; i < AMX_PIECES; i++) {
    p.of[i] = (__m512i)_mm512_cvtne2ps_pbh(second, first);
    if (i + 1 == AMX_PIECES) break;
    first = _mm512_sub_ps(first, pieces_widen(_mm512_castsi512_si256(p.of[i])));
    second = _mm512_sub_ps(second, pieces_widen(_mm512_extracti64x4_epi64(p.of[i], 1)));
  }
  return p;
}

/* A mask of the lanes that exist of those from `first` on. */
static inline __mmask16 lanes_from(int64_t n, int64_t first) {
  return (__mmask16)(n - first >= 16 ? 0xffff : n <= first ? 0 : (1 << (n - first)) - 1);
}

static inline PACKS pieces pieces_load(checked *c, const float *from, int64_t n) {
  if (n >= AMX_TERMS) return pieces_of(c, _mm512_loadu_ps(from), _mm512_loadu_ps(from + 16));
  return pieces_of(c, _mm512_maskz_loadu_ps(lanes_from(n, 0), from),
                   _mm512_maskz_loadu_ps(lanes_from(n, 16), n > 16 ? from + 16 : from));
}

PACKS bool weft__amx_pack_a(uint16_t *to, const float *from, int64_t row, int64_t rows, int64_t terms) {
  checked c = {0};
  for (int64_t r = 0; r < terms; r += AMX_TERMS, to += AMX_STEP) {
    for (int64_t i = 0; i < rows; i++) {
      const pieces p = pieces_load(&c, from + i * row + r, terms - r);
      for (int n = 0; n < AMX_PIECES; n++) _mm512_storeu_si512(to + n * AMX_BLOCK + i * AMX_TERMS, p.of[n]);
    }
    for (int n = 0; n < AMX_PIECES && rows < AMX_SIDE; n++)
      memset(to + n * AMX_BLOCK + rows * AMX_TERMS, 0, (size_t)((AMX_SIDE - rows) * AMX_TERMS) * sizeof *to);
  }
  return !c.bad;
}

PACKS bool weft__amx_pack_b(uint16_t *to, const float *from, int64_t row, int64_t terms, int64_t columns) {
  static const uint16_t pairs[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                     8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const __m512i order = _mm512_loadu_si512(pairs);
  const __mmask16 some = lanes_from(columns, 0);
  checked c = {0};
  for (int64_t r = 0; r < terms; r += AMX_TERMS, to += AMX_STEP)
    for (int i = 0; i < AMX_TERMS; i += 2, from += 2 * row) {
      const __mmask16 first = r + i < terms ? some : 0, second = r + i + 1 < terms ? some : 0;
      const pieces p = pieces_of(&c, first ? _mm512_maskz_loadu_ps(first, from) : _mm512_setzero_ps(),
                                 second ? _mm512_maskz_loadu_ps(second, from + row) : _mm512_setzero_ps());
      for (int n = 0; n < AMX_PIECES; n++)
        _mm512_storeu_si512(to + n * AMX_BLOCK + i * AMX_SIDE, _mm512_permutexvar_epi16(order, p.of[n]));
    }
  return !c.bad;
}

PACKS bool weft__amx_pack_pairs(uint16_t *even, uint16_t *odd, int64_t piece, const float *from, int64_t n) {
  static const uint16_t pairs[2][32] = {{0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                         8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31},
                                        {16, 32, 17, 33, 18, 34, 19, 35, 20, 36, 21, 37, 22, 38, 23, 39,
                                         24, 40, 25, 41, 26, 42, 27, 43, 28, 44, 29, 45, 30, 46, 31, 47}};
  const __m512i inside = _mm512_loadu_si512(pairs[0]), across = _mm512_loadu_si512(pairs[1]);
  const int64_t step = 2 * AMX_SIDE;
  checked c = {0};
  pieces before = {{_mm512_setzero_si512()}};
  for (int64_t i = 0; i < n; i += 2, even += step) {
    const pieces p = pieces_of(&c, _mm512_loadu_ps(from + i * AMX_SIDE), _mm512_loadu_ps(from + (i + 1) * AMX_SIDE));
    for (int k = 0; k < AMX_PIECES; k++)
      _mm512_storeu_si512(even + k * piece, _mm512_permutexvar_epi16(inside, p.of[k]));
    if (!odd) continue;
    for (int k = 0; k < AMX_PIECES && i > 0; k++)
      _mm512_storeu_si512(odd + (i / 2 - 1) * step + k * piece,
                          _mm512_permutex2var_epi16(before.of[k], across, p.of[k]));
    before = p;
  }
  for (int k = 0; k < AMX_PIECES && odd && n > 0; k++)
    _mm512_storeu_si512(odd + (n / 2 - 1) * step + k * piece,
                        _mm512_permutex2var_epi16(before.of[k], across, _mm512_setzero_si512()));
  return !c.bad;
}

PACKS bool weft__amx_split(uint16_t *to, int64_t piece, const float *from, int64_t n) {
  checked c = {0};
  for (int64_t i = 0; i < n; i += AMX_TERMS) {
    const pieces p = pieces_load(&c, from + i, n - i);
    const __mmask32 some = n - i >= AMX_TERMS ? ~(__mmask32)0 : ((__mmask32)1 << (n - i)) - 1;
    for (int k = 0; k < AMX_PIECES; k++) _mm512_mask_storeu_epi16(to + k * piece + i, some, p.of[k]);
  }
  return !c.bad;
}

/* ---- tiles ---- */

typedef struct __attribute__((packed)) tile_config {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} tile_config;

AMX void weft__amx_begin(void) {
  tile_config all = {.palette = 1};
  for (int i = 0; i < 8; i++) all.row_bytes[i] = AMX_TERMS * sizeof(uint16_t), all.rows[i] = AMX_SIDE;
  __asm__ volatile("" : : "r"(&all) : "memory"); /* the intrinsics do not say what memory they read and write */
  _tile_loadconfig(&all);
}

AMX void weft__amx_end(void) { _tile_release(); }

/* Registers 0 to 3 have the result, 4 and 5 are of a, 6 and 7 of b.  The products of a register wait for each other,
 * so there should be four registers of results. */
#define LOAD_A(n, strip, p) _tile_loadd(n, a + t->a_strip[strip] + (p)*t->a_piece, a_bytes)

#define WIDE_A(p)                                                                                                      \
  LOAD_A(4, 0, p);                                                                                                     \
  if (strips > 1) LOAD_A(5, 1, p);

#define WIDE_B(n)                                                                                                      \
  _tile_loadd(6, b + (n)*AMX_BLOCK, b_bytes);                                                                          \
  _tile_loadd(7, b + t->b_next + (n)*AMX_BLOCK, b_bytes);

#define WIDE_PRODUCTS                                                                                                  \
  _tile_dpbf16ps(0, 4, 6);                                                                                             \
  _tile_dpbf16ps(1, 4, 7);                                                                                             \
  if (strips > 1) _tile_dpbf16ps(2, 5, 6);                                                                             \
  if (strips > 1) _tile_dpbf16ps(3, 5, 7);

/* Two strips, or one, by two columns.  From one pair of pieces to the next only those of a or those of b change, so
 * there are 14 loads for 24 products; a, which is often farther away in the caches, is loaded once. */
#define MULTIPLY_WIDE                                                                                                  \
  WIDE_B(0)                                                                                                            \
  WIDE_A(2)                                                                                                            \
  WIDE_PRODUCTS                                                                                                        \
  WIDE_A(1)                                                                                                            \
  WIDE_PRODUCTS                                                                                                        \
  WIDE_B(1)                                                                                                            \
  WIDE_PRODUCTS                                                                                                        \
  WIDE_A(0)                                                                                                            \
  WIDE_PRODUCTS                                                                                                        \
  WIDE_B(2)                                                                                                            \
  WIDE_PRODUCTS                                                                                                        \
  WIDE_B(0)                                                                                                            \
  WIDE_PRODUCTS

/* Up to four strips by one column. */
#define MULTIPLY_HIGH(n)                                                                                               \
  _tile_loadd(6, b + (n)*AMX_BLOCK, b_bytes);                                                                          \
  for (int p = 0; p < AMX_PIECES - (n); p++) {                                                                         \
    LOAD_A(4, 0, p);                                                                                                   \
    _tile_dpbf16ps(0, 4, 6);                                                                                           \
    if (strips > 1) LOAD_A(5, 1, p);                                                                                   \
    if (strips > 1) _tile_dpbf16ps(1, 5, 6);                                                                           \
    if (strips > 2) LOAD_A(4, 2, p);                                                                                   \
    if (strips > 2) _tile_dpbf16ps(2, 4, 6);                                                                           \
    if (strips > 3) LOAD_A(5, 3, p);                                                                                   \
    if (strips > 3) _tile_dpbf16ps(3, 5, 6);                                                                           \
  }

static inline AMX __attribute__((always_inline)) void amx_sums(const amx_tile *t, const int strips, const bool wide) {
  const long a_bytes = t->a_row * (long)sizeof *t->a, b_bytes = AMX_TERMS * (long)sizeof *t->b;
  const uint16_t *b = t->b;
  for (int64_t i = 0; i < t->taps; i++) {
    const uint16_t *a = t->a + t->tap[i];
    for (int64_t k = 0; k < t->blocks; k++, a += t->a_step, b += AMX_STEP) {
      if (wide) {
        MULTIPLY_WIDE
      } else {
        MULTIPLY_HIGH(0)
        MULTIPLY_HIGH(1)
        MULTIPLY_HIGH(2)
      }
    }
  }
}

static inline AMX __attribute__((always_inline)) void amx_run(const amx_tile *t, const int strips, const bool wide) {
  const long bytes = t->c_row * (long)sizeof *t->c;
  float *c[4];
  for (int i = 0; i < 4; i++) c[i] = t->c + (wide ? t->c_strip[i / 2] + i % 2 * AMX_SIDE : t->c_strip[i]);
  const int tiles = wide ? 2 * strips : strips;
  __asm__ volatile("" ::: "memory");
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  if (t->add) {
    _tile_loadd(0, c[0], bytes);
    if (tiles > 1) _tile_loadd(1, c[1], bytes);
    if (tiles > 2) _tile_loadd(2, c[2], bytes);
    if (tiles > 3) _tile_loadd(3, c[3], bytes);
  }
  amx_sums(t, strips, wide);
  _tile_stored(0, c[0], bytes);
  if (tiles > 1) _tile_stored(1, c[1], bytes);
  if (tiles > 2) _tile_stored(2, c[2], bytes);
  if (tiles > 3) _tile_stored(3, c[3], bytes);
  __asm__ volatile("" ::: "memory");
}

AMX void weft__amx_tile(const amx_tile *t) {
  if (t->two_columns && t->strips == 2)
    amx_run(t, 2, true);
  else if (t->two_columns)
    amx_run(t, 1, true);
  else if (t->strips == 4)
    amx_run(t, 4, false);
  else if (t->strips == 3)
    amx_run(t, 3, false);
  else if (t->strips == 2)
    amx_run(t, 2, false);
  else
    amx_run(t, 1, false);
}

/* Registers 0 to 3 have the result, 4 to 6 the pieces of a, 7 a piece of b. */
#define ROW_COLUMN(n)                                                                                                  \
  if (columns > (n)) {                                                                                                 \
    _tile_loadd(7, t->b[n] + at, bytes);                                                                               \
    _tile_dpbf16ps(n, 4, 7);                                                                                           \
    _tile_dpbf16ps(n, 5, 7);                                                                                           \
    _tile_dpbf16ps(n, 6, 7);                                                                                           \
    _tile_loadd(7, t->b[n] + at + t->b_piece, bytes);                                                                  \
    _tile_dpbf16ps(n, 4, 7);                                                                                           \
    _tile_dpbf16ps(n, 5, 7);                                                                                           \
    _tile_loadd(7, t->b[n] + at + 2 * t->b_piece, bytes);                                                              \
    _tile_dpbf16ps(n, 4, 7);                                                                                           \
  }

static inline AMX __attribute__((always_inline)) void amx_row_run(const amx_row *t, const int columns) {
  const long bytes = AMX_TERMS * sizeof(uint16_t), c_bytes = AMX_SIDE * sizeof(float);
  const uint16_t *a = t->a;
  __asm__ volatile("" ::: "memory");
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  if (t->add) {
    _tile_loadd(0, t->c, c_bytes);
    if (columns > 1) _tile_loadd(1, t->c + AMX_SIDE * AMX_SIDE, c_bytes);
    if (columns > 2) _tile_loadd(2, t->c + 2 * AMX_SIDE * AMX_SIDE, c_bytes);
    if (columns > 3) _tile_loadd(3, t->c + 3 * AMX_SIDE * AMX_SIDE, c_bytes);
  }
  for (int64_t i = 0, at = 0; i < t->blocks; i++, a += AMX_STEP, at += AMX_BLOCK) {
    _tile_loadd(4, a, bytes);
    _tile_loadd(5, a + AMX_BLOCK, bytes);
    _tile_loadd(6, a + 2 * AMX_BLOCK, bytes);
    ROW_COLUMN(0)
    ROW_COLUMN(1)
    ROW_COLUMN(2)
    ROW_COLUMN(3)
  }
  _tile_stored(0, t->c, c_bytes);
  if (columns > 1) _tile_stored(1, t->c + AMX_SIDE * AMX_SIDE, c_bytes);
  if (columns > 2) _tile_stored(2, t->c + 2 * AMX_SIDE * AMX_SIDE, c_bytes);
  if (columns > 3) _tile_stored(3, t->c + 3 * AMX_SIDE * AMX_SIDE, c_bytes);
  __asm__ volatile("" ::: "memory");
}

AMX void weft__amx_row(const amx_row *t) {
  if (t->columns == 4)
    amx_row_run(t, 4);
  else if (t->columns == 3)
    amx_row_run(t, 3);
  else if (t->columns == 2)
    amx_row_run(t, 2);
  else
    amx_row_run(t, 1);
}

#else

bool weft__amx_has(void) { return false; }
void weft__amx_begin(void) {}
void weft__amx_end(void) {}
void weft__amx_tile(const amx_tile *t) { (void)t; }
void weft__amx_row(const amx_row *t) { (void)t; }
bool weft__amx_pack_pairs(uint16_t *even, uint16_t *odd, int64_t piece, const float *from, int64_t n) {
  return (void)even, (void)odd, (void)piece, (void)from, (void)n, false;
}
bool weft__amx_pack_a(uint16_t *to, const float *from, int64_t row, int64_t rows, int64_t terms) {
  return (void)to, (void)from, (void)row, (void)rows, (void)terms, false;
}
bool weft__amx_pack_b(uint16_t *to, const float *from, int64_t row, int64_t terms, int64_t columns) {
  return (void)to, (void)from, (void)row, (void)terms, (void)columns, false;
}
bool weft__amx_split(uint16_t *to, int64_t piece, const float *from, int64_t n) {
  return (void)to, (void)piece, (void)from, (void)n, false;
}

#endif
