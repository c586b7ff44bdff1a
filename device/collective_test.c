/* collective_test.c - sums over cards: two simulated ones, or with WEFT_CUDA_PLUGIN the cards of this machine. */
#include "device/collective.h"

#include "base/alloc.h"
#include "tests/check.h"
#include <stdlib.h>

enum { COUNT = 1000 };

static void put(device *d, weft_tensor *t, float value) {
  weft_tensor here = {0};
  EXPECT_OK(weft__tensor_init(&here, WEFT_FLOAT, &SHAPE1(COUNT)));
  EXPECT_OK(weft__tensor_init_in(t, &d->memory, WEFT_FLOAT, &SHAPE1(COUNT)));
  for (int i = 0; i < COUNT; i++) TENSOR_DATA(&here, float)[i] = value + (float)i;
  EXPECT_OK(d->ops->copy_in(d, t, &here));
  weft__tensor_clear(&here);
}

TEST_WITHIN(60, cards_that_differ_add_up_what_each_of_them_has) {
  device **d = NULL;
  weft_tensor in[GPU_MAX_CARDS] = {0}, out = {0}, got = {0};
  const weft_tensor *each[GPU_MAX_CARDS];
  int n = 0;
  setenv("WEFT_CUDA_PLUGIN", "simulated", 0);
  setenv("WEFT_SIMULATED_CARDS", "2", 1);
  EXPECT_OK(weft__device_gpus(&d, &n, "/job:localhost/replica:0/task:0", NULL));
  EXPECT(n > 0);
  EXPECT(weft__devices_can_sum(n, d, WEFT_FLOAT));
  EXPECT(!weft__devices_can_sum(n, d, WEFT_INT32));
  EXPECT(!weft__devices_can_sum(2, (device *[]){d[0], d[0]}, WEFT_FLOAT));
  for (int i = 0; i < n; i++) {
    put(d[i], &in[i], (float)i);
    each[i] = &in[i];
  }
  device *last = d[n - 1];
  EXPECT_OK(weft__tensor_init_in(&out, &last->memory, WEFT_FLOAT, &SHAPE1(COUNT)));
  EXPECT_OK(weft__tensor_init(&got, WEFT_FLOAT, &SHAPE1(COUNT)));
  EXPECT_OK(weft__devices_sum(n, d, each, n - 1, &out));
  EXPECT_OK(last->ops->copy_out(last, &got, &out));
  EXPECT_OK(last->ops->sync_copies_out(last));
  for (int i = 0; i < COUNT; i += 111) EXPECT_NEAR(TENSOR_DATA(&got, float)[i], n * i + n * (n - 1) / 2, 1e-6);
  for (int i = 0; i < n; i++) weft__tensor_clear(&in[i]);
  weft__tensor_clear(&out);
  weft__tensor_clear(&got);
  for (int i = 0; i < n; i++) weft__device_destroy(d[i]);
  weft__free(d);
}
