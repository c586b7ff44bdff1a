/* denormal.h - flushes denormal numbers to zero while kernels run.
 *
 * Vanishing gradients and decaying moments become denormal, and processors compute with denormal numbers a hundred
 * times slower.  TensorFlow's executor flushes them too.  The mode belongs to the thread: threads of a pool set it
 * once, and a thread that runs a step sets it for that step. */
#ifndef WEFT_BASE_DENORMAL_H
#define WEFT_BASE_DENORMAL_H

#include <stdint.h>

/* Flushes denormal numbers on this thread from now on.  Returns the former mode, for weft__denormal_restore. */
static inline uint64_t weft__denormal_flush(void) {
#if defined(__x86_64__)
  enum { FLUSH_RESULTS = 0x8000, FLUSH_OPERANDS = 0x0040 };
  unsigned old = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(old | FLUSH_RESULTS | FLUSH_OPERANDS);
  return old;
#elif defined(__aarch64__)
  uint64_t old;
  __asm__ volatile("mrs %0, fpcr" : "=r"(old));
  __asm__ volatile("msr fpcr, %0" ::"r"(old | UINT64_C(1) << 24));
  return old;
#else
  return 0;
#endif
}

static inline void weft__denormal_restore(uint64_t old) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr((unsigned)old);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" ::"r"(old));
#else
  (void)old;
#endif
}

#endif
