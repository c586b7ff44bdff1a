/* file_wait.c - waits for pipes and devices. */
#include "io/file_wait.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include <errno.h>
#include <poll.h>
#include <string.h>

#define SILENCE_NS INT64_C(60000000000)

static _Thread_local const file_wait *current;

const file_wait *weft__file_wait_set(const file_wait *w) {
  const file_wait *before = current;
  current = w;
  return before;
}

static weft_err file_wait_check(const char *path, int64_t begin) {
  const int64_t now = weft__clock_now_ns();
  if (current && current->cancel && weft__cancel_fired(current->cancel))
    return weft__fail_in(weft__cancel_raise(current->cancel), "reading %s", path);
  if (current && current->deadline_ns && now > current->deadline_ns)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "Timed out while reading %s, which is no regular file", path);
  if (weft__interrupt_pending()) return weft__fail(WEFT_CANCELLED, "Interrupted while reading %s", path);
  if (now - begin > SILENCE_NS)
    return weft__fail(WEFT_DEADLINE_EXCEEDED, "%s is no regular file, and gave no byte for %lld s", path,
                      (long long)(SILENCE_NS / NS_PER_S));
  return WEFT_OK;
}

weft_err weft__file_wait(int fd, const char *path) {
  const int64_t begin = weft__clock_now_ns();
  for (;;) {
    WEFT_TRY(file_wait_check(path, begin));
    struct pollfd p = {.fd = fd, .events = POLLIN};
    const int n = poll(&p, 1, WEFT_WAIT_SLICE_MS);
    if (n < 0 && errno != EINTR) return weft__fail(WEFT_INTERNAL, "cannot wait for %s: %s", path, strerror(errno));
    if (n > 0) return WEFT_OK;
  }
}

weft_err weft__file_endless(const char *path) {
  return weft__fail(WEFT_RESOURCE_EXHAUSTED, "%s is no regular file, and had no end after %llu bytes", path,
                    (unsigned long long)UNSIZED_MOST);
}
