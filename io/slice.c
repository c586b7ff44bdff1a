/* slice.c - slices as text and as keys, and copies between slices. */
#include "io/slice.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/cast.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

slice weft__slice_full(int rank) {
  WEFT_ASSERT(rank >= 0 && rank <= WEFT_MAX_RANK);
  slice s = {.rank = rank};
  for (int i = 0; i < rank; i++) s.length[i] = -1;
  return s;
}

const char *weft__slice_text(const slice *s, char *to, size_t size) {
  WEFT_ASSERT(size > 0 && s->rank >= 0 && s->rank <= WEFT_MAX_RANK);
  size_t used = 0;
  to[0] = 0;
  for (int i = 0; i < s->rank && used < size; i++) {
    int n = s->length[i] < 0
                ? snprintf(to + used, size - used, "%s-", i ? ":" : "")
                : snprintf(to + used, size - used, "%s%" PRId64 ",%" PRId64, i ? ":" : "", s->start[i], s->length[i]);
    used += (size_t)n;
  }
  return to;
}

weft_err weft__slice_shape(const slice *s, const shape *full, shape *out) {
  char what[512];
  if (s->rank != full->rank)
    return weft__fail(WEFT_INTERNAL, "Mismatching ranks: shape = %s, slice = %s", weft__shape_text(full),
                      weft__slice_text(s, what, sizeof what));
  out->rank = s->rank;
  for (int i = 0; i < s->rank; i++) {
    bool all = s->length[i] < 0;
    if (!all && (s->start[i] < 0 || s->start[i] > full->dim[i] || s->length[i] > full->dim[i] - s->start[i]))
      return weft__fail(WEFT_INTERNAL, "Extent in dimension %d out of bounds: shape = %s, slice = %s", i,
                        weft__shape_text(full), weft__slice_text(s, what, sizeof what));
    out->dim[i] = all ? full->dim[i] : s->length[i];
  }
  return WEFT_OK;
}

/* Parses a spec such as "0,2:-". */
static weft_err parse_extents(const char *spec, slice *out) {
  const char *p = spec;
  *out = (slice){0};
  while (*p) {
    if (out->rank == WEFT_MAX_RANK) break;
    int i = out->rank++;
    if (*p == '-') {
      out->length[i] = -1;
      p++;
    } else {
      char *end;
      out->start[i] = strtoll(p, &end, 10);
      if (end == p || *end != ',') break;
      p = end + 1;
      out->length[i] = strtoll(p, &end, 10);
      if (end == p || out->start[i] < 0 || out->length[i] <= 0) break;
      p = end;
    }
    if (*p == ':') p++;
  }
  if (!*p) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "Expected a pair of numbers or '-' but got '%s': string = %s", p, spec);
}

weft_err weft__slice_parse(const char *spec, size_t size, shape *full, slice *out, shape *part) {
  char copy[1024];
  if (size >= sizeof copy)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a shape_and_slice specification of %zu bytes is too long", size);
  memcpy(copy, spec, size);
  copy[size] = 0;
  char *last = strrchr(copy, ' ');
  if (!last)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Need least two elements in shape_and_slice specification: %s", copy);
  *last = 0;
  full->rank = 0;
  for (char *p = copy, *end; *p;) {
    int64_t dim = strtoll(p, &end, 10);
    if (end == p || (*end && *end != ' ') || dim < 0 || full->rank == WEFT_MAX_RANK)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Non numerical dimension in shape_and_slice specification: %.*s",
                        weft__int_sat(size), spec);
    full->dim[full->rank++] = dim;
    p = *end ? end + 1 : end;
  }
  WEFT_TRY(parse_extents(last + 1, out));
  return weft__slice_shape(out, full, part);
}

/* ---- keys: encodings of numbers and strings whose bytes sort like the values ---- */

static void key_number(text *t, uint64_t v) { /* the number of bytes, then the bytes in big-endian order */
  char b[9];
  int n = 0;
  while (n < 8 && v >> (8 * n)) n++;
  b[0] = (char)n;
  for (int i = 0; i < n; i++) b[1 + i] = (char)(v >> (8 * (n - 1 - i)));
  weft__text_add(t, b, (size_t)n + 1);
}

static void key_string(text *t, bytes s) {
  for (size_t i = 0; i < s.size; i++) {
    unsigned char c = (unsigned char)s.data[i];
    if (c == 0)
      weft__text_add(t, "\x00\xff", 2);
    else if (c == 255)
      weft__text_add(t, "\xff\x00", 2);
    else
      weft__text_add(t, s.data + i, 1);
  }
  weft__text_add(t, "\x00\x01", 2);
}

/* n bytes hold [-2^(7n-1), 2^(7n-1)).  The number of leading one bits is n. */
static void key_signed(text *t, int64_t v) {
  uint64_t size = v < 0 ? ~(uint64_t)v : (uint64_t)v;
  int n = 1;
  while (n < 10 && size >> (7 * n - 1)) n++;
  unsigned char b[10];
  for (int i = 0; i < 10; i++) { /* two's complement, 10 bytes, big endian */
    int shift = 8 * (9 - i);
    b[i] = (unsigned char)(shift >= 64 ? (v < 0 ? 255 : 0) : (uint64_t)v >> shift);
  }
  unsigned char *p = b + 10 - n;
  for (int bit = 0; bit < n; bit++) p[bit / 8] ^= (unsigned char)(128 >> (bit % 8));
  weft__text_add(t, (const char *)p, (size_t)n);
}

void weft__slice_key(text *out, bytes name, const slice *s) {
  key_number(out, 0);
  key_string(out, name);
  key_number(out, (uint64_t)s->rank);
  for (int i = 0; i < s->rank; i++) {
    key_signed(out, s->length[i] < 0 ? 0 : s->start[i]);
    key_signed(out, s->length[i]);
  }
}

/* ---- copying ---- */

static int64_t first_of(const slice *s, int i) { return s->length[i] < 0 ? 0 : s->start[i]; }
static int64_t slice_size_of(const slice *s, int i, const shape *full) {
  return s->length[i] < 0 ? full->dim[i] : s->length[i];
}

bool weft__slice_meet(const slice *a, const slice *b, const shape *full, slice *both) {
  WEFT_ASSERT(a->rank == full->rank && b->rank == full->rank);
  *both = (slice){.rank = full->rank};
  for (int i = 0; i < full->rank; i++) {
    int64_t begin = first_of(a, i) > first_of(b, i) ? first_of(a, i) : first_of(b, i);
    int64_t end_a = first_of(a, i) + slice_size_of(a, i, full), end_b = first_of(b, i) + slice_size_of(b, i, full);
    int64_t end = end_a < end_b ? end_a : end_b;
    if (end <= begin) return false;
    both->start[i] = begin;
    both->length[i] = end - begin;
  }
  return true;
}

typedef struct copier {
  weft_dtype dtype;
  const shape *full;
  const slice *to, *from, *both;
} copier;

static weft_err copy_axis(const copier *c, int axis, char *to, const char *from) {
  WEFT_ASSERT(axis >= 0 && axis <= c->full->rank);
  if (axis == c->full->rank) return weft__elements_copy(c->dtype, to, from, 1);
  size_t to_step = weft__dtype_size(c->dtype), from_step = to_step;
  for (int i = axis + 1; i < c->full->rank; i++) {
    to_step *= (size_t)slice_size_of(c->to, i, c->full);
    from_step *= (size_t)slice_size_of(c->from, i, c->full);
  }
  to += (size_t)(c->both->start[axis] - first_of(c->to, axis)) * to_step;
  from += (size_t)(c->both->start[axis] - first_of(c->from, axis)) * from_step;
  WEFT_ASSERT(c->both->start[axis] >= first_of(c->to, axis) && c->both->start[axis] >= first_of(c->from, axis));
  if (axis == c->full->rank - 1) return weft__elements_copy(c->dtype, to, from, c->both->length[axis]);
  for (int64_t i = 0; i < c->both->length[axis]; i++)
    WEFT_TRY(copy_axis(c, axis + 1, to + (size_t)i * to_step, from + (size_t)i * from_step));
  return WEFT_OK;
}

weft_err weft__slice_copy(weft_dtype dtype, const shape *full, const slice *to, void *to_data, const slice *from,
                          const void *from_data) {
  slice both;
  if (!weft__slice_meet(to, from, full, &both)) return WEFT_OK;
  return copy_axis(&(copier){dtype, full, to, from, &both}, 0, to_data, from_data);
}

/* ---- protos ---- */

weft_err weft__slice_from_proto(slice *out, const Tensorflow__TensorSliceProto *p) {
  if (p->n_extent > WEFT_MAX_RANK) return weft__fail(WEFT_DATA_LOSS, "a slice has %zu dimensions", p->n_extent);
  *out = (slice){.rank = weft__int_sat(p->n_extent)};
  for (int i = 0; i < out->rank; i++) {
    const Tensorflow__TensorSliceProtoExtent *e = p->extent[i];
    bool has = e->has_length_case == TENSORFLOW__TENSOR_SLICE_PROTO_EXTENT__HAS_LENGTH_LENGTH;
    if (has && (e->start < 0 || e->length < 0)) return weft__fail(WEFT_DATA_LOSS, "a slice has a negative extent");
    out->start[i] = has ? e->start : 0;
    out->length[i] = has ? e->length : -1;
  }
  return WEFT_OK;
}

weft_err weft__slice_to_proto(Tensorflow__TensorSliceProto *p, const slice *s, struct arena *a) {
  *p = (Tensorflow__TensorSliceProto)TENSORFLOW__TENSOR_SLICE_PROTO__INIT;
  p->n_extent = (size_t)s->rank;
  p->extent = weft__arena_alloc(a, (size_t)s->rank * sizeof *p->extent + 1);
  Tensorflow__TensorSliceProtoExtent *e = weft__arena_alloc(a, (size_t)s->rank * sizeof *e + 1);
  if (!p->extent || !e) return WEFT_OOM;
  for (int i = 0; i < s->rank; i++) {
    e[i] = (Tensorflow__TensorSliceProtoExtent)TENSORFLOW__TENSOR_SLICE_PROTO_EXTENT__INIT;
    p->extent[i] = &e[i];
    if (s->length[i] < 0) continue;
    e[i].start = s->start[i];
    e[i].has_length_case = TENSORFLOW__TENSOR_SLICE_PROTO_EXTENT__HAS_LENGTH_LENGTH;
    e[i].length = s->length[i];
  }
  return WEFT_OK;
}
