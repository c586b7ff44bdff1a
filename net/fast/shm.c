/* shm.c - blocks of shared memory: the writer allocates them, the reader frees them.
 *
 * The first page has one word for each block, which is HELD while the reader may look at the block.  Where the
 * blocks are is known to the writer alone, in its own memory.  It takes the lowest gap, so that the same few pages
 * serve step after step.  The reader trusts nothing but the bounds: a peer that lies spoils its own bytes and no
 * others.
 *
 * Lock: the segment's, over the writer's list of blocks; it is a leaf, and bytes are copied without it. */
#include "net/fast/shm.h"
#include "base/alloc.h"
#include "base/assert.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PAGE = 4096,          /* blocks begin on one; the kernel's pages may be larger */
  SHM_SIZE = 256 << 20, /* of address space; memory is allocated when it is first written */
  BLOCKS_MAX = PAGE / sizeof(uint32_t),
};
enum { FREE, HELD, FILLING };
enum { SIZE_BITS = 32, PAGE_BITS = 20, SLOT_BITS = 11 }; /* of a reference, below its highest bit */
_Static_assert(1 + SLOT_BITS + PAGE_BITS + SIZE_BITS == 64, "a reference is a number of 64 bits");

typedef struct block { /* the writer's record of one */
  size_t begin, end;
  uint32_t slot;
} block;

struct shm {
  atomic_int refs;
  uint8_t *memory;
  _Atomic(uint32_t) *state; /* the first page of memory */
  pthread_mutex_t lock;     /* guards what follows, which only the writer uses */
  block *block;             /* in the order of their offsets */
  int n_block;
};

/* ---- life ---- */

void weft__shm_release(shm *s) {
  if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1) return;
  if (s->memory) munmap(s->memory, SHM_SIZE);
  pthread_mutex_destroy(&s->lock);
  weft__free(s->block);
  weft__free(s);
}

static weft_err shm_map(shm **out, int fd) {
  *out = NULL;
  shm *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  atomic_init(&s->refs, 1);
  pthread_mutex_init(&s->lock, NULL);
  void *at = mmap(NULL, SHM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) {
    int why = errno;
    weft__shm_release(s);
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot map %d MiB of shared memory: %s", SHM_SIZE >> 20, strerror(why));
  }
  s->memory = at;
  s->state = at;
  *out = s;
  return WEFT_OK;
}

weft_err weft__shm_create(shm **out, int *fd) {
  *out = NULL;
  int made = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) return weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot create shared memory: %s", strerror(errno));
  weft_err err = WEFT_OK;
  if (ftruncate(made, SHM_SIZE) != 0 || fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    err = weft__fail(WEFT_RESOURCE_EXHAUSTED, "cannot create %d MiB of shared memory: %s", SHM_SIZE >> 20,
                     strerror(errno));
  if (err == WEFT_OK) err = shm_map(out, made);
  if (err == WEFT_OK)
    *fd = made;
  else
    close(made);
  return err;
}

/* Reading memory that the peer has shrunk would end the process with SIGBUS, so only sealed memory is attached. */
weft_err weft__shm_attach(shm **out, int fd) {
  struct stat info;
  int seals = fcntl(fd, F_GET_SEALS);
  *out = NULL;
  if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &info) != 0 || info.st_size != SHM_SIZE)
    return weft__fail(WEFT_INVALID_ARGUMENT, "the peer's descriptor is not a shared memory segment of Weft");
  return shm_map(out, fd);
}

/* ---- writing ---- */

/* Removes the blocks that the reader has freed from the list.  The caller holds the lock. */
static void shm_collect_freed(shm *s) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock));
  int kept = 0;
  for (int i = 0; i < s->n_block; i++)
    if (atomic_load_explicit(&s->state[s->block[i].slot], memory_order_acquire) != FREE) s->block[kept++] = s->block[i];
  s->n_block = kept;
}

/* Finds a slot that no block has; false: all are used. */
static bool shm_find_slot(const shm *s, uint32_t *slot) {
  for (*slot = 0; *slot < BLOCKS_MAX; ++*slot) {
    int i = 0;
    while (i < s->n_block && s->block[i].slot != *slot) i++;
    if (i == s->n_block) return true;
  }
  return false;
}

/* Finds the lowest gap that is large enough; returns the index of a block there in the list, -1: there is no gap. */
static int shm_find_gap(const shm *s, size_t size, size_t *begin) {
  *begin = PAGE;
  for (int i = 0; i < s->n_block; i++) {
    if (s->block[i].begin - *begin >= size) return i;
    *begin = s->block[i].end;
  }
  return SHM_SIZE - *begin >= size ? s->n_block : -1;
}

/* Allocates a block.  The caller holds the lock. */
static bool shm_alloc_block(shm *s, size_t size, block *out) {
  WEFT_ASSERT(weft__lock_is_held(&s->lock));
  if (!s->block) s->block = weft__alloc(BLOCKS_MAX * sizeof *s->block);
  if (!s->block) return false;
  shm_collect_freed(s);
  int i = shm_find_gap(s, size, &out->begin);
  if (i < 0 || !shm_find_slot(s, &out->slot)) return false;
  out->end = out->begin + size;
  memmove(s->block + i + 1, s->block + i, (size_t)(s->n_block - i) * sizeof *s->block);
  s->block[i] = *out;
  s->n_block++;
  atomic_store_explicit(&s->state[out->slot], FILLING, memory_order_relaxed);
  return true;
}

uint64_t weft__shm_write(shm *s, const void *data, size_t size) {
  block b;
  if (size == 0 || size > SHM_SIZE) return 0;
  pthread_mutex_lock(&s->lock);
  bool allocated = shm_alloc_block(s, (size + PAGE - 1) / PAGE * PAGE, &b);
  pthread_mutex_unlock(&s->lock);
  if (!allocated) return 0;
  memcpy(s->memory + b.begin, data, size);
  atomic_store_explicit(&s->state[b.slot], HELD, memory_order_release);
  return 1ull << 63 | (uint64_t)b.slot << (PAGE_BITS + SIZE_BITS) | (uint64_t)(b.begin / PAGE) << SIZE_BITS | size;
}

/* ---- reading ---- */

typedef struct shm_piece { /* what a piece in the segment keeps */
  shm *shm;
  uint32_t slot;
} shm_piece;

static void shm_piece_release(void *arg) {
  shm_piece *p = arg;
  atomic_store_explicit(&p->shm->state[p->slot], FREE, memory_order_release);
  weft__shm_release(p->shm);
  weft__free(p);
}

bool weft__shm_has_piece(const piece *p) { return p->release == shm_piece_release; }

weft_err weft__shm_read(shm *s, uint64_t ref, message *m) {
  size_t size = weft__shm_ref_size(ref);
  size_t begin = (size_t)(ref >> SIZE_BITS & ((1u << PAGE_BITS) - 1)) * PAGE;
  uint32_t slot = (uint32_t)(ref >> (PAGE_BITS + SIZE_BITS)) & ((1u << SLOT_BITS) - 1);
  if (size == 0 || begin < PAGE || begin > SHM_SIZE || size > SHM_SIZE - begin || slot >= BLOCKS_MAX ||
      atomic_load_explicit(&s->state[slot], memory_order_acquire) != HELD)
    return weft__fail(WEFT_INVALID_ARGUMENT, "shared memory: %zu bytes at %zu, block %u: no such block", size, begin,
                      slot);
  shm_piece *p = weft__alloc(sizeof *p);
  if (!p) return WEFT_OOM;
  *p = (shm_piece){s, slot};
  atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
  m->shared = true;
  return weft__message_add(m, (piece){s->memory + begin, size, shm_piece_release, p});
}
