/* command.c - what several commands do alike: read options, files and clusters, and say what failed. */
#include "command.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16, TEXT_MAX = 1 << 20 };

int cli_failed(const char *what, const char *why) {
  fprintf(stderr, "weft: %s: %s\n", what, why);
  return FAILED;
}

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

weft_err cli_read_cluster(weft_cluster **out, const char *given) {
  FILE *f = strchr(given, '=') || strchr(given, '{') ? NULL : fopen(given, "r");
  char *text = f ? malloc(TEXT_MAX) : NULL;
  if (text) text[fread(text, 1, TEXT_MAX - 1, f)] = 0;
  if (f) fclose(f);
  weft_err err = weft_cluster_parse(out, text ? text : given);
  free(text);
  return err;
}
