/* core_test.c - gRPC starts and stops with its users, also in a process that could not start a thread for a while. */
#include "net/grpc/core.h"

#include "base/clock.h"
#include "net/rpc.h"
#include "tests/check.h"
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(WEFT_HAVE_GRPC) && !defined(SANITIZED)

/* Stands in for the C library's, for gRPC too. */
static atomic_bool no_threads;
static atomic_int refused;
__attribute__((visibility("default"))) int pthread_create(pthread_t *t, const pthread_attr_t *how, void *(*fn)(void *),
                                                          void *arg) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  if (!atomic_load(&no_threads)) return real(t, how, fn, arg);
  atomic_fetch_add(&refused, 1);
  return EAGAIN;
}

static void done(void *arg, bool ok) {
  (void)ok;
  atomic_store((atomic_bool *)arg, true);
}

/* A wait for a channel with a deadline: one of gRPC's timers.  No thread can be started for as long. */
static void let_a_timer_fire(grpc_completion_queue *queue) {
  atomic_bool over = false;
  tag t = {.done = done, .arg = &over};
  grpc_channel_credentials *plain = grpc_insecure_credentials_create();
  grpc_channel *c = grpc_channel_create("127.0.0.1:9", plain, NULL);
  gpr_timespec soon = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(100, GPR_TIMESPAN));
  atomic_store(&no_threads, true);
  grpc_channel_watch_connectivity_state(c, GRPC_CHANNEL_IDLE, soon, queue, weft__core_post(&t));
  for (int i = 0; i < 5000 && !atomic_load(&over); i++) usleep(1000);
  atomic_store(&no_threads, false);
  EXPECT(atomic_load(&over) && atomic_load(&refused) > 0);
  grpc_channel_destroy(c);
  grpc_channel_credentials_release(plain);
}

/* gRPC counts a timer thread before it starts it, and waits for as many as it counted when it stops. */
TEST_WITHIN(30, grpc_stops_though_it_could_not_start_a_thread) {
  grpc_completion_queue *queue;
  EXPECT_OK(weft__core_retain(&queue));
  let_a_timer_fire(queue);
  int64_t begin = weft__clock_now_ns();
  weft__core_release();
  EXPECT(weft__clock_now_ns() - begin < 20 * (int64_t)1000000000);
  EXPECT_ERR(weft__core_retain(&queue), WEFT_RESOURCE_EXHAUSTED, "gRPC did not stop");
}

#elif defined(WEFT_HAVE_GRPC)

TEST(grpc_starts_again_after_its_last_user) { /* sanitizers have a pthread_create of their own */
  grpc_completion_queue *queue;
  for (int i = 0; i < 3; i++) {
    EXPECT_OK(weft__core_retain(&queue));
    weft__core_release();
  }
}

#else

TEST(a_channel_without_grpc_says_so) {
  channel *c;
  EXPECT_ERR(weft__channel_create(&c, "localhost:1", NULL), WEFT_UNIMPLEMENTED, "gRPC");
}

#endif
