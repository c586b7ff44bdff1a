/* log.c - hands messages to the program's callback, one at a time.
 *
 * The callback is the process's, as stderr is.  One lock guards the pair and is held only while it is read, so a
 * callback may install another; a second one, which its holder may take again, keeps threads from speaking at once. */
#include "base/log.h"

#include "base/metrics.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t callback_lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static log_fn *current_fn;
static void *current_arg;

static void log_init_callback_lock(void) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&callback_lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
}

void weft__log_set_callback(log_fn *fn, void *arg) {
  pthread_mutex_lock(&lock);
  current_fn = fn;
  current_arg = arg;
  pthread_mutex_unlock(&lock);
}

void weft__log_at(log_level level, const char *file, int line, const char *fmt, ...) {
  pthread_mutex_lock(&lock);
  log_fn *fn = current_fn;
  void *arg = current_arg;
  pthread_mutex_unlock(&lock);
  if (!fn && level < LOG_WARNING) return;
  char message[2048], *long_message = NULL;
  va_list args;
  va_start(args, fmt);
  int size = vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  if (size >= (int)sizeof message && (long_message = malloc((size_t)size + 1))) { /* else it is cut short */
    va_start(args, fmt);
    vsnprintf(long_message, (size_t)size + 1, fmt, args);
    va_end(args);
  }
  if (level >= LOG_WARNING) weft__metrics_add_error(message);
  if (!fn) goto done;
  while (strncmp(file, "../", 3) == 0) file += 3; /* as the compiler was called from the build folder */
  pthread_once(&once, log_init_callback_lock);
  pthread_mutex_lock(&callback_lock);
  fn(arg, (int)level, file, line, long_message ? long_message : message);
  pthread_mutex_unlock(&callback_lock);
done:
  free(long_message);
}
