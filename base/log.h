/* log.h - the library's log: messages that are passed to the program's callback.
 *
 * The library prints nothing itself; without a callback, messages are dropped.  The callback belongs to the process.
 * Any thread may log.  The callback runs on the logging thread, one message at a time, and may install another
 * callback.
 *
 * A message carries its component beside the file and the line.  The build defines WEFT_COMPONENT for each source: the
 * folder that it is in, such as "net/fast".  Warnings and errors keep it in the metrics, which the status page shows.
 */
#ifndef WEFT_BASE_LOG_H
#define WEFT_BASE_LOG_H

typedef enum log_level { LOG_DEBUG = 0, LOG_INFO = 1, LOG_WARNING = 2, LOG_ERROR = 3 } log_level;
typedef void log_fn(void *arg, int level, const char *file, int line, const char *message);

/* Installs the callback; NULL removes it.  The strings that fn gets are borrowed for the call. */
void weft__log_set_callback(log_fn *fn, void *arg);
/* Formats a message and passes it to the callback.  Warnings and errors also go to the metrics, without a callback too.
 */
void weft__log_at(log_level level, const char *component, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

#ifndef WEFT_COMPONENT
#define WEFT_COMPONENT "program" /* a source outside of the library, such as a test */
#endif
#define weft__log(level, ...) weft__log_at(level, WEFT_COMPONENT, __FILE__, __LINE__, __VA_ARGS__)

#endif
