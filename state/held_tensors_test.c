/* held_tensors_test.c - tests of variants that come from a file. */
#include "state/held_tensors.h"

#include "tests/check.h"
#include "tf.pb-c.h"

enum { MOST = 3 };

/* Decodes a variant of int64 vectors: the n lists of `numbers`, each ended by -1. */
static weft_err decode(const char *type, int n, const int64_t (*numbers)[4]) {
  Tensorflow__TensorProto t[MOST], *list[MOST];
  Tensorflow__TensorShapeProto s[MOST];
  Tensorflow__TensorShapeProtoDim d[MOST], *dim[MOST];
  int64_t values[MOST][4];
  for (int i = 0; i < n; i++) {
    size_t count = 0;
    for (; numbers[i][count] >= 0; count++) values[i][count] = numbers[i][count];
    tensorflow__tensor_proto__init(&t[i]);
    tensorflow__tensor_shape_proto__init(&s[i]);
    tensorflow__tensor_shape_proto_dim__init(&d[i]);
    d[i].size = (int64_t)count, dim[i] = &d[i];
    s[i].n_dim = 1, s[i].dim = &dim[i];
    t[i].dtype = WEFT_INT64, t[i].tensor_shape = &s[i];
    t[i].n_int64_val = count, t[i].int64_val = values[i];
    list[i] = &t[i];
  }
  Tensorflow__VariantTensorDataProto p = TENSORFLOW__VARIANT_TENSOR_DATA_PROTO__INIT;
  p.type_name = (char *)(uintptr_t)type;
  p.n_tensors = (size_t)n, p.tensors = list;
  uint8_t packed[512];
  weft_tensor *strings, out = {0};
  EXPECT_OK(weft__tensor_create(&strings, WEFT_STRING, &SHAPE_SCALAR));
  EXPECT(tensorflow__variant_tensor_data_proto__get_packed_size(&p) <= sizeof packed);
  EXPECT_OK(weft__str_set(TENSOR_DATA(strings, str), packed, tensorflow__variant_tensor_data_proto__pack(&p, packed)));
  const weft_err err = weft__held_tensors_decode(strings, &out);
  weft__tensor_clear(&out);
  weft_tensor_destroy(strings);
  return err;
}

static const int64_t rows[MOST][4] = {{0, 2, -1}, {0, 1, 3, -1}, {7, 8, 9, -1}};

TEST(a_whole_variant_is_read) {
  EXPECT_OK(decode(HELD_TENSOR, 1, rows));
  EXPECT_OK(decode(HELD_RAGGED, 1, rows));
  EXPECT_OK(decode(HELD_RAGGED, 3, rows));
  EXPECT_OK(decode(HELD_COMPRESSED, 0, rows));
}

TEST(a_variant_without_its_tensors_is_refused) {
  EXPECT_ERR(decode(HELD_TENSOR, 0, rows), WEFT_DATA_LOSS, "a tensor in the file consists of 0 tensors");
  EXPECT_ERR(decode(HELD_TENSOR, 2, rows), WEFT_DATA_LOSS, "a tensor in the file consists of 2 tensors");
  EXPECT_ERR(decode(HELD_RAGGED, 0, rows), WEFT_DATA_LOSS, "a ragged tensor in the file consists of 0 tensors");
}

TEST(row_splits_of_a_file_that_do_not_fit_are_refused) {
  static const int64_t wrong[][MOST][4] = {
      {{0, 3, -1}, {0, 1, 3, -1}, {7, 8, 9, -1}}, /* more rows than there are */
      {{0, 2, -1}, {0, 5, 3, -1}, {7, 8, 9, -1}}, /* descending */
      {{0, 2, -1}, {1, 1, 3, -1}, {7, 8, 9, -1}}, /* from 1 on */
      {{0, 2, -1}, {0, 1, 2, -1}, {7, 8, 9, -1}}, /* fewer values than there are */
      {{0, 2, -1}, {-1}, {7, 8, 9, -1}},          /* empty */
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    EXPECT_ERR(decode(HELD_RAGGED, 3, wrong[i]), WEFT_DATA_LOSS, "row splits of a variant in the file");
}
