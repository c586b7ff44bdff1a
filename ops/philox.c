/* philox.c - the block function, and the generator a random node keeps for as long as its session.
 *
 * TensorFlow's kernel of a stateful node lives as long as the session, whatever is fetched with it,
 * so the generator is a resource named for session and node.  Each plan that holds the node finds it
 * once and then goes straight to it. */
#include "ops/philox.h"
#include "base/alloc.h"
#include "base/hot.h"
#include "state/resource.h"
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

enum { LANES = 16, ROUNDS = 10 };

philox weft__philox(uint64_t seed, uint64_t seed2) {
  return (philox){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                  .counter = {0, 0, (uint32_t)seed2, (uint32_t)(seed2 >> 32)}};
}

void weft__philox_skip(philox *p, uint64_t blocks) {
  const uint64_t low = p->counter[0] | (uint64_t)p->counter[1] << 32, sum = low + blocks;
  p->counter[0] = (uint32_t)sum;
  p->counter[1] = (uint32_t)(sum >> 32);
  if (sum < low && ++p->counter[2] == 0) p->counter[3]++;
}

/* LANES blocks at once: the same work in every lane, so that it becomes vectors. */
static inline __attribute__((always_inline)) void lanes(const philox *p, uint64_t stride, uint32_t *words) {
  uint32_t a[LANES], b[LANES], c[LANES], d[LANES], k0 = p->key[0], k1 = p->key[1];
  const uint64_t low = p->counter[0] | (uint64_t)p->counter[1] << 32;
  for (int i = 0; i < LANES; i++) {
    const uint64_t at = low + (uint64_t)i * stride;
    const uint32_t carry = at < low, c2 = p->counter[2] + carry;
    a[i] = (uint32_t)at;
    b[i] = (uint32_t)(at >> 32);
    c[i] = c2;
    d[i] = p->counter[3] + (carry && c2 == 0);
  }
  for (int r = 0; r < ROUNDS; r++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
    for (int i = 0; i < LANES; i++) {
      const uint64_t x = 0xD2511F53ull * a[i], y = 0xCD9E8D57ull * c[i];
      a[i] = (uint32_t)(y >> 32) ^ b[i] ^ k0;
      b[i] = (uint32_t)y;
      c[i] = (uint32_t)(x >> 32) ^ d[i] ^ k1;
      d[i] = (uint32_t)x;
    }
  for (int i = 0; i < LANES; i++) {
    words[4 * i] = a[i];
    words[4 * i + 1] = b[i];
    words[4 * i + 2] = c[i];
    words[4 * i + 3] = d[i];
  }
}

WEFT_HOT void weft__philox_blocks(const philox *p, uint64_t first, uint64_t stride, int64_t n, uint32_t *words) {
  philox at = *p;
  weft__philox_skip(&at, first);
  for (; n >= LANES; n -= LANES, words += 4 * LANES) {
    lanes(&at, stride, words);
    weft__philox_skip(&at, LANES * stride);
  }
  if (n > 0) {
    uint32_t rest[4 * LANES];
    lanes(&at, stride, rest);
    memcpy(words, rest, (size_t)n * 16);
  }
}

/* ---- one number after the other ---- */

uint32_t weft__philox_word(philox_reader *r) {
  if (r->left == 0) {
    weft__philox_blocks(&r->next, 0, 1, 1, r->have);
    weft__philox_skip(&r->next, 1);
    r->left = 4;
  }
  return r->have[4 - r->left--];
}

double weft__philox_double(philox_reader *r) {
  const uint32_t high = weft__philox_word(r);
  return weft__philox_to_double(high, weft__philox_word(r));
}

uint32_t weft__philox_below(philox_reader *r, uint32_t n) {
  const uint32_t uneven = (UINT32_MAX % n + 1) % n; /* how many words have no full round of n */
  uint32_t word;
  do word = weft__philox_word(r);
  while (word < uneven);
  return word % n;
}

/* ---- the generator of a node ---- */

typedef struct generator {
  resource base;
  pthread_mutex_t lock;
  philox next;
} generator;

typedef struct node_state {
  pthread_mutex_t lock;
  generator *gen; /* found at the first run */
  uint64_t seed, seed2;
} node_state;

static void generator_destroy(object *o) {
  generator *g = (generator *)o;
  pthread_mutex_destroy(&g->lock);
  weft__free(g);
}

static weft_err generator_make(resource **out, void *arg) {
  const node_state *n = arg;
  uint64_t seed[2] = {n->seed, n->seed2};
  if (!seed[0] && !seed[1] && getrandom(seed, sizeof seed, 0) != (ssize_t)sizeof seed)
    return weft__fail(WEFT_INTERNAL, "the system gave no random seed");
  generator *g = weft__alloc_zero(1, sizeof *g);
  if (!g) return WEFT_OOM;
  atomic_init(&g->base.base.refs, 1);
  g->base.base.destroy = generator_destroy;
  g->base.type = "random";
  g->next = weft__philox(seed[0], seed[1]);
  pthread_mutex_init(&g->lock, NULL);
  *out = &g->base;
  return WEFT_OK;
}

weft_err weft__random_prepare(const weft_node *node, void **state) {
  node_state *n = weft__alloc_zero(1, sizeof *n);
  if (!n) return WEFT_OOM;
  pthread_mutex_init(&n->lock, NULL);
  n->seed = (uint64_t)weft__node_int(node, "seed", 0);
  n->seed2 = (uint64_t)weft__node_int(node, "seed2", 0);
  *state = n;
  return WEFT_OK;
}

void weft__random_unprepare(void *state) {
  node_state *n = state;
  if (!n) return;
  if (n->gen) weft__object_release(&n->gen->base.base);
  pthread_mutex_destroy(&n->lock);
  weft__free(n);
}

static weft_err find_generator(const kernel *k, node_state *n, generator **out) {
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&n->lock);
  if (!n->gen) {
    char *container = NULL, *name = NULL;
    resource *found = NULL;
    err = weft__resource_name(k, true, &container, &name);
    if (err == WEFT_OK)
      err = weft__resource_get(k->step->resources, container, "random", name, generator_make, n, &found);
    n->gen = (generator *)found;
    weft__free(container);
    weft__free(name);
  }
  *out = n->gen;
  pthread_mutex_unlock(&n->lock);
  return err;
}

weft_err weft__random_take(const kernel *k, uint64_t blocks, philox *out) {
  generator *g = NULL;
  WEFT_TRY(find_generator(k, k->state, &g));
  pthread_mutex_lock(&g->lock);
  *out = g->next;
  weft__philox_skip(&g->next, blocks);
  pthread_mutex_unlock(&g->lock);
  return WEFT_OK;
}
