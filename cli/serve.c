/* serve.c - `weft serve`: a bare task that waits for graphs until it is told to stop.
 *
 * The first SIGINT or SIGTERM lets the steps that run here end, says goodbye and exits with 0; the second leaves at
 * once. */
#include "command.h"
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/weft.h>

enum { LEFT_AT_ONCE = 130 };

typedef struct request {
  const char *cluster, *job, *bind, *memory;
  int task, status_port;
  char allow[4096]; /* directories, parted by ':' */
  bool allows;
} request;

static void serve_on_signal(int number) {
  static volatile sig_atomic_t count;
  (void)number;
  if (++count > 1) _exit(LEFT_AT_ONCE);
  weft_interrupt();
}

static bool serve_allow(request *r, const char *directory) {
  size_t used = strlen(r->allow);
  int n = snprintf(r->allow + used, sizeof r->allow - used, "%s%s", r->allows ? ":" : "", directory);
  r->allows = true;
  return n >= 0 && (size_t)n < sizeof r->allow - used;
}

static bool is_role_flag(const char *arg) { return strstr(arg, "_hosts") || strstr(arg, "--hosts"); }

static int serve_read_options(request *r, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *given, *arg = argv[i];
    if ((given = cli_option(argc, argv, &i, "--cluster")))
      r->cluster = given;
    else if ((given = cli_option(argc, argv, &i, "--job")) || (given = cli_option(argc, argv, &i, "--job_name")))
      r->job = given;
    else if ((given = cli_option(argc, argv, &i, "--task")) || (given = cli_option(argc, argv, &i, "--task_index"))) {
      if (!cli_number(given, 0, INT_MAX, &r->task)) return cli_invalid("--task", "index", given, NULL);
    } else if ((given = cli_option(argc, argv, &i, "--status-port"))) {
      if (!cli_number(given, 1, 65535, &r->status_port)) return cli_invalid("--status-port", "port", given, NULL);
    } else if (strcmp(arg, "--require-auth") == 0)
      setenv("WEFT_REQUIRE_AUTH", "1", 1);
    else if ((given = cli_option(argc, argv, &i, "--bind")))
      r->bind = given;
    else if ((given = cli_option(argc, argv, &i, "--memory")))
      r->memory = given;
    else if ((given = cli_option(argc, argv, &i, "--allow-dir"))) {
      if (!serve_allow(r, given)) return cli_usage("--allow-dir: too many directories at '%s'", given);
    } else if (is_role_flag(arg))
      i += !strchr(arg, '='); /* weft_role_find's */
    else
      return cli_bad_option(arg);
  }
  return DONE;
}

/* Prints log lines, except debugging lines: a program that wants those sets its own log function. */
static void serve_log(void *arg, int level, const char *file, int line, const char *message) {
  if (level > 0) weft_log_stderr(arg, level, file, line, message);
}

static weft_err serve_start(weft_server **out, const request *r, int argc, char **argv) {
  weft_cluster *c = NULL;
  char *job = NULL;
  int task = 0;
  weft_err err = r->cluster ? cli_read_cluster(&c, r->cluster) : weft_role_find(&c, &job, &task, argc, argv);
  if (err == WEFT_OK && c) {
    weft_server_opts opts = {.job = r->job ? r->job
                                    : job  ? job
                                           : "",
                             .task = r->job ? r->task : task,
                             .serve = true,
                             .bind = r->bind,
                             .status_port = r->status_port,
                             .memory = r->memory,
                             .allow_dirs = r->allows ? r->allow : NULL};
    err = weft_server_create(out, c, &opts);
  }
  weft_cluster_destroy(c);
  weft_free(job);
  return err;
}

static int serve_fail(weft_err err) {
  fprintf(stderr, "weft serve: %s: %s\n", weft_error_name(err), weft_error_message());
  return FAILED;
}

static int serve_run(int argc, char **argv) {
  request r = {0};
  weft_server *server = NULL;
  int code = serve_read_options(&r, argc, argv);
  if (code != DONE) return code;
  if (r.cluster && !r.job) return cli_missing("--job NAME");
  cli_raise_descriptors();
  weft_log_set(serve_log, NULL);
  signal(SIGINT, serve_on_signal);
  signal(SIGTERM, serve_on_signal);
  weft_err err = serve_start(&server, &r, argc, argv);
  if (err == WEFT_OK && !server) return cli_missing("--cluster CLUSTER");
  if (err == WEFT_OK) err = weft_server_join(server);
  if (err != WEFT_OK && err != WEFT_CANCELLED) code = serve_fail(err);
  weft_server_destroy(server);
  if (weft_server_left_kernel()) {
    fflush(NULL);
    _exit(code);
  }
  return code;
}

static const cli_flag flags[] = {
    CLI_CLUSTER_FLAGS,
    {"--job", "NAME", "the job this task is of"},
    {"--task", "N", "its index in the job (0)"},
    {"--bind", "HOST:PORT", "where to listen, if not on the address that the cluster lists"},
    {"--require-auth", NULL, "refuse to start without a token or TLS"},
    {"--memory", "SIZE", "a ceiling on its memory, such as 800M, 4G or auto; a step that needs more fails"},
    {"--allow-dir", "DIR", "a directory that file ops may touch; may be given again"},
    {"--status-port", "PORT", "serve a page about this cluster, JSON and metrics on this port"},
    {0},
};

const cli_command cli_serve = {
    .name = "serve",
    .arguments = "--cluster CLUSTER --job NAME --task N [OPTION...]",
    .summary = "Be a task of a cluster: wait for graphs.",
    .about = "A bare task of a cluster: it waits for graphs until SIGINT or SIGTERM.",
    .flags = flags,
    .more =
        "Environment: WEFT_TOKEN or WEFT_TOKEN_FILE, or WEFT_TLS_CERT, WEFT_TLS_KEY and WEFT_TLS_CA guard the port;\n"
        "WEFT_BIND, WEFT_ALLOW_DIRS (parted by ':'), WEFT_STATUS_PORT, WEFT_MEMORY and WEFT_REQUIRE_AUTH=1 do what "
        "the\n"
        "options do.",
    .run = serve_run,
};
