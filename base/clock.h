/* clock.h - two clocks: a monotonic one for waits and measurements, and wall time for records that people read.
 *
 * The functions keep no state; any thread may call them. */
#ifndef WEFT_BASE_CLOCK_H
#define WEFT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* 64 bits wide, so that a product with an int does not overflow. */
#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define US_PER_S INT64_C(1000000)

int64_t weft__clock_now_ns(void);  /* monotonic, from an arbitrary start */
int64_t weft__clock_wall_us(void); /* since 1970 */
/* Returns the monotonic time `ms` milliseconds from now.  A time too long to count is cut to 34 years. */
int64_t weft__clock_after_ms(int64_t ms);
/* Returns the absolute CLOCK_MONOTONIC time `ns` from now, for pthread_cond_clockwait.  A negative ns means a year. */
struct timespec weft__clock_deadline(int64_t ns);

#endif
