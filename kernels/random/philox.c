/* philox.c - the generator that a random node keeps for the lifetime of its session.
 *
 * TensorFlow's kernel of a stateful node lives as long as the session, regardless of the fetches.  So the generator
 * is a resource named after the session and the node.  Each plan with the node looks it up once and keeps a pointer. */
#include "kernels/random/philox.h"
#include "base/alloc.h"
#include "state/resource.h"
#include <math.h>
#include <pthread.h>
#include <sys/random.h>

typedef struct generator {
  resource base;
  pthread_mutex_t lock;
  philox next;
} generator;

typedef struct node_state {
  pthread_mutex_t lock;
  generator *gen; /* looked up in the first run */
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

void weft__philox_to_normals(const uint32_t w[4], double y[2]) {
  const double u = fmax(weft__philox_to_double(w[0], w[1]), 1e-7), r = sqrt(-2.0 * log(u));
  const double angle = 2.0 * M_PI * weft__philox_to_double(w[2], w[3]);
  y[0] = sin(angle) * r;
  y[1] = cos(angle) * r;
}
