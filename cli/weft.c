/* weft.c - the `weft` program: one row per command, the public header and nothing else.
 *
 * Exit codes: 0 done, 1 the work failed, 2 the command line makes no sense. */
#include "command.h"
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

typedef struct command {
  const char *name, *arguments, *summary;
  int (*run)(int argc, char **argv); /* argv[0] is the command's name */
} command;

static int run_version(int argc, char **argv);
static int run_help(int argc, char **argv);

static const command commands[] = {
    {"help", "", "Print this page.", run_help},
    {"check", "--cluster C", "Say which tasks of a cluster are up, and whether they agree (check --help).", cli_check},
    {"convert", "KIND FROM TO", "Make TFRecords of MNIST, or a .npz of a checkpoint (convert --help).", cli_convert},
    {"exec", "-- PROGRAM ARGUMENT...", "Be PROGRAM as the task that Slurm, MPI or TF_CONFIG names (exec --help).",
     cli_exec},
    {"inspect", "PATH [PATH]", "Say what a checkpoint, graph, events or data file holds (inspect --help).",
     cli_inspect},
    {"launch", "--ps N --workers N -- PROGRAM", "Run a program as a cluster in this terminal (launch --help).",
     cli_launch},
    {"manifest", "KIND -- PROGRAM", "Print what Kubernetes, Kubeflow, Compose or Slurm run (manifest --help).",
     cli_manifest},
    {"ops", "[NAME...] [--json]", "List the ops, or what is known of some.", cli_ops},
    {"serve", "--cluster C --job NAME --task N", "Be a task of a cluster: wait for graphs (serve --help).", cli_serve},
    {"trace", "FILE [--nodes N] [--chrome OUT]", "Print where a step's time went.", cli_trace},
    {"run", "[--python2] SCRIPT.py ...", "Run a TensorFlow 1 program as it stands.", cli_run},
    {"version", "", "Print the version.", run_version},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

int cli_usage(const char *what, const char *value) {
  fprintf(stderr, "weft: %s '%s'; 'weft --help' says what there is\n", what, value);
  return USAGE;
}

/* Something printed but not delivered (a full disk, a closed pipe) is a failure. */
static int finish(int code) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  perror("weft: standard output");
  return FAILED;
}

static int run_version(int argc, char **argv) {
  if (argc > 1) return cli_usage("version takes no argument, got", argv[1]);
  printf("weft %s\n", weft_version());
  return DONE;
}

static int run_help(int argc, char **argv) {
  (void)argc, (void)argv;
  printf("usage: weft COMMAND [ARGUMENT...]\n\n");
  for (int i = 0; i < COMMANDS; i++)
    printf("  %-10s %-32s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
  return DONE;
}

/* The number of letters to change, at most; 99 when the lengths are too far apart. */
static int distance(const char *a, const char *b) {
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

static int unknown(const char *name) {
  for (int i = 0; i < COMMANDS; i++)
    if (distance(name, commands[i].name) <= 2) {
      fprintf(stderr, "weft: unknown command '%s'; did you mean '%s'?\n", name, commands[i].name);
      return USAGE;
    }
  return cli_usage("unknown command", name);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    run_help(argc, argv);
    return finish(USAGE);
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
  if (strcmp(name, "--version") == 0) name = "version";
  for (int i = 0; i < COMMANDS; i++)
    if (strcmp(name, commands[i].name) == 0) return finish(commands[i].run(argc - 1, argv + 1));
  return name[0] == '-' ? cli_usage("unknown option", name) : unknown(name);
}
