/* example.h - reads serialized tf.train.Example messages where they lie, without building anything.
 *
 * A scan names each feature of the message and where its list of values is; a list is counted, then
 * read straight into a tensor.  Every length is checked against what holds it. */
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

/* Reads one field and moves past it.  WIRE_BYTES: *value is what it holds; WIRE_VARINT: *number is its value;
 * fixed ones: *value is their bytes.  False: malformed, or at the end. */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };
bool weft__wire_next(bytes *in, uint32_t *field, int *wire, bytes *value, uint64_t *number);

/* A feature: the type of its values (WEFT_INVALID: it has none) and its list message. */
typedef struct feature {
  weft_dtype type; /* WEFT_STRING, WEFT_FLOAT, WEFT_INT64 */
  bytes list;
} feature;
bool weft__feature_read(bytes message, feature *out); /* of a serialized Feature */

/* Calls fn for every entry of map<string, Feature> in a Features message, or of map<string, FeatureList>
 * in a FeatureLists message: the value is the serialized Feature or FeatureList.  False: malformed. */
typedef void entry_fn(void *arg, bytes key, bytes value);
bool weft__entries_scan(bytes message, entry_fn *fn, void *arg);
/* The same over field `field` of an Example (1) or SequenceExample (1: context, 2: feature lists). */
bool weft__example_scan(bytes message, uint32_t field, entry_fn *fn, void *arg);

/* How many values a feature's list has; -1 if it is malformed. */
int64_t weft__feature_count(const feature *f);
/* Writes them (as many as were counted); RESOURCE_EXHAUSTED if a string cannot be allocated. */
weft_err weft__feature_values(const feature *f, void *out);

/* Keys to numbers. */
typedef struct key_table {
  struct key_slot {
    bytes key;
    int number; /* -1: free */
  } * slot;
  uint32_t mask;
} key_table;
weft_err weft__keys_create(key_table *t, int n);          /* room for n keys */
void weft__keys_put(key_table *t, bytes key, int number); /* a second number for a key replaces the first */
int weft__keys_find(const key_table *t, bytes key);       /* -1 if absent */
void weft__keys_finish(key_table *t);

#endif
