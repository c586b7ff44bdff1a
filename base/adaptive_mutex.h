/* adaptive_mutex.h - mutexes that many threads hold for a moment each.
 *
 * A thread that finds an adaptive mutex taken spins for a short while before it sleeps.  That is faster when the mutex
 * is held for less time than sleeping and waking take.  It is a pthread_mutex_t and is locked as any other. */
#ifndef WEFT_BASE_ADAPTIVE_MUTEX_H
#define WEFT_BASE_ADAPTIVE_MUTEX_H

#include <pthread.h>

#define WEFT_ADAPTIVE_MUTEX PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP

/* Initializes the mutex in place of pthread_mutex_init; the owner calls pthread_mutex_destroy as usual. */
static inline void weft__adaptive_mutex_init(pthread_mutex_t *lock) { *lock = (pthread_mutex_t)WEFT_ADAPTIVE_MUTEX; }

#endif
