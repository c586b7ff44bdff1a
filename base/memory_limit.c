/* memory_limit.c - the limit and the count of bytes, two atomics of the process, and how the setting is parsed. */
#include "base/memory_limit.h"
#include "base/assert.h"
#include "base/block.h"
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

atomic_size_t weft__memory_limit_bytes;
static atomic_llong used; /* signed: memory may be freed that was allocated before the limit was set */

size_t weft__memory_limit(void) { return atomic_load_explicit(&weft__memory_limit_bytes, memory_order_relaxed); }

size_t weft__memory_limit_used(void) {
  long long now = weft__memory_limit_is_set() ? atomic_load_explicit(&used, memory_order_relaxed) : 0;
  return now > 0 ? (size_t)now : 0;
}

void weft__memory_limit_release(int64_t size) { atomic_fetch_sub_explicit(&used, size, memory_order_relaxed); }

static bool memory_try_reserve(size_t size) {
  WEFT_ASSERT(weft__memory_limit() <= PTRDIFF_MAX / 2);
  long long limit = (long long)weft__memory_limit();
  if ((long long)size > limit) return false;
  if (atomic_fetch_add_explicit(&used, (long long)size, memory_order_relaxed) + (long long)size <= limit) return true;
  weft__memory_limit_release((int64_t)size);
  return false;
}

bool weft__memory_limit_reserve(size_t size) {
  if (memory_try_reserve(size)) return true;
  weft__block_trim(); /* cached blocks count as used */
  if (memory_try_reserve(size)) return true;
  weft__fail(WEFT_RESOURCE_EXHAUSTED, "Out of memory allocating %zu bytes%s", size, weft__memory_limit_text());
  return false;
}

const char *weft__memory_limit_text(void) {
  static _Thread_local char text[96];
  text[0] = 0;
  if (weft__memory_limit_is_set())
    snprintf(text, sizeof text, " (WEFT_MEMORY: %zu of %zu bytes are in use)", weft__memory_limit_used(),
             weft__memory_limit());
  return text;
}

/* ---- reading the setting ---- */

/* Returns the number in the file; 0 if the file is missing or has no number ("max"). */
static size_t read_number_file(const char *path) {
  unsigned long long n = 0;
  FILE *f = fopen(path, "re");
  if (!f) return 0;
  if (fscanf(f, "%llu", &n) != 1) n = 0;
  fclose(f);
  return n > PTRDIFF_MAX / 2 ? 0 : (size_t)n; /* in cgroup version 1 a huge number means no limit */
}

static size_t smaller_limit(size_t a, size_t b) { return a == 0 || (b != 0 && b < a) ? b : a; }

/* Returns the smallest limit of this process's cgroup and of the groups above it; 0: none.  It reads version 2, or the
 * memory controller of version 1.  In a container the group is often the root of the visible tree. */
static size_t cgroup_limit(void) {
  char line[512], path[640];
  size_t least = smaller_limit(read_number_file("/sys/fs/cgroup/memory.max"),
                               read_number_file("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  FILE *f = fopen("/proc/self/cgroup", "re");
  while (f && fgets(line, sizeof line, f)) {
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    group[strcspn(group, "\n")] = 0;
    const bool second = controllers[1] == 0;
    if (!second && !strstr(controllers, "memory")) continue;
    for (char *end = group + strlen(group); end > group; end = strrchr(group, '/')) {
      *end = 0;
      snprintf(path, sizeof path,
               second ? "/sys/fs/cgroup%s/memory.max" : "/sys/fs/cgroup/memory%s/memory.limit_in_bytes", group);
      least = smaller_limit(least, read_number_file(path));
      if (!*group) break;
    }
  }
  if (f) fclose(f);
  return least;
}

static size_t memory_limit_auto(void) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  size_t machine = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : 0;
  return smaller_limit(cgroup_limit(), machine) / 10 * 9;
}

static weft_err memory_limit_parse(const char *text, size_t *out) {
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  const char *units = "KMGT", *unit = *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
  const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
  if (unit) end++;
  if (unit && (*end == 'B' || *end == 'b')) end++;
  if (text[0] < '0' || text[0] > '9' || *end || errno || n > (unsigned long long)(PTRDIFF_MAX / 2) >> shift)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "invalid memory ceiling '%s': give a number of bytes, such as 800M or 4G, or auto", text);
  *out = (size_t)(n << shift);
  return WEFT_OK;
}

/* Returns how many bytes of the heap are in use already. */
static long long heap_in_use(void) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  struct mallinfo2 m = mallinfo2();
  return (long long)(m.uordblks + m.hblkhd);
#else
  return 0;
#endif
}

weft_err weft__memory_limit_set(const char *text) {
  size_t limit = 0;
  if (text && strcmp(text, "auto") == 0)
    limit = memory_limit_auto();
  else if (text && *text)
    WEFT_TRY(memory_limit_parse(text, &limit));
  if (!weft__memory_limit_is_set()) atomic_store(&used, heap_in_use());
  atomic_store(&weft__memory_limit_bytes, limit);
  return WEFT_OK;
}

weft_err weft__memory_limit_init(const char *given) {
  static atomic_bool begun;
  const char *text = given ? given : getenv("WEFT_MEMORY");
  if (!text || !*text || atomic_load(&begun)) return WEFT_OK;
  WEFT_TRY(weft__memory_limit_set(text));
  atomic_store(&begun, true);
  return WEFT_OK;
}
