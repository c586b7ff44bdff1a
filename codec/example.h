/* example.h - parses serialized tf.train.Example messages in place, without building objects.
 *
 * A scan reports each feature of the message and the position of its list of values.  A list is counted, then
 * decoded directly into a tensor.  Every length is checked against the enclosing message. */
#ifndef WEFT_CODEC_EXAMPLE_H
#define WEFT_CODEC_EXAMPLE_H

#include "tensor/tensor.h"

typedef struct bytes {
  const uint8_t *at, *end;
} bytes;
static inline bytes weft__bytes(const str *s) {
  const uint8_t *data = (const uint8_t *)s->data;
  return (bytes){data, s->size ? data + s->size : data};
}

/* Reads one field and advances past it.  WIRE_BYTES: *value is its content.  WIRE_VARINT: *number is its value.
 * Fixed size: *value is its bytes.  Returns false if the field is malformed or at the end. */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
bool weft__wire_next(bytes *in, uint32_t *field, int *wire, bytes *value, uint64_t *number);

/* A feature: the type of its values (WEFT_INVALID if it has none) and its list message. */
typedef struct feature {
  weft_dtype type; /* WEFT_STRING, WEFT_FLOAT, WEFT_INT64 */
  bytes list;
} feature;
bool weft__feature_read(bytes message, feature *out); /* parses a serialized Feature */

/* Calls fn for every entry of map<string, Feature> in a Features message, or of map<string, FeatureList> in a
 * FeatureLists message.  The value is the serialized Feature or FeatureList.  Returns false if the message is
 * malformed. */
typedef void entry_fn(void *arg, bytes key, bytes value);
bool weft__entries_scan(bytes message, entry_fn *fn, void *arg);
/* Scans field `field` of an Example (1) or of a SequenceExample (1: context, 2: feature lists). */
bool weft__example_scan(bytes message, uint32_t field, entry_fn *fn, void *arg);

/* Returns the number of values in a feature's list, or -1 if it is malformed. */
int64_t weft__feature_count(const feature *f);
/* Writes the values, as many as were counted.  Returns RESOURCE_EXHAUSTED if a string cannot be allocated. */
weft_err weft__feature_values(const feature *f, void *out);

/* A hash table from keys to numbers. */
typedef struct key_table {
  struct key_slot {
    bytes key;
    int number; /* -1: the slot is free */
  } * slot;
  uint32_t mask;
} key_table;
weft_err weft__keys_create(key_table *t, int n);          /* allocates room for n keys */
void weft__keys_put(key_table *t, bytes key, int number); /* a second number for a key replaces the first */
int weft__keys_find(const key_table *t, bytes key);       /* -1 if absent */
void weft__keys_finish(key_table *t);

#endif
