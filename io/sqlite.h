/* sqlite.h - the functions of SQLite, whose library is loaded when it is first needed.
 *
 * Weft builds and runs without the library. For the same reason the functions are declared here, as documented. */
#ifndef WEFT_IO_SQLITE_H
#define WEFT_IO_SQLITE_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

enum { SQLITE_ROW_READY = 100, SQLITE_FINISHED = 101 };
enum { SQLITE_READ_ONLY = 1, SQLITE_READ_WRITE = 2, SQLITE_CREATE = 4 };

typedef struct sqlite_connection sqlite_connection;
typedef struct sqlite_statement sqlite_statement;

typedef struct sqlite_functions {
  int (*open)(const char *path, sqlite_connection **out, int flags, const char *vfs);
  int (*close)(sqlite_connection *c);
  int (*prepare)(sqlite_connection *c, const char *query, int size, sqlite_statement **out, const char **tail);
  int (*step)(sqlite_statement *s);
  int (*finalize)(sqlite_statement *s);
  int (*columns)(sqlite_statement *s);
  const char *(*message)(sqlite_connection *c);
  int64_t (*integer)(sqlite_statement *s, int column);
  double (*real)(sqlite_statement *s, int column);
  const void *(*blob)(sqlite_statement *s, int column);
  int (*bytes)(sqlite_statement *s, int column);
  int (*busy_timeout)(sqlite_connection *c, int ms);
  int (*bind_integer)(sqlite_statement *s, int i, int64_t v);
  int (*bind_real)(sqlite_statement *s, int i, double v);
  int (*bind_text)(sqlite_statement *s, int i, const char *v, int size, void (*destroy)(void *));
  int (*bind_blob)(sqlite_statement *s, int i, const void *v, int size, void (*destroy)(void *));
  int (*bind_zeros)(sqlite_statement *s, int i, int size);
  int64_t (*last_row)(sqlite_connection *c);
  /* Calls fn after every so many instructions of a query, which ends with an error if fn returns a number but 0. */
  void (*on_progress)(sqlite_connection *c, int instructions, int (*fn)(void *arg), void *arg);
} sqlite_functions;

/* Sets *out, which is constant from then on.  Returns FAILED_PRECONDITION with the name of `user`, which needs the
 * library, if it is not installed. Any thread may call this. */
weft_err weft__sqlite_load(const sqlite_functions **out, const char *user);

#endif
