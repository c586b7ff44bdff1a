/* simulated.c - a card made of host memory, so that programs for GPUs run, and are tested, where there is none.
 *
 * It is asked for with WEFT_CUDA_PLUGIN=simulated and goes through everything that a real card does: placement, copies,
 * logs; only recordings are left out.  Kernels are the CPU's.  Two things keep it honest.  Its memory cannot be read or written but by
 * its own work (mprotect), so that code which takes a card's address for the host's ends in a fault.  And copies are
 * only noted when they are queued and done when somebody waits, or when a kernel of the same stream runs, so that
 * code which does not wait sees old bytes. */
#include "base/alloc.h"
#include "device/plugin.h"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { OK, FULL, WRONG };
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
  return code == OK ? "no error" : code == FULL ? "out of memory" : "invalid argument";
}
static gpu_trouble trouble(int code) { return code == FULL ? GPU_FULL : GPU_FAILED; }

static int count(int *n) {
  *n = 1;
  return OK;
}

static int properties(int card, gpu_properties *out) {
  *out = (gpu_properties){.name = "Simulated GPU", .bus = "0000:00:00.0", .major = 9, .memory = CARD_BYTES};
  return card == 0 ? OK : WRONG;
}

static int peers(int a, int b, int *can) {
  *can = a == b;
  return OK;
}

static int use(int card) { return card == 0 ? OK : WRONG; }

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
  return OK;
}

static int queue(stream *s, void *dst, const void *src, size_t bytes) {
  task *t = weft__alloc(sizeof *t);
  if (!t) return FULL;
  *t = (task){dst, src, bytes, NULL};
  pthread_mutex_lock(&s->lock);
  *s->last = t;
  s->last = &t->next;
  pthread_mutex_unlock(&s->lock);
  return OK;
}

static int copy(void *at, void *dst, const void *src, size_t bytes, gpu_way way) {
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
  pthread_mutex_lock(&s->lock);
  drain(s);
  pthread_mutex_unlock(&s->lock);
  open_memory();
}

static void leave(void *at) {
  sync_stream(at);
  close_memory();
}

const gpu_api *weft__simulated_api(void) {
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
      .enter = enter,
      .leave = leave,
  };
  return &api;
}
