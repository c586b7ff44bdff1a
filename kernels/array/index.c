/* index.c - formats the coordinates of an index for error messages. */
#include "kernels/array/index.h"

#include <stdio.h>

static size_t index_add(char *buf, size_t size, size_t at, const char *sep, int64_t v) {
  if (at >= size) return at;
  return at + (size_t)snprintf(buf + at, size - at, "%s%lld", sep, (long long)v);
}

const char *weft__index_where(const shape *s, int rank, int64_t i, char *buf, size_t size) {
  int64_t at[WEFT_MAX_RANK];
  size_t end = 0;
  buf[0] = '\0';
  if (rank == 0) return buf;
  for (int d = rank - 1; d >= 0; d--) {
    at[d] = i % s->dim[d];
    i /= s->dim[d];
  }
  for (int d = 0; d < rank; d++) end = index_add(buf, size, end, d ? "," : "[", at[d]);
  if (end < size) snprintf(buf + end, size - end, "]");
  return buf;
}

static const char *index_join(const weft_tensor *t, int64_t row, int64_t n, const char *sep, char *buf, size_t size) {
  size_t end = (size_t)snprintf(buf, size, "[");
  for (int64_t i = 0; i < n; i++) end = index_add(buf, size, end, i ? sep : "", weft__index_at(t, row * n + i));
  if (end < size) snprintf(buf + end, size - end, "]");
  return buf;
}

const char *weft__index_text(const weft_tensor *t, int64_t row, int64_t n, char *buf, size_t size) {
  return index_join(t, row, n, ", ", buf, size);
}

const char *weft__index_tight_text(const weft_tensor *t, int64_t row, int64_t n, char *buf, size_t size) {
  return index_join(t, row, n, ",", buf, size);
}
