/* shm.c - blocks of shared memory: the writer places them, the reader frees them.
 *
 * The first page has a word for each block: HELD while the reader may look at it.  Where blocks lie is the writer's
 * business alone, kept in its own memory; it takes the lowest gap, so that the same few pages serve step after step.
 * The reader believes nothing but the bounds: a peer that lies spoils its own bytes and no others. */
#include "net/fast/shm.h"
#include "base/alloc.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PAGE = 4096,             /* blocks begin on one; the kernel's may be larger */
  WINDOW_SIZE = 256 << 20, /* addresses: memory is taken as it is used */
  BLOCKS_MAX = PAGE / sizeof(uint32_t),
};
enum { FREE, HELD, FILLING };
enum { SIZE_BITS = 32, PAGE_BITS = 20, SLOT_BITS = 11 }; /* of a place, below its highest bit */
_Static_assert(1 + SLOT_BITS + PAGE_BITS + SIZE_BITS == 64, "a place is a number of 64 bits");

typedef struct block { /* in the writer's memory */
  size_t begin, end;
  uint32_t slot;
} block;

struct window {
  atomic_int refs;
  uint8_t *memory;
  _Atomic(uint32_t) *state; /* the first page of memory */
  pthread_mutex_t lock;     /* guards what follows, which only a writer has */
  block *block;             /* by where they lie */
  int n_block;
};

/* ---- life ---- */

void weft__window_release(window *w) {
  if (!w || atomic_fetch_sub_explicit(&w->refs, 1, memory_order_acq_rel) != 1) return;
  if (w->memory) munmap(w->memory, WINDOW_SIZE);
  pthread_mutex_destroy(&w->lock);
  weft__free(w->block);
  weft__free(w);
}

static weft_err map(window **out, int fd) {
  *out = NULL;
  window *w = weft__alloc_zero(1, sizeof *w);
  if (!w) return WEFT_OOM;
  atomic_init(&w->refs, 1);
  pthread_mutex_init(&w->lock, NULL);
  void *at = mmap(NULL, WINDOW_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) {
    int why = errno;
    weft__window_release(w);
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "%d MiB of shared memory cannot be mapped: %s", WINDOW_SIZE >> 20,
                      strerror(why));
  }
  w->memory = at;
  w->state = at;
  *out = w;
  return WEFT_OK;
}

weft_err weft__window_create(window **out, int *fd) {
  *out = NULL;
  int made = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no shared memory: %s", strerror(errno));
  weft_err err = WEFT_OK;
  if (ftruncate(made, WINDOW_SIZE) != 0 || fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "no shared memory of %d MiB: %s", WINDOW_SIZE >> 20, strerror(errno));
  if (err == WEFT_OK) err = map(out, made);
  if (err == WEFT_OK)
    *fd = made;
  else
    close(made);
  return err;
}

/* Memory that shrinks under its reader ends the process: only what cannot is read. */
weft_err weft__window_open(window **out, int fd) {
  struct stat s;
  int seals = fcntl(fd, F_GET_SEALS);
  *out = NULL;
  if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &s) != 0 || s.st_size != WINDOW_SIZE)
    return weft__fail(WEFT_INVALID_ARGUMENT, "what the peer shares is no window of Weft's");
  return map(out, fd);
}

/* ---- writing ---- */

/* Forgets the blocks that the reader is done with. */
static void sweep(window *w) {
  int kept = 0;
  for (int i = 0; i < w->n_block; i++)
    if (atomic_load_explicit(&w->state[w->block[i].slot], memory_order_acquire) != FREE) w->block[kept++] = w->block[i];
  w->n_block = kept;
}

/* A slot that no block has. */
static bool free_slot(const window *w, uint32_t *slot) {
  for (*slot = 0; *slot < BLOCKS_MAX; ++*slot) {
    int i = 0;
    while (i < w->n_block && w->block[i].slot != *slot) i++;
    if (i == w->n_block) return true;
  }
  return false;
}

/* The lowest gap that is large enough: the index at which a block there belongs, -1 if there is none. */
static int find_gap(const window *w, size_t size, size_t *begin) {
  *begin = PAGE;
  for (int i = 0; i < w->n_block; i++) {
    if (w->block[i].begin - *begin >= size) return i;
    *begin = w->block[i].end;
  }
  return WINDOW_SIZE - *begin >= size ? w->n_block : -1;
}

static bool take_block(window *w, size_t size, block *out) {
  if (!w->block) w->block = weft__alloc(BLOCKS_MAX * sizeof *w->block);
  if (!w->block) return false;
  sweep(w);
  int i = find_gap(w, size, &out->begin);
  if (i < 0 || !free_slot(w, &out->slot)) return false;
  out->end = out->begin + size;
  memmove(w->block + i + 1, w->block + i, (size_t)(w->n_block - i) * sizeof *w->block);
  w->block[i] = *out;
  w->n_block++;
  atomic_store_explicit(&w->state[out->slot], FILLING, memory_order_relaxed);
  return true;
}

uint64_t weft__window_put(window *w, const void *data, size_t size) {
  block b;
  if (size == 0 || size > WINDOW_SIZE) return 0;
  pthread_mutex_lock(&w->lock);
  bool taken = take_block(w, (size + PAGE - 1) / PAGE * PAGE, &b);
  pthread_mutex_unlock(&w->lock);
  if (!taken) return 0;
  memcpy(w->memory + b.begin, data, size);
  atomic_store_explicit(&w->state[b.slot], HELD, memory_order_release);
  return 1ull << 63 | (uint64_t)b.slot << (PAGE_BITS + SIZE_BITS) | (uint64_t)(b.begin / PAGE) << SIZE_BITS | size;
}

/* ---- reading ---- */

typedef struct taken {
  window *window;
  uint32_t slot;
} taken;

static void give_back(void *arg) {
  taken *t = arg;
  atomic_store_explicit(&t->window->state[t->slot], FREE, memory_order_release);
  weft__window_release(t->window);
  weft__free(t);
}

bool weft__window_has(const piece *p) { return p->release == give_back; }

weft_err weft__window_get(window *w, uint64_t place, message *m) {
  size_t size = weft__window_place_size(place);
  size_t begin = (size_t)(place >> SIZE_BITS & ((1u << PAGE_BITS) - 1)) * PAGE;
  uint32_t slot = (uint32_t)(place >> (PAGE_BITS + SIZE_BITS)) & ((1u << SLOT_BITS) - 1);
  if (size == 0 || begin < PAGE || begin > WINDOW_SIZE || size > WINDOW_SIZE - begin || slot >= BLOCKS_MAX ||
      atomic_load_explicit(&w->state[slot], memory_order_acquire) != HELD)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%zu bytes at %zu of the window, block %u: nothing is there", size, begin,
                      slot);
  taken *t = weft__alloc(sizeof *t);
  if (!t) return WEFT_OOM;
  *t = (taken){w, slot};
  atomic_fetch_add_explicit(&w->refs, 1, memory_order_relaxed);
  m->shared = true;
  return weft__message_add(m, (piece){w->memory + begin, size, give_back, t});
}
