/* tensor_test.c - sharing, copying, filling, printing, and who frees what. */
#include "tensor/tensor.h"
#include "base/alloc.h"
#include "base/text.h"
#include "tests/check.h"

static void released(void *arg) { ++*(int *)arg; }

TEST(views_share_a_buffer_and_the_last_one_frees_it) {
  int freed = 0;
  float data[4] = {1, 2, 3, 4};
  weft_tensor a = {.dtype = WEFT_FLOAT, .shape = SHAPE1(4), .data = data}, b = {0};
  EXPECT_OK(weft__buffer_adopt(&a.buf, WEFT_FLOAT, data, sizeof data, released, &freed));
  EXPECT(weft__tensor_writable(&a));
  weft__tensor_share(&b, &a);
  EXPECT(!weft__tensor_writable(&a));
  weft__tensor_clear(&a);
  EXPECT_EQ_INT(freed, 0);
  EXPECT(b.data == data);
  weft__tensor_clear(&b);
  EXPECT_EQ_INT(freed, 1);
}

TEST(keeping_copies_what_belongs_to_a_step_and_shares_the_rest) {
  weft_tensor a, kept = {0}, again = {0};
  EXPECT_OK(weft__tensor_init(&a, WEFT_INT32, &SHAPE1(3)));
  memcpy(a.data, (int32_t[]){1, 2, 3}, 12);
  a.buf->transient = true;
  EXPECT(!weft__tensor_writable(&a));
  EXPECT_OK(weft__tensor_keep(&kept, &a));
  EXPECT(kept.buf != a.buf);
  EXPECT_EQ_MEM(kept.data, a.data, 12);
  EXPECT_OK(weft__tensor_keep(&again, &kept));
  EXPECT(again.buf == kept.buf);
  weft__tensor_clear(&a);
  weft__tensor_clear(&kept);
  weft__tensor_clear(&again);
}

static int objects_alive;
static void object_destroy(object *o) {
  objects_alive--;
  weft__free(o);
}

TEST(strings_are_copied_deep_and_objects_are_counted) {
  weft_tensor a, b = {0}, o, p = {0};
  EXPECT_OK(weft__tensor_init(&a, WEFT_STRING, &SHAPE1(2)));
  EXPECT_OK(weft__str_set(&TENSOR_DATA(&a, str)[0], "one", 3));
  EXPECT_OK(weft__tensor_clone(&b, &a));
  EXPECT(TENSOR_DATA(&b, str)[0].data != TENSOR_DATA(&a, str)[0].data);
  EXPECT_EQ_MEM(TENSOR_DATA(&b, str)[0].data, "one", 3);
  EXPECT_EQ_INT(TENSOR_DATA(&b, str)[1].size, 0);
  weft__tensor_clear(&a);
  weft__tensor_clear(&b);

  object *made = weft__alloc_zero(1, sizeof *made);
  atomic_init(&made->refs, 1);
  made->destroy = object_destroy;
  objects_alive = 1;
  EXPECT_OK(weft__tensor_init(&o, WEFT_VARIANT, &SHAPE1(3)));
  EXPECT_OK(weft__elements_fill(WEFT_VARIANT, o.data, &made, 3));
  weft__object_release(made);
  EXPECT_OK(weft__tensor_clone(&p, &o));
  weft__tensor_clear(&o);
  EXPECT_EQ_INT(objects_alive, 1);
  weft__tensor_clear(&p);
  EXPECT_EQ_INT(objects_alive, 0);
}

TEST(filling_repeats_elements_of_any_size) {
  static double d[100001];
  double one = 1.25;
  EXPECT_OK(weft__elements_fill(WEFT_DOUBLE, d, &one, 100000));
  int wrong = 0;
  for (int i = 0; i < 100000; i++) wrong += d[i] != 1.25;
  EXPECT_EQ_INT(wrong, 0);
  EXPECT(d[100000] == 0);
  uint8_t bytes[8] = {0}, seven = 7;
  EXPECT_OK(weft__elements_fill(WEFT_UINT8, bytes, &seven, 7));
  EXPECT_EQ_MEM(bytes, "\7\7\7\7\7\7\7\0", 8);
}

TEST(numbers_go_in_and_out_of_every_type) {
  static const weft_dtype types[] = {WEFT_FLOAT, WEFT_DOUBLE, WEFT_INT32,    WEFT_UINT8,     WEFT_INT16,
                                     WEFT_INT8,  WEFT_INT64,  WEFT_BFLOAT16, WEFT_COMPLEX64, WEFT_COMPLEX128,
                                     WEFT_HALF,  WEFT_UINT16, WEFT_UINT32,   WEFT_UINT64,    WEFT_QINT32};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    weft_tensor *t;
    EXPECT_OK(weft__tensor_scalar(&t, types[i], 5));
    EXPECT_NEAR(weft__tensor_double(t, 0), 5, 0);
    EXPECT_EQ_INT(weft__tensor_int(t, 0), 5);
    weft_tensor_destroy(t);
  }
  weft_tensor *t;
  EXPECT_ERR(weft__tensor_scalar(&t, WEFT_STRING, 1), WEFT_INVALID_ARGUMENT, "string");
  EXPECT(t == NULL);
  EXPECT_OK(weft__tensor_ints(&t, WEFT_INT64, (int64_t[]){7, -8}, 2));
  EXPECT_EQ_INT(weft__tensor_int(t, 1), -8);
  weft_tensor_retain(t);
  weft_tensor_destroy(t);
  EXPECT_EQ_INT(weft__tensor_int(t, 0), 7);
  weft_tensor_destroy(t);
}

TEST(a_tensor_of_no_or_too_large_shape_is_refused) {
  weft_tensor t;
  EXPECT_ERR(weft__tensor_init(&t, WEFT_FLOAT, &SHAPE2(2, -1)), WEFT_INVALID_ARGUMENT, "[2,?]");
  EXPECT_ERR(weft__tensor_init(&t, WEFT_FLOAT, &SHAPE2(INT64_MAX, 2)), WEFT_INVALID_ARGUMENT, "too many");
  EXPECT_ERR(weft__tensor_init(&t, WEFT_FLOAT, &SHAPE1(INT64_MAX / 2)), WEFT_RESOURCE_EXHAUSTED,
             "OOM when allocating tensor with shape[4611686018427387903] and type float");
}

TEST(every_failed_allocation_comes_back_as_an_error) {
  weft_tensor *s;
  EXPECT_OK(weft__tensor_string(&s, "hello", 5));
  for (long n = 1; n <= 3; n++) {
    weft_tensor clone = {0}, *made = NULL;
    weft__alloc_fail_after(n);
    weft_err err = weft__tensor_clone(&clone, s);
    weft_err also = weft__tensor_string(&made, "abc", 3);
    weft__alloc_fail_after(0);
    EXPECT_EQ_INT(err, n <= 2 ? WEFT_RESOURCE_EXHAUSTED : WEFT_OK);
    EXPECT_EQ_INT(also, WEFT_RESOURCE_EXHAUSTED);
    EXPECT(made == NULL);
    weft__tensor_clear(&clone);
  }
  weft_tensor_destroy(s);
}

static void expect_print(weft_dtype dtype, const shape *s, const void *data, int limit, const char *want) {
  weft_tensor t;
  text out = {0};
  EXPECT_OK(weft__tensor_init(&t, dtype, s));
  EXPECT_OK(weft__elements_copy(dtype, t.data, data, weft__tensor_count(&t)));
  weft__tensor_print(&out, &t, limit);
  EXPECT_EQ_STR(weft__text_get(&out), want);
  weft__text_finish(&out);
  weft__tensor_clear(&t);
}

TEST(integers_print_as_tensorflow_prints_them) { /* the right-hand sides are its Assert messages */
  int32_t m[24];
  for (int i = 0; i < 24; i++) m[i] = i;
  expect_print(WEFT_INT32, &SHAPE_SCALAR, m + 5, 3, "[5]");
  expect_print(WEFT_INT32, &SHAPE1(3), m + 1, 3, "[1 2 3]");
  expect_print(WEFT_INT32, &SHAPE1(4), m + 1, 3, "[1 2 3...]");
  expect_print(WEFT_INT32, &SHAPE1(4), m + 1, -1, "[1 2 3 4]");
  expect_print(WEFT_INT32, &SHAPE1(4), m + 1, 0, "[...]");
  expect_print(WEFT_INT32, &SHAPE3(2, 0, 3), m, 30, "[]");
  expect_print(WEFT_INT32, &SHAPE3(2, 3, 4), m, 1, "[[[0...]]...]");
  expect_print(WEFT_INT32, &SHAPE3(2, 3, 4), m, 4, "[[[0 1 2 3]]...]");
  expect_print(WEFT_INT32, &SHAPE3(2, 3, 4), m, 7, "[[[0 1 2 3][4 5 6...]]...]");
  expect_print(WEFT_INT32, &SHAPE3(2, 3, 4), m, 12, "[[[0 1 2 3][4 5 6 7][8 9 10 11]]...]");
  expect_print(WEFT_INT32, &SHAPE3(2, 3, 4), m, 13, "[[[0 1 2 3][4 5 6 7][8 9 10 11]][[12...]]...]");
  expect_print(WEFT_INT32, &SHAPE2(3, 2), m, 4, "[[0 1][2 3]...]");
  expect_print(WEFT_INT32, &SHAPE2(3, 2), m, 7, "[[0 1][2 3][4 5]]");
  expect_print(WEFT_INT32, &SHAPE2(6, 1), m, 3, "[[0][1][2]...]");
  expect_print(WEFT_INT32, &SHAPE2(1, 6), m, 3, "[[0 1 2...]...]");
  expect_print(WEFT_UINT64, &SHAPE1(1), (uint64_t[]){UINT64_MAX}, 9, "[18446744073709551615]");
  expect_print(WEFT_BOOL, &SHAPE1(2), (bool[]){true, false}, 9, "[1 0]");
  expect_print(WEFT_COMPLEX64, &SHAPE1(2), (float[]){1, 2, 3, 4}, 9, "[? ?]");
}

TEST(floats_and_strings_print_as_tensorflow_prints_them) {
  static const float f[] = {0,           -0.f,  1,        1.5f,      0.1f, 1.f / 3, 1e10f,      1e-5f,
                            123456789.f, 1e20f, INFINITY, -INFINITY, NAN,  1e6f,    16777217.f, 123456.7f};
  expect_print(WEFT_FLOAT, &SHAPE1(16), f, 100,
               "[0 -0 1 1.5 0.1 0.333333343 1e+10 1e-05 123456792 1e+20 inf -inf nan 1e+06 16777216 123456.703]");
  static const double d[] = {0.1, 1.0 / 3, 1e10, 1e15, 123456.7, -NAN};
  expect_print(WEFT_DOUBLE, &SHAPE1(6), d, 100, "[0.1 0.33333333333333331 10000000000 1e+15 123456.7 nan]");
  static const uint16_t h[] = {0x2e66, 0x3555, 0x7c00};
  expect_print(WEFT_HALF, &SHAPE1(3), h, 100, "[0.0999755859 0.333251953 inf]");
  char abc[] = "abc", odd[] = "a\"b\n\0\177\t\r\001'\\", utf[] = "h\303\251";
  str s[] = {{abc, 3}, {odd, sizeof odd - 1}, {NULL, 0}, {utf, 3}};
  expect_print(WEFT_STRING, &SHAPE1(4), s, 9, "[abc a\\\"b\\n\\000\\177\\t\\r\\001\\'\\\\  h\303\251]");
  expect_print(WEFT_STRING, &SHAPE1(4), s, 1, "[abc...]");
}
