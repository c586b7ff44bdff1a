#include "state/rendezvous.h"

#include "tests/check.h"

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
  EXPECT_OK(weft__rendezvous_create(&r));
  EXPECT_OK(weft__rendezvous_send(r, "early", t, false));
  weft__rendezvous_recv(r, "early", arrive, &a);
  EXPECT_EQ_INT(a.calls, 1);
  EXPECT_NEAR(a.got, 7, 0);
  weft__rendezvous_recv(r, "late", arrive, &b);
  EXPECT_EQ_INT(b.calls, 0);
  EXPECT_OK(weft__rendezvous_send(r, "late", &(weft_tensor){0}, true));
  EXPECT(b.dead && b.calls == 1);
  weft_tensor_destroy(t);
  weft__rendezvous_destroy(r);
}

TEST(an_abort_ends_those_who_wait_and_those_who_come_later) {
  rendezvous *r = NULL;
  arrival a = {0}, b = {0};
  weft_tensor *t = scalar(7);
  EXPECT_OK(weft__rendezvous_create(&r));
  weft__rendezvous_recv(r, "x", arrive, &a);
  EXPECT_OK(weft__rendezvous_send(r, "y", t, false));
  weft__rendezvous_abort(r, WEFT_UNAVAILABLE, "the peer is gone");
  EXPECT_EQ_INT(a.err, WEFT_UNAVAILABLE);
  weft__rendezvous_recv(r, "y", arrive, &b);
  EXPECT_EQ_INT(b.err, WEFT_UNAVAILABLE);
  EXPECT_ERR(weft__rendezvous_send(r, "x", t, false), WEFT_UNAVAILABLE, "the peer is gone");
  weft_tensor_destroy(t);
  weft__rendezvous_destroy(r);
}

TEST(values_of_one_key_are_received_in_the_order_sent) {
  rendezvous *r = NULL;
  arrival a = {0};
  EXPECT_OK(weft__rendezvous_create(&r));
  for (int i = 0; i < 3; i++) {
    weft_tensor *t = scalar(i);
    EXPECT_OK(weft__rendezvous_send(r, "k", t, false));
    weft_tensor_destroy(t);
  }
  for (int i = 0; i < 3; i++) {
    weft__rendezvous_recv(r, "k", arrive, &a);
    EXPECT_NEAR(a.got, i, 0);
  }
  weft__rendezvous_destroy(r);
}
