/* progress.c - decides when a line about progress is due, and logs it. */
#include "base/progress.h"
#include "base/clock.h"
#include "base/log.h"
#include <stdbool.h>

#define EVERY_NS (3 * NS_PER_S)

void weft__progress_log(progress *p, const char *path, uint64_t done, uint64_t total, const char *what) {
  const int64_t now = weft__clock_now_ns();
  const bool due = p->next != 0 && now >= p->next && done != total;
  if (due && total)
    weft__log(LOG_INFO, "%s: %llu of %llu %s", path, (unsigned long long)done, (unsigned long long)total, what);
  else if (due)
    weft__log(LOG_INFO, "%s: %llu %s", path, (unsigned long long)done, what);
  if (due || p->next == 0) p->next = now + EVERY_NS;
}
