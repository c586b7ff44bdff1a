/* shape.c - arithmetic on shapes, unknown dimensions included. */
#include "tensor/shape.h"
#include "base/cast.h"
#include <stdio.h>
#include <string.h>

/* Of an empty shape.  Kernels multiply some of the dimensions, the size of an element and a small cost: below this
 * limit such products fit int64.  A shape with elements needs no limit, for their memory is the limit. */
#define MAX_PRODUCT (INT64_C(1) << 56)

weft_err weft__shape_make(shape *s, int rank, const int64_t *dims) {
  *s = SHAPE_UNKNOWN;
  if (rank == -1) return WEFT_OK;
  if (rank < -1 || rank > WEFT_MAX_RANK)
    return weft__fail(WEFT_INVALID_ARGUMENT, "A shape of rank %d: at most %d dimensions are supported", rank,
                      WEFT_MAX_RANK);
  for (int i = 0; i < rank; i++) {
    if (dims[i] < -1)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Dimension %d of a shape is %lld, must be >= -1", i, (long long)dims[i]);
    s->dim[i] = dims[i];
  }
  s->rank = rank;
  return WEFT_OK;
}

bool weft__shape_known(const shape *s) {
  if (s->rank < 0) return false;
  for (int i = 0; i < s->rank; i++)
    if (s->dim[i] < 0) return false;
  return true;
}

bool weft__shape_equal(const shape *a, const shape *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dim[i] != b->dim[i]) return false;
  return true;
}

static bool dims_agree(int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; }

bool weft__shape_compatible(const shape *a, const shape *b) {
  if (a->rank < 0 || b->rank < 0) return true;
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (!dims_agree(a->dim[i], b->dim[i])) return false;
  return true;
}

weft_err weft__shape_merge(shape *out, const shape *a, const shape *b) {
  if (a->rank >= 0 && b->rank >= 0 && a->rank != b->rank)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Shapes must be equal rank, but are %d and %d", a->rank, b->rank);
  if (a->rank < 0 || b->rank < 0) {
    shape known = a->rank < 0 ? *b : *a;
    *out = known;
    return WEFT_OK;
  }
  shape merged = *a;
  for (int i = 0; i < a->rank; i++) {
    if (!dims_agree(a->dim[i], b->dim[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Dimension %d in both shapes must be equal, but are %lld and %lld. Shapes are %s and %s.", i,
                        (long long)a->dim[i], (long long)b->dim[i], weft__shape_text(a), weft__shape_text(b));
    if (a->dim[i] < 0) merged.dim[i] = b->dim[i];
  }
  *out = merged;
  return WEFT_OK;
}

int64_t weft__shape_count(const shape *s) {
  if (!weft__shape_known(s)) return -1;
  int64_t product = 1; /* of the dimensions other than 0 */
  bool overflow = false, empty = false;
  for (int i = 0; i < s->rank; i++) {
    empty |= s->dim[i] == 0;
    overflow |= __builtin_mul_overflow(product, s->dim[i] ? s->dim[i] : 1, &product);
  }
  if (overflow || (empty && product > MAX_PRODUCT)) return -2;
  return empty ? 0 : product;
}

bool weft__shape_rows_known(const shape *s) {
  for (int i = 1; i < s->rank; i++)
    if (s->dim[i] < 0) return false;
  return s->rank >= 1;
}

const char *weft__shape_excess(const shape *s) {
  for (int i = 0; i < s->rank; i++)
    if (s->dim[i] == 0) return "has no elements, but its other dimensions multiply to more than 2**56";
  return "would have more than 2**63 - 1 elements";
}

int64_t weft__shape_product(const shape *s, int begin, int end) {
  int64_t span = 1;
  for (int i = begin; i < end; i++)
    if (__builtin_mul_overflow(span, s->dim[i], &span)) span = INT64_MAX;
  return span;
}

/* Broadcasts one dimension: 1 gives way to any dimension, and an unknown one gives way to any but 1. */
static bool broadcast_dim(int64_t *out, int64_t a, int64_t b) {
  if (a == b || b == 1)
    *out = a;
  else if (a == 1)
    *out = b;
  else if (a < 0)
    *out = b;
  else if (b < 0)
    *out = a;
  else
    return false;
  return true;
}

weft_err weft__shape_broadcast(shape *out, const shape *a, const shape *b) {
  if (a->rank < 0 || b->rank < 0) {
    *out = SHAPE_UNKNOWN;
    return WEFT_OK;
  }
  shape made = {.rank = a->rank > b->rank ? a->rank : b->rank};
  for (int i = 0; i < made.rank; i++) {
    int ai = i - (made.rank - a->rank), bi = i - (made.rank - b->rank);
    int64_t ad = ai < 0 ? 1 : a->dim[ai], bd = bi < 0 ? 1 : b->dim[bi];
    if (!broadcast_dim(&made.dim[i], ad, bd))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Incompatible shapes: %s vs. %s", weft__shape_text(a),
                        weft__shape_text(b));
  }
  *out = made;
  return WEFT_OK;
}

weft_err weft__shape_axis(int *out, int64_t axis, int rank) {
  if (axis < -(int64_t)rank || axis >= rank)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Axis %lld is out of the range [%d, %d)", (long long)axis, -rank, rank);
  *out = weft__int_sat(axis < 0 ? axis + rank : axis);
  return WEFT_OK;
}

const char *weft__shape_text(const shape *s) {
  enum { BUFFERS = 4, SIZE = WEFT_MAX_RANK * 21 + 3 };
  static _Thread_local char buffers[BUFFERS][SIZE];
  static _Thread_local unsigned turn;
  char *out = buffers[turn++ % BUFFERS];
  if (s->rank < 0) return strcpy(out, "<unknown>");
  size_t n = 0;
  out[n++] = '[';
  for (int i = 0; i < s->rank; i++) {
    if (i > 0) out[n++] = ',';
    if (s->dim[i] < 0)
      out[n++] = '?';
    else
      n += (size_t)snprintf(out + n, SIZE - n, "%lld", (long long)s->dim[i]);
  }
  out[n++] = ']';
  out[n] = 0;
  return out;
}
