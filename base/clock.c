/* clock.c - the two clocks. */
#include "base/clock.h"

enum { NS = 1000000000 };

int64_t weft__clock_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

int64_t weft__clock_wall_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

struct timespec weft__clock_deadline(int64_t ns) {
  static const int64_t year = (int64_t)365 * 24 * 3600 * NS;
  int64_t at = weft__clock_now_ns() + (ns < 0 || ns > year ? year : ns);
  return (struct timespec){.tv_sec = (time_t)(at / NS), .tv_nsec = (long)(at % NS)};
}
