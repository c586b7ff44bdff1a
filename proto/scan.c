/* scan.c - one walk over a message's bytes before protobuf-c sees them.
 *
 * The walk follows the descriptor, so that only bytes that are messages are taken for messages, and
 * adds up what unpacking would allocate: two bytes can claim a struct of some hundreds, and a list of
 * those must not turn a request of megabytes into gigabytes of memory. */
#include "proto/scan.h"
#include "base/alloc.h"
#include "base/block.h"

enum { DEPTH_MAX = 100, AMPLIFICATION = 64, ALWAYS_ALLOWED = 16 << 20, HEAP_OVERHEAD = 16 };
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 }; /* wire types */

typedef struct scan {
  const uint8_t *start;
  const char *name; /* of the outermost message */
  size_t cost, budget;
} scan;

static weft_err scan_refuse(const scan *s, const uint8_t *at, const char *what) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s: %s at byte %zu", s->name, what, (size_t)(at - s->start));
}

static weft_err scan_read_varint(const scan *s, const uint8_t **at, const uint8_t *end, uint64_t *out) {
  const uint8_t *begin = *at;
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (*at == end) return scan_refuse(s, begin, "a number is cut off");
    uint8_t byte = *(*at)++;
    value |= (uint64_t)(byte & 0x7f) << (shift > 63 ? 63 : shift);
    if (byte < 0x80) {
      *out = value;
      return WEFT_OK;
    }
  }
  return scan_refuse(s, begin, "a number is longer than ten bytes");
}

static weft_err scan_charge(scan *s, const uint8_t *at, size_t cost) {
  s->cost += cost;
  return s->cost > s->budget ? scan_refuse(s, at, "unpacking would take too much memory for its size") : WEFT_OK;
}

/* Returns how many bytes an element of the field takes in memory, from the bytes that it has on the wire. */
static size_t element_cost(const ProtobufCFieldDescriptor *f, uint64_t length) {
  if (!f) return sizeof(ProtobufCMessageUnknownField) + HEAP_OVERHEAD + (size_t)length;
  switch (f->type) {
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData) + HEAP_OVERHEAD + (size_t)length;
  case PROTOBUF_C_TYPE_MESSAGE:
    return sizeof(void *) + HEAP_OVERHEAD + ((const ProtobufCMessageDescriptor *)f->descriptor)->sizeof_message;
  default: return 8 * (size_t)length; /* a packed list: at most eight bytes for one */
  }
}

static weft_err scan_message(scan *s, const ProtobufCMessageDescriptor *d, const uint8_t *at, const uint8_t *end,
                             int depth);

static weft_err scan_length(scan *s, const ProtobufCFieldDescriptor *f, const uint8_t **at, const uint8_t *end,
                            int depth) {
  const uint8_t *begin = *at;
  uint64_t length = 0;
  WEFT_TRY(scan_read_varint(s, at, end, &length));
  if (length > (uint64_t)(end - *at)) return scan_refuse(s, begin, "a length runs past its message");
  WEFT_TRY(scan_charge(s, begin, element_cost(f, length)));
  const uint8_t *inside = *at;
  *at += length;
  if (!f || f->type != PROTOBUF_C_TYPE_MESSAGE) return WEFT_OK;
  return scan_message(s, f->descriptor, inside, *at, depth + 1);
}

static weft_err skip_fixed(const scan *s, const uint8_t **at, const uint8_t *end, size_t size) {
  if ((size_t)(end - *at) < size) return scan_refuse(s, *at, "a number is cut off");
  *at += size;
  return WEFT_OK;
}

static weft_err scan_field(scan *s, const ProtobufCMessageDescriptor *d, const uint8_t **at, const uint8_t *end,
                           int depth) {
  const uint8_t *begin = *at;
  uint64_t tag = 0, ignored;
  WEFT_TRY(scan_read_varint(s, at, end, &tag));
  if (tag >> 3 == 0 || tag > UINT32_MAX) return scan_refuse(s, begin, "a field has a bad number");
  const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(d, (unsigned)(tag >> 3));
  unsigned wire = (unsigned)tag & 7;
  if (wire == LENGTH) return scan_length(s, f, at, end, depth);
  WEFT_TRY(scan_charge(s, begin, f ? 8 : element_cost(NULL, 8)));
  switch (wire) {
  case VARINT: return scan_read_varint(s, at, end, &ignored);
  case FIXED64: return skip_fixed(s, at, end, 8);
  case FIXED32: return skip_fixed(s, at, end, 4);
  default: return scan_refuse(s, begin, "a field has a bad wire type");
  }
}

static weft_err scan_message(scan *s, const ProtobufCMessageDescriptor *d, const uint8_t *at, const uint8_t *end,
                             int depth) {
  if (depth > DEPTH_MAX) return scan_refuse(s, at, "messages are nested more than 100 deep");
  while (at < end) WEFT_TRY(scan_field(s, d, &at, end, depth));
  return WEFT_OK;
}

weft_err weft__proto_scan(const ProtobufCMessageDescriptor *d, const void *data, size_t size) {
  if (size == 0) return WEFT_OK;
  if (size > INT32_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s of %zu bytes: a message has at most 2^31 - 1", d->short_name, size);
  size_t budget = size * AMPLIFICATION + ALWAYS_ALLOWED, memory = weft__block_limit() / 2;
  scan s = {.start = data, .name = d->short_name, .budget = budget < memory ? budget : memory};
  return scan_message(&s, d, s.start, s.start + size, 1);
}

/* ---- unpacking ---- */

static void *unpack_alloc(void *failed, size_t size) {
  void *p = weft__alloc(size);
  if (!p) *(bool *)failed = true;
  return p;
}

static void unpack_free(void *failed, void *p) {
  (void)failed;
  weft__free(p);
}

weft_err weft__proto_unpack(ProtobufCMessage **out, const ProtobufCMessageDescriptor *d, const void *data,
                            size_t size) {
  *out = NULL;
  WEFT_TRY(weft__proto_scan(d, data, size));
  bool failed = false;
  ProtobufCAllocator heap = {.alloc = unpack_alloc, .free = unpack_free, .allocator_data = &failed};
  static const uint8_t nothing;
  *out = protobuf_c_message_unpack(d, &heap, size, size ? data : &nothing);
  if (*out) return WEFT_OK;
  if (failed) return weft__fail(WEFT_RESOURCE_EXHAUSTED, "Out of memory unpacking a %s", d->short_name);
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s: its %zu bytes are not a valid message", d->short_name, size);
}

weft_err weft__proto_pack(const ProtobufCMessage *m, void **out, size_t *size) {
  *size = protobuf_c_message_get_packed_size(m);
  *out = weft__alloc(*size + 1);
  if (!*out) return WEFT_OOM;
  protobuf_c_message_pack(m, *out);
  return WEFT_OK;
}
