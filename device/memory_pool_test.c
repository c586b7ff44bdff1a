/* memory_pool_test.c - the caching allocator over a source that counts. */
#include "device/memory_pool.h"

#include "base/alloc.h"
#include "tests/check.h"

typedef struct source {
  size_t left;
  int taken, given;
} source;

static weft_err get(void *arg, size_t bytes, void **out) {
  source *s = arg;
  if (bytes > s->left) return WEFT_RESOURCE_EXHAUSTED;
  s->left -= bytes;
  s->taken++;
  *out = weft__alloc_aligned(bytes);
  return *out ? WEFT_OK : WEFT_RESOURCE_EXHAUSTED;
}

static void give(void *arg, void *at) {
  ((source *)arg)->given++;
  weft__free(at);
}

static memory_pool *pool_over(source *s, size_t limit) {
  memory_pool *p;
  EXPECT_OK(weft__memory_pool_create(&p, (memory_source){s, get, give}, limit));
  return p;
}

TEST(what_was_freed_is_given_out_again) {
  source s = {.left = (size_t)1 << 30};
  memory_pool *p = pool_over(&s, (size_t)1 << 30);
  buffer *a, *b;
  EXPECT_OK(weft__memory_pool_alloc(p, &a, WEFT_FLOAT, 1000));
  const void *at = a->data;
  EXPECT_EQ_INT(a->size, 1000);
  weft__buffer_release(a);
  EXPECT_OK(weft__memory_pool_alloc(p, &b, WEFT_FLOAT, 1000));
  EXPECT(b->data == at);
  weft__buffer_release(b);
  EXPECT_EQ_INT(s.taken, 1);
  weft__memory_pool_destroy(p);
  EXPECT_EQ_INT(s.given, 1);
}

TEST(free_neighbors_are_merged) {
  enum { N = 64 };
  source s = {.left = (size_t)1 << 30};
  memory_pool *p = pool_over(&s, (size_t)1 << 30);
  buffer *all[N], *whole;
  for (int i = 0; i < N; i++) EXPECT_OK(weft__memory_pool_alloc(p, &all[i], WEFT_UINT8, 60 << 10));
  for (int i = 0; i < N; i += 2) weft__buffer_release(all[i]);
  for (int i = 1; i < N; i += 2) weft__buffer_release(all[i]);
  EXPECT_EQ_INT(weft__memory_pool_stats(p).in_use, 0);
  EXPECT_EQ_INT(weft__memory_pool_stats(p).largest_free, 4 << 20);
  EXPECT_OK(weft__memory_pool_alloc(p, &whole, WEFT_UINT8, 4 << 20));
  EXPECT_EQ_INT(s.taken, 1);
  weft__buffer_release(whole);
  weft__memory_pool_destroy(p);
}

TEST(the_limit_holds_and_idle_regions_make_room) {
  source s = {.left = (size_t)1 << 30};
  memory_pool *p = pool_over(&s, (size_t)10 << 20);
  buffer *a, *b;
  EXPECT_OK(weft__memory_pool_alloc(p, &a, WEFT_UINT8, 8 << 20));
  EXPECT_EQ_INT(weft__memory_pool_alloc(p, &b, WEFT_UINT8, 8 << 20), WEFT_RESOURCE_EXHAUSTED);
  weft__buffer_release(a);
  EXPECT_OK(weft__memory_pool_alloc(p, &b, WEFT_UINT8, 9 << 20)); /* the idle region was given back for it */
  EXPECT_EQ_INT(s.given, 1);
  weft__buffer_release(b);
  EXPECT_EQ_INT(weft__memory_pool_stats(p).peak, 9 << 20);
  weft__memory_pool_destroy(p);
}

TEST(a_pool_knows_its_own_addresses) {
  source s = {.left = (size_t)1 << 30};
  memory_pool *p = pool_over(&s, (size_t)1 << 30);
  buffer *a, *b;
  EXPECT_OK(weft__memory_pool_alloc(p, &a, WEFT_UINT8, 1000));
  EXPECT_OK(weft__memory_pool_alloc(p, &b, WEFT_UINT8, 8 << 20)); /* of another region */
  EXPECT(weft__memory_pool_contains(p, (char *)a->data + 999) && weft__memory_pool_contains(p, b->data));
  EXPECT(!weft__memory_pool_contains(p, &s) && !weft__memory_pool_contains(p, NULL));
  weft__buffer_release(a);
  weft__buffer_release(b);
  weft__memory_pool_destroy(p);
}

TEST(an_exhausted_source_is_asked_for_just_what_is_needed) {
  source s = {.left = 3 << 20};
  memory_pool *p = pool_over(&s, (size_t)1 << 30);
  buffer *a;
  EXPECT_OK(weft__memory_pool_alloc(p, &a, WEFT_UINT8, 3 << 20));
  weft__buffer_release(a);
  weft__memory_pool_destroy(p);
}
