/* check.c - `weft check`: is every task of a cluster there, and is it the one that the cluster takes it for?
 *
 * A thread for each task resolves its name, connects, finds the protocol and asks for its identity.  The table shows
 * the first step that fails. */
#include "command.h"
#include "json.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_MS = 3000, SKEW_S = 5 };

typedef struct row {
  const char *job, *address;
  int task;
  int64_t timeout_ms;
  weft_task_info info;
  weft_task_status status;
  char what[512]; /* what is wrong; "": nothing */
  char note[256]; /* what is worth knowing; "": nothing */
} row;

/* ---- is the port reachable? ---- */

static bool check_connects(const struct addrinfo *a, int64_t timeout_ms) {
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
static bool check_split_address(const char *address, char *host, size_t room, const char **port) {
  const char *colon = strrchr(address, ':');
  size_t n = colon ? (size_t)(colon - address) : 0;
  if (n && address[0] == '[' && address[n - 1] == ']') address++, n -= 2;
  if (!n || n >= room) return false;
  memcpy(host, address, n);
  host[n] = 0;
  *port = colon + 1;
  return true;
}

static void check_reach(row *r) {
  char host[256];
  const char *port;
  struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM};
  if (!check_split_address(r->address, host, sizeof host, &port)) {
    snprintf(r->what, sizeof r->what, "no host:port");
    return;
  }
  const int code = getaddrinfo(host, port, &hints, &found);
  if (code != 0) {
    snprintf(r->what, sizeof r->what, "the name does not resolve: %s", gai_strerror(code));
    return;
  }
  bool up = false;
  for (const struct addrinfo *a = found; a && !up; a = a->ai_next) up = check_connects(a, r->timeout_ms);
  if (!up) snprintf(r->what, sizeof r->what, "the port cannot be reached: %s", strerror(errno));
  freeaddrinfo(found);
}

/* ---- which tasks answer ---- */

static void *check_examine(void *arg) {
  row *r = arg;
  char expected[256];
  check_reach(r);
  if (r->what[0]) return NULL;
  const weft_err err = weft_task_ask(&r->info, r->address, r->timeout_ms);
  snprintf(expected, sizeof expected, "/job:%s/replica:0/task:%d", r->job, r->task);
  if (err != WEFT_OK)
    snprintf(r->what, sizeof r->what, "it does not answer as a task: %s: %.400s", weft_error_name(err),
             weft_error_message());
  else if (strcmp(expected, r->info.task) != 0)
    snprintf(r->what, sizeof r->what, "it says it is %.300s", r->info.task);
  else if (*r->info.version && weft_task_status_ask(&r->status, r->address, r->timeout_ms) == WEFT_OK &&
           (r->status.skew_s > SKEW_S || r->status.skew_s < -SKEW_S))
    snprintf(r->what, sizeof r->what, "its clock is %.1f s %s ours",
             r->status.skew_s < 0 ? -r->status.skew_s : r->status.skew_s, r->status.skew_s < 0 ? "behind" : "ahead of");
  r->what[strcspn(r->what, "\n")] = 0;
  return NULL;
}

/* Tasks of different versions work together, but the versions are a hint when something fails, so they are shown. */
static void note_versions(row *rows, int n) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i && !rows[i].note[0]; k++) {
      const char *ours = rows[i].info.version, *theirs = rows[k].info.version;
      if (!rows[i].what[0] && !rows[k].what[0] && *ours && *theirs && strcmp(ours, theirs) != 0)
        snprintf(rows[i].note, sizeof rows[i].note, "Weft %s beside %s of %.60s:%d", ours, theirs, rows[k].job,
                 rows[k].task);
    }
}

/* Returns the state that the task reports, which includes its sessions; else that of its greeting; NULL if both are
 * unknown. */
static const char *check_state(const row *r) {
  if (r->status.task[0]) return r->status.state;
  return r->info.state && *r->info.state ? r->info.state : NULL;
}

static void print_row(const row *r) {
  char task[128], kind[64] = "-", trip[32] = "-", skew[32] = "-", life[32] = "-";
  const char *good = cli_color(1) ? "\033[32m" : "", *bad = cli_color(1) ? "\033[31m" : "",
             *end = *good ? "\033[0m" : "";
  snprintf(task, sizeof task, "%s:%d", r->job, r->task);
  if (r->info.task[0]) {
    snprintf(kind, sizeof kind, "%s%s", *r->info.version ? "Weft " : "TensorFlow", r->info.version);
    snprintf(trip, sizeof trip, "%.1f ms", r->info.round_trip_ms);
    snprintf(life, sizeof life, "%016" PRIx64, r->info.incarnation);
  }
  if (r->status.task[0]) snprintf(skew, sizeof skew, "%+.0f ms", r->status.skew_s * 1000);
  printf("%-12s %-24s %-14s %9s %9s  %-16s  %-8s  %s%s%s", task, r->address, kind, trip, skew, life,
         check_state(r) ? check_state(r) : "-", r->what[0] ? bad : good, r->what[0] ? r->what : "ok", end);
  if (r->note[0]) printf("; %s", r->note);
  if (r->status.waits[0]) printf("; waits for %s", r->status.waits);
  printf("\n");
}

static void print_json_row(cli_json *j, const row *r) {
  char life[32];
  const bool answers = r->info.task[0] != 0;
  snprintf(life, sizeof life, "%016" PRIx64, r->info.incarnation);
  cli_json_open(j, NULL, '{');
  cli_json_text(j, "job", r->job);
  cli_json_integer(j, "task", r->task);
  cli_json_text(j, "address", r->address);
  cli_json_bool(j, "ok", !r->what[0]);
  cli_json_text(j, "problem", r->what[0] ? r->what : NULL);
  cli_json_text(j, "system", !answers ? NULL : *r->info.version ? "Weft" : "TensorFlow");
  cli_json_text(j, "version", *r->info.version ? r->info.version : NULL);
  cli_json_number(j, "round_trip_ms", answers ? r->info.round_trip_ms : NAN);
  cli_json_number(j, "clock_ahead_s", r->status.task[0] ? r->status.skew_s : NAN);
  cli_json_text(j, "incarnation", answers ? life : NULL);
  cli_json_text(j, "state", check_state(r));
  cli_json_text(j, "note", r->note[0] ? r->note : NULL);
  cli_json_text(j, "waits_for", r->status.waits[0] ? r->status.waits : NULL);
  cli_json_close(j, '}');
}

static void check_print_json(const row *rows, int n, int up) {
  cli_json j = {0};
  cli_json_open(&j, NULL, '{');
  cli_json_integer(&j, "up", up);
  cli_json_integer(&j, "total", n);
  cli_json_open(&j, "tasks", '[');
  for (int i = 0; i < n; i++) print_json_row(&j, &rows[i]);
  cli_json_close(&j, ']');
  cli_json_close(&j, '}');
  cli_json_end(&j);
}

static void print_table(const row *rows, int n, int up) {
  printf("%-12s %-24s %-14s %9s %9s  %-16s  %-8s\n", "task", "address", "is", "answers", "clock", "incarnation",
         "state");
  for (int i = 0; i < n; i++) print_row(&rows[i]);
  printf("%d of %d tasks are up and agree\n", up, n);
}

/* ---- the cluster ---- */

static int check_fill(row *rows, const weft_cluster *c, int64_t timeout_ms) {
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

static int check_cluster(const weft_cluster *c, int64_t timeout_ms, bool json) {
  const int n = check_fill(NULL, c, timeout_ms);
  row *rows = calloc((size_t)n + 1, sizeof *rows);
  int up = 0;
  if (!rows) return cli_failed("check", strerror(errno));
  check_fill(rows, c, timeout_ms);
  cli_at_once(rows, n, sizeof *rows, check_examine);
  note_versions(rows, n);
  for (int i = 0; i < n; i++) up += !rows[i].what[0];
  if (json)
    check_print_json(rows, n, up);
  else
    print_table(rows, n, up);
  free(rows);
  return n > 0 && up == n ? DONE : FAILED;
}

static int check_run(int argc, char **argv) {
  cli_cluster which = {0};
  weft_cluster *c = NULL;
  double timeout = (double)TIMEOUT_MS / 1000;
  bool json = false;
  for (int i = 1; i < argc; i++) {
    const char *given, *arg = argv[i];
    char *stop;
    int code;
    if (strcmp(arg, "--json") == 0)
      json = true;
    else if ((given = cli_option(argc, argv, &i, "--timeout"))) {
      timeout = strtod(given, &stop);
      if (!*given || *stop || !(timeout > 0 && timeout <= 3600))
        return cli_invalid("--timeout", "number of seconds", given, "it is more than 0, at most 3600");
    } else if (!cli_cluster_flag(&which, argc, argv, &i, &code))
      return cli_bad_option(arg);
    else if (code != DONE)
      return code;
  }
  int code = cli_cluster_find(&c, &which);
  if (code == DONE) code = check_cluster(c, (int64_t)(timeout * 1000), json);
  weft_cluster_destroy(c);
  return code;
}

static const cli_flag flags[] = {CLI_CLUSTER_FLAGS,
                                 {"--timeout", "SECONDS", "for each step of each task (3)"},
                                 {"--json", NULL, "print one JSON object"},
                                 {0}};

const cli_command cli_check = {
    .name = "check",
    .arguments = "[--cluster CLUSTER] [--timeout SECONDS] [--json]",
    .summary = "Say which tasks of a cluster are up, and whether they agree.",
    .about =
        "Asks every task of a cluster who it is: does its name resolve, is its port reachable, does it speak\n"
        "TensorFlow's protocol, is it Weft or TensorFlow and which version, is it the task it should be, how far is\n"
        "its clock off, and whom does it wait for?  The exit code is 0 only if all are up and agree.",
    .flags = flags,
    .more = "Environment: WEFT_TOKEN or WEFT_TOKEN_FILE, or WEFT_TLS_CERT, WEFT_TLS_KEY and WEFT_TLS_CA, as the tasks "
            "have\n"
            "them.  The token of 'weft launch --private' is found by itself.",
    .run = check_run,
};
