/* version.c - `weft version`: which Weft this is, and with which libraries it was built. */
#include "command.h"
#include "json.h"
#include <stdio.h>
#include <string.h>

/* Copies a field of a line: n characters without the spaces at their end. */
static const char *version_field(char *to, size_t room, const char *from, size_t n) {
  while (n && from[n - 1] == ' ') n--;
  snprintf(to, room, "%.*s", (int)n, from);
  return to;
}

/* Lines of weft_libraries: two spaces, 14 characters of the name, a space, 28 of the version, a space, what for. */
static void print_libraries(cli_json *j) {
  enum { NAME = 2, VERSION = 17, WHAT = 46 };
  char text[128];
  for (const char *at = weft_libraries(); *at; at += strcspn(at, "\n"), at += *at == '\n') {
    const size_t n = strcspn(at, "\n");
    if (n <= WHAT) continue;
    cli_json_open(j, NULL, '{');
    cli_json_text(j, "name", version_field(text, sizeof text, at + NAME, VERSION - NAME));
    version_field(text, sizeof text, at + VERSION, WHAT - VERSION);
    cli_json_text(j, "version", strcmp(text, "not built in") == 0 ? NULL : text);
    cli_json_text(j, "purpose", version_field(text, sizeof text, at + WHAT, n - WHAT));
    cli_json_close(j, '}');
  }
}

static int version_print_json(void) {
  cli_json j = {0};
  cli_json_open(&j, NULL, '{');
  cli_json_text(&j, "version", weft_version());
  cli_json_open(&j, "libraries", '[');
  print_libraries(&j);
  cli_json_close(&j, ']');
  cli_json_close(&j, '}');
  cli_json_end(&j);
  return DONE;
}

static int version_run(int argc, char **argv) {
  bool json = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0)
      json = true;
    else
      return argv[i][0] == '-' ? cli_bad_option(argv[i]) : cli_unexpected(argv[i]);
  }
  if (json) return version_print_json();
  printf("weft %s\n%s", weft_version(), weft_libraries());
  return DONE;
}

static const cli_flag flags[] = {{"--json", NULL, "print one JSON object"}, {0}};

const cli_command cli_version = {
    .name = "version",
    .arguments = "[--json]",
    .summary = "Print the version, and the libraries found.",
    .about = "Which Weft this is, then a line for each library: its version, or that this build was made without it.",
    .flags = flags,
    .run = version_run,
};
