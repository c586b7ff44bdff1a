/* queue_test.c - tests queues: their order, waiting, closing and cancellation. */
#include "state/queue.h"

#include "base/alloc.h"
#include "tests/check.h"
#include <pthread.h>
#include <stdio.h>

typedef struct answer { /* what a request ended in */
  int calls;
  weft_err err;
  char message[200];
  int64_t n;
  int32_t first[32];
} answer;

static void take(void *arg, weft_err err, element *const *got, int64_t n) {
  answer *a = arg;
  a->calls++;
  a->err = err;
  a->n = n;
  if (err != WEFT_OK) snprintf(a->message, sizeof a->message, "%s", weft__error_message());
  for (int64_t i = 0; i < n && i < 32; i++) {
    const weft_tensor *t = &got[i]->part[0];
    a->first[i] = (int32_t)weft__tensor_int(t, 0);
  }
}

static queue *make(queue_kind kind, int64_t capacity, int64_t min_after) {
  queue *q = NULL;
  static const weft_dtype types[] = {WEFT_INT32}, prio[] = {WEFT_INT64, WEFT_INT32};
  static const shape shapes[] = {{0}, {0}};
  bool p = kind == QUEUE_PRIORITY;
  EXPECT_OK(weft__queue_create(
      &q, &(queue_spec){kind, p ? 2 : 1, p ? prio : types, p ? 2 : 1, shapes, capacity, min_after, 3, 7}, "q"));
  return q;
}

static weft_tensor *ints(int n, const int64_t *v) {
  weft_tensor *t = NULL;
  EXPECT_OK(weft__tensor_ints(&t, WEFT_INT32, v, n));
  return t;
}

static answer *put(queue *q, answer *a, int first, int n, cancel *c) {
  int64_t v[32];
  for (int i = 0; i < n; i++) v[i] = first + i;
  weft_tensor *t = ints(n, v);
  *a = (answer){0};
  weft__queue_enqueue(q, (const weft_tensor *const *)&t, true, c, take, a);
  weft_tensor_destroy(t);
  return a;
}

static answer *get(queue *q, answer *a, int n, bool up_to, cancel *c) {
  *a = (answer){0};
  weft__queue_dequeue(q, n, up_to, c, take, a);
  return a;
}

static void drop(queue *q) { weft__object_release((object *)q); }

TEST(elements_come_out_in_the_order_they_went_in) {
  queue *q = make(QUEUE_FIFO, 100, 0);
  answer a;
  EXPECT_OK(put(q, &a, 10, 20, NULL)->err);
  EXPECT_EQ_INT(weft__queue_size(q), 20);
  EXPECT_EQ_INT(get(q, &a, 5, false, NULL)->n, 5);
  for (int i = 0; i < 5; i++) EXPECT_EQ_INT(a.first[i], 10 + i);
  EXPECT_OK(put(q, &a, 30, 20, NULL)->err);
  EXPECT_EQ_INT(get(q, &a, 30, false, NULL)->n, 30);
  for (int i = 0; i < 30; i++) EXPECT_EQ_INT(a.first[i], 15 + i);
  drop(q);
}

TEST(a_dequeue_waits_for_elements_and_is_served_first_come_first_served) {
  queue *q = make(QUEUE_FIFO, 4, 0);
  answer many, one, in;
  get(q, &many, 3, false, NULL);
  get(q, &one, 1, false, NULL);
  put(q, &in, 1, 2, NULL);
  EXPECT_EQ_INT(many.calls, 0);
  EXPECT_EQ_INT(one.calls, 0);
  EXPECT_EQ_INT(weft__queue_size(q), 0);
  put(q, &in, 3, 2, NULL);
  EXPECT_EQ_INT(many.calls, 1);
  EXPECT_EQ_INT(many.first[2], 3);
  EXPECT_EQ_INT(one.calls, 1);
  EXPECT_EQ_INT(one.first[0], 4);
  drop(q);
}

TEST(an_enqueue_waits_for_room) {
  queue *q = make(QUEUE_FIFO, 2, 0);
  answer in, out;
  put(q, &in, 0, 5, NULL);
  EXPECT_EQ_INT(in.calls, 0);
  EXPECT_EQ_INT(weft__queue_size(q), 2);
  get(q, &out, 5, false, NULL);
  EXPECT_EQ_INT(in.calls, 1);
  EXPECT_OK(in.err);
  EXPECT_EQ_INT(out.n, 5);
  EXPECT_EQ_INT(out.first[4], 4);
  drop(q);
}

TEST(closing_fails_what_cannot_be_served_and_gives_back_what_it_took) {
  queue *q = make(QUEUE_FIFO, 10, 0);
  answer in, out, end;
  put(q, &in, 1, 2, NULL);
  get(q, &out, 3, false, NULL);
  EXPECT_EQ_INT(weft__queue_size(q), 0);
  weft__queue_close(q, false, NULL, take, &(answer){0});
  EXPECT_EQ_INT(out.err, WEFT_OUT_OF_RANGE);
  EXPECT_EQ_STR(out.message, "FIFOQueue 'q' is closed and has insufficient elements (requested 1, current size 0)");
  EXPECT_EQ_INT(get(q, &end, 3, true, NULL)->n, 2);
  EXPECT_EQ_INT(end.first[0], 1);
  EXPECT_EQ_INT(end.first[1], 2);
  EXPECT_EQ_INT(put(q, &in, 1, 1, NULL)->err, WEFT_CANCELLED);
  EXPECT_EQ_STR(in.message, "FIFOQueue 'q' is closed.");
  answer again = {0};
  weft__queue_close(q, false, NULL, take, &again);
  EXPECT_EQ_STR(again.message, "Queue 'q' is already closed.");
  weft__queue_close(q, true, NULL, take, &again);
  EXPECT_OK(again.err);
  drop(q);
}

TEST(closing_waits_for_pending_enqueues_unless_told_to_cancel_them) {
  queue *q = make(QUEUE_FIFO, 2, 0);
  answer in, closing = {0}, out, now = {0};
  put(q, &in, 0, 3, NULL);
  weft__queue_close(q, false, NULL, take, &closing);
  EXPECT_EQ_INT(closing.calls, 0);
  EXPECT(!weft__queue_is_closed(q));
  get(q, &out, 1, false, NULL);
  EXPECT_EQ_INT(closing.calls, 1);
  EXPECT(weft__queue_is_closed(q));
  drop(q);

  q = make(QUEUE_FIFO, 2, 0);
  put(q, &in, 0, 3, NULL);
  weft__queue_close(q, true, NULL, take, &now);
  EXPECT_OK(now.err);
  EXPECT_EQ_INT(in.err, WEFT_CANCELLED);
  EXPECT_EQ_STR(in.message, "Enqueue operation was cancelled");
  drop(q);
}

TEST(cancelling_ends_the_request_and_gives_back_what_it_took) {
  queue *q = make(QUEUE_FIFO, 10, 0);
  cancel c;
  weft__cancel_init(&c);
  answer in, out, next, late;
  put(q, &in, 1, 2, NULL);
  get(q, &out, 3, false, &c);
  get(q, &next, 2, false, NULL);
  weft__cancel_fire(&c, WEFT_CANCELLED, "stop");
  EXPECT_EQ_INT(out.calls, 1);
  EXPECT_EQ_INT(out.err, WEFT_CANCELLED);
  EXPECT_EQ_STR(out.message, "Dequeue operation was cancelled");
  EXPECT_EQ_INT(next.n, 2);
  EXPECT_EQ_INT(next.first[0], 1);
  EXPECT_EQ_INT(get(q, &late, 1, false, &c)->err, WEFT_CANCELLED);
  weft__cancel_finish(&c);
  drop(q);
}

TEST(a_shuffle_queue_draws_as_tensorflow_does) {
  queue *q = make(QUEUE_SHUFFLE, 20, 2);
  answer a;
  put(q, &a, 0, 10, NULL);
  static const int32_t drawn[] = {6, 1, 5, 3, 4, 0, 9, 2};
  get(q, &a, 8, false, NULL);
  for (int i = 0; i < 8; i++) EXPECT_EQ_INT(a.first[i], drawn[i]);
  EXPECT_EQ_INT(get(q, &a, 1, false, NULL)->calls, 0);
  answer closing = {0};
  weft__queue_close(q, false, NULL, take, &closing);
  EXPECT_EQ_INT(a.calls, 1);
  EXPECT_EQ_INT(a.first[0], 8);
  drop(q);
}

TEST(a_priority_queue_gives_the_smallest_first_and_equals_in_order) {
  queue *q = make(QUEUE_PRIORITY, 20, 0);
  weft_tensor *part[2] = {0};
  answer a = {0};
  EXPECT_OK(weft__tensor_ints(&part[0], WEFT_INT64, (int64_t[]){3, 1, 2, 1, 3}, 5));
  part[1] = ints(5, (int64_t[]){0, 1, 2, 3, 4});
  weft__queue_enqueue(q, (const weft_tensor *const *)part, true, NULL, take, &a);
  EXPECT_OK(a.err);
  get(q, &a, 5, false, NULL);
  static const int32_t order[] = {1, 1, 2, 3, 3};
  for (int i = 0; i < 5; i++) EXPECT_EQ_INT(a.first[i], order[i]);
  weft_tensor_destroy(part[0]);
  weft_tensor_destroy(part[1]);
  drop(q);
}

static void pad(void *arg, weft_err err, element *const *got, int64_t n) {
  queue *q = arg;
  shape s;
  weft_tensor *t = NULL;
  EXPECT_OK(err);
  EXPECT_OK(weft__queue_stacked_shape(q, got, n, 0, &s));
  EXPECT_EQ_STR(weft__shape_text(&s), "[2,2,3]");
  EXPECT_OK(weft__tensor_create(&t, WEFT_INT32, &s));
  EXPECT_OK(weft__queue_stack(q, got, n, 0, t));
  static const int32_t want[] = {1, 0, 0, 2, 0, 0, 1, 2, 3, 0, 0, 0};
  EXPECT_EQ_MEM(t->data, want, sizeof want);
  weft_tensor_destroy(t);
}

TEST(a_padding_queue_fills_up_with_zeros) {
  queue *q = NULL;
  weft_dtype type = WEFT_INT32;
  EXPECT_OK(weft__queue_create(&q, &(queue_spec){QUEUE_PADDING, 1, &type, 1, &SHAPE2(-1, -1), -1, 0, 0, 0}, "p"));
  weft_tensor *a = ints(2, (int64_t[]){1, 2}), *b = ints(3, (int64_t[]){1, 2, 3});
  a->shape = SHAPE2(2, 1);
  b->shape = SHAPE2(1, 3);
  answer in = {0};
  weft__queue_enqueue(q, (const weft_tensor *const *)&a, false, NULL, take, &in);
  EXPECT_OK(in.err);
  weft__queue_enqueue(q, (const weft_tensor *const *)&b, false, NULL, take, &in);
  weft__queue_dequeue(q, 2, false, NULL, pad, q);
  EXPECT_EQ_INT(weft__queue_size(q), 0);
  b->shape = SHAPE1(3);
  weft__queue_enqueue(q, (const weft_tensor *const *)&b, false, NULL, take, &in);
  EXPECT_EQ_STR(in.message, "Shape mismatch in tuple component 0. Expected [?,?], got [3]");
  weft_tensor_destroy(a);
  weft_tensor_destroy(b);
  drop(q);
}

TEST(a_batch_must_have_one_size_and_the_declared_shape) {
  queue *q = make(QUEUE_FIFO, 2, 0);
  answer in = {0};
  weft_tensor *t = ints(4, (int64_t[]){1, 2, 3, 4});
  t->shape = SHAPE2(2, 2);
  weft__queue_enqueue(q, (const weft_tensor *const *)&t, true, NULL, take, &in);
  EXPECT_EQ_STR(in.message, "Shape mismatch in tuple component 0. Expected [2], got [2,2]");
  weft_tensor_destroy(t);
  EXPECT_EQ_INT(get(q, &in, -1, false, NULL)->err, WEFT_INVALID_ARGUMENT);
  drop(q);
}

TEST(a_spec_that_differs_may_not_share_the_queue) {
  queue *q = make(QUEUE_FIFO, 10, 0);
  queue_spec spec = *weft__queue_spec(q);
  EXPECT_OK(weft__queue_matches(q, &spec, "FIFOQueueV2"));
  spec.capacity = 11;
  EXPECT_ERR(weft__queue_matches(q, &spec, "FIFOQueueV2"), WEFT_INVALID_ARGUMENT,
             "Shared queue 'q' has capacity 10 but requested capacity was 11");
  spec.capacity = 10;
  spec.types = &(weft_dtype){WEFT_FLOAT};
  EXPECT_ERR(weft__queue_matches(q, &spec, "FIFOQueueV2"), WEFT_INVALID_ARGUMENT,
             "has component types int32 but requested component types were float");
  spec.kind = QUEUE_SHUFFLE;
  EXPECT_ERR(weft__queue_matches(q, &spec, "RandomShuffleQueueV2"), WEFT_INVALID_ARGUMENT,
             "Expected FIFOQueue, found RandomShuffleQueueV2");
  drop(q);
}

TEST(every_failed_allocation_of_a_request_is_an_error_and_loses_nothing) {
  queue *q = make(QUEUE_FIFO, 100, 0);
  answer a;
  int64_t v[20] = {0};
  weft_tensor *t = ints(20, v);
  for (long n = 1;; n++) {
    int64_t before = weft__queue_size(q);
    a = (answer){0};
    weft__alloc_fail_after(n);
    weft__queue_enqueue(q, (const weft_tensor *const *)&t, true, NULL, take, &a);
    weft__alloc_fail_after(0);
    EXPECT_EQ_INT(a.calls, 1);
    if (a.err == WEFT_OK) break;
    EXPECT_EQ_INT(a.err, WEFT_RESOURCE_EXHAUSTED);
    EXPECT(n < 1000 && weft__queue_size(q) >= before);
  }
  int64_t size = weft__queue_size(q);
  for (long n = 1;; n++) {
    a = (answer){0};
    weft__alloc_fail_after(n);
    weft__queue_dequeue(q, 15, false, NULL, take, &a);
    weft__alloc_fail_after(0);
    if (a.err == WEFT_OK) break;
    EXPECT_EQ_INT(weft__queue_size(q), size);
  }
  EXPECT_EQ_INT(a.n, 15);
  weft_tensor_destroy(t);
  drop(q);
}

/* ---- many threads ---- */

typedef struct crowd {
  queue *q;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  int64_t sum, in, out, cancelled;
} crowd;

static void crowd_out(void *arg, weft_err err, element *const *got, int64_t n) {
  crowd *c = arg;
  pthread_mutex_lock(&c->lock);
  for (int64_t i = 0; err == WEFT_OK && i < n; i++) c->sum += weft__tensor_int(&got[i]->part[0], 0);
  c->out += err == WEFT_OK ? n : 0;
  c->cancelled += err != WEFT_OK;
  pthread_cond_signal(&c->ended);
  pthread_mutex_unlock(&c->lock);
}

static void crowd_in(void *arg, weft_err err, element *const *got, int64_t n) {
  (void)got, (void)n;
  crowd *c = arg;
  pthread_mutex_lock(&c->lock);
  c->in += err == WEFT_OK;
  pthread_mutex_unlock(&c->lock);
}

static void *producer(void *arg) {
  crowd *c = arg;
  for (int i = 0; i < 500; i++) {
    weft_tensor *t = ints(1, (int64_t[]){i});
    weft__queue_enqueue(c->q, (const weft_tensor *const *)&t, true, NULL, crowd_in, c);
    weft_tensor_destroy(t);
  }
  return NULL;
}

static void *consumer(void *arg) {
  crowd *c = arg;
  for (int i = 0; i < 100; i++) weft__queue_dequeue(c->q, 5, false, NULL, crowd_out, c);
  return NULL;
}

static void *quitter(void *arg) { /* asks for much, gives up */
  crowd *c = arg;
  for (int i = 0; i < 100; i++) {
    cancel stop;
    weft__cancel_init(&stop);
    weft__queue_dequeue(c->q, 1000, false, &stop, crowd_out, c);
    weft__cancel_fire(&stop, WEFT_CANCELLED, "enough");
    weft__cancel_finish(&stop);
  }
  return NULL;
}

TEST_WITHIN(30, threads_that_put_take_and_give_up_lose_nothing) {
  crowd c = {.q = make(QUEUE_FIFO, 7, 0)};
  pthread_mutex_init(&c.lock, NULL);
  pthread_cond_init(&c.ended, NULL);
  pthread_t t[5];
  void *(*const work[])(void *) = {producer, producer, consumer, consumer, quitter};
  for (int i = 0; i < 5; i++) pthread_create(&t[i], NULL, work[i], &c);
  for (int i = 0; i < 5; i++) pthread_join(t[i], NULL);
  pthread_mutex_lock(&c.lock);
  while (c.out < 1000) pthread_cond_wait(&c.ended, &c.lock);
  pthread_mutex_unlock(&c.lock);
  EXPECT_EQ_INT(c.sum, 2 * 499 * 500 / 2);
  EXPECT_EQ_INT(c.in, 1000);
  EXPECT_EQ_INT(c.cancelled, 100);
  drop(c.q);
}
