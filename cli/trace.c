/* trace.c - `weft trace`: a step's RunMetadata (a file that Weft or TensorFlow serialized) as tables of ops and nodes,
 * for Chrome's trace viewer (chrome://tracing, ui.perfetto.dev) and for TensorBoard. */
#include "command.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { NODES = 20 };

static int write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  if (!f) return cli_failed(path, strerror(errno));
  const int wrote = fputs(text, f), closed = fclose(f);
  return wrote >= 0 && closed == 0 ? DONE : cli_failed(path, strerror(errno));
}

static int trace_show(const char *path, const char *chrome, const char *tensorboard, int nodes, bool as_json) {
  size_t size;
  char *metadata = cli_read_file(path, &size), *table = NULL, *json = NULL;
  if (!metadata) return cli_failed(path, strerror(errno));
  int code = DONE;
  weft_err err = (as_json ? weft_trace_table_json : weft_trace_table)(&table, metadata, size, nodes);
  if (err == WEFT_OK && chrome) err = weft_trace_json(&json, metadata, size);
  if (err == WEFT_OK && tensorboard) err = weft_trace_profile(metadata, size, tensorboard);
  if (err != WEFT_OK)
    code = cli_failed(path, weft_error_message());
  else
    fputs(table, stdout);
  if (code == DONE && chrome) code = write_file(chrome, json);
  weft_free(table);
  weft_free(json);
  free(metadata);
  return code;
}

static int trace_run(int argc, char **argv) {
  const char *path = NULL, *chrome = NULL, *tensorboard = NULL;
  int nodes = NODES;
  bool as_json = false;
  for (int i = 1; i < argc; i++) {
    const char *value;
    if ((value = cli_option(argc, argv, &i, "--nodes"))) {
      if (!cli_number(value, 0, INT_MAX, &nodes)) return cli_invalid("--nodes", "count", value, NULL);
    } else if ((value = cli_option(argc, argv, &i, "--chrome")))
      chrome = value;
    else if ((value = cli_option(argc, argv, &i, "--tensorboard")))
      tensorboard = value;
    else if (strcmp(argv[i], "--json") == 0)
      as_json = true;
    else if (argv[i][0] == '-')
      return cli_bad_option(argv[i]);
    else if (path)
      return cli_unexpected(argv[i]);
    else
      path = argv[i];
  }
  return path ? trace_show(path, chrome, tensorboard, nodes, as_json) : cli_missing("FILE");
}

static const cli_flag flags[] = {
    {"--nodes", "N", "of the nodes, the N that took longest (20; 0: all)"},
    {"--chrome", "FILE", "write FILE for chrome://tracing or ui.perfetto.dev"},
    {"--tensorboard", "DIR", "write DIR/plugins/profile for TensorBoard's profile plug-in"},
    {"--json", NULL, "print one JSON object"},
    {0}};

const cli_command cli_trace = {
    .name = "trace",
    .arguments = "FILE [--nodes N] [--chrome OUT] [--tensorboard DIR] [--json]",
    .summary = "Print where a step's time went.",
    .about = "A step's RunMetadata, as Weft or TensorFlow serialized it, by op and by node: how often, how long,\n"
             "and how many bytes it allocated.",
    .flags = flags,
    .run = trace_run,
};
