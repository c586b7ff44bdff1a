/* expansion.c - tracks which functions call a body, and how many bodies a graph has. */
#include "graph/expansion.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "tensor/tensor.h"

/* One call in a chain of calls.  A graph that is not a function's body has a chain of depth 0, which counts all
 * instances below it. */
struct call_chain {
  object base;
  struct call_chain *caller; /* a reference; NULL at depth 0 */
  int depth;
  atomic_int instances; /* at depth 0: the number of functions called by functions */
  char name[];
};

static void chain_destroy(object *o) {
  call_chain *c = (call_chain *)o;
  WEFT_ASSERT(c->depth > 0 || !c->caller);
  weft__object_release(c->caller ? &c->caller->base : NULL);
  weft__free(c);
}

static weft_err chain_create(call_chain **out, call_chain *caller, const char *name) {
  const size_t length = strlen(name) + 1;
  call_chain *c = weft__alloc_zero(1, sizeof *c + length);
  if (!c) return WEFT_OOM;
  atomic_init(&c->base.refs, 1);
  c->base.destroy = chain_destroy;
  memcpy(c->name, name, length);
  c->caller = caller;
  if (caller) {
    c->depth = caller->depth + 1;
    weft__object_retain(&caller->base);
  }
  *out = c;
  return WEFT_OK;
}

/* Fails with "Function f calls itself: f -> g -> f". */
static weft_err fail_cycle(const call_chain *c, const char *name) {
  const char *names[FUNCTION_MAX_DEPTH + 1];
  int n = 0;
  for (; c->depth > 0; c = c->caller) {
    WEFT_ASSERT(n <= FUNCTION_MAX_DEPTH && c->caller);
    names[n++] = c->name;
    if (strcmp(c->name, name) == 0) break;
  }
  text t = {0};
  while (n > 0) weft__text_printf(&t, "%s -> ", names[--n]);
  const weft_err err = weft__fail(WEFT_INVALID_ARGUMENT,
                                  "Function %s calls itself: %s%s. Functions cannot be recursive (use a While loop)",
                                  name, weft__text_get(&t), name);
  weft__text_finish(&t);
  return err;
}

static weft_err check_chain(const call_chain *from, const char *name) {
  for (const call_chain *c = from; c->depth > 0; c = c->caller)
    if (strcmp(c->name, name) == 0) return fail_cycle(from, name);
  if (from->depth < FUNCTION_MAX_DEPTH) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Function %s, called by %s, is at depth %d: calls of functions can be nested at most %d deep", name,
                    from->name, from->depth + 1, FUNCTION_MAX_DEPTH);
}

static call_chain *root_of(call_chain *c) {
  while (c->caller) c = c->caller;
  return c;
}

static weft_err expansion_check_count(call_chain *from, const char *name) {
  if (from->depth == 0) return WEFT_OK; /* not counted: there are at most as many as the graph has nodes */
  if (atomic_fetch_add(&root_of(from)->instances, 1) < FUNCTION_MAX_INSTANCES) return WEFT_OK;
  atomic_fetch_sub(&root_of(from)->instances, 1);
  return weft__fail(WEFT_RESOURCE_EXHAUSTED,
                    "Function %s, called by %s, needs one more instance, but functions of this graph that call others "
                    "have %d already, which is the limit",
                    name, from->name, FUNCTION_MAX_INSTANCES);
}

weft_err weft__expansion_enter(weft_graph *body, weft_graph *from, const char *name) {
  WEFT_ASSERT(!body->chain);
  if (!from->chain) WEFT_TRY(chain_create(&from->chain, NULL, ""));
  WEFT_TRY(check_chain(from->chain, name));
  call_chain *own;
  WEFT_TRY(chain_create(&own, from->chain, name));
  const weft_err err = expansion_check_count(from->chain, name);
  if (err)
    weft__object_release(&own->base);
  else
    body->chain = own;
  return err;
}

void weft__expansion_leave(weft_graph *g) {
  if (!g->chain) return;
  if (g->chain->depth > 1) atomic_fetch_sub(&root_of(g->chain)->instances, 1);
  weft__object_release(&g->chain->base);
  g->chain = NULL;
}
