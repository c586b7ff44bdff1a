/* checkpoint_state.c - CheckpointState in text format, parsed leniently and written atomically.
 *
 * Paths follow TensorFlow.  A folder given by a relative path gets a file with relative paths, so that it can be
 * moved.  A folder given by an absolute path gets absolute ones, unless requested otherwise. */
#include "train/checkpoint/checkpoint_state.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "base/log.h"
#include "base/text.h"
#include "io/bundle.h"
#include "io/file.h"
#include "train/checkpoint/path.h"
#include <stdio.h>
#include <string.h>

/* ---- the text ---- */

static void checkpoint_state_put_string(text *t, const char *field, const char *s) {
  weft__text_printf(t, "%s: \"", field);
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      weft__text_printf(t, "\\%c", c);
    else if (c < 0x20 || c >= 0x7f)
      weft__text_printf(t, "\\%03o", c);
    else
      weft__text_add(t, s, 1);
  }
  weft__text_puts(t, "\"\n");
}

static char state_unescape(const char **s) {
  static const char from[] = "nrtabfv", to[] = "\n\r\t\a\b\f\v";
  char c = *(*s)++;
  if (c >= '0' && c <= '7') {
    int v = c - '0';
    for (int i = 0; i < 2 && **s >= '0' && **s <= '7'; i++) v = v * 8 + (*(*s)++ - '0');
    return (char)v;
  }
  const char *known = c ? strchr(from, c) : NULL;
  if (!c) (*s)--;
  return known ? to[known - from] : c;
}

/* Reads a quoted string at *s and unescapes it.  Returns false if there is none or it does not end. */
static bool get_string(const char **s, text *out) {
  char quote = **s;
  out->size = 0;
  weft__text_puts(out, "");
  if (quote != '"' && quote != '\'') return false;
  for ((*s)++; **s && **s != quote && **s != '\n';) {
    char c = *(*s)++;
    if (c == '\\') c = state_unescape(s);
    weft__text_add(out, &c, 1);
  }
  return *(*s)++ == quote;
}

static weft_err add_path(weft_checkpoint_state *s, const char *dir, const char *field, const char *path) {
  char *full = weft__path_below(dir, path);
  if (!full) return WEFT_OOM;
  if (strcmp(field, "model_checkpoint_path") == 0) {
    weft__free(s->latest);
    s->latest = full;
    return WEFT_OK;
  }
  weft_err err = WEFT_ARRAY_RESERVE(s->all, s->capacity, s->n + 1);
  if (err)
    weft__free(full);
  else
    s->all[s->n++] = full;
  return err;
}

/* Parses a sequence of "field: value".  INVALID_ARGUMENT names the position. */
static weft_err state_parse(weft_checkpoint_state *s, const char *dir, const char *data) {
  static const char *const strings[] = {"model_checkpoint_path", "all_model_checkpoint_paths"};
  static const char *const numbers[] = {"all_model_checkpoint_timestamps", "last_preserved_timestamp"};
  text value = {0};
  weft_err err = WEFT_OK;
  const char *p = data;
  while (!err) {
    char field[64];
    p += strspn(p, " \t\r\n;,");
    if (!*p) break;
    size_t at = (size_t)(p - data), n = strcspn(p, ": \t\r\n");
    snprintf(field, sizeof field, "%.*s", weft__int_sat(n), p);
    p += n + strspn(p + n, ": \t\r\n");
    bool is_string = strcmp(field, strings[0]) == 0 || strcmp(field, strings[1]) == 0;
    bool is_number = strcmp(field, numbers[0]) == 0 || strcmp(field, numbers[1]) == 0;
    if (is_number)
      p += strcspn(p, " \t\r\n");
    else if (!is_string)
      err = weft__fail(WEFT_INVALID_ARGUMENT, "Message type \"tensorflow.CheckpointState\" has no field named \"%s\"",
                       field);
    else if (!get_string(&p, &value))
      err = weft__fail(WEFT_INVALID_ARGUMENT, "byte %zu: %s has no quoted value", at, field);
    else
      err = add_path(s, dir, field, weft__text_get(&value));
  }
  weft__text_finish(&value);
  return err;
}

void weft__checkpoint_state_destroy(weft_checkpoint_state *s) {
  if (!s) return;
  for (int i = 0; i < s->n; i++) weft__free(s->all[i]);
  weft__free(s->all);
  weft__free(s->latest);
  weft__free(s);
}

static char *state_path(const char *dir, const char *latest_filename) {
  return weft__path_below(dir, latest_filename && *latest_filename ? latest_filename : "checkpoint");
}

weft_err weft__checkpoint_state_read(weft_checkpoint_state **out, const char *dir, const char *latest_filename) {
  text t = {0};
  char *path = state_path(dir, latest_filename);
  weft_checkpoint_state *s = weft__alloc_zero(1, sizeof *s);
  weft_err err = path && s ? WEFT_OK : WEFT_OOM;
  *out = NULL;
  if (!err && weft__file_exists(path)) {
    err = weft__file_read(path, &t);
    if (!err) err = state_parse(s, dir, weft__text_get(&t));
    if (!err && !s->latest) err = weft__fail(WEFT_INVALID_ARGUMENT, "Invalid checkpoint state loaded from %s", dir);
    if (!err)
      *out = s, s = NULL;
    else if (err != WEFT_OOM) {
      weft__log(LOG_WARNING, "%s", weft__error_message());
      weft__log(LOG_WARNING, "%s: Checkpoint ignored", path);
      err = WEFT_OK;
    }
  }
  weft__checkpoint_state_destroy(s);
  weft__text_finish(&t);
  weft__free(path);
  return err;
}

static void put_path(text *t, const char *field, const char *dir, const char *path, bool relative) {
  bool change = *path == '/' ? relative : *dir != '/';
  char *s = change ? weft__path_relative(path, *dir ? dir : ".") : weft__strdup(path);
  if (s)
    checkpoint_state_put_string(t, field, s);
  else
    t->failed = true;
  weft__free(s);
}

weft_err weft__checkpoint_state_write(const char *dir, const char *latest, int n, const char *const *all,
                                      const char *latest_filename, bool relative) {
  text t = {0};
  char *path = state_path(dir, latest_filename);
  weft_err err = path ? WEFT_OK : WEFT_OOM;
  put_path(&t, "model_checkpoint_path", dir, latest, relative);
  for (int i = 0; i < n; i++) put_path(&t, "all_model_checkpoint_paths", dir, all[i], relative);
  if (n == 0 || !weft__path_same(all[n - 1], latest)) put_path(&t, "all_model_checkpoint_paths", dir, latest, relative);
  if (t.failed) err = WEFT_OOM;
  if (!err) err = weft__file_write(path, t.data, t.size);
  weft__text_finish(&t);
  weft__free(path);
  return err;
}

/* ---- finding files ---- */

static bool any_match(const char *prefix, const char *pattern) {
  path_list found = {0};
  char *p = weft__sprintf("%s%s", prefix, pattern);
  bool any = p && weft__file_match(p, &found) == WEFT_OK && found.n > 0;
  weft__path_list_finish(&found);
  weft__free(p);
  return any;
}

bool weft__checkpoint_exists(const char *prefix) {
  if (!*prefix) return false;
  if (prefix[strlen(prefix) - 1] == '/') return weft__bundle_exists(prefix);
  return weft__bundle_exists(prefix) || weft__file_exists(prefix) ||
         any_match(prefix, ""); /* V1: a pattern of shards */
}

weft_err weft__checkpoint_latest(char **out, const char *dir, const char *latest_filename) {
  weft_checkpoint_state *s;
  *out = NULL;
  WEFT_TRY(weft__checkpoint_state_read(&s, dir, latest_filename));
  if (s && weft__checkpoint_exists(s->latest))
    *out = s->latest, s->latest = NULL;
  else if (s)
    weft__log(LOG_ERROR, "Couldn't match files for checkpoint %s", s->latest);
  weft__checkpoint_state_destroy(s);
  return WEFT_OK;
}
