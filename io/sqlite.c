/* sqlite.c - loads SQLite's library, once in a process. */
#include "io/sqlite.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static sqlite_functions functions;
static bool is_loaded;

static void sqlite_load_once(void) {
  static const char *const names[] = {"sqlite3_open_v2",         "sqlite3_close",
                                      "sqlite3_prepare_v2",      "sqlite3_step",
                                      "sqlite3_finalize",        "sqlite3_column_count",
                                      "sqlite3_errmsg",          "sqlite3_column_int64",
                                      "sqlite3_column_double",   "sqlite3_column_blob",
                                      "sqlite3_column_bytes",    "sqlite3_busy_timeout",
                                      "sqlite3_bind_int64",      "sqlite3_bind_double",
                                      "sqlite3_bind_text",       "sqlite3_bind_blob",
                                      "sqlite3_bind_zeroblob",   "sqlite3_last_insert_rowid",
                                      "sqlite3_progress_handler"};
  void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  void *found[sizeof names / sizeof *names] = {0};
  is_loaded = library != NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && is_loaded; i++)
    is_loaded = (found[i] = dlsym(library, names[i])) != NULL;
  _Static_assert(sizeof found == sizeof functions, "a name for each function");
  memcpy(&functions, found, sizeof functions);
}

weft_err weft__sqlite_load(const sqlite_functions **out, const char *user) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, sqlite_load_once);
  *out = &functions;
  if (is_loaded) return WEFT_OK;
  return weft__fail(WEFT_FAILED_PRECONDITION,
                    "%s needs the library libsqlite3.so.0, which was not found: install it (on Debian: apt-get install "
                    "libsqlite3-0)",
                    user);
}
