/* clock.c - the monotonic clock and the wall clock, from clock_gettime. */
#include "base/clock.h"

int64_t weft__clock_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t weft__clock_wall_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return t.tv_sec * US_PER_S + t.tv_nsec / NS_PER_US;
}

int64_t weft__clock_after_ms(int64_t ms) {
  static const int64_t longest_ms = INT64_C(1) << 40;
  return weft__clock_now_ns() + (ms < longest_ms ? ms : longest_ms) * NS_PER_MS;
}

struct timespec weft__clock_deadline(int64_t ns) {
  static const int64_t year = 365 * 24 * 3600 * NS_PER_S;
  int64_t at = weft__clock_now_ns() + (ns < 0 || ns > year ? year : ns);
  return (struct timespec){.tv_sec = (time_t)(at / NS_PER_S), .tv_nsec = (long)(at % NS_PER_S)};
}
