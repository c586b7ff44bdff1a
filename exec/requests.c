/* requests.c - a hash table from requests to what was made for them. */
#include "exec/requests.h"

#include "base/alloc.h"

uint64_t weft__request_hash(const plan_request *r) {
  uint64_t h = 0xcbf29ce484222325u;
#define MIX(v) h = (h ^ (uint64_t)(v)) * UINT64_C(0x100000001b3)
  MIX(r->n_feed), MIX(r->n_fetch), MIX(r->n_target);
  for (int i = 0; i < r->n_feed; i++) MIX(r->feed[i].node), MIX(r->feed[i].slot);
  for (int i = 0; i < r->n_fetch; i++) MIX(r->fetch[i].node), MIX(r->fetch[i].slot);
  for (int i = 0; i < r->n_target; i++) MIX(r->target[i]);
#undef MIX
  return h ^ h >> 32;
}

static bool same_outs(const weft_out *a, const weft_out *b, int n) {
  for (int i = 0; i < n; i++)
    if (a[i].node != b[i].node || a[i].slot != b[i].slot) return false;
  return true;
}

bool weft__request_equal(const plan_request *a, const plan_request *b) {
  return a->n_feed == b->n_feed && a->n_fetch == b->n_fetch && a->n_target == b->n_target &&
         same_outs(a->feed, b->feed, a->n_feed) && same_outs(a->fetch, b->fetch, a->n_fetch) &&
         (a->n_target == 0 || memcmp(a->target, b->target, sizeof(int) * (size_t)a->n_target) == 0);
}

void *weft__requests_find(const requests *t, uint64_t hash, const plan_request *r) {
  for (request_entry *e = t->bucket[hash % REQUEST_BUCKETS]; e; e = e->next)
    if (e->hash == hash && weft__request_equal(&e->request, r)) return e->made;
  return NULL;
}

static void *memory_copy(const void *data, size_t size) {
  void *p = weft__alloc(size ? size : 1);
  if (p && size) memcpy(p, data, size);
  return p;
}

void weft__request_finish(plan_request *r) {
  weft__free((void *)(uintptr_t)r->feed);
  weft__free((void *)(uintptr_t)r->fetch);
  weft__free((void *)(uintptr_t)r->target);
  *r = (plan_request){0};
}

weft_err weft__request_copy(plan_request *out, const plan_request *r) {
  *out = *r;
  out->feed = memory_copy(r->feed, sizeof *r->feed * (size_t)r->n_feed);
  out->fetch = memory_copy(r->fetch, sizeof *r->fetch * (size_t)r->n_fetch);
  out->target = memory_copy(r->target, sizeof *r->target * (size_t)r->n_target);
  if (out->feed && out->fetch && out->target) return WEFT_OK;
  weft__request_finish(out);
  return WEFT_OOM;
}

static void entry_free(request_entry *e) {
  weft__request_finish(&e->request);
  weft__free(e);
}

weft_err weft__requests_add(requests *t, uint64_t hash, const plan_request *r, request_entry **out) {
  request_entry *e = weft__alloc_zero(1, sizeof *e);
  if (!e) return WEFT_OOM;
  e->hash = hash;
  weft_err err = weft__request_copy(&e->request, r);
  if (err) {
    entry_free(e);
    return err;
  }
  e->next = t->bucket[hash % REQUEST_BUCKETS];
  t->bucket[hash % REQUEST_BUCKETS] = e;
  *out = e;
  return WEFT_OK;
}

void weft__requests_drop(requests *t, request_entry *e) {
  t->bucket[e->hash % REQUEST_BUCKETS] = e->next;
  entry_free(e);
}

void weft__requests_finish(requests *t, void (*destroy)(void *made)) {
  for (int b = 0; b < REQUEST_BUCKETS; b++)
    while (t->bucket[b]) {
      request_entry *e = t->bucket[b];
      t->bucket[b] = e->next;
      destroy(e->made);
      entry_free(e);
    }
}
