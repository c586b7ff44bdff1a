/* path.c - functions on path names.  Nothing here accesses the file system, except for the working directory. */
#include "train/checkpoint/path.h"

#include "base/alloc.h"
#include "base/text.h"
#include <string.h>
#include <unistd.h>

static bool has_scheme(const char *path) { return strstr(path, "://") != NULL; }

char *weft__path_absolute(const char *path) {
  char cwd[4096] = "";
  text t = {0};
  if (has_scheme(path)) return weft__strdup(path);
  if (*path != '/' && !getcwd(cwd, sizeof cwd)) cwd[0] = 0;
  for (int half = *path == '/'; half < 2; half++) {
    const char *s = half ? path : cwd;
    while (*s) {
      size_t n = strcspn(s, "/");
      if (n == 2 && s[0] == '.' && s[1] == '.') {
        while (t.size && t.data[--t.size] != '/') {}
      } else if (n && !(n == 1 && *s == '.')) {
        weft__text_puts(&t, "/");
        weft__text_add(&t, s, n);
      }
      s += n + (s[n] == '/');
    }
  }
  if (t.size == 0) weft__text_puts(&t, "/");
  if (!t.failed) t.data[t.size] = 0;
  if (!t.failed) return t.data;
  weft__text_finish(&t);
  return NULL;
}

char *weft__path_relative(const char *path, const char *start) {
  char *p = weft__path_absolute(path), *s = weft__path_absolute(start), *out = NULL;
  text t = {0};
  if (p && s) {
    size_t same = 0; /* bytes of the whole components that both share */
    for (size_t i = 0;; i++) {
      bool p_ends = !p[i] || p[i] == '/', s_ends = !s[i] || s[i] == '/';
      if (p_ends && s_ends) same = i;
      if (p[i] != s[i] || !p[i]) break;
    }
    for (const char *c = s + same; *c; c++)
      if (*c == '/' && c[1]) weft__text_puts(&t, "../");
    weft__text_puts(&t, p[same] == '/' ? p + same + 1 : p + same);
    if (t.size && t.data[t.size - 1] == '/') t.data[--t.size] = 0;
    out = t.failed ? NULL : weft__strdup(t.size ? weft__text_get(&t) : ".");
  }
  weft__text_finish(&t);
  weft__free(p);
  weft__free(s);
  return out;
}

char *weft__path_below(const char *dir, const char *path) {
  if (*path == '/' || has_scheme(path) || !*dir) return weft__strdup(path);
  return weft__sprintf("%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", path);
}

bool weft__path_same(const char *a, const char *b) {
  char *x = weft__path_absolute(a), *y = weft__path_absolute(b);
  bool same = x && y ? strcmp(x, y) == 0 : strcmp(a, b) == 0;
  weft__free(x);
  weft__free(y);
  return same;
}
