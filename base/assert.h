/* assert.h - states an invariant of the library, and checks it in sanitizer builds.
 *
 * WEFT_ASSERT is for facts that only an error in the library itself can break: a reference count above zero, a size
 * within a capacity, the state of a state machine.  What a caller, a file or a peer can cause is an error with a code
 * and a message (base/status.h), and never an assertion.
 *
 * In sanitizer builds a broken invariant prints the file, the line and the expression to stderr and aborts.  In other
 * builds the expression is compiled, so that it stays correct, but it is not evaluated: it must not have side effects.
 */
#ifndef WEFT_BASE_ASSERT_H
#define WEFT_BASE_ASSERT_H

#include "base/sanitizer.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef WEFT_SANITIZED
#define WEFT_ASSERT(expr) ((expr) ? (void)0 : weft__assert_fail(#expr, __FILE__, __LINE__))
#else
#define WEFT_ASSERT(expr) ((void)sizeof((expr) ? 1 : 0))
#endif

/* Prints "FILE:LINE: assertion failed: EXPR" and aborts the process.  Any thread may call it. */
_Noreturn void weft__assert_fail(const char *expr, const char *file, int line);

/* Returns true if a thread holds the lock; it cannot tell which one.  For WEFT_ASSERT in functions whose callers must
 * hold a lock.  Not for recursive locks, which the thread that holds them can lock again. */
static inline bool weft__lock_is_held(const pthread_mutex_t *lock) {
  pthread_mutex_t *m = (pthread_mutex_t *)(uintptr_t)lock;
  if (pthread_mutex_trylock(m) != 0) return true;
  pthread_mutex_unlock(m);
  return false;
}

#endif
