/* device_name_test.c - device names in every spelling, merging, matching; and the CPU device. */
#include "base/alloc.h"
#include "device/device.h"
#include "tests/check.h"

static void expect_name(const char *name, const char *canonical) {
  device_spec s;
  char buf[128];
  EXPECT_OK(weft__device_parse(&s, name));
  EXPECT_EQ_STR(weft__device_text(&s, buf, sizeof buf), canonical);
}

TEST(every_spelling_has_one_canonical_form) {
  expect_name("", "");
  expect_name("/", "");
  expect_name("/cpu:0", "/device:CPU:0");
  expect_name("/gpu:1", "/device:GPU:1");
  expect_name("/GPU:0", "/device:GPU:0");
  expect_name("/device:CPU:0", "/device:CPU:0");
  expect_name("/device:GPU", "/device:GPU:*");
  expect_name("/gpu:*", "/device:GPU:*");
  expect_name("/device:*:1", "/device:*:1");
  expect_name("/device:*:*", "");
  expect_name("/job:ps", "/job:ps");
  expect_name("/job:my_ps-2/task:10", "/job:my_ps-2/task:10");
  expect_name("/task:1/job:x/cpu:0/replica:0", "/job:x/replica:0/task:1/device:CPU:0");
  expect_name("/job:*/replica:*/task:3", "/task:3");
  expect_name("/job:localhost/replica:0/task:0/device:XLA_CPU:0", "/job:localhost/replica:0/task:0/device:XLA_CPU:0");
}

TEST(a_malformed_name_is_refused_with_its_text) {
  static const char *const bad[] = {
      "cpu:0",      "/cpu:",    "/cpu:x",  "/job:",   "/job:a b", "//cpu:0", "/tpu:0",       "/task:-1",
      "/task:1a",   "/device:", "/job:1x", "/jobx:a", "/cpu:0/",  "gpu",     "/device:CPU:", "/task:99999999999",
      "/job:ps/foo"};
  device_spec s;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    EXPECT_ERR(weft__device_parse(&s, bad[i]), WEFT_INVALID_ARGUMENT, bad[i]);
}

TEST(an_inner_spec_wins_where_it_says_something) {
  device_spec outer, inner;
  char buf[128];
  EXPECT_OK(weft__device_parse(&outer, "/job:ps/task:1/cpu:0"));
  EXPECT_OK(weft__device_parse(&inner, "/task:2/device:GPU:*"));
  weft__device_merge(&outer, &inner);
  EXPECT_EQ_STR(weft__device_text(&outer, buf, sizeof buf), "/job:ps/task:2/device:GPU:0");
}

TEST(a_full_name_matches_every_part_of_itself) {
  device_spec full, spec;
  EXPECT_OK(weft__device_parse(&full, "/job:worker/replica:0/task:1/device:CPU:0"));
  static const struct {
    const char *spec;
    bool matches;
  } rows[] = {{"", true},        {"/job:worker", true}, {"/cpu:0", true},        {"/cpu:1", false},
              {"/gpu:0", false}, {"/job:ps", false},    {"/task:1/cpu:*", true}, {"/replica:1", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    EXPECT_OK(weft__device_parse(&spec, rows[i].spec));
    EXPECT_EQ_INT(weft__device_matches(&spec, &full), rows[i].matches);
  }
}

TEST(a_cpu_device_allocates_and_copies) {
  device *d;
  weft_tensor a, b;
  EXPECT_OK(weft__device_cpu(&d, "/job:localhost/replica:0/task:0", 1));
  EXPECT_EQ_STR(d->name, "/job:localhost/replica:0/task:0/device:CPU:1");
  EXPECT(d->incarnation != 0);
  EXPECT_OK(weft__tensor_init(&a, WEFT_FLOAT, &SHAPE1(2)));
  memcpy(a.data, (float[]){1, 2}, 8);
  b = (weft_tensor){.dtype = WEFT_FLOAT, .shape = SHAPE1(2)};
  EXPECT_OK(d->ops->alloc_host(d, &b.buf, WEFT_FLOAT, 2));
  b.data = b.buf->data;
  EXPECT_OK(d->ops->copy_in(d, &b, &a));
  EXPECT_OK(d->ops->sync(d));
  EXPECT_EQ_MEM(a.data, b.data, 8);
  weft__tensor_clear(&b);
  EXPECT_OK(weft__tensor_init(&b, WEFT_INT32, &SHAPE1(2)));
  EXPECT_ERR(d->ops->copy_out(d, &b, &a), WEFT_INVALID_ARGUMENT, "float32");
  weft__tensor_clear(&a);
  weft__tensor_clear(&b);
  weft__device_destroy(d);
  weft__device_destroy(NULL);
}

TEST(a_device_without_memory_is_an_error) {
  for (long n = 1; n <= 3; n++) {
    device *d;
    weft__alloc_fail_after(n);
    weft_err err = weft__device_cpu(&d, "/job:x/replica:0/task:0", 0);
    weft__alloc_fail_after(0);
    EXPECT_EQ_INT(err, WEFT_RESOURCE_EXHAUSTED);
    EXPECT(d == NULL);
  }
}
