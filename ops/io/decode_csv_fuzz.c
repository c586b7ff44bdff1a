/* decode_csv_fuzz.c - parses the bytes as one CSV record of four fields: a string, an int, a float, a required
 * string.
 *
 * The first byte chooses the delimiter, whether quotes have a meaning and whether a column is left out. */
#include "tests/fuzz_op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS = 4, KINDS = 8 };
static const weft_dtype types[1 + FIELDS] = {WEFT_STRING, WEFT_STRING, WEFT_INT32, WEFT_FLOAT, WEFT_STRING};

static const weft_node *node_of(int kind) {
  static const weft_node *made[KINDS];
  static int64_t columns[] = {0, 1, 3, 5};
  const attr attrs[] = {A_STR("field_delim", kind & 1 ? "\t" : ","), A_BOOL("use_quote_delim", (kind & 2) != 0),
                        A_INTS("select_cols", columns, 4)};
  if (!made[kind]) made[kind] = fuzz_op_node("DecodeCSV", 1 + FIELDS, types, kind & 4 ? 3 : 2, attrs);
  return made[kind];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  weft_tensor *t[1 + FIELDS] = {NULL};
  if (size == 0) return 0;
  weft_err err = weft__tensor_string(&t[0], (const char *)data + 1, size - 1);
  for (int i = 1; i <= FIELDS && !err; i++) { /* an empty default: the field is required */
    err = weft__tensor_create(&t[i], types[i], &SHAPE1(i < FIELDS));
    if (!err && i < FIELDS && types[i] != WEFT_STRING) memset(t[i]->data, 0, weft__tensor_bytes(t[i]));
  }
  if (!err) fuzz_op_run(node_of(data[0] % KINDS), (const weft_tensor **)t);
  for (int i = 0; i <= FIELDS; i++) weft_tensor_destroy(t[i]);
  return 0;
}
