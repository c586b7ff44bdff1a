/* confine.c - resolves the existing part of a path and compares it with the allowed directories.
 *
 * The part that does not exist cannot be a link, so its names are used literally; ".." in it is an error. */
#include "io/confine.h"

#include "base/alloc.h"
#include "io/file.h"
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *allowed; /* resolved, each followed by ':'; NULL: no limit */
static bool decided;  /* set by weft__confine, or after the environment was read */

static weft_err resolve_all(const char *directories, char **out) {
  char *all = weft__strdup(""), *list = weft__strdup(directories), *rest = list, *one;
  while (all && list && (one = strsep(&rest, ":"))) {
    char real[PATH_MAX];
    if (!*one) continue;
    const char *shown = realpath(one, real) ? real : one;
    char *longer = weft__sprintf("%s%s:", all, shown);
    weft__free(all);
    all = longer;
  }
  weft__free(list);
  *out = all;
  return all && list ? WEFT_OK : WEFT_OOM;
}

/* Sets the allowed directories.  Without `always` an earlier decision stays. */
static weft_err confine_decide(const char *directories, bool always) {
  char *resolved = NULL;
  if (directories) WEFT_TRY(resolve_all(directories, &resolved));
  pthread_mutex_lock(&lock);
  char *dropped = resolved;
  if (always || !decided) {
    dropped = allowed;
    allowed = resolved;
    decided = true;
  }
  pthread_mutex_unlock(&lock);
  weft__free(dropped);
  return WEFT_OK;
}

weft_err weft__confine(const char *directories) { return confine_decide(directories, true); }

static bool has_dots(const char *names) {
  for (const char *s = names; (s = strstr(s, "..")); s += 2)
    if ((s == names || s[-1] == '/') && (s[2] == 0 || s[2] == '/')) return true;
  return false;
}

/* Follows every link in the part of the path that exists.  Returns false if the path cannot be resolved. */
static bool confine_resolve(const char *path, char real[PATH_MAX]) {
  char head[PATH_MAX];
  size_t n = strlen(path);
  if (n == 0 || n >= sizeof head) return false;
  memcpy(head, path, n + 1);
  const char *tail = path + n;
  while (!realpath(*head ? head : ".", real)) {
    char *slash = strrchr(head, '/');
    tail = slash ? path + (slash - head) + 1 : path;
    if (slash == head && head[1])
      head[1] = 0;
    else if (slash && slash != head)
      *slash = 0;
    else
      *head = 0;
  }
  if (has_dots(tail) || strlen(real) + strlen(tail) + 2 > PATH_MAX) return false;
  if (*tail) {
    if (strcmp(real, "/") != 0) strcat(real, "/");
    strcat(real, tail);
  }
  return true;
}

/* Returns true if the path is one of the directories of the list or inside one. */
static bool is_inside(const char *list, const char *path) {
  for (const char *d = list; *d; d = strchr(d, ':') + 1) {
    size_t n = strcspn(d, ":");
    if (n == 1 && *d == '/') return true;
    if (strncmp(d, path, n) == 0 && (path[n] == '/' || path[n] == 0)) return true;
  }
  return false;
}

/* Reads the environment unless a server has set the allowed directories. */
static weft_err confine_read_environment(void) {
  pthread_mutex_lock(&lock);
  bool is_decided = decided;
  pthread_mutex_unlock(&lock);
  return is_decided ? WEFT_OK : confine_decide(getenv("WEFT_ALLOW_DIRS"), false);
}

weft_err weft__path_allowed(const char *path) {
  char real[PATH_MAX];
  const char *local;
  WEFT_TRY(weft__path_local(path, &local));
  WEFT_TRY(confine_read_environment());
  pthread_mutex_lock(&lock);
  bool good = !allowed || (confine_resolve(local, real) && is_inside(allowed, real));
  pthread_mutex_unlock(&lock);
  if (good) return WEFT_OK;
  return weft__fail(WEFT_PERMISSION_DENIED, "%.200s is outside the directories that graphs may use (WEFT_ALLOW_DIRS)",
                    path);
}
