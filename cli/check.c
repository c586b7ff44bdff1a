/* check.c - `weft check`: is every task of a cluster there, and is it the one that the cluster takes it for?
 *
 * All are asked at once, each by a thread: name, port, protocol, then who it says it is.  The first step that fails is
 * what the table says. */
#include "command.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_MS = 3000 };

typedef struct row {
  const char *job, *address;
  int task;
  int64_t timeout_ms;
  weft_task_info info;
  char what[512]; /* what is wrong; "": nothing */
  pthread_t thread;
  bool started;
} row;

static int print_help(void) {
  printf(
      "usage: weft check --cluster CLUSTER [--timeout SECONDS]\n\n"
      "Asks every task of a cluster who it is: does its name resolve, is its port reachable, does it speak\n"
      "TensorFlow's protocol, is it Weft or TensorFlow, and the task it should be?  The exit code is 0 only if all\n"
      "are up and agree.\n\n"
      "  --cluster CLUSTER    'ps=host:port,host:port;worker=host:port', or JSON, or a file of either;\n"
      "                       or --ps_hosts=..., --worker_hosts=...; without them TF_CONFIG, Slurm and MPI are asked\n"
      "  --timeout SECONDS    for each step of each task (3)\n\n"
      "Environment: WEFT_TOKEN, or WEFT_TLS_CERT, WEFT_TLS_KEY and WEFT_TLS_CA, as the tasks have them.\n");
  return DONE;
}

/* ---- is the port reachable? ---- */

static bool connects(const struct addrinfo *a, int64_t timeout_ms) {
  int error = 0;
  const int s = socket(a->ai_family, SOCK_STREAM, 0);
  if (s < 0) return false;
  fcntl(s, F_SETFL, O_NONBLOCK);
  if (connect(s, a->ai_addr, a->ai_addrlen) != 0) error = errno;
  if (error == EINPROGRESS) {
    struct pollfd p = {.fd = s, .events = POLLOUT};
    socklen_t size = sizeof error;
    if (poll(&p, 1, (int)timeout_ms) <= 0)
      error = ETIMEDOUT;
    else if (getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
      error = errno;
  }
  close(s);
  errno = error;
  return error == 0;
}

/* "host:port" and "[host]:port". */
static bool split(const char *address, char *host, size_t room, const char **port) {
  const char *colon = strrchr(address, ':');
  size_t n = colon ? (size_t)(colon - address) : 0;
  if (n && address[0] == '[' && address[n - 1] == ']') address++, n -= 2;
  if (!n || n >= room) return false;
  memcpy(host, address, n);
  host[n] = 0;
  *port = colon + 1;
  return true;
}

static void reach(row *r) {
  char host[256];
  const char *port;
  struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM};
  if (!split(r->address, host, sizeof host, &port)) {
    snprintf(r->what, sizeof r->what, "no host:port");
    return;
  }
  const int code = getaddrinfo(host, port, &hints, &found);
  if (code != 0) {
    snprintf(r->what, sizeof r->what, "the name does not resolve: %s", gai_strerror(code));
    return;
  }
  bool up = false;
  for (const struct addrinfo *a = found; a && !up; a = a->ai_next) up = connects(a, r->timeout_ms);
  if (!up) snprintf(r->what, sizeof r->what, "the port cannot be reached: %s", strerror(errno));
  freeaddrinfo(found);
}

/* ---- who is there? ---- */

static void *examine(void *arg) {
  row *r = arg;
  char expected[256];
  reach(r);
  if (r->what[0]) return NULL;
  const weft_err err = weft_task_ask(&r->info, r->address, r->timeout_ms);
  snprintf(expected, sizeof expected, "/job:%s/replica:0/task:%d", r->job, r->task);
  if (err != WEFT_OK)
    snprintf(r->what, sizeof r->what, "it does not answer as a task: %s: %.400s", weft_error_name(err),
             weft_error_message());
  else if (strcmp(expected, r->info.task) != 0)
    snprintf(r->what, sizeof r->what, "it says it is %.300s", r->info.task);
  r->what[strcspn(r->what, "\n")] = 0;
  return NULL;
}

/* The tasks of a cluster must each be a process of their own, and Weft's of one version. */
static void agree(row *rows, int n) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i && !rows[i].what[0]; k++) {
      const char *ours = rows[i].info.version, *theirs = rows[k].info.version;
      if (!rows[k].what[0] && *ours && *theirs && strcmp(ours, theirs) != 0)
        snprintf(rows[i].what, sizeof rows[i].what, "it is Weft %s, and %s:%d is %s", ours, rows[k].job, rows[k].task,
                 theirs);
    }
}

static void print_row(const row *r) {
  char task[128], kind[64] = "-", trip[32] = "-", life[32] = "-";
  snprintf(task, sizeof task, "%s:%d", r->job, r->task);
  if (r->info.task[0]) {
    snprintf(kind, sizeof kind, "%s%s", *r->info.version ? "Weft " : "TensorFlow", r->info.version);
    snprintf(trip, sizeof trip, "%.1f ms", r->info.round_trip_ms);
    snprintf(life, sizeof life, "%016" PRIx64, r->info.incarnation);
  }
  printf("%-12s %-24s %-14s %9s  %-16s  %-8s  %s\n", task, r->address, kind, trip, life,
         r->info.state && *r->info.state ? r->info.state : "-", r->what[0] ? r->what : "ok");
}

/* ---- the cluster ---- */

static int fill(row *rows, const weft_cluster *c, int64_t timeout_ms) {
  int n = 0;
  for (int j = 0; j < weft_cluster_job_count(c); j++) {
    const char *job = weft_cluster_job(c, j);
    for (int i = 0; i < weft_cluster_task_count(c, job); i++, n++) {
      if (!rows) continue;
      const int task = weft_cluster_task(c, job, i);
      rows[n] =
          (row){.job = job, .task = task, .address = weft_cluster_address(c, job, task), .timeout_ms = timeout_ms};
    }
  }
  return n;
}

static int check(const weft_cluster *c, int64_t timeout_ms) {
  const int n = fill(NULL, c, timeout_ms);
  row *rows = calloc((size_t)n + 1, sizeof *rows);
  int up = 0;
  if (!rows) return cli_failed("check", strerror(errno));
  fill(rows, c, timeout_ms);
  for (int i = 0; i < n; i++) {
    rows[i].started = pthread_create(&rows[i].thread, NULL, examine, &rows[i]) == 0;
    if (!rows[i].started) examine(&rows[i]);
  }
  for (int i = 0; i < n; i++)
    if (rows[i].started) pthread_join(rows[i].thread, NULL);
  agree(rows, n);
  printf("%-12s %-24s %-14s %9s  %-16s  %-8s  %s\n", "task", "address", "is", "answers", "incarnation", "state", "");
  for (int i = 0; i < n; i++) {
    print_row(&rows[i]);
    up += !rows[i].what[0];
  }
  printf("%d of %d tasks are up and agree\n", up, n);
  free(rows);
  return n > 0 && up == n ? DONE : FAILED;
}

/* The job that a flag of TensorFlow's programs gives hosts for: ps of "--ps_hosts".  False if it is no such flag. */
static bool job_of(char *job, size_t room, const char *flag) {
  const size_t n = strlen(flag), tail = strlen("_hosts");
  if (strcmp(flag, "--parameter_servers") == 0)
    snprintf(job, room, "ps");
  else if (strcmp(flag, "--workers") == 0)
    snprintf(job, room, "worker");
  else if (n > 2 + tail && strncmp(flag, "--", 2) == 0 && strcmp(flag + n - tail, "_hosts") == 0)
    snprintf(job, room, "%.*s", (int)(n - 2 - tail), flag + 2);
  else
    return false;
  return true;
}

/* A flag that a task of the cluster is started with, so that its command line can be pasted: hosts are added to *c,
 * which task it is does not matter here.  False if arg i is no such flag. */
static bool take_flag(weft_cluster **c, int argc, char **argv, int *i, weft_err *err) {
  static const char *const role[] = {"--job_name", "--task_index", "--task_id"};
  char flag[128], job[128];
  const char *hosts;
  for (int k = 0; k < 3; k++)
    if (cli_option(argc, argv, i, role[k])) return true;
  snprintf(flag, sizeof flag, "%.*s", (int)strcspn(argv[*i], "="), argv[*i]);
  if (!job_of(job, sizeof job, flag) || !(hosts = cli_option(argc, argv, i, flag))) return false;
  *err = *c ? WEFT_OK : weft_cluster_create(c);
  if (*err == WEFT_OK) *err = weft_cluster_add_hosts(*c, job, hosts);
  return true;
}

typedef struct request {
  const char *cluster;
  weft_cluster *hosts; /* of flags, or NULL */
  double timeout;
} request;

static int read_options(request *r, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *given, *arg = argv[i];
    weft_err err = WEFT_OK;
    char *stop;
    if ((given = cli_option(argc, argv, &i, "--cluster")))
      r->cluster = given;
    else if ((given = cli_option(argc, argv, &i, "--timeout"))) {
      r->timeout = strtod(given, &stop);
      if (!*given || *stop || !(r->timeout > 0 && r->timeout <= 3600))
        return cli_usage("check: --timeout takes seconds, not", given);
    } else if (!take_flag(&r->hosts, argc, argv, &i, &err))
      return cli_usage("check: unknown option, or one without its value:", arg);
    if (err != WEFT_OK) return cli_failed(arg, weft_error_message());
  }
  return DONE;
}

int cli_check(int argc, char **argv) {
  request r = {.timeout = (double)TIMEOUT_MS / 1000};
  weft_cluster *c = NULL;
  char *job = NULL;
  int task;
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return print_help();
  int code = read_options(&r, argc, argv);
  weft_err err = WEFT_OK;
  if (code == DONE && r.cluster)
    err = cli_read_cluster(&c, r.cluster);
  else if (code == DONE && !r.hosts)
    err = weft_role_find(&c, &job, &task, 1, argv);
  if (err != WEFT_OK)
    code = cli_failed("check", weft_error_message());
  else if (code == DONE && !c && !r.hosts)
    code = cli_usage("check: there is no", "--cluster");
  if (code == DONE) code = check(c ? c : r.hosts, (int64_t)(r.timeout * 1000));
  weft_free(job);
  weft_cluster_destroy(c);
  weft_cluster_destroy(r.hosts);
  return code;
}
