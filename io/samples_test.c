/* samples_test.c - tests batches of images: their order is that of numpy for the seed. */
#include "io/samples.h"

#include "base/alloc.h"
#include "io/file.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include <stdlib.h>

/* Makes n images of 1 x 2: image i is (i, 255 - i), and its label is i mod 10. */
static void make(int64_t n, weft_tensor **images, weft_tensor **labels) {
  EXPECT_OK(weft__tensor_create(images, WEFT_UINT8, &SHAPE3(n, 1, 2)));
  EXPECT_OK(weft__tensor_create(labels, WEFT_UINT8, &SHAPE1(n)));
  for (int64_t i = 0; i < n; i++) {
    TENSOR_DATA(*images, uint8_t)[2 * i] = (uint8_t)i;
    TENSOR_DATA(*images, uint8_t)[2 * i + 1] = (uint8_t)(255 - i);
    TENSOR_DATA(*labels, uint8_t)[i] = (uint8_t)(i % 10);
  }
}

static samples *begin(int64_t n, int64_t first, const samples_opts *o) {
  weft_tensor *images, *labels;
  samples *d = NULL;
  make(n, &images, &labels);
  EXPECT_OK(weft__samples_create(&d, images, labels, first, n - first, o));
  weft_tensor_destroy(images);
  weft_tensor_destroy(labels);
  return d;
}

/* Expects the next n samples, identified by the first pixel. */
static void expect_batch(samples *d, int64_t n, const int *which) {
  weft_tensor *images, *labels;
  EXPECT_OK(weft__samples_next(d, n, &images, &labels));
  for (int64_t i = 0; i < n; i++) {
    EXPECT_EQ_INT(TENSOR_DATA(images, uint8_t)[2 * i], which[i]);
    EXPECT_EQ_INT(TENSOR_DATA(labels, int32_t)[i], which[i] % 10);
  }
  weft_tensor_destroy(images);
  weft_tensor_destroy(labels);
}

TEST(the_order_is_numpys_for_the_seed) {
  /* The order is that of numpy.random.seed(7); o = arange(11); shuffle(o); then o[shuffled arange(11)] for the
   * second epoch. */
  samples *d = begin(11, 0, &(samples_opts){.bytes = true, .seed = 7});
  expect_batch(d, 8, (int[]){8, 5, 0, 2, 1, 10, 7, 3});
  EXPECT_EQ_INT(weft__samples_epochs(d), 0);
  expect_batch(d, 5, (int[]){6, 9, 4, 5, 2});
  EXPECT_EQ_INT(weft__samples_epochs(d), 1);
  weft__samples_destroy(d);
}

TEST(in_order_means_in_order) {
  samples *d = begin(6, 2, &(samples_opts){.bytes = true, .in_order = true});
  EXPECT_EQ_INT(weft__samples_size(d), 4);
  expect_batch(d, 3, (int[]){2, 3, 4});
  expect_batch(d, 3, (int[]){5, 2, 3});
  weft__samples_destroy(d);
}

TEST(pixels_are_scaled_and_labels_one_hot) {
  weft_tensor *images, *labels;
  samples *d = begin(4, 0, &(samples_opts){.in_order = true, .classes = 10, .keep_shape = true});
  EXPECT_OK(weft__samples_next(d, 2, &images, &labels));
  EXPECT_EQ_STR(weft__shape_text(&images->shape), "[2,1,2]");
  EXPECT_EQ_STR(weft__shape_text(&labels->shape), "[2,10]");
  EXPECT_NEAR(TENSOR_DATA(images, float)[1], 1, 1e-6);
  EXPECT_NEAR(TENSOR_DATA(images, float)[2], 1 / 255.0, 1e-8);
  EXPECT(TENSOR_DATA(labels, float)[0] == 1 && TENSOR_DATA(labels, float)[11] == 1);
  weft_tensor_destroy(images);
  weft_tensor_destroy(labels);
  EXPECT_ERR(weft__samples_next(d, 5, &images, &labels), WEFT_INVALID_ARGUMENT, "a batch of 5 from 4 images");
  weft__samples_destroy(d);
}

TEST(what_does_not_belong_together_is_refused) {
  weft_tensor *images, *labels, *fewer, *none;
  samples *d;
  make(12, &images, &labels);
  make(3, &none, &fewer);
  EXPECT_ERR(weft__samples_create(&d, images, fewer, 0, 3, &(samples_opts){0}), WEFT_INVALID_ARGUMENT,
             "there are 12 images and 3 labels");
  EXPECT_ERR(weft__samples_create(&d, images, labels, 0, 12, &(samples_opts){.classes = 9}), WEFT_INVALID_ARGUMENT,
             "label 9 is 9, not below 9");
  EXPECT_ERR(weft__samples_create(&d, images, labels, 8, 5, &(samples_opts){0}), WEFT_INVALID_ARGUMENT, "rows 8 to 13");
  weft_tensor_destroy(images);
  weft_tensor_destroy(labels);
  weft_tensor_destroy(fewer);
  weft_tensor_destroy(none);
}

TEST(cifar_planes_become_pixels) {
  enum { RECORD = 3073 };
  const char *path = test_path("data_batch_1.bin");
  unsigned char *two = weft__alloc_zero(2, RECORD);
  weft_tensor *images, *labels;
  two[RECORD] = 7;
  two[RECORD + 1 + 33] = 1, two[RECORD + 1 + 1024 + 33] = 2, two[RECORD + 1 + 2048 + 33] = 3; /* row 1, column 1 */
  EXPECT_OK(weft__file_write(path, two, 2 * RECORD));
  EXPECT_OK(weft__cifar10_read(&images, &labels, path));
  EXPECT_EQ_STR(weft__shape_text(&images->shape), "[2,32,32,3]");
  EXPECT_EQ_INT(TENSOR_DATA(labels, uint8_t)[1], 7);
  EXPECT_EQ_MEM(TENSOR_DATA(images, uint8_t) + 3072 + 33 * 3, "\1\2\3", 3);
  weft_tensor_destroy(images);
  weft_tensor_destroy(labels);
  EXPECT_OK(weft__file_write(path, two, 2 * RECORD - 9));
  EXPECT_ERR(weft__cifar10_read(&images, &labels, path), WEFT_DATA_LOSS,
             "data_batch_1.bin is no CIFAR-10 file: it ends in");
  two[RECORD] = 77;
  EXPECT_OK(weft__file_write(path, two, 2 * RECORD));
  EXPECT_ERR(weft__cifar10_read(&images, &labels, path), WEFT_DATA_LOSS, "a label is not below 10 (at byte 6146)");
  weft__free(two);
}
