/* ops.c - `weft ops`: the op table, for people and, with --json, for tests and other languages. */
#include "command.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static int ops_print_json(int i) {
  char *json = NULL;
  weft_err err = weft_op_json(&json, i);
  if (err != WEFT_OK) {
    fprintf(stderr, "weft ops: %s: %s: %s\n", weft_op_name(i), weft_error_name(err), weft_error_message());
    return FAILED;
  }
  puts(json);
  weft_free(json);
  return DONE;
}

static int print_one(int i, bool json, bool full) {
  if (json) return ops_print_json(i);
  if (full)
    printf("%s\n  %s\n  %s\n", weft_op_definition(i), weft_op_doc(i), weft_op_source(i));
  else
    printf("%-36s %s\n", weft_op_name(i), weft_op_doc(i));
  return DONE;
}

static int ops_find(const char *name) {
  for (int i = 0; i < weft_op_count(); i++)
    if (strcmp(weft_op_name(i), name) == 0) return i;
  return -1;
}

static int ops_by_name(const void *a, const void *b) {
  return strcmp(weft_op_name(*(const int *)a), weft_op_name(*(const int *)b));
}

static int print_all(bool json) {
  const int n = weft_op_count();
  int *order = malloc(((size_t)n + 1) * sizeof *order), code = DONE;
  if (!order) return cli_failed("ops", strerror(errno));
  for (int i = 0; i < n; i++) order[i] = i;
  qsort(order, (size_t)n, sizeof *order, ops_by_name);
  for (int i = 0; i < n && code == DONE; i++) code = print_one(order[i], json, false);
  free(order);
  return code;
}

static int unknown_op(const char *name) {
  const int n = weft_op_count();
  const char **known = malloc(((size_t)n + 1) * sizeof *known);
  if (!known) return cli_failed(name, strerror(errno));
  for (int i = 0; i < n; i++) known[i] = weft_op_name(i);
  const char *meant = cli_closest(name, known, n);
  const int code =
      meant ? cli_unknown("op", name, &meant, 1) : cli_usage("unknown op '%s'; 'weft ops' lists them", name);
  free((void *)known);
  return code;
}

/* Without names every op, a line each; --json makes each line an object. */
static int ops_run(int argc, char **argv) {
  bool json = false, all = true;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0)
      json = true;
    else if (argv[i][0] == '-')
      return cli_bad_option(argv[i]);
    else if (ops_find(argv[i]) < 0)
      return unknown_op(argv[i]);
    else
      all = false;
  }
  int code = all ? print_all(json) : DONE;
  for (int i = 1; i < argc && code == DONE; i++)
    if (argv[i][0] != '-') code = print_one(ops_find(argv[i]), json, true);
  return code;
}

static const cli_flag flags[] = {{"--json", NULL, "a JSON object for each, with attributes and cases"}, {0}};

const cli_command cli_ops = {
    .name = "ops",
    .arguments = "[NAME...] [--json]",
    .summary = "List what can be computed, or what is known of some ops.",
    .about = "Every op by name, with a line of what it does; for those named, their arguments and attributes too.",
    .flags = flags,
    .run = ops_run,
};
