/* rendezvous_test.c - tests that a value meets its receiver, whichever comes first, and aborts. */
#include "state/rendezvous.h"

#include "tests/check.h"
#include <stdio.h>

typedef struct arrival {
  int calls;
  weft_err err;
  double got;
  bool dead;
} arrival;

static void arrive(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  arrival *a = arg;
  a->calls++;
  a->err = err;
  a->dead = dead;
  if (t && t->buf) a->got = weft__tensor_double(t, 0);
}

static weft_tensor *scalar(double v) {
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, v));
  return t;
}

TEST(a_value_waits_for_its_receiver_and_a_receiver_for_its_value) {
  rendezvous *r = NULL;
  arrival a = {0}, b = {0};
  weft_tensor *t = scalar(7);
  EXPECT_OK(weft__rendezvous_create(&r, NULL));
  EXPECT_OK(weft__rendezvous_send(r, "early", t, false));
  weft__rendezvous_recv(r, "early", arrive, &a);
  EXPECT_EQ_INT(a.calls, 1);
  EXPECT_NEAR(a.got, 7, 0);
  weft__rendezvous_recv(r, "late", arrive, &b);
  EXPECT_EQ_INT(b.calls, 0);
  EXPECT_OK(weft__rendezvous_send(r, "late", &(weft_tensor){0}, true));
  EXPECT(b.dead && b.calls == 1);
  weft_tensor_destroy(t);
  weft__rendezvous_release(r);
}

TEST(an_abort_ends_waiting_and_later_receivers) {
  rendezvous *r = NULL;
  arrival a = {0}, b = {0};
  weft_tensor *t = scalar(7);
  EXPECT_OK(weft__rendezvous_create(&r, NULL));
  weft__rendezvous_recv(r, "x", arrive, &a);
  EXPECT_OK(weft__rendezvous_send(r, "y", t, false));
  weft__rendezvous_abort(r, weft__fail(WEFT_UNAVAILABLE, "the peer is gone"));
  EXPECT_EQ_INT(a.err, WEFT_UNAVAILABLE);
  weft__rendezvous_recv(r, "y", arrive, &b);
  EXPECT_EQ_INT(b.err, WEFT_UNAVAILABLE);
  EXPECT_ERR(weft__rendezvous_send(r, "x", t, false), WEFT_UNAVAILABLE, "the peer is gone");
  weft_tensor_destroy(t);
  weft__rendezvous_release(r);
}

TEST(values_of_one_key_are_received_in_the_order_sent) {
  rendezvous *r = NULL;
  arrival a = {0};
  EXPECT_OK(weft__rendezvous_create(&r, NULL));
  for (int i = 0; i < 3; i++) {
    weft_tensor *t = scalar(i);
    EXPECT_OK(weft__rendezvous_send(r, "k", t, false));
    weft_tensor_destroy(t);
  }
  for (int i = 0; i < 3; i++) {
    weft__rendezvous_recv(r, "k", arrive, &a);
    EXPECT_NEAR(a.got, i, 0);
  }
  weft__rendezvous_release(r);
}

TEST(a_receiver_may_change_its_mind) {
  rendezvous *r = NULL;
  arrival a = {0}, b = {0};
  weft_tensor *t = scalar(7);
  EXPECT_OK(weft__rendezvous_create(&r, NULL));
  weft__rendezvous_recv(r, "k", arrive, &a);
  weft__rendezvous_recv(r, "k", arrive, &b);
  EXPECT(!weft__rendezvous_cancel_recv(r, "other", arrive, &a));
  EXPECT(weft__rendezvous_cancel_recv(r, "k", arrive, &a));
  EXPECT(!weft__rendezvous_cancel_recv(r, "k", arrive, &a));
  EXPECT_OK(weft__rendezvous_send(r, "k", t, false));
  EXPECT_EQ_INT(a.calls, 0);
  EXPECT_EQ_INT(b.calls, 1);
  EXPECT(!weft__rendezvous_cancel_recv(r, "k", arrive, &b));
  weft_tensor_destroy(t);
  weft__rendezvous_release(r);
}

/* A far side that keeps what it is asked for until the test ends it. */
typedef struct far {
  rendezvous *r;
  char key[64];
  recv_fn *fn;
  void *arg;
} far;

static void fetch(void *arg, rendezvous *r, const char *key, recv_fn *fn, void *fn_arg) {
  far *f = arg;
  weft__rendezvous_retain(r);
  *f = (far){r, {0}, fn, fn_arg};
  strncpy(f->key, key, sizeof f->key - 1);
}

TEST(what_another_task_sends_is_fetched) {
  rendezvous *r = NULL;
  far f = {0};
  arrival a = {0}, b = {0}, c = {0};
  weft_tensor *t = scalar(7);
  EXPECT_OK(weft__rendezvous_create(&r, &(rendezvous_remote){"/job:ps/replica:0/task:1", fetch, NULL, &f}));
  weft__rendezvous_recv(r, "/job:ps/replica:0/task:1/cpu:0;x", arrive, &a);
  EXPECT(!f.fn);
  weft__rendezvous_recv(r, "/job:ps/replica:0/task:11/cpu:0;x", arrive, &b);
  EXPECT_EQ_STR(f.key, "/job:ps/replica:0/task:11/cpu:0;x");
  f.fn(f.arg, WEFT_OK, t, false);
  EXPECT_EQ_INT(b.calls, 1);
  weft__rendezvous_release(f.r);
  weft__rendezvous_recv(r, "/job:worker/replica:0/task:1/cpu:0;y", arrive, &c);
  EXPECT_EQ_STR(f.key, "/job:worker/replica:0/task:1/cpu:0;y");
  weft__rendezvous_abort(r, weft__fail(WEFT_ABORTED, "Cleanup 12"));
  EXPECT_EQ_INT(a.err, WEFT_ABORTED);
  EXPECT_EQ_INT(c.calls, 0); /* the far side hears of it through the token */
  EXPECT_ERR(weft__cancel_raise(weft__rendezvous_token(f.r)), WEFT_ABORTED, "[_Derived_]Cleanup 12");
  weft__rendezvous_release(r);
  f.fn(f.arg, weft__fail(WEFT_ABORTED, "ended"), NULL, false);
  weft__rendezvous_release(f.r);
  EXPECT_EQ_INT(c.calls, 1);
  weft_tensor_destroy(t);
}

TEST(a_value_is_shared_with_its_receiver) {
  rendezvous *r = NULL;
  arrival a = {0};
  weft_tensor *t = scalar(7);
  EXPECT_OK(weft__rendezvous_create(&r, NULL));
  EXPECT_OK(weft__rendezvous_send(r, "k", t, false));
  EXPECT_EQ_INT(atomic_load(&t->buf->refs), 2);
  weft__rendezvous_recv(r, "k", arrive, &a);
  EXPECT_EQ_INT(atomic_load(&t->buf->refs), 1);
  weft__rendezvous_release(r);
  weft_tensor_destroy(t);
}

TEST(thousands_of_keys_keep_their_values_and_their_order) {
  enum { KEYS = 3000 };
  rendezvous *r = NULL;
  char key[32];
  EXPECT_OK(weft__rendezvous_create(&r, NULL));
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < KEYS; i++) {
      weft_tensor *t = scalar(turn * KEYS + i);
      snprintf(key, sizeof key, "key %d", i);
      EXPECT_OK(weft__rendezvous_send(r, key, t, false));
      weft_tensor_destroy(t);
    }
  for (int turn = 0; turn < 2; turn++)
    for (int i = KEYS - 1; i >= 0; i--) {
      arrival a = {0};
      snprintf(key, sizeof key, "key %d", i);
      weft__rendezvous_recv(r, key, arrive, &a);
      EXPECT_EQ_INT(a.calls, 1);
      EXPECT_NEAR(a.got, turn * KEYS + i, 0);
    }
  EXPECT(weft__rendezvous_is_empty(r));
  static arrival waits[KEYS];
  for (int i = 0; i < KEYS; i++) {
    snprintf(key, sizeof key, "key %d", i);
    weft__rendezvous_recv(r, key, arrive, &waits[i]);
  }
  EXPECT(weft__rendezvous_cancel_recv(r, "key 77", arrive, &waits[77]));
  weft__rendezvous_abort(r, weft__fail(WEFT_ABORTED, "enough"));
  for (int i = 0; i < KEYS; i++) EXPECT_EQ_INT(waits[i].calls, i != 77);
  weft__rendezvous_release(r);
}
