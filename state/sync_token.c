/* sync_token.c - a table of the tokens that tasks hold.  Its lock, a leaf, guards the table. */
#include "state/sync_token.h"

#include "base/alloc.h"
#include "base/assert.h"

#define TOKENS_TYPE "tokens"
#define TOKENS_RESOURCE "weft", TOKENS_TYPE, "holders"
enum { HOLDERS_MAX = 10000 };

typedef struct holder {
  queue *queue; /* a reference */
  int n;
  weft_tensor part[];
} holder;

typedef struct sync_tokens {
  resource base;
  pthread_mutex_t lock;
  map holders; /* task -> holder */
  sync_token_fn *fn;
  void *arg;
} sync_tokens;

static void holder_destroy(holder *h) {
  if (!h) return;
  for (int i = 0; i < h->n; i++) weft__tensor_clear(&h->part[i]);
  weft__object_release((object *)h->queue);
  weft__free(h);
}

static void sync_tokens_destroy(object *o) {
  sync_tokens *t = (sync_tokens *)o;
  for (int i = 0; i < t->holders.used; i++)
    if (t->holders.entries[i].key) holder_destroy(t->holders.entries[i].value);
  weft__map_finish(&t->holders);
  pthread_mutex_destroy(&t->lock);
  weft__free(t);
}

typedef struct sync_tokens_args {
  sync_token_fn *fn;
  void *arg;
} sync_tokens_args;

static weft_err sync_tokens_make(resource **out, void *arg) {
  const sync_tokens_args *m = arg;
  sync_tokens *t = weft__alloc_zero(1, sizeof *t);
  if (!t) return WEFT_OOM;
  atomic_init(&t->base.base.refs, 1);
  t->base.base.destroy = sync_tokens_destroy;
  t->base.type = TOKENS_TYPE;
  pthread_mutex_init(&t->lock, NULL);
  t->fn = m->fn;
  t->arg = m->arg;
  *out = &t->base;
  return WEFT_OK;
}

weft_err weft__sync_tokens_create(resources *r, sync_token_fn *fn, void *arg) {
  resource *made;
  WEFT_TRY(weft__resource_get(r, TOKENS_RESOURCE, sync_tokens_make, &(sync_tokens_args){fn, arg}, &made));
  weft__object_release(&made->base);
  return WEFT_OK;
}

void weft__sync_tokens_destroy(resources *r) { (void)weft__resource_delete(r, TOKENS_RESOURCE); }

/* Returns the table, with a reference, or NULL. */
static sync_tokens *sync_tokens_find(resources *r) {
  resource *found;
  return r && weft__resource_find(r, TOKENS_RESOURCE, &found) == WEFT_OK ? (sync_tokens *)found : NULL;
}

/* ---- the task that gets a token ---- */

/* Writes the task to which the first output of n is sent, "/job:worker/replica:0/task:1", to buf; NULL: it is not sent.
 */
static const char *token_receiver(const weft_node *n, char *buf, size_t size) {
  const weft_graph *g = n->graph;
  for (int i = 0; i < g->n_node; i++) {
    const weft_node *s = g->node[i];
    if (!weft__node_is(s, KIND_SEND) || s->in[0].node != n->id) continue;
    const char *to = weft__node_str(s, "recv_device").data, *at = to ? strstr(to, "/task:") : NULL;
    const char *end = at ? strchr(at + 1, '/') : NULL;
    if (!end || (size_t)(end - to) >= size) return NULL;
    memcpy(buf, to, (size_t)(end - to));
    buf[end - to] = 0;
    return buf;
  }
  return NULL;
}

/* Replaces the token of a task by h (may be NULL) and returns the former one.  Takes ownership of h. */
static holder *sync_tokens_exchange(sync_tokens *t, const char *task, holder *h) {
  pthread_mutex_lock(&t->lock);
  holder *old = weft__map_remove(&t->holders, task);
  bool kept = h && t->holders.count < HOLDERS_MAX && weft__map_put(&t->holders, task, h) == WEFT_OK;
  WEFT_ASSERT(t->holders.count <= HOLDERS_MAX);
  pthread_mutex_unlock(&t->lock);
  if (!old && kept) t->fn(t->arg, task, true);
  if (old && !kept) t->fn(t->arg, task, false);
  if (h && !kept) holder_destroy(h);
  return old;
}

static bool is_token_queue(const queue *q) { return strcmp(weft__queue_name(q), SYNC_TOKEN_QUEUE) == 0; }

void weft__sync_token_requested(const kernel *k, const queue *q) {
  char task[128];
  sync_tokens *t = is_token_queue(q) ? sync_tokens_find(k->step->resources) : NULL;
  if (!t) return;
  if (token_receiver(k->node, task, sizeof task)) holder_destroy(sync_tokens_exchange(t, task, NULL));
  weft__object_release(&t->base.base);
}

static holder *holder_create(queue *q, const element *e) {
  int n = weft__queue_spec(q)->n_component;
  holder *h = weft__alloc_zero(1, sizeof *h + sizeof *h->part * (size_t)n);
  if (!h) return NULL;
  weft__object_retain((object *)q);
  h->queue = q;
  for (; h->n < n; h->n++)
    if (weft__tensor_keep(&h->part[h->n], &e->part[h->n]) != WEFT_OK) {
      holder_destroy(h);
      return NULL;
    }
  return h;
}

/* Returns the table and stores the queue of k, each with a reference, and writes the task that gets its result.
 * Returns NULL if k does not take a token for another task. */
static sync_tokens *sync_tokens_find_for(const kernel *k, queue **q, char *task, size_t size) {
  resource *found;
  if (weft__kernel_resource(k, 0, QUEUE_TYPE, &found) != WEFT_OK) return NULL;
  *q = (queue *)found;
  sync_tokens *t = is_token_queue(*q) ? sync_tokens_find(k->step->resources) : NULL;
  if (t && token_receiver(k->node, task, size)) return t;
  if (t) weft__object_release(&t->base.base);
  weft__object_release(&found->base);
  return NULL;
}

static void sync_tokens_release(sync_tokens *t, queue *q) {
  weft__object_release(&t->base.base);
  weft__object_release((object *)q);
}

void weft__sync_token_taken(const kernel *k, const element *e) {
  char task[128];
  queue *q;
  sync_tokens *t = sync_tokens_find_for(k, &q, task, sizeof task);
  if (!t) return;
  holder *h = holder_create(q, e); /* without memory the token is lost if its task dies */
  if (h) holder_destroy(sync_tokens_exchange(t, task, h));
  sync_tokens_release(t, q);
}

/* ---- putting tokens back ---- */

static void enqueue_ignore(void *arg, weft_err err, element *const *got, int64_t n) {
  (void)arg, (void)err, (void)got, (void)n; /* a closed queue needs no token */
}

int weft__sync_tokens_return(resources *r, const char *task) {
  sync_tokens *t = sync_tokens_find(r);
  holder *h = t ? sync_tokens_exchange(t, task, NULL) : NULL;
  if (t) weft__object_release(&t->base.base);
  bool held = h != NULL;
  const weft_tensor *part[16];
  int n = held && h->n < 16 ? h->n : 0;
  for (int i = 0; i < n; i++) part[i] = &h->part[i];
  if (n > 0) weft__queue_enqueue(h->queue, part, false, NULL, enqueue_ignore, NULL);
  holder_destroy(h);
  return held;
}
