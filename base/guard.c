/* guard.c - writing and checking guard bytes. */
#include "base/guard.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { GUARD = 0xA5 };

size_t weft__guard_size;

static struct {
  pthread_mutex_t lock;
  long failures;
  char last[256];
} found = {.lock = PTHREAD_MUTEX_INITIALIZER};

void weft__guard_enable(void) { weft__guard_size = GUARD_BYTES; }

void weft__guard_fill(void *data, size_t size, size_t before, size_t after) {
  memset((char *)data - before, GUARD, before + size + after);
}

/* Returns the index of the first of n bytes that is no guard byte; n if all are. */
static size_t first_changed(const unsigned char *at, size_t n) {
  size_t i = 0;
  while (i < n && at[i] == GUARD) i++;
  return i;
}

static void guard_report(const char *owner, size_t size, size_t distance, const char *where) {
  pthread_mutex_lock(&found.lock);
  found.failures++;
  snprintf(found.last, sizeof found.last, "%s of %zu bytes: byte %zu %s was written", owner, size, distance, where);
  pthread_mutex_unlock(&found.lock);
}

void weft__guard_check(const void *data, size_t size, size_t before, size_t after, const char *owner) {
  const unsigned char *begin = data;
  const size_t low = first_changed(begin - before, before), high = first_changed(begin + size, after);
  if (low < before) guard_report(owner, size, before - low, "before its start");
  if (high < after) guard_report(owner, size, high, "after its end");
}

long weft__guard_failures(char *text, size_t size) {
  pthread_mutex_lock(&found.lock);
  const long n = found.failures;
  snprintf(text, size, "%s", found.last);
  pthread_mutex_unlock(&found.lock);
  return n;
}
