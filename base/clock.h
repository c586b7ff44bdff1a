/* clock.h - time: monotonic for waits and measures, wall for the records people read. */
#ifndef WEFT_BASE_CLOCK_H
#define WEFT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t weft__clock_now_ns(void);  /* monotonic */
int64_t weft__clock_wall_us(void); /* since 1970 */
/* The absolute CLOCK_MONOTONIC time `ns` from now, for timed waits; ns < 0 means a year. */
struct timespec weft__clock_deadline(int64_t ns);

#endif
