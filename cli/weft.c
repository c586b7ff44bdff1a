/* weft.c - the `weft` program: one command per file, the public header and nothing else.
 *
 * Exit codes: 0 done, 1 the work failed, 2 the command line makes no sense. */
#include "command.h"
#include <stdio.h>
#include <string.h>

const cli_command *cli_current;

/* Something printed but not delivered (a full disk, a closed pipe) is a failure. */
static int finish_output(int code) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  perror("weft: standard output");
  return FAILED;
}

static int unknown_command(const char *name) {
  const char *known[64];
  int n = 0;
  for (const cli_command *const *c = cli_commands; *c && n < 64; c++) known[n++] = (*c)->name;
  return cli_unknown("command", name, known, n);
}

static const cli_flag *flag_named(const cli_command *c, const char *name) {
  for (const cli_flag *f = c->flags; f && f->name; f++)
    if (strcmp(f->name, name) == 0) return f;
  return NULL;
}

/* --help or -h among the command's own arguments. */
static bool asks_for_help(const cli_command *c, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    if (strcmp(argv[i], "--") == 0 || (c->passes_on && argv[i][0] != '-')) return false;
    const cli_flag *f = flag_named(c, argv[i]);
    if (f && f->value) i++;
  }
  return false;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    cli_print_help(NULL);
    return finish_output(USAGE);
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
  if (strcmp(name, "--version") == 0) name = "version";
  for (const cli_command *const *c = cli_commands; *c; c++) {
    if (strcmp(name, (*c)->name) != 0) continue;
    cli_current = *c;
    if (!asks_for_help(*c, argc - 1, argv + 1)) return finish_output((*c)->run(argc - 1, argv + 1));
    cli_print_help(*c);
    return finish_output(DONE);
  }
  return name[0] == '-' ? cli_bad_option(name) : unknown_command(name);
}
