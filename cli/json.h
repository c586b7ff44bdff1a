/* json.h - writes JSON: what `--json` of the commands prints, and the events of `weft launch --events`.
 *
 * The fields of each command are listed in docs/commands.md and stay as they are: a new version may add some.  A number
 * that is not finite is null, as JSON has no word for it. */
#ifndef WEFT_CLI_JSON_H
#define WEFT_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli_json {
  FILE *to;       /* NULL: standard output */
  bool separated; /* the next value follows another one in its object or array */
} cli_json;

/* `key` is NULL in an array and at the top. */
void cli_json_open(cli_json *j, const char *key, char bracket); /* '{' or '[' */
void cli_json_close(cli_json *j, char bracket);                 /* '}' or ']' */
void cli_json_text(cli_json *j, const char *key,
                   const char *s); /* NULL: null; bytes that are not UTF-8 become U+FFFD */
void cli_json_number(cli_json *j, const char *key, double v);
void cli_json_raw(cli_json *j, const char *key, const char *number); /* as it is written there */
void cli_json_integer(cli_json *j, const char *key, int64_t v);
void cli_json_bool(cli_json *j, const char *key, bool v);
void cli_json_end(cli_json *j); /* of the document: a line feed */

#endif
