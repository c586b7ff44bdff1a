/* json.c - writes JSON, value by value. */
#include "json.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Returns the length of the UTF-8 character at s, 1 to 4; 0 if there is none. */
static int utf8_length(const unsigned char *s) {
  static const struct {
    unsigned char mask, value;
    uint32_t least;
  } form[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
  for (int n = 1; n <= 4; n++) {
    if ((s[0] & form[n - 1].mask) != form[n - 1].value) continue;
    uint32_t c = s[0] & (unsigned char)~form[n - 1].mask;
    for (int i = 1; i < n; i++) {
      if ((s[i] & 0xc0) != 0x80) return 0;
      c = c << 6 | (s[i] & 0x3f);
    }
    return c < form[n - 1].least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
  }
  return 0;
}

static FILE *json_stream(const cli_json *j) { return j->to ? j->to : stdout; }

static void json_put_string(FILE *f, const char *text) {
  putc('"', f);
  for (const unsigned char *s = (const unsigned char *)text; *s;) {
    const int n = utf8_length(s);
    if (n == 0)
      fputs("\\ufffd", f);
    else if (*s == '"' || *s == '\\')
      fprintf(f, "\\%c", *s);
    else if (*s < 0x20)
      fprintf(f, "\\u%04x", *s);
    else
      fwrite(s, 1, (size_t)n, f);
    s += n ? n : 1;
  }
  putc('"', f);
}

static void put_key(cli_json *j, const char *key) {
  if (j->separated) fputs(", ", json_stream(j));
  j->separated = true;
  if (!key) return;
  json_put_string(json_stream(j), key);
  fputs(": ", json_stream(j));
}

void cli_json_open(cli_json *j, const char *key, char bracket) {
  put_key(j, key);
  putc(bracket, json_stream(j));
  j->separated = false;
}

void cli_json_close(cli_json *j, char bracket) {
  putc(bracket, json_stream(j));
  j->separated = true;
}

void cli_json_text(cli_json *j, const char *key, const char *s) {
  put_key(j, key);
  if (s)
    json_put_string(json_stream(j), s);
  else
    fputs("null", json_stream(j));
}

void cli_json_number(cli_json *j, const char *key, double v) {
  put_key(j, key);
  if (isfinite(v))
    fprintf(json_stream(j), "%.9g", v);
  else
    fputs("null", json_stream(j));
}

void cli_json_raw(cli_json *j, const char *key, const char *number) {
  put_key(j, key);
  fputs(number, json_stream(j));
}

void cli_json_integer(cli_json *j, const char *key, int64_t v) {
  put_key(j, key);
  fprintf(json_stream(j), "%" PRId64, v);
}

void cli_json_bool(cli_json *j, const char *key, bool v) {
  put_key(j, key);
  fputs(v ? "true" : "false", json_stream(j));
}

void cli_json_end(cli_json *j) {
  j->separated = false;
  putc('\n', json_stream(j));
  fflush(json_stream(j));
}
