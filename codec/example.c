/* example.c - parses the wire format of Example in place. */
#include "codec/example.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include <string.h>

static bool example_read_varint(bytes *in, uint64_t *out) {
  WEFT_ASSERT(in->at <= in->end);
  if (in->at < in->end && *in->at < 0x80) { /* nearly always one byte */
    *out = *in->at++;
    return true;
  }
  uint64_t value = 0;
  for (int shift = 0; shift < 70 && in->at < in->end; shift += 7) {
    const uint8_t byte = *in->at++;
    value |= (uint64_t)(byte & 0x7f) << (shift < 63 ? shift : 63);
    if (byte < 0x80) {
      *out = value;
      return true;
    }
  }
  return false;
}

static bool example_take(bytes *in, uint64_t size, bytes *value) {
  WEFT_ASSERT(in->at <= in->end);
  if (size > (uint64_t)(in->end - in->at)) return false;
  *value = (bytes){in->at, in->at + size};
  in->at += size;
  return true;
}

bool weft__wire_next(bytes *in, uint32_t *field, int *wire, bytes *value, uint64_t *number) {
  uint64_t tag = 0;
  *value = (bytes){0};
  *number = 0;
  if (!example_read_varint(in, &tag) || tag >> 3 == 0 || tag > UINT32_MAX) return false;
  *field = (uint32_t)tag >> 3;
  *wire = weft__int_sat(tag & 7);
  switch (*wire) {
  case WIRE_VARINT: return example_read_varint(in, number);
  case WIRE_FIXED64: return example_take(in, 8, value);
  case WIRE_FIXED32: return example_take(in, 4, value);
  case WIRE_BYTES: return example_read_varint(in, number) && example_take(in, *number, value);
  default: return false; /* groups are not supported */
  }
}

bool weft__feature_read(bytes message, feature *out) {
  static const weft_dtype types[] = {WEFT_INVALID, WEFT_STRING, WEFT_FLOAT, WEFT_INT64};
  uint32_t field;
  int wire;
  uint64_t number;
  *out = (feature){.type = WEFT_INVALID};
  if (message.at == message.end) return true;
  bytes list;
  if (!weft__wire_next(&message, &field, &wire, &list, &number)) return false;
  if (field > 3 || wire != WIRE_BYTES) return false;
  *out = (feature){types[field], list};
  return true;
}

/* Parses one entry of a map: a key and a value, in any order.  An empty key may be omitted. */
static bool entry_scan(bytes entry, entry_fn *fn, void *arg) {
  bytes key = {entry.at, entry.at}, value = {0}, found;
  uint32_t field;
  int wire;
  uint64_t number;
  while (entry.at < entry.end) {
    if (!weft__wire_next(&entry, &field, &wire, &found, &number)) return false;
    if (field == 1 && wire == WIRE_BYTES) key = found;
    if (field == 2 && wire == WIRE_BYTES) value = found;
  }
  if (!value.at) return false;
  fn(arg, key, value);
  return true;
}

bool weft__entries_scan(bytes message, entry_fn *fn, void *arg) {
  uint32_t field;
  int wire;
  uint64_t number;
  bytes value;
  while (message.at < message.end) {
    if (!weft__wire_next(&message, &field, &wire, &value, &number)) return false;
    if (field == 1 && (wire != WIRE_BYTES || !entry_scan(value, fn, arg))) return false;
  }
  return true;
}

bool weft__example_scan(bytes message, uint32_t wanted, entry_fn *fn, void *arg) {
  uint32_t field;
  int wire;
  uint64_t number;
  bytes value;
  while (message.at < message.end) {
    if (!weft__wire_next(&message, &field, &wire, &value, &number)) return false;
    if (field == wanted && (wire != WIRE_BYTES || !weft__entries_scan(value, fn, arg))) return false;
  }
  return true;
}

/* ---- lists of values: packed, unpacked or mixed ---- */

/* Counts the varints.  A varint ends at a byte whose top bit is clear, after at most ten bytes. */
static int64_t count_varints(bytes packed) {
  int64_t n = 0;
  int run = 0;
  for (const uint8_t *p = packed.at; p < packed.end; p++) {
    run = *p < 0x80 ? 0 : run + 1;
    n += run == 0;
    if (run == 10) return -1;
  }
  return run == 0 ? n : -1;
}

static int64_t count_field(weft_dtype type, int wire, bytes value) {
  switch (type) {
  case WEFT_STRING: return wire == WIRE_BYTES ? 1 : -1;
  case WEFT_FLOAT:
    if (wire == WIRE_FIXED32) return 1;
    return wire == WIRE_BYTES ? (value.end - value.at) / 4 : -1;
  default:
    if (wire == WIRE_VARINT) return 1;
    return wire == WIRE_BYTES ? count_varints(value) : -1;
  }
}

int64_t weft__feature_count(const feature *f) {
  bytes in = f->list, value;
  uint32_t field;
  int wire;
  uint64_t number;
  int64_t n = 0;
  while (in.at < in.end) {
    if (!weft__wire_next(&in, &field, &wire, &value, &number)) return -1;
    if (field != 1) continue;
    const int64_t more = count_field(f->type, wire, value);
    if (more < 0) return -1;
    n += more;
  }
  return n;
}

static size_t read_floats(bytes value, float *out) {
  const size_t n = (size_t)(value.end - value.at) / 4;
  if (n) memcpy(out, value.at, n * 4);
  return n;
}

static size_t read_ints(bytes value, int64_t *out) {
  size_t n = 0;
  for (uint64_t v; value.at < value.end && example_read_varint(&value, &v); n++) out[n] = (int64_t)v;
  return n;
}

weft_err weft__feature_values(const feature *f, void *out) {
  WEFT_ASSERT(weft__feature_count(f) >= 0); /* the caller made room for so many */
  bytes in = f->list, value;
  uint32_t field;
  int wire;
  uint64_t number;
  size_t n = 0;
  while (in.at < in.end && weft__wire_next(&in, &field, &wire, &value, &number)) {
    if (field != 1) continue;
    if (f->type == WEFT_STRING)
      WEFT_TRY(weft__str_set((str *)out + n++, value.at, (size_t)(value.end - value.at)));
    else if (f->type == WEFT_FLOAT)
      n += read_floats(value, (float *)out + n);
    else if (wire == WIRE_VARINT)
      ((int64_t *)out)[n++] = (int64_t)number;
    else
      n += read_ints(value, (int64_t *)out + n);
  }
  return WEFT_OK;
}

/* ---- keys ---- */

static uint32_t example_hash(bytes key) {
  uint32_t h = 2166136261u;
  for (const uint8_t *p = key.at; p < key.end; p++) h = (h ^ *p) * 16777619u;
  return h;
}

static bool example_same(bytes a, bytes b) {
  const size_t n = (size_t)(a.end - a.at);
  return n == (size_t)(b.end - b.at) && (n == 0 || !memcmp(a.at, b.at, n));
}

weft_err weft__keys_create(key_table *t, int n) {
  uint32_t size = 8;
  while (size < 2 * (uint32_t)n) size *= 2;
  if (!(t->slot = weft__alloc_zero(size, sizeof *t->slot))) return WEFT_OOM;
  for (uint32_t i = 0; i < size; i++) t->slot[i].number = -1;
  t->mask = size - 1;
  return WEFT_OK;
}

static struct key_slot *example_slot_of(const key_table *t, bytes key) {
  uint32_t i = example_hash(key) & t->mask;
  while (t->slot[i].number >= 0 && !example_same(t->slot[i].key, key)) i = (i + 1) & t->mask;
  return &t->slot[i];
}

void weft__keys_put(key_table *t, bytes key, int number) { *example_slot_of(t, key) = (struct key_slot){key, number}; }
int weft__keys_find(const key_table *t, bytes key) { return example_slot_of(t, key)->number; }
void weft__keys_finish(key_table *t) { weft__free(t->slot); }
