/* adaptive_mutex.h - locks that many threads hold for a moment each.
 *
 * Who finds such a lock taken turns round a little before it sleeps: to be woken would take longer than the lock is held. */
#ifndef WEFT_BASE_ADAPTIVE_MUTEX_H
#define WEFT_BASE_ADAPTIVE_MUTEX_H

#include <pthread.h>

#define WEFT_ADAPTIVE_MUTEX PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP

static inline void weft__adaptive_mutex_init(pthread_mutex_t *lock) { *lock = (pthread_mutex_t)WEFT_ADAPTIVE_MUTEX; }

#endif
