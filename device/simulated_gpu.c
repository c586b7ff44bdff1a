/* simulated_gpu.c - a simulated card, made of host memory: GPU programs run, and are tested, on machines without a GPU.
 *
 * WEFT_CUDA_PLUGIN=simulated selects it.  Everything is as with a real card (placement, copies, logs), except that it
 * cannot capture graphs and that kernels run on the CPU.  Two properties find errors.  Only its own work can access its
 * memory (mprotect), so code that uses a card's address as a host address faults.  And a queued copy runs late, when a
 * thread waits for it or a kernel of its stream runs, so code that does not wait sees old bytes.
 *
 * WEFT_SIMULATED_CARDS=2 makes two cards.  WEFT_SIMULATED_TROUBLE injects failures: "driver" (too old), "code" (none
 * for this card), "lost:N" (during the Nth kernel), or "lost:N:FILE" (only in the process that creates FILE).
 *
 * `memory.lock` guards the memory of all simulated cards.  Each stream has a recursive lock for its queue. */
#include "base/alloc.h"
#include "base/assert.h"
#include "device/gpu_plugin.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OK, FULL, WRONG, OLD_DRIVER, NO_CODE, LOST };
static const size_t CARD_BYTES = (size_t)1 << 30;

typedef struct task {
  void *dst;
  const void *src; /* NULL: zeros */
  size_t bytes;
  struct task *next;
  char kept[]; /* of a small copy: the source */
} task;

typedef struct stream {
  pthread_mutex_t lock; /* guards what follows; recursive, because a kernel may queue copies while it runs */
  task *first, **last;
} stream;

typedef struct region {
  void *at;
  size_t bytes;
  struct region *next;
} region;

static struct { /* all cards: their memory is accessible while work runs on any of them */
  pthread_mutex_t lock;
  region *first;
  size_t taken;
  int users;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void sim_protect(int mode) {
  for (const region *r = memory.first; r; r = r->next) mprotect(r->at, r->bytes, mode);
}

static void sim_open_memory(void) {
  pthread_mutex_lock(&memory.lock);
  if (memory.users++ == 0) sim_protect(PROT_READ | PROT_WRITE);
  pthread_mutex_unlock(&memory.lock);
}

static void sim_close_memory(void) {
  pthread_mutex_lock(&memory.lock);
  WEFT_ASSERT(memory.users > 0);
  if (--memory.users == 0) sim_protect(PROT_NONE);
  pthread_mutex_unlock(&memory.lock);
}

static const char *sim_error_text(int code) {
  static const char *const words[] = {"no error",
                                      "out of memory",
                                      "invalid argument",
                                      "the driver is too old for this build",
                                      "this build has no machine code for the card's architecture",
                                      "an illegal memory access was encountered"};
  return words[code];
}
static gpu_error_kind sim_error_kind(int code) {
  return code == FULL ? GPU_ERROR_NO_MEMORY : code == LOST ? GPU_ERROR_LOST : GPU_ERROR_CALL;
}

/* ---- injected failures -------------------------------------------------------------------------- */

static atomic_bool lost;

static bool sim_has_failure(const char *from) {
  const char *asked = getenv("WEFT_SIMULATED_TROUBLE");
  return asked && strncmp(asked, from, strlen(from)) == 0;
}

/* Counts a kernel, and loses the card if this is the kernel to do so. */
static void sim_count_kernel(void) {
  static atomic_int kernels;
  if (!sim_has_failure("lost:")) return;
  char *file;
  const long which = strtol(getenv("WEFT_SIMULATED_TROUBLE") + strlen("lost:"), &file, 10);
  if (atomic_fetch_add(&kernels, 1) + 1 != which) return;
  const int made = *file == ':' ? open(file + 1, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1;
  if (made >= 0) close(made);
  if (*file != ':' || made >= 0) atomic_store(&lost, true);
}

static int sim_state(void) { return atomic_load(&lost) ? LOST : OK; }

/* ---- cards -------------------------------------------------------------------------------------- */

static int sim_card_count(void) {
  const char *asked = getenv("WEFT_SIMULATED_CARDS");
  return asked && atoi(asked) > 1 ? atoi(asked) : 1;
}

static int sim_count(int *n) {
  *n = sim_has_failure("driver") ? 0 : sim_card_count();
  return sim_has_failure("driver") ? OLD_DRIVER : OK;
}

static int sim_properties(int card, gpu_properties *out) {
  *out = (gpu_properties){.name = "Simulated GPU", .bus = "0000:00:00.0", .major = 9, .memory = CARD_BYTES};
  out->bus[6] = (char)('0' + card % 10);
  return sim_has_failure("code") ? NO_CODE : card < sim_card_count() ? OK : WRONG;
}

static int sim_peers(int a, int b, int *can) {
  *can = a == b;
  return OK;
}

static int sim_use(int card) { return card < sim_card_count() ? OK : WRONG; }

static int sim_memory_left(int card, size_t *bytes) {
  (void)card;
  *bytes = CARD_BYTES - memory.taken;
  return OK;
}

static int sim_alloc(int card, size_t bytes, void **out) {
  (void)card;
  region *r = weft__alloc(sizeof *r);
  if (!r) return FULL;
  pthread_mutex_lock(&memory.lock);
  bool room = bytes <= CARD_BYTES - memory.taken;
  int mode = memory.users ? PROT_READ | PROT_WRITE : PROT_NONE;
  void *at = room ? mmap(NULL, bytes, mode, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
  if (at != MAP_FAILED) {
    *r = (region){at, bytes, memory.first};
    memory.first = r;
    memory.taken += bytes;
    *out = at;
  }
  pthread_mutex_unlock(&memory.lock);
  if (at == MAP_FAILED) weft__free(r);
  return at == MAP_FAILED ? FULL : OK;
}

static int sim_free(int card, void *at) {
  (void)card;
  pthread_mutex_lock(&memory.lock);
  region **p = &memory.first;
  while (*p && (*p)->at != at) p = &(*p)->next;
  region *r = *p;
  if (r) {
    *p = r->next;
    memory.taken -= r->bytes;
    munmap(r->at, r->bytes);
  }
  pthread_mutex_unlock(&memory.lock);
  weft__free(r);
  return r ? OK : WRONG;
}

static int sim_alloc_host(size_t bytes, void **out) {
  *out = weft__alloc_aligned(bytes);
  return *out ? OK : FULL;
}

static int sim_free_host(void *at) {
  weft__free(at);
  return OK;
}

/* ---- streams ------------------------------------------------------------------------------------- */

static int sim_stream_create(int card, void **out) {
  (void)card;
  stream *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return FULL;
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&s->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  s->last = &s->first;
  *out = s;
  return OK;
}

static void sim_run_task(const task *t) {
  if (t->src)
    memcpy(t->dst, t->src, t->bytes);
  else
    memset(t->dst, 0, t->bytes);
}

/* Runs the queued copies.  The lock of the stream is held. */
static void sim_drain(stream *s) {
  if (!s->first) return;
  sim_open_memory();
  while (s->first) {
    task *t = s->first;
    s->first = t->next;
    sim_run_task(t);
    weft__free(t);
  }
  s->last = &s->first;
  sim_close_memory();
}

static int sim_sync(void *at) {
  stream *s = at;
  pthread_mutex_lock(&s->lock);
  sim_drain(s);
  pthread_mutex_unlock(&s->lock);
  return sim_state();
}

static _Thread_local const stream *inside; /* the stream whose kernel this thread runs */

/* Queues a copy; a copy by a kernel on its own stream runs at once.  `keep`: the source may be changed meanwhile. */
static int sim_enqueue(stream *s, void *dst, const void *src, size_t bytes, bool keep) {
  const task now = {.dst = dst, .src = src, .bytes = bytes};
  if (inside == s) {
    sim_run_task(&now);
    return OK;
  }
  task *t = weft__alloc(sizeof *t + (keep ? bytes : 0));
  if (!t) return FULL;
  *t = now;
  if (keep) t->src = memcpy(t->kept, src, bytes);
  pthread_mutex_lock(&s->lock);
  *s->last = t;
  s->last = &t->next;
  pthread_mutex_unlock(&s->lock);
  return OK;
}

static int sim_copy(void *at, void *dst, const void *src, size_t bytes, gpu_direction way) {
  (void)way;
  return sim_enqueue(at, dst, src, bytes, false);
}

static int sim_copy_small(void *at, void *dst, const void *src, size_t bytes) {
  return sim_enqueue(at, dst, src, bytes, true);
}

static int sim_copy_pieces(void *at, const gpu_piece *pieces, int n, const void *data) {
  int code = OK;
  for (int i = 0; i < n && !code; i++)
    code = sim_enqueue(at, pieces[i].dst, (const char *)data + pieces[i].from, pieces[i].bytes, false);
  return code;
}

static int sim_zero(void *at, void *dst, size_t bytes) { return sim_enqueue(at, dst, NULL, bytes, false); }

/* An event is the stream on which it was recorded: waiting for it runs all work of that stream. */
typedef struct event {
  stream *stream;
} event;

static int sim_event_create(int card, void **out) {
  (void)card;
  *out = weft__alloc_zero(1, sizeof(event));
  return *out ? OK : FULL;
}
static void sim_event_destroy(void *e) { weft__free(e); }
static int sim_event_record(void *e, void *s) {
  ((event *)e)->stream = s;
  return OK;
}
static int sim_event_wait(void *s, void *e) {
  stream *from = ((event *)e)->stream;
  return from && from != s ? sim_sync(from) : OK;
}
static int sim_event_passed(void *e, bool *passed) {
  stream *s = ((event *)e)->stream;
  *passed = true;
  if (!s) return OK;
  pthread_mutex_lock(&s->lock);
  *passed = !s->first;
  pthread_mutex_unlock(&s->lock);
  return OK;
}

static int sim_event_sync(void *e) {
  stream *s = ((event *)e)->stream;
  return s ? sim_sync(s) : sim_state();
}

static void sim_kernel_begin(void *at) {
  stream *s = at;
  sim_sync(s);
  sim_count_kernel();
  sim_open_memory();
  inside = s;
}

static void sim_kernel_end(void *at) {
  inside = NULL;
  sim_sync(at);
  sim_close_memory();
}

static int sim_can_sum(int n, const int *card, weft_dtype type, bool *can) {
  (void)card;
  *can = n > 0 && (type == WEFT_FLOAT || type == WEFT_DOUBLE);
  return OK;
}

static int sim_sum(int n, const int *card, void *const *streams, const void *const *in, int root, void *out,
                   size_t count, weft_dtype type) {
  (void)card, (void)root;
  int code = OK;
  for (int i = 0; i < n && !code; i++) code = sim_sync(streams[i]);
  sim_open_memory();
  for (size_t at = 0; at < count; at++) {
    double total = 0;
    for (int i = 0; i < n; i++)
      total += type == WEFT_FLOAT ? (double)((const float *)in[i])[at] : ((const double *)in[i])[at];
    if (type == WEFT_FLOAT)
      ((float *)out)[at] = (float)total;
    else
      ((double *)out)[at] = total;
  }
  sim_close_memory();
  return code;
}

const gpu_api *weft__simulated_gpu_api(void) {
  static const gpu_api api = {
      .version = GPU_API_VERSION,
      .error_text = sim_error_text,
      .error_kind = sim_error_kind,
      .count = sim_count,
      .properties = sim_properties,
      .peers = sim_peers,
      .use = sim_use,
      .memory_left = sim_memory_left,
      .alloc = sim_alloc,
      .free = sim_free,
      .alloc_host = sim_alloc_host,
      .free_host = sim_free_host,
      .stream_create = sim_stream_create,
      .sync = sim_sync,
      .copy = sim_copy,
      .copy_small = sim_copy_small,
      .copy_pieces = sim_copy_pieces,
      .zero = sim_zero,
      .event_create = sim_event_create,
      .event_destroy = sim_event_destroy,
      .event_record = sim_event_record,
      .event_wait = sim_event_wait,
      .event_passed = sim_event_passed,
      .event_sync = sim_event_sync,
      .can_sum = sim_can_sum,
      .sum = sim_sum,
      .kernel_begin = sim_kernel_begin,
      .kernel_end = sim_kernel_end,
  };
  return &api;
}
