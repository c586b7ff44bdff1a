/* simulated_gpu.c - a card made of host memory, so that programs for GPUs run, and are tested, where there is none.
 *
 * It is asked for with WEFT_CUDA_PLUGIN=simulated and goes through everything that a real card does: placement, copies,
 * logs; only recordings are left out.  Kernels are the CPU's.  Two things keep it honest.  Its memory cannot be read or written but by
 * its own work (mprotect), so that code which takes a card's address for the host's ends in a fault.  And copies are
 * only noted when they are queued and done when somebody waits, or when a kernel of the same stream runs, so that
 * code which does not wait sees old bytes.
 *
 * WEFT_SIMULATED_CARDS=2 makes two cards.  WEFT_SIMULATED_TROUBLE gives it what cards suffer from: "driver" (too old),
 * "code" (none for this card), or "lost:N" (during the Nth kernel); "lost:N:FILE" only in the process that makes FILE. */
#include "base/alloc.h"
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
} task;

typedef struct stream {
  pthread_mutex_t lock; /* guards what follows; recursive: a kernel's own copies come while it runs */
  task *first, **last;
} stream;

typedef struct region {
  void *at;
  size_t bytes;
  struct region *next;
} region;

static struct { /* all memory of all simulated cards is open while anything works on any of it */
  pthread_mutex_t lock;
  region *first;
  size_t taken;
  int users;
} world = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void protect(int mode) {
  for (const region *r = world.first; r; r = r->next) mprotect(r->at, r->bytes, mode);
}

static void open_memory(void) {
  pthread_mutex_lock(&world.lock);
  if (world.users++ == 0) protect(PROT_READ | PROT_WRITE);
  pthread_mutex_unlock(&world.lock);
}

static void close_memory(void) {
  pthread_mutex_lock(&world.lock);
  if (--world.users == 0) protect(PROT_NONE);
  pthread_mutex_unlock(&world.lock);
}

static const char *why(int code) {
  static const char *const words[] = {"no error",
                                      "out of memory",
                                      "invalid argument",
                                      "the driver is too old for this build",
                                      "this build has no machine code for the card's architecture",
                                      "an illegal memory access was encountered"};
  return words[code];
}
static gpu_error_kind trouble(int code) {
  return code == FULL ? GPU_ERROR_NO_MEMORY : code == LOST ? GPU_ERROR_LOST : GPU_ERROR_CALL;
}

/* ---- trouble ------------------------------------------------------------------------------------ */

static atomic_bool lost;

static bool suffers(const char *from) {
  const char *asked = getenv("WEFT_SIMULATED_TROUBLE");
  return asked && strncmp(asked, from, strlen(from)) == 0;
}

/* At each kernel: is it the one that loses the card? */
static void count_kernel(void) {
  static atomic_int kernels;
  if (!suffers("lost:")) return;
  char *file;
  const long which = strtol(getenv("WEFT_SIMULATED_TROUBLE") + strlen("lost:"), &file, 10);
  if (atomic_fetch_add(&kernels, 1) + 1 != which) return;
  const int made = *file == ':' ? open(file + 1, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1;
  if (made >= 0) close(made);
  if (*file != ':' || made >= 0) atomic_store(&lost, true);
}

static int state(void) { return atomic_load(&lost) ? LOST : OK; }

/* ---- cards -------------------------------------------------------------------------------------- */

static int cards(void) {
  const char *asked = getenv("WEFT_SIMULATED_CARDS");
  return asked && atoi(asked) > 1 ? atoi(asked) : 1;
}

static int count(int *n) {
  *n = suffers("driver") ? 0 : cards();
  return suffers("driver") ? OLD_DRIVER : OK;
}

static int properties(int card, gpu_properties *out) {
  *out = (gpu_properties){.name = "Simulated GPU", .bus = "0000:00:00.0", .major = 9, .memory = CARD_BYTES};
  out->bus[6] = (char)('0' + card % 10);
  return suffers("code") ? NO_CODE : card < cards() ? OK : WRONG;
}

static int peers(int a, int b, int *can) {
  *can = a == b;
  return OK;
}

static int use(int card) { return card < cards() ? OK : WRONG; }

static int memory_left(int card, size_t *bytes) {
  (void)card;
  *bytes = CARD_BYTES - world.taken;
  return OK;
}

static int alloc_card(int card, size_t bytes, void **out) {
  (void)card;
  region *r = weft__alloc(sizeof *r);
  if (!r) return FULL;
  pthread_mutex_lock(&world.lock);
  bool room = bytes <= CARD_BYTES - world.taken;
  int mode = world.users ? PROT_READ | PROT_WRITE : PROT_NONE;
  void *at = room ? mmap(NULL, bytes, mode, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
  if (at != MAP_FAILED) {
    *r = (region){at, bytes, world.first};
    world.first = r;
    world.taken += bytes;
    *out = at;
  }
  pthread_mutex_unlock(&world.lock);
  if (at == MAP_FAILED) weft__free(r);
  return at == MAP_FAILED ? FULL : OK;
}

static int free_card(int card, void *at) {
  (void)card;
  pthread_mutex_lock(&world.lock);
  region **p = &world.first;
  while (*p && (*p)->at != at) p = &(*p)->next;
  region *r = *p;
  if (r) {
    *p = r->next;
    world.taken -= r->bytes;
    munmap(r->at, r->bytes);
  }
  pthread_mutex_unlock(&world.lock);
  weft__free(r);
  return r ? OK : WRONG;
}

static int alloc_host(size_t bytes, void **out) {
  *out = weft__alloc_aligned(bytes);
  return *out ? OK : FULL;
}

static int free_host(void *at) {
  weft__free(at);
  return OK;
}

/* ---- streams ------------------------------------------------------------------------------------- */

static int stream_create(int card, void **out) {
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

static void carry_out(const task *t) {
  if (t->src)
    memcpy(t->dst, t->src, t->bytes);
  else
    memset(t->dst, 0, t->bytes);
}

/* Does what is queued.  The lock is held. */
static void drain(stream *s) {
  if (!s->first) return;
  open_memory();
  while (s->first) {
    task *t = s->first;
    s->first = t->next;
    carry_out(t);
    weft__free(t);
  }
  s->last = &s->first;
  close_memory();
}

static int sync_stream(void *at) {
  stream *s = at;
  pthread_mutex_lock(&s->lock);
  drain(s);
  pthread_mutex_unlock(&s->lock);
  return state();
}

static _Thread_local const stream *inside; /* whose kernel this thread runs */

/* A kernel's own copies come before what it does next. */
static int queue(stream *s, void *dst, const void *src, size_t bytes) {
  const task now = {dst, src, bytes, NULL};
  if (inside == s) {
    carry_out(&now);
    return OK;
  }
  task *t = weft__alloc(sizeof *t);
  if (!t) return FULL;
  *t = now;
  pthread_mutex_lock(&s->lock);
  *s->last = t;
  s->last = &t->next;
  pthread_mutex_unlock(&s->lock);
  return OK;
}

static int copy(void *at, void *dst, const void *src, size_t bytes, gpu_direction way) {
  (void)way;
  return queue(at, dst, src, bytes);
}

static int zero(void *at, void *dst, size_t bytes) { return queue(at, dst, NULL, bytes); }

/* An event is the stream it was recorded on: waiting for it is doing all of that stream's work. */
typedef struct event {
  stream *stream;
} event;

static int event_create(int card, void **out) {
  (void)card;
  *out = weft__alloc_zero(1, sizeof(event));
  return *out ? OK : FULL;
}
static void event_destroy(void *e) { weft__free(e); }
static int event_record(void *e, void *s) {
  ((event *)e)->stream = s;
  return OK;
}
static int event_wait(void *s, void *e) {
  stream *from = ((event *)e)->stream;
  return from && from != s ? sync_stream(from) : OK;
}
static int event_passed(void *e, bool *passed) {
  stream *s = ((event *)e)->stream;
  *passed = true;
  if (!s) return OK;
  pthread_mutex_lock(&s->lock);
  *passed = !s->first;
  pthread_mutex_unlock(&s->lock);
  return OK;
}

static void enter(void *at) {
  stream *s = at;
  sync_stream(s);
  count_kernel();
  open_memory();
  inside = s;
}

static void leave(void *at) {
  inside = NULL;
  sync_stream(at);
  close_memory();
}

static int can_sum(int n, const int *card, weft_dtype type, bool *can) {
  (void)card;
  *can = n > 0 && (type == WEFT_FLOAT || type == WEFT_DOUBLE);
  return OK;
}

static int sum(int n, const int *card, void *const *streams, const void *const *in, int root, void *out, size_t count,
               weft_dtype type) {
  (void)card, (void)root;
  int code = OK;
  for (int i = 0; i < n && !code; i++) code = sync_stream(streams[i]);
  open_memory();
  for (size_t at = 0; at < count; at++) {
    double total = 0;
    for (int i = 0; i < n; i++)
      total += type == WEFT_FLOAT ? (double)((const float *)in[i])[at] : ((const double *)in[i])[at];
    if (type == WEFT_FLOAT)
      ((float *)out)[at] = (float)total;
    else
      ((double *)out)[at] = total;
  }
  close_memory();
  return code;
}

const gpu_api *weft__simulated_gpu_api(void) {
  static const gpu_api api = {
      .version = GPU_API_VERSION,
      .why = why,
      .trouble = trouble,
      .count = count,
      .properties = properties,
      .peers = peers,
      .use = use,
      .memory_left = memory_left,
      .alloc = alloc_card,
      .free = free_card,
      .alloc_host = alloc_host,
      .free_host = free_host,
      .stream_create = stream_create,
      .sync = sync_stream,
      .copy = copy,
      .zero = zero,
      .event_create = event_create,
      .event_destroy = event_destroy,
      .event_record = event_record,
      .event_wait = event_wait,
      .event_passed = event_passed,
      .can_sum = can_sum,
      .sum = sum,
      .enter = enter,
      .leave = leave,
  };
  return &api;
}
