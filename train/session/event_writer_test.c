/* event_writer_test.c - many threads add events, one thread writes them, and the test reads the file. */
#include "train/session/event_writer.h"

#include "base/alloc.h"
#include "base/log.h"
#include "io/record.h"
#include "proto/scan.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static char logged[4096];

static void note(void *arg, int level, const char *file, int line, const char *message) {
  (void)arg, (void)level, (void)file, (void)line;
  strncat(logged, message, sizeof logged - strlen(logged) - 1);
}

static const char *folder(void) { return test_path("events"); }

typedef struct tally {
  int files, versions, summaries, logs;
  int64_t last_step;
  double sum;
} tally;

static void count_event(const text *t, tally *out) {
  ProtobufCMessage *m;
  EXPECT_OK(weft__proto_unpack(&m, &tensorflow__event__descriptor, t->data, t->size));
  const Tensorflow__Event *e = (const Tensorflow__Event *)m;
  EXPECT(e->wall_time > 1e9);
  out->versions += e->what_case == TENSORFLOW__EVENT__WHAT_FILE_VERSION;
  out->logs += e->what_case == TENSORFLOW__EVENT__WHAT_SESSION_LOG;
  if (e->what_case == TENSORFLOW__EVENT__WHAT_SUMMARY) {
    out->summaries++;
    out->sum += (double)e->summary->value[0]->simple_value;
  }
  out->last_step = e->step;
  protobuf_c_message_free_unpacked(m, NULL);
}

static tally read_folder(void) {
  tally out = {0};
  path_list found;
  text t = {0};
  char *pattern = weft__sprintf("%s/events*", folder());
  EXPECT_OK(weft__file_match(pattern, &found));
  for (int i = 0; i < found.n; i++) {
    record_reader *r;
    uint64_t offset;
    bool last = false;
    EXPECT_OK(weft__records_open(&r, found.path[i], COMPRESSION_NONE));
    for (;;) {
      EXPECT_OK(weft__record_next(r, &t, &offset, &last));
      if (last) break;
      count_event(&t, &out);
    }
    weft__records_close(r);
  }
  out.files = found.n;
  weft__path_list_finish(&found);
  weft__text_finish(&t);
  weft__free(pattern);
  return out;
}

static void *add_many(void *arg) {
  for (int i = 0; i < 200; i++) EXPECT_OK(weft__event_writer_add_scalar(arg, "x", 1, i));
  return NULL;
}

TEST(what_many_threads_add_is_in_the_file_after_a_flush) {
  weft_event_writer *w;
  pthread_t thread[4];
  EXPECT_OK(weft__event_writer_create(&w, folder(), &(weft_event_writer_opts){.max_queue = 3}));
  for (int i = 0; i < 4; i++) EXPECT(pthread_create(&thread[i], NULL, add_many, w) == 0);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  EXPECT_OK(weft__event_writer_flush(w));
  tally t = read_folder();
  EXPECT_EQ_INT(t.summaries, 800);
  EXPECT_NEAR(t.sum, 800, 0);
  EXPECT_EQ_INT(t.versions, 1);
  weft__event_writer_destroy(w);
}

TEST_WITHIN(90, time_alone_flushes) {
  weft_event_writer *w;
  EXPECT_OK(weft__event_writer_create(&w, folder(), &(weft_event_writer_opts){.flush_secs = .05}));
  EXPECT_OK(weft__event_writer_add_session_log(w, 1, NULL, NULL, 7));
  for (int i = 0; i < 3000 && read_folder().logs == 0; i++) usleep(20000);
  tally t = read_folder();
  EXPECT_EQ_INT(t.logs, 1);
  EXPECT_EQ_INT(t.last_step, 7);
  weft__event_writer_destroy(w);
}

TEST(a_closed_writer_drops_with_a_warning_until_it_is_reopened) {
  weft_event_writer *w;
  weft__log_set_callback(note, NULL);
  EXPECT_OK(weft__event_writer_create(&w, folder(), NULL));
  EXPECT_OK(weft__event_writer_add_scalar(w, "x", 1, 1));
  EXPECT_OK(weft__event_writer_close(w));
  EXPECT_OK(weft__event_writer_close(w));
  EXPECT_OK(weft__event_writer_add_scalar(w, "x", 1, 2));
  EXPECT_CONTAINS(logged, "Attempting to use a closed FileWriter.");
  EXPECT_OK(weft__event_writer_reopen(w));
  EXPECT_OK(weft__event_writer_add_scalar(w, "x", 1, 3));
  weft__event_writer_destroy(w);
  tally t = read_folder();
  EXPECT_EQ_INT(t.files, 2);
  EXPECT_EQ_INT(t.summaries, 2);
}

typedef struct adding {
  weft_event_writer *w;
  atomic_bool enough;
  atomic_int added;
} adding;

static void *add_until_told(void *arg) {
  adding *a = arg;
  for (int i = 0; !atomic_load(&a->enough); i++) {
    EXPECT_OK(weft__event_writer_add_scalar(a->w, "x", 1, i));
    atomic_fetch_add(&a->added, 1);
  }
  return NULL;
}

static void wait_for_more(adding *a) {
  for (int until = atomic_load(&a->added) + 100; atomic_load(&a->added) < until;) usleep(1000);
}

/* As when a supervisor stops before the program's threads notice. */
TEST_WITHIN(60, threads_may_add_while_a_writer_is_closed_and_after_that) {
  adding a = {0};
  pthread_t thread[4];
  weft__log_set_callback(note, NULL);
  EXPECT_OK(weft__event_writer_create(&a.w, folder(), &(weft_event_writer_opts){.max_queue = 3}));
  for (int i = 0; i < 4; i++) EXPECT(pthread_create(&thread[i], NULL, add_until_told, &a) == 0);
  for (int round = 0; round < 3; round++) {
    wait_for_more(&a);
    logged[0] = 0;
    EXPECT_OK(weft__event_writer_close(a.w));
    wait_for_more(&a);
    const char *told = strstr(logged, "Attempting to use a closed FileWriter.");
    EXPECT(told != NULL);
    EXPECT(strstr(told + 1, "Attempting") == NULL); /* one warning, however many events are dropped */
    EXPECT_OK(weft__event_writer_reopen(a.w));
  }
  wait_for_more(&a);
  atomic_store(&a.enough, true);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  weft__event_writer_destroy(a.w);
  tally t = read_folder();
  EXPECT_EQ_INT(t.files, 4);
  EXPECT(t.summaries > 0 && t.summaries < atomic_load(&a.added));
}

TEST(a_file_that_cannot_grow_is_reported_by_the_next_call) {
  weft_event_writer *w;
  weft_err err = WEFT_OK;
  char *big = weft__alloc_zero(1, 2 << 20);
  EXPECT_OK(weft__event_writer_create(&w, folder(), NULL));
  signal(SIGXFSZ, SIG_IGN);
  EXPECT(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, RLIM_INFINITY}) == 0);
  for (int i = 0; i < 100 && !err; i++) err = weft__event_writer_add_bytes(w, big, 2 << 20);
  EXPECT_ERR(weft__event_writer_flush(w), err, "File too large");
  EXPECT_ERR(weft__event_writer_close(w), err, "File too large");
  weft__event_writer_destroy(w);
  weft__free(big);
}

TEST(a_tag_of_run_metadata_is_used_once) {
  weft_event_writer *w;
  EXPECT_OK(weft__event_writer_create(&w, folder(), NULL));
  EXPECT_OK(weft__event_writer_add_run_metadata(w, "", 0, "step1", 1));
  EXPECT_ERR(weft__event_writer_add_run_metadata(w, "", 0, "step1", 2), WEFT_INVALID_ARGUMENT,
             "The provided tag was already used for this event type");
  EXPECT_ERR(weft__event_writer_add_summary(w, "\xff\xff", 2, 1), WEFT_INVALID_ARGUMENT, "Summary");
  weft__event_writer_destroy(w);
}
