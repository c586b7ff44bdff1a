/* version.c - `weft version`: which Weft this is, and with which libraries it was built. */
#include "command.h"
#include <stdio.h>
#include <string.h>

static int run(int argc, char **argv) {
  if (argc > 1)
    return argv[1][0] == '-' ? cli_bad_option(argv[1]) : cli_usage("version takes no argument, got", argv[1]);
  printf("weft %s\n%s", weft_version(), weft_libraries());
  return DONE;
}

const cli_command cli_version = {
    .name = "version",
    .arguments = "",
    .summary = "Print the version, and the libraries found.",
    .about = "Which Weft this is, then a line for each library: its version, or that this build was made without it.",
    .run = run,
};
