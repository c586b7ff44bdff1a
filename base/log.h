/* log.h - the one way the library speaks.  Silent until a program installs a callback. */
#ifndef WEFT_BASE_LOG_H
#define WEFT_BASE_LOG_H

typedef enum log_level { LOG_DEBUG = 0, LOG_INFO = 1, LOG_WARNING = 2, LOG_ERROR = 3 } log_level;
typedef void log_fn(void *arg, int level, const char *file, int line, const char *message);

void weft__log_set_callback(log_fn *fn, void *arg);
void weft__log_at(log_level level, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#define weft__log(level, ...) weft__log_at(level, __FILE__, __LINE__, __VA_ARGS__)

#endif
