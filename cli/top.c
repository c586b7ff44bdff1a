/* top.c - `weft top`: a cluster that runs, task by task, drawn again and again on a terminal. */
#include "command.h"
#include "json.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_MS = 2000, WIDE = 100 };

typedef struct row {
  const char *job, *address;
  int task;
  weft_err err;
  char why[256]; /* why there is no answer */
  weft_task_status status;
} row;

typedef struct view {
  bool live, color;
  int width;
} view;

static volatile sig_atomic_t stopped;

static void top_on_signal(int number) {
  (void)number;
  stopped = 1;
}

/* ---- asking ---- */

static void *top_ask(void *arg) {
  row *r = arg;
  r->err = weft_task_status_ask(&r->status, r->address, TIMEOUT_MS);
  if (r->err != WEFT_OK) snprintf(r->why, sizeof r->why, "%s", weft_error_message());
  r->why[strcspn(r->why, "\n")] = 0;
  return NULL;
}

static int top_fill(row *rows, const weft_cluster *c) {
  int n = 0;
  for (int j = 0; j < weft_cluster_job_count(c); j++) {
    const char *job = weft_cluster_job(c, j);
    for (int i = 0; i < weft_cluster_task_count(c, job); i++, n++) {
      const int task = weft_cluster_task(c, job, i);
      if (rows) rows[n] = (row){.job = job, .task = task, .address = weft_cluster_address(c, job, task)};
    }
  }
  return n;
}

/* ---- words ---- */

/* 1234567 as "1.2 MB", in room for 16. */
static const char *top_bytes(char *to, double n) {
  static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
  int u = 0;
  while (n >= 999.5 && u < 4) n /= 1000, u++;
  snprintf(to, 16, u && n < 9.95 ? "%.1f %s" : "%.0f %s", n, unit[u]);
  return to;
}

static const char *top_duration(char *to, double seconds) {
  if (seconds < 0)
    snprintf(to, 16, "-");
  else if (seconds < 100)
    snprintf(to, 16, "%.0f s", seconds);
  else if (seconds < 6000)
    snprintf(to, 16, "%.0f min", seconds / 60);
  else
    snprintf(to, 16, "%.1f h", seconds / 3600);
  return to;
}

static const char *top_rate(char *to, double n) {
  snprintf(to, 16, n > 0 && n < 9.95 ? "%.1f" : "%.0f", n);
  return to;
}

/* Of clients: 3, or "3 (2 idle)". */
static const char *top_sessions(char *to, const weft_task_status *s) {
  if (s->idle_sessions)
    snprintf(to, 24, "%lld (%lld idle)", (long long)s->client_sessions, (long long)s->idle_sessions);
  else
    snprintf(to, 24, "%lld", (long long)s->client_sessions);
  return to;
}

/* ---- drawing ---- */

static const char *color_of(const view *v, const row *r) {
  if (!v->color) return "";
  if (r->err != WEFT_OK) return r->err == WEFT_UNIMPLEMENTED ? "\033[33m" : "\033[31m";
  return r->status.waits[0] ? "\033[33m" : "\033[32m";
}

static const struct {
  const char *name;
  bool wide; /* left out on a narrow terminal */
} columns[] = {{"steps/s", false}, {"step", false},     {"loss", false},    {"in/s", false}, {"out/s", false},
               {"memory", true},   {"variables", true}, {"sessions", true}, {"saved", false}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static bool is_narrow(const view *v) { return v->live && v->width < 120; }

/* Prints a cell for each column, then two spaces.  Returns the room that is left in the line. */
static int print_cells(const view *v, const char *const cell[COLUMNS]) {
  int used = 24;
  for (int i = 0; i < COLUMNS; i++)
    if (!columns[i].wide || !is_narrow(v)) used += printf(" %*s", is_narrow(v) ? 7 : 9, cell[i]);
  printf("  ");
  return !v->live ? 400 : v->width > used ? v->width - used : 0;
}

static void print_row(const view *v, const row *r) {
  char task[64], a[16], b[16], c[16], d[16], e[16], f[16], g[24], loss[16] = "-", step[24] = "-";
  const weft_task_status *s = &r->status;
  const char *end = v->color ? "\033[0m" : "", *line = v->live ? "\033[K\n" : "\n";
  snprintf(task, sizeof task, "%s:%d", r->job, r->task);
  if (r->err != WEFT_OK) {
    const bool tf = r->err == WEFT_UNIMPLEMENTED;
    printf("%-12s %s%-9s%s %.*s%s", task, color_of(v, r), tf ? "up" : "no answer", end, v->live ? v->width - 24 : 400,
           tf ? "TensorFlow, which does not say more" : r->why, line);
    return;
  }
  if (s->global_step >= 0) snprintf(step, sizeof step, "%lld", (long long)s->global_step);
  if (isfinite(s->loss)) snprintf(loss, sizeof loss, "%.4g", s->loss);
  printf("%-12s %s%-9s%s", task, color_of(v, r), s->state, end);
  const int room = print_cells(
      v, (const char *const[COLUMNS]){top_rate(a, s->runs ? s->runs_per_s : s->parts_per_s), step, loss,
                                      top_bytes(b, s->in_per_s), top_bytes(c, s->out_per_s),
                                      top_bytes(d, (double)s->resident), top_bytes(e, (double)s->variable_bytes),
                                      top_sessions(g, s), top_duration(f, s->checkpoint_age_s)});
  printf("%.*s%s", room, s->waits[0] ? s->waits : "-", line);
}

static int top_draw(const view *v, row *rows, int n, const char *title) {
  int up = 0;
  const char *line = v->live ? "\033[K\n" : "\n", *bold = v->color ? "\033[1m" : "", *end = v->color ? "\033[0m" : "";
  cli_at_once(rows, n, sizeof *rows, top_ask);
  for (int i = 0; i < n; i++) up += rows[i].err == WEFT_OK || rows[i].err == WEFT_UNIMPLEMENTED;
  if (v->live) printf("\033[H");
  printf("%s%d of %d tasks answer%s  %s%s", bold, up, n, end, title, line);
  const char *names[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) names[i] = columns[i].name;
  printf("%s%-12s %-9s", bold, "task", "state");
  const int room = print_cells(v, names);
  printf("%.*s%s%s", room, is_narrow(v) ? "waits" : "waits for", end, line);
  for (int i = 0; i < n; i++) print_row(v, &rows[i]);
  for (int i = 0; i < n; i++)
    if (rows[i].err == WEFT_OK && rows[i].status.error[0])
      printf("%s:%d said: %.*s%s", rows[i].job, rows[i].task, v->live ? v->width - 20 : 400, rows[i].status.error,
             line);
  if (v->live) printf("\033[J");
  fflush(stdout);
  return up;
}

/* What /status.json of the status page shows too has the same name here. */
static void print_json_row(cli_json *j, const row *r) {
  const weft_task_status *s = &r->status;
  const bool weft = r->err == WEFT_OK;
  cli_json_open(j, NULL, '{');
  cli_json_text(j, "job", r->job);
  cli_json_integer(j, "task", r->task);
  cli_json_text(j, "address", r->address);
  cli_json_bool(j, "up", weft || r->err == WEFT_UNIMPLEMENTED);
  cli_json_text(j, "system", weft ? "Weft" : r->err == WEFT_UNIMPLEMENTED ? "TensorFlow" : NULL);
  cli_json_text(j, "problem", weft || r->err == WEFT_UNIMPLEMENTED ? NULL : r->why);
  if (weft) {
    cli_json_text(j, "state", s->state);
    cli_json_text(j, "version", s->version);
    cli_json_number(j, "uptime", s->uptime_s);
    cli_json_integer(j, "runs", s->runs);
    cli_json_number(j, "runs_per_s", s->runs_per_s);
    cli_json_integer(j, "parts", s->parts);
    cli_json_number(j, "parts_per_s", s->parts_per_s);
    cli_json_number(j, "global_step", s->global_step >= 0 ? (double)s->global_step : NAN);
    cli_json_number(j, "loss", s->loss);
    cli_json_integer(j, "bytes_in", s->bytes_in);
    cli_json_integer(j, "bytes_out", s->bytes_out);
    cli_json_number(j, "in_per_s", s->in_per_s);
    cli_json_number(j, "out_per_s", s->out_per_s);
    cli_json_integer(j, "resident", s->resident);
    cli_json_integer(j, "variables", s->variables);
    cli_json_integer(j, "variable_bytes", s->variable_bytes);
    cli_json_integer(j, "client_sessions", s->client_sessions);
    cli_json_integer(j, "idle_sessions", s->idle_sessions);
    cli_json_text(j, "checkpoint", s->checkpoint[0] ? s->checkpoint : NULL);
    cli_json_number(j, "checkpoint_age_s", s->checkpoint_age_s >= 0 ? s->checkpoint_age_s : NAN);
    cli_json_text(j, "waits_for", s->waits[0] ? s->waits : NULL);
    cli_json_text(j, "last_error", s->error[0] ? s->error : NULL);
  }
  cli_json_close(j, '}');
}

static int top_print_json(row *rows, int n) {
  cli_json j = {0};
  int up = 0;
  cli_at_once(rows, n, sizeof *rows, top_ask);
  for (int i = 0; i < n; i++) up += rows[i].err == WEFT_OK || rows[i].err == WEFT_UNIMPLEMENTED;
  cli_json_open(&j, NULL, '{');
  cli_json_integer(&j, "up", up);
  cli_json_integer(&j, "total", n);
  cli_json_open(&j, "tasks", '[');
  for (int i = 0; i < n; i++) print_json_row(&j, &rows[i]);
  cli_json_close(&j, ']');
  cli_json_close(&j, '}');
  cli_json_end(&j);
  return up;
}

static int width_of_terminal(void) {
  struct winsize w;
  return ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_col > 40 ? w.ws_col : WIDE;
}

/* Draws on the terminal's other screen, which goes when we do. */
static void draw_until_stopped(view *v, row *rows, int n, double every) {
  struct sigaction action = {.sa_handler = top_on_signal};
  sigaction(SIGINT, &action, NULL), sigaction(SIGTERM, &action, NULL);
  fputs("\033[?1049h\033[?25l", stdout);
  while (!stopped) {
    char title[64];
    time_t now = time(NULL);
    struct tm parts;
    strftime(title, sizeof title, "%H:%M:%S   (Ctrl-C ends)", localtime_r(&now, &parts));
    v->width = width_of_terminal();
    top_draw(v, rows, n, title);
    if (!stopped) nanosleep(&(struct timespec){(time_t)every, (long)((every - floor(every)) * 1e9)}, NULL);
  }
  fputs("\033[?25h\033[?1049l", stdout);
}

static int top_show(const weft_cluster *c, bool once, bool json, double every) {
  const int n = top_fill(NULL, c);
  row *rows = calloc((size_t)n + 1, sizeof *rows);
  view v = {.live = !once && isatty(1), .color = cli_color(1), .width = width_of_terminal()};
  int up = 1;
  if (!rows) return cli_failed("top", "out of memory");
  top_fill(rows, c);
  if (json)
    up = top_print_json(rows, n);
  else if (v.live)
    draw_until_stopped(&v, rows, n, every);
  else
    up = top_draw(&v, rows, n, "");
  free(rows);
  return up ? DONE : FAILED;
}

static int top_run(int argc, char **argv) {
  cli_cluster which = {0};
  weft_cluster *c = NULL;
  bool once = false, json = false;
  double every = 1;
  for (int i = 1; i < argc; i++) {
    const char *given, *arg = argv[i];
    char *stop;
    int code;
    if (strcmp(arg, "--once") == 0)
      once = true;
    else if (strcmp(arg, "--json") == 0)
      json = once = true;
    else if ((given = cli_option(argc, argv, &i, "--every"))) {
      every = strtod(given, &stop);
      if (!*given || *stop || !(every >= 0.1 && every <= 3600))
        return cli_invalid("--every", "number of seconds", given, "it is 0.1 to 3600");
    } else if (!cli_cluster_flag(&which, argc, argv, &i, &code))
      return cli_bad_option(arg);
    else if (code != DONE)
      return code;
  }
  int code = cli_cluster_find(&c, &which);
  if (code == DONE) code = top_show(c, once, json, every);
  weft_cluster_destroy(c);
  return code;
}

static const cli_flag flags[] = {
    CLI_CLUSTER_FLAGS,
    {"--every", "SECONDS", "between two looks (1)"},
    {"--once", NULL, "print one table and leave, as when the output is no terminal"},
    {"--json", NULL, "print one JSON object and leave"},
    {0},
};

const cli_command cli_top = {
    .name = "top",
    .arguments = "[--cluster CLUSTER] [--every SECONDS] [--once] [--json]",
    .summary = "Watch a cluster that runs: who does how much, and who waits for whom.",
    .about = "Every task of a cluster, again and again: its state, steps a second (of its own sessions; else parts of\n"
             "others' steps), the global step and the loss as far as they are known, bytes in and out, memory, its\n"
             "variables, the sessions of clients (idle: the client is away, and the plans are freed), how long ago it "
             "wrote\n"
             "a checkpoint, and whom it has been waiting for.  The exit code is 1 if nobody answers.",
    .flags = flags,
    .more = "Environment: WEFT_TOKEN or WEFT_TOKEN_FILE, or WEFT_TLS_CERT, WEFT_TLS_KEY and WEFT_TLS_CA, as the tasks "
            "have\n"
            "them.  The token of 'weft launch --private' is found by itself.",
    .run = top_run,
};
