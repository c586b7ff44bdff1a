/* command.c - what several commands do alike: read options and files, say what is wrong, do things at once. */
#include "command.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CHUNK = 1 << 16, DESCRIPTORS = 1 << 16 };

/* ---- what is wrong ---- */

/* "weft launch", or "weft" before a command is known. */
static void put_name(void) {
  fprintf(stderr, "weft%s%s: ", cli_current ? " " : "", cli_current ? cli_current->name : "");
}

static int put_hint(void) {
  fprintf(stderr, "; see 'weft%s%s --help'\n", cli_current ? " " : "", cli_current ? cli_current->name : "");
  return USAGE;
}

int cli_usage(const char *format, ...) {
  va_list arguments;
  put_name();
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  return put_hint();
}

int cli_missing(const char *argument) { return cli_usage("missing %s", argument); }

int cli_unexpected(const char *argument) { return cli_usage("unexpected argument '%s'", argument); }

int cli_invalid(const char *option, const char *what, const char *value, const char *hint) {
  put_name();
  fprintf(stderr, "%s%sinvalid %s '%s'%s%s\n", option ? option : "", option ? ": " : "", what, value, hint ? ": " : "",
          hint ? hint : "");
  return USAGE;
}

int cli_failed(const char *what, const char *why) {
  put_name();
  fprintf(stderr, "%s: %s\n", what, why);
  return FAILED;
}

/* Returns how many letters must be changed, added or removed to turn one word into another; 99: too many. */
static int word_distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  if (n > 30 || m > 30) return 99;
  int row[32];
  for (size_t j = 0; j <= m; j++) row[j] = (int)j;
  for (size_t i = 1; i <= n; i++) {
    int corner = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= m; j++) {
      int best = corner + (a[i - 1] != b[j - 1]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      corner = row[j], row[j] = best;
    }
  }
  return row[m];
}

/* Skips the dashes, which all options begin with, so that they do not count as equal letters. */
static const char *without_dashes(const char *word) { return word + strspn(word, "-"); }

const char *cli_closest(const char *word, const char *const *known, int n) {
  const char *best = NULL;
  word = without_dashes(word);
  const int length = (int)strlen(word);
  int least = length < 12 ? 1 + length / 6 : length / 4;
  for (int i = 0; i < n; i++) {
    const int d = word_distance(word, without_dashes(known[i]));
    if (d > least || 3 * d > length || (best && d == least)) continue;
    best = known[i];
    least = d;
  }
  return best;
}

int cli_unknown(const char *what, const char *value, const char *const *known, int n) {
  const char *meant = cli_closest(value, known, n);
  put_name();
  fprintf(stderr, "unknown %s '%s'", what, value);
  if (meant) fprintf(stderr, "; did you mean '%s'?", meant);
  for (int i = 0; !meant && i < n; i++)
    fprintf(stderr, "%s%s", i == 0 ? ": there are " : i + 1 < n ? ", " : " and ", known[i]);
  fprintf(stderr, "\n");
  return USAGE;
}

int cli_bad_option(const char *option) {
  enum { MOST = 32 };
  char name[64];
  const char *known[MOST] = {"--help", "--version"}; /* which every command has, and which `weft` has beside it */
  int n = cli_current ? 1 : 2;
  if (option[0] != '-') return cli_unexpected(option);
  snprintf(name, sizeof name, "%.*s", (int)strcspn(option, "="), option);
  for (const cli_flag *f = cli_current ? cli_current->flags : NULL; f && f->name; f++) {
    if (strcmp(f->name, name) != 0) {
      if (n < MOST) known[n++] = f->name;
    } else if (f->value)
      return cli_usage("%s: missing %s", name, f->value);
    else
      return cli_usage("%s: takes no value", name);
  }
  const char *meant = cli_closest(name, known, n);
  if (!meant) return cli_usage("unknown option '%s'", name);
  put_name();
  fprintf(stderr, "unknown option '%s'; did you mean '%s'?\n", name, meant);
  return USAGE;
}

/* ---- options and files ---- */

char *cli_read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  char *data = f ? malloc(CHUNK) : NULL, *grown = data;
  size_t room = CHUNK;
  *size = 0;
  while (grown && !feof(f) && !ferror(f)) {
    *size += fread(data + *size, 1, room - *size, f);
    if (*size < room) continue;
    grown = realloc(data, room *= 2);
    if (grown) data = grown;
  }
  const int error = f && grown && !ferror(f) ? 0 : errno;
  if (f) fclose(f);
  if (!error) return data;
  free(data);
  errno = error;
  return NULL;
}

const char *cli_option(int argc, char **argv, int *i, const char *name) {
  size_t n = strlen(name);
  if (strncmp(argv[*i], name, n) != 0) return NULL;
  if (argv[*i][n] == '=') return argv[*i] + n + 1;
  return argv[*i][n] == 0 && *i + 1 < argc ? argv[++*i] : NULL;
}

int cli_check_style(const char *style) {
  static const char *const styles[] = {"tf", "task_id", "parameter_servers", "none"};
  for (int i = 0; i < 4; i++)
    if (strcmp(style, styles[i]) == 0) return DONE;
  return cli_unknown("--style", style, styles, 4);
}

bool cli_number(const char *text, long least, long most, int *out) {
  char *end;
  errno = 0;
  const long v = strtol(text, &end, 10);
  if (!*text || *end || errno || v < least || v > most) return false;
  *out = (int)v;
  return true;
}

bool cli_ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

bool cli_color(int stream) {
  const char *none = getenv("NO_COLOR");
  return isatty(stream) && !(none && *none);
}

void cli_raise_descriptors(void) {
  struct rlimit r;
  if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= DESCRIPTORS) return;
  r.rlim_cur = r.rlim_max < DESCRIPTORS ? r.rlim_max : DESCRIPTORS;
  setrlimit(RLIMIT_NOFILE, &r);
}

/* ---- at once ---- */

void cli_at_once(void *rows, int n, size_t size, void *(*fn)(void *row)) {
  pthread_t *thread = calloc((size_t)n + 1, sizeof *thread);
  bool *started = calloc((size_t)n + 1, sizeof *started);
  for (int i = 0; i < n; i++) {
    char *row = (char *)rows + (size_t)i * size;
    if (thread && started) started[i] = pthread_create(&thread[i], NULL, fn, row) == 0;
    if (!thread || !started || !started[i]) fn(row);
  }
  for (int i = 0; thread && started && i < n; i++)
    if (started[i]) pthread_join(thread[i], NULL);
  free(thread);
  free(started);
}
