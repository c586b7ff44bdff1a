/* log.c - passes messages to the program's callback, one at a time.
 *
 * The callback belongs to the process, as stderr does.  `lock` guards the callback and its argument; it is held only
 * while they are read, so that a callback may install another one.  `callback_lock` is held while the callback runs, so
 * that messages of two threads do not mix; it is recursive, because a callback may log. */
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

void weft__log_at(log_level level, const char *component, const char *file, int line, const char *fmt, ...) {
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
  if (size >= (int)sizeof message && (long_message = malloc((size_t)size + 1))) { /* else the message is truncated */
    va_start(args, fmt);
    vsnprintf(long_message, (size_t)size + 1, fmt, args);
    va_end(args);
  }
  if (level >= LOG_WARNING) weft__metrics_add_error(component, message);
  if (!fn) goto done;
  while (strncmp(file, "../", 3) == 0) file += 3; /* __FILE__ is relative to the build folder */
  pthread_once(&once, log_init_callback_lock);
  pthread_mutex_lock(&callback_lock);
  fn(arg, (int)level, file, line, long_message ? long_message : message);
  pthread_mutex_unlock(&callback_lock);
done:
  free(long_message);
}
