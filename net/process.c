/* process.c - keeps the id of this process until a fork.
 *
 * The one static state is the id and whether fork tells of it.  A handler of pthread_atfork forgets the id in the
 * child. If the handler could not be registered, nothing is kept. */
#include "net/process.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static struct {
  pthread_once_t once;
  bool told_of_forks; /* written once, under `once` */
  atomic_int id;      /* 0: not known */
} process = {.once = PTHREAD_ONCE_INIT};

static void forget_in_child(void) { atomic_store(&process.id, 0); }

static void register_handler(void) { process.told_of_forks = pthread_atfork(NULL, NULL, forget_in_child) == 0; }

pid_t weft__process_id(void) {
  const pid_t known = atomic_load_explicit(&process.id, memory_order_relaxed);
  if (known) return known;
  pthread_once(&process.once, register_handler);
  const pid_t now = getpid();
  if (process.told_of_forks) atomic_store(&process.id, now);
  return now;
}
