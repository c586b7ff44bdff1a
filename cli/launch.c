/* launch.c - `weft launch`: a local cluster in one terminal.
 *
 * Starts the tasks on free ports with TensorFlow's flags and TF_CONFIG, shows what each prints behind its name, starts
 * failed tasks again as often as it was told, and exits with the result of the job.  Ctrl-C is passed on; a second one
 * kills. */
#include "launch.h"
#include "command.h"
#include "json.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CAREFUL_STEPS "200" /* of a task that was started again */
enum { MOST_TASKS = 256, TEXT = 32 * MOST_TASKS, GRACE_S = 10, PROGRESS = 1 << 14 };

typedef struct launch_plan {
  int ps, workers, restarts, grace;
  int steps;       /* for a bar; 0: not known */
  int status_port; /* of the first task's page; 0: any free one; -1: no pages */
  bool private, require_auth, quiet, verbose;
  const char *log_dir, *style, *events;
  char **program; /* and its arguments, NULL-terminated */
} launch_plan;

typedef struct launch {
  launch_plan plan;
  launch_task *task;
  int n_task;
  char token_file[4096]; /* "": none */
  FILE *events;          /* gets a line with a JSON object for each event of a task; NULL: not requested */
  char hosts[2][TEXT];   /* "localhost:1,localhost:2" of ps and workers */
  launch_look look;
  char progress[PROGRESS];
  int code;      /* of the first task that failed */
  double ending; /* when the others were told to end; 0: not yet */
  double workers_done;
  bool killed; /* the grace is over */
} launch;

static volatile sig_atomic_t interrupts, first_signal;

static void launch_on_signal(int number) {
  if (!interrupts) first_signal = number;
  interrupts++;
}

/* ---- options ----------------------------------------------------------------------------------- */

typedef struct numeric {
  const char *option, *what;
  long least, most;
  int *to;
} numeric;

/* Returns the option at i if it takes a number, and stores its value; NULL if it is another option. */
static const numeric *find_number(launch_plan *p, int argc, char **argv, int *i, const char **value) {
  enum { NUMBERS = 6 };
  static numeric all[NUMBERS];
  const numeric known[NUMBERS] = {
      {"--ps", "count", 0, MOST_TASKS / 2, &p->ps},          {"--workers", "count", 1, MOST_TASKS / 2, &p->workers},
      {"--restart", "count", 0, 1000, &p->restarts},         {"--steps", "count", 1, 2000000000, &p->steps},
      {"--grace", "number of seconds", 0, 86400, &p->grace}, {"--status-port", "port", 0, 65535, &p->status_port}};
  memcpy(all, known, sizeof all);
  for (int k = 0; k < NUMBERS; k++)
    if ((*value = cli_option(argc, argv, i, all[k].option))) return &all[k];
  return NULL;
}

static int check_credentials(const launch_plan *p) {
  const char *token = getenv("WEFT_TOKEN");
  if (p->private && token && *token) {
    fprintf(stderr, "weft launch: --private makes a token of its own, but WEFT_TOKEN is set (unset it, or leave out "
                    "--private)\n");
    return USAGE;
  }
  if (!p->require_auth || p->private || cli_has_credentials()) return DONE;
  fprintf(stderr, "weft launch: --require-auth: there is neither a token nor TLS (set WEFT_TOKEN, or WEFT_TLS_CERT, "
                  "WEFT_TLS_KEY and WEFT_TLS_CA, or use --private)\n");
  return USAGE;
}

static int launch_read_options(launch_plan *p, int argc, char **argv) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    const char *v, *arg = argv[i];
    if (strcmp(arg, "--") == 0) {
      i++;
      break;
    }
    const numeric *n = find_number(p, argc, argv, &i, &v);
    if (n) {
      if (!cli_number(v, n->least, n->most, n->to)) return cli_invalid(n->option, n->what, v, NULL);
    } else if (strcmp(arg, "--private") == 0)
      p->private = true;
    else if (strcmp(arg, "--require-auth") == 0)
      p->require_auth = true;
    else if (strcmp(arg, "--quiet") == 0)
      p->quiet = true;
    else if (strcmp(arg, "--verbose") == 0)
      p->verbose = true;
    else if ((v = cli_option(argc, argv, &i, "--events")))
      p->events = v;
    else if ((v = cli_option(argc, argv, &i, "--memory")))
      setenv("WEFT_MEMORY", v, 1); /* the tasks' to read, and to refuse */
    else if ((v = cli_option(argc, argv, &i, "--log-dir")))
      p->log_dir = v;
    else if ((v = cli_option(argc, argv, &i, "--style")))
      p->style = v;
    else
      return cli_bad_option(arg);
  }
  p->program = argv + i;
  const int code = cli_check_style(p->style);
  if (code != DONE) return code;
  if (p->quiet && p->verbose) return cli_usage("--quiet and --verbose exclude each other");
  return i < argc ? check_credentials(p) : cli_missing("PROGRAM");
}

/* ---- the cluster ------------------------------------------------------------------------------- */

/* Returns the first of the ports that the system gives to outgoing connections. */
static uint32_t passing_ports(void) {
  unsigned first = 32768;
  FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
  if (f && fscanf(f, "%u", &first) != 1) first = 32768;
  if (f) fclose(f);
  return first;
}

/* Holds a free port below those: a connection of a task that is up already cannot take it before its own task listens
 * there, nor while that is started again. */
static bool hold_port(int fd, int *port) {
  enum { LOWEST = 10000, FEWEST = 1000, TRIES = 1000 };
  const uint32_t end = passing_ports();
  for (int i = 0; i < TRIES; i++) {
    uint32_t drawn;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    if (end >= LOWEST + FEWEST && getrandom(&drawn, sizeof drawn, 0) == (ssize_t)sizeof drawn)
      at.sin_port = htons((uint16_t)(LOWEST + drawn % (end - LOWEST)));
    if (bind(fd, (struct sockaddr *)&at, size) != 0) continue;
    if (getsockname(fd, (struct sockaddr *)&at, &size) != 0) return false;
    *port = ntohs(at.sin_port);
    return true;
  }
  return false;
}

/* Holds that very port. */
static bool hold_given(int fd, int port) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int yes = 1; /* what a server of ours left a moment ago is no obstacle */
  at.sin_port = htons((uint16_t)port);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (port <= UINT16_MAX && bind(fd, (struct sockaddr *)&at, sizeof at) == 0) return true;
  fprintf(stderr, "weft launch: no status page on port %d: %s; --status-port 0 finds free ones\n", port,
          port > UINT16_MAX ? "there is none" : strerror(errno));
  return false;
}

/* Ports that are free now, all held until all are known: of the tasks' pages, then of the tasks. */
static bool find_ports(launch *l) {
  int held[2 * MOST_TASKS], n = 0;
  const int pages = l->plan.status_port < 0 ? 0 : l->n_task;
  bool ok = true;
  for (int i = 0; i < pages + l->n_task && ok; i++) {
    int fd = held[n++] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int *port = i < pages ? &l->task[i].status_port : &l->task[i - pages].port;
    const bool given = i < pages && l->plan.status_port > 0;
    if (given) *port = l->plan.status_port + i;
    ok = fd >= 0 && (given ? hold_given(fd, *port) : hold_port(fd, port));
    if (!ok && !given) fprintf(stderr, "weft launch: no free ports: %s\n", strerror(errno));
  }
  for (int i = 0; i < n; i++) close(held[i]);
  return ok;
}

static void list_hosts(launch *l) {
  for (int i = 0; i < l->n_task; i++) {
    char *list = l->hosts[i >= l->plan.ps];
    size_t used = strlen(list);
    snprintf(list + used, TEXT - used, "%slocalhost:%d", used ? "," : "", l->task[i].port);
  }
}

/* "a:1,b:2" as JSON: "a:1", "b:2" in quotes. */
static void add_json_hosts(char *to, size_t size, const char *job, const char *hosts) {
  size_t used = strlen(to);
  used += (size_t)snprintf(to + used, size - used, "\"%s\": [\"", job);
  for (; *hosts && used + 8 < size; hosts++) {
    if (*hosts == ',')
      used += (size_t)snprintf(to + used, size - used, "\", \"");
    else
      to[used++] = *hosts, to[used] = 0;
  }
  snprintf(to + used, size - used, "\"]");
}

/* TF_CONFIG, and where its page is. */
static void set_environment(const launch *l, const launch_task *t) {
  static char text[4 * TEXT];
  snprintf(text, sizeof text, "{\"cluster\": {");
  if (l->plan.ps) {
    add_json_hosts(text, sizeof text, "ps", l->hosts[0]);
    strncat(text, ", ", sizeof text - strlen(text) - 1);
  }
  add_json_hosts(text, sizeof text, "worker", l->hosts[1]);
  size_t used = strlen(text);
  snprintf(text + used, sizeof text - used, "}, \"task\": {\"type\": \"%s\", \"index\": %d}}", t->job, t->index);
  setenv("TF_CONFIG", text, 1);
  snprintf(text, sizeof text, "%d", t->status_port);
  if (t->status_port) setenv("WEFT_STATUS_PORT", text, 1);
}

/* ---- telling ----------------------------------------------------------------------------------- */

/* A line of our own, which --quiet leaves out. */
static void __attribute__((format(printf, 2, 3))) tell(launch *l, const char *format, ...) {
  va_list arguments;
  if (l->plan.quiet) return;
  launch_erase(&l->look);
  fputs("weft launch: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

/* A line of --events; t is NULL for what concerns the whole job, code is -1 where nothing ended. */
static void note_event(launch *l, const char *event, const launch_task *t, int code) {
  cli_json j = {.to = l->events};
  struct timespec now;
  if (!l->events) return;
  clock_gettime(CLOCK_REALTIME, &now);
  cli_json_open(&j, NULL, '{');
  cli_json_text(&j, "event", event);
  char at[32];
  snprintf(at, sizeof at, "%lld.%03ld", (long long)now.tv_sec, now.tv_nsec / 1000000);
  cli_json_raw(&j, "time", at);
  if (t) {
    cli_json_text(&j, "job", t->job);
    cli_json_integer(&j, "task", t->index);
    cli_json_integer(&j, "port", t->port);
    if (t->pid) cli_json_integer(&j, "pid", t->pid);
  }
  if (code >= 0) cli_json_integer(&j, "code", code);
  if (t && code >= 0) cli_json_integer(&j, "restarts_left", t->restarts);
  cli_json_close(&j, '}');
  cli_json_end(&j);
}

/* The command line of a task: scripts go through `weft run`; the flags of the style follow. */
static bool launch_start_task(launch *l, launch_task *t) {
  static char self[4096], flags[4][TEXT + 64];
  char *args[512];
  int n = 0, given = 0;
  ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
  if (size > 0 && cli_ends_with(l->plan.program[0], ".py")) {
    self[size] = 0;
    args[n++] = self;
    args[n++] = (char *)(uintptr_t) "run";
  }
  for (char **a = l->plan.program; *a && n < 500; a++) args[n++] = *a;
  if (strcmp(l->plan.style, "none") != 0) {
    bool old = strcmp(l->plan.style, "parameter_servers") == 0;
    snprintf(flags[given++], sizeof flags[0], "--%s=%s", old ? "parameter_servers" : "ps_hosts", l->hosts[0]);
    snprintf(flags[given++], sizeof flags[0], "--%s=%s", old ? "workers" : "worker_hosts", l->hosts[1]);
    snprintf(flags[given++], sizeof flags[0], "--job_name=%s", t->job);
    snprintf(flags[given++], sizeof flags[0], "--%s=%d",
             strcmp(l->plan.style, "task_id") == 0 ? "task_id" : "task_index", t->index);
  }
  for (int i = 0; i < given; i++) args[n++] = flags[i];
  args[n] = NULL;
  set_environment(l, t);
  if (launch_start(t, args)) {
    if (l->plan.verbose) tell(l, "%s%d is process %ld on port %d", t->job, t->index, (long)t->pid, t->port);
    note_event(l, "start", t, -1);
    return true;
  }
  fprintf(stderr, "weft launch: cannot start %s%d: %s\n", t->job, t->index, strerror(errno));
  return false;
}

/* Checks that the program exists, so that the error is printed once and not by each task. */
static bool can_start(const char *program) {
  char path[4096];
  const char *at = getenv("PATH");
  if (cli_ends_with(program, ".py")) return access(program, R_OK) == 0;
  if (strchr(program, '/')) return access(program, X_OK) == 0;
  for (; at && *at; at += strcspn(at, ":"), at += *at == ':') {
    snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(at, ":"), at, program);
    if (access(path, X_OK) == 0) return true;
  }
  errno = ENOENT;
  return false;
}

static FILE *open_log(const launch_plan *p, const launch_task *t, const char *kind) {
  char path[4096];
  if (!p->log_dir) return NULL;
  snprintf(path, sizeof path, "%s/%s-%d.%s", p->log_dir, t->job, t->index, kind);
  FILE *f = fopen(path, "w");
  if (!f) fprintf(stderr, "weft launch: %s: %s\n", path, strerror(errno));
  return f;
}

/* Creates the folder and its parents. */
static bool make_folder(const char *path) {
  char part[4096];
  for (size_t n = *path != 0; n < sizeof part; n++) {
    if (path[n] != '/' && path[n]) continue;
    snprintf(part, sizeof part, "%.*s", (int)n, path);
    if (mkdir(part, 0777) != 0 && errno != EEXIST) return false;
    if (!path[n]) return true;
  }
  errno = ENAMETOOLONG;
  return false;
}

/* Makes a token in a file for every task, and passes the name of the file to the tasks.  File ops stay unrestricted, as
 * without a token. */
static bool make_private(launch *l) {
  bool made = cli_private_make(l->token_file, sizeof l->token_file, l->task[0].port);
  for (int i = 1; i < l->n_task && made; i++) made = cli_private_link(l->token_file, l->task[i].port);
  if (!made)
    fprintf(stderr, "weft launch: --private: no file for the token can be made (XDG_RUNTIME_DIR, /tmp): %s\n",
            strerror(errno));
  return made && setenv("WEFT_TOKEN_FILE", l->token_file, 1) == 0 && setenv("WEFT_ALLOW_DIRS", "/", 0) == 0;
}

static bool lay_out(launch *l) {
  l->n_task = l->plan.ps + l->plan.workers;
  l->task = calloc((size_t)l->n_task, sizeof *l->task);
  if (!l->task) return false;
  if (l->plan.log_dir && !make_folder(l->plan.log_dir)) {
    fprintf(stderr, "weft launch: %s: %s\n", l->plan.log_dir, strerror(errno));
    return false;
  }
  for (int i = 0; i < l->n_task; i++) {
    launch_task *t = &l->task[i];
    t->job = i < l->plan.ps ? "ps" : "worker";
    t->index = i < l->plan.ps ? i : i - l->plan.ps;
    t->restarts = l->plan.restarts;
    t->code = -1;
    t->out = (launch_stream){.fd = -1, .to = stdout, .file = open_log(&l->plan, t, "out")};
    t->err = (launch_stream){.fd = -1, .to = stderr, .file = open_log(&l->plan, t, "err")};
  }
  if (!find_ports(l)) return false;
  list_hosts(l);
  if (l->plan.require_auth) setenv("WEFT_REQUIRE_AUTH", "1", 1);
  return !l->plan.private || make_private(l);
}

/* ---- watching ---------------------------------------------------------------------------------- */

/* The workers before the ps: each of them knows that it shall end before it can see a ps end. */
static void signal_all(const launch *l, int number) {
  for (int i = l->n_task - 1; i >= 0; i--)
    if (l->task[i].pid) kill(l->task[i].pid, number);
}

static void launch_read_all(launch *l) {
  for (int i = 0; i < l->n_task; i++) {
    launch_read(&l->task[i], &l->task[i].out, &l->look);
    launch_read(&l->task[i], &l->task[i].err, &l->look);
  }
}

/* Sleeps until something is printed, or a tenth of a second. */
static void wait_for_output(const launch *l) {
  struct pollfd fds[2 * MOST_TASKS];
  nfds_t n = 0;
  for (int i = 0; i < l->n_task; i++) {
    if (l->task[i].out.fd >= 0) fds[n++] = (struct pollfd){.fd = l->task[i].out.fd, .events = POLLIN};
    if (l->task[i].err.fd >= 0) fds[n++] = (struct pollfd){.fd = l->task[i].err.fd, .events = POLLIN};
  }
  poll(fds, n, 100);
}

/* Which task, and how; the caller goes on with the line. */
static void tell_end(launch *l, const launch_task *t) {
  launch_erase(&l->look);
  fprintf(stderr, "weft launch: %s%d ended with %d", t->job, t->index, t->code);
  if (t->code > 128) fprintf(stderr, " (%s)", strsignal(t->code - 128));
}

static void tell_failure(launch *l, const launch_task *t) {
  tell_end(l, t);
  fprintf(stderr, t->n_last ? "; its last lines:\n" : "\n");
  for (int i = t->n_last > LAUNCH_LAST ? t->n_last - LAUNCH_LAST : 0; i < t->n_last; i++)
    fprintf(stderr, "    %s\n", t->last[i % LAUNCH_LAST]);
}

/* A task is gone: it comes back, or its failure ends the job. */
static void after_end(launch *l, launch_task *t) {
  note_event(l, "end", t, t->code);
  if (l->plan.verbose && (t->code == 0 || l->ending > 0)) {
    tell_end(l, t);
    fputc('\n', stderr);
  }
  if (t->code == 0 || l->ending > 0) return;
  if (t->restarts > 0) {
    t->restarts--;
    tell_end(l, t);
    fprintf(stderr, "; starting it again (%d left)\n", t->restarts);
    setenv("WEFT_GPU_CAREFUL", CAREFUL_STEPS, 0); /* if a kernel fails again, the error then names its node */
    if (launch_start_task(l, t)) return;
  }
  tell_failure(l, t);
  l->code = t->code;
  l->ending = launch_now();
  signal_all(l, SIGTERM);
}

static bool launch_reap(launch *l) {
  bool workers = false, any = false;
  for (int i = 0; i < l->n_task; i++) {
    launch_task *t = &l->task[i];
    if (launch_ended(t)) {
      launch_read(t, &t->out, &l->look), launch_read(t, &t->err, &l->look);
      after_end(l, t);
    }
    any |= t->pid != 0;
    workers |= t->pid != 0 && i >= l->plan.ps;
  }
  if (!workers && l->workers_done <= 0) l->workers_done = launch_now();
  return any;
}

static int count_running(const launch *l) {
  int n = 0;
  for (int i = 0; i < l->n_task; i++) n += l->task[i].pid != 0;
  return n;
}

/* Says what a signal to us did to the tasks. */
static void tell_signal(launch *l, bool first) {
  const int n = count_running(l);
  note_event(l, first ? "interrupt" : "kill", NULL, -1);
  if (first)
    tell(l, "%s: told %d running task%s to end; %s %d s they are killed, or at once by another Ctrl-C",
         first_signal == SIGINT ? "Ctrl-C" : strsignal(first_signal), n, n == 1 ? "" : "s", "after", l->plan.grace);
  else
    tell(l, "killed %d running task%s", n, n == 1 ? "" : "s");
}

/* Ctrl-C is passed on; ps tasks that wait for ever and tasks that ignore us are ended. */
static void push_the_end(launch *l, int *passed) {
  double now = launch_now();
  if (interrupts > *passed) {
    tell_signal(l, *passed == 0);
    signal_all(l, *passed == 0 ? SIGINT : SIGKILL);
    if (*passed == 0 && !l->code) l->code = 128 + (int)first_signal; /* as a shell says it */
    l->ending = l->ending > 0 ? l->ending : now;
    *passed = interrupts;
  }
  if (l->ending > 0 && now > l->ending + l->plan.grace && !l->killed) {
    l->killed = true;
    tell(l, "killed %d task%s that did not end within %d s", count_running(l), count_running(l) == 1 ? "" : "s",
         l->plan.grace);
    note_event(l, "kill", NULL, -1);
  }
  if (l->killed) signal_all(l, SIGKILL);
  if (l->workers_done > 0 && l->ending <= 0 && now > l->workers_done + l->plan.grace) {
    l->ending = now;
    signal_all(l, SIGTERM);
  }
}

/* "[#####.....]  50 %"; returns its length. */
static int put_bar(char *to, long step, int steps) {
  enum { CELLS = 8 };
  const double done = step < steps ? (double)step / steps : 1;
  const int full = (int)(done * CELLS);
  return sprintf(to, "[%.*s%.*s] %3d %%", full, "########", CELLS - full, "........", (int)(done * 100));
}

/* Draws a line for each worker whose step is known from its output, as many as the terminal has room for. */
static void launch_draw_steps(launch *l) {
  size_t used = 0;
  int lines = 0;
  struct winsize w = {.ws_row = 24, .ws_col = 80};
  if (!l->look.live) return;
  if (ioctl(1, TIOCGWINSZ, &w) != 0 || w.ws_col < 20 || w.ws_row < 4) w.ws_row = 24, w.ws_col = 80;
  launch_erase(&l->look);
  l->progress[0] = 0;
  for (int i = l->plan.ps; i < l->n_task && lines + 2 < w.ws_row && used + 256 < sizeof l->progress; i++) {
    const launch_task *t = &l->task[i];
    char line[200], name[64];
    if (!t->has_step) continue;
    snprintf(name, sizeof name, "%s%d", t->job, t->index);
    int n = snprintf(line, sizeof line, "%-*s ", l->look.width, name);
    if (l->plan.steps) n += put_bar(line + n, t->step, l->plan.steps);
    n += snprintf(line + n, sizeof line - (size_t)n, " step %ld, %.*f steps/s", t->step, t->rate < 100, t->rate);
    if (t->has_loss) n += snprintf(line + n, sizeof line - (size_t)n, ", loss %.4g", t->loss);
    if (t->has_accuracy) snprintf(line + n, sizeof line - (size_t)n, ", accuracy %.4g", t->accuracy);
    used += (size_t)snprintf(l->progress + used, sizeof l->progress - used, "%s%.*s", lines++ ? "\n" : "", w.ws_col - 1,
                             line);
  }
  launch_draw(&l->look);
}

/* Reads what is left in the pipes of tasks that have ended.  A child of such a task may hold a pipe open; this does not
 * wait for its end. */
static void launch_drain(launch *l) {
  for (int i = 0; i < l->n_task; i++) {
    launch_stream *both[] = {&l->task[i].out, &l->task[i].err};
    for (int k = 0; k < 2; k++)
      for (struct pollfd p = {.fd = both[k]->fd, .events = POLLIN}; p.fd >= 0 && poll(&p, 1, 0) > 0; p.fd = both[k]->fd)
        launch_read(&l->task[i], both[k], &l->look);
  }
}

static void launch_watch(launch *l) {
  int passed = 0;
  double drawn = 0;
  while (launch_reap(l)) {
    wait_for_output(l);
    launch_read_all(l);
    push_the_end(l, &passed);
    if (launch_now() - drawn > 0.2) launch_draw_steps(l), drawn = launch_now();
  }
  launch_drain(l);
  launch_erase(&l->look);
}

static int launch_forget(launch *l, int code) {
  cli_local_forget();
  if (l->events) {
    note_event(l, "finish", NULL, code);
    fclose(l->events);
  }
  for (int i = 0; l->task && l->token_file[0] && i < l->n_task; i++) cli_private_remove(l->token_file, l->task[i].port);
  for (int i = 0; l->task && i < l->n_task; i++) {
    if (l->task[i].out.file) fclose(l->task[i].out.file);
    if (l->task[i].err.file) fclose(l->task[i].err.file);
  }
  free(l->task);
  return code;
}

static bool open_events(launch *l) {
  if (!l->plan.events) return true;
  l->events = fopen(l->plan.events, "we");
  if (!l->events) cli_failed(l->plan.events, strerror(errno));
  return l->events != NULL;
}

/* One line: the cluster, its page, how to watch it.  Records the cluster, so that `weft top` finds it. */
static void tell_start(launch *l) {
  static char cluster[2 * TEXT + 32];
  snprintf(cluster, sizeof cluster, "%s%s%sworker=%s", l->plan.ps ? "ps=" : "", l->hosts[0], l->plan.ps ? ";" : "",
           l->hosts[1]);
  cli_local_record(cluster, l->plan.program[0]);
  char page[64] = "";
  if (l->plan.status_port >= 0)
    snprintf(page, sizeof page, "; status page http://localhost:%d", l->task[0].status_port);
  tell(l, "%s%s; 'weft top' shows it", cluster, page);
  /* Information lines of the tasks are shown only on request; warnings and errors always. */
  if (!l->plan.verbose) setenv("TF_CPP_MIN_LOG_LEVEL", "1", 0);
  if (!l->plan.verbose) setenv("WEFT_LAUNCH", "1", 1); /* we say that Ctrl-C ended the tasks; they need not */
}

static int launch_run(int argc, char **argv) {
  launch l = {.plan = {.ps = 1, .workers = 1, .style = "tf", .status_port = -1, .grace = GRACE_S}};
  int code = launch_read_options(&l.plan, argc, argv);
  if (code != DONE) return code;
  if (!can_start(l.plan.program[0])) {
    fprintf(stderr, "weft launch: cannot start %s: %s\n", l.plan.program[0], strerror(errno));
    return FAILED;
  }
  if (cli_ends_with(l.plan.program[0], ".py") && cli_check_python() != DONE) return FAILED;
  cli_raise_descriptors();
  if (!lay_out(&l)) return launch_forget(&l, FAILED);
  l.look = (launch_look){.color = cli_color(1), .live = isatty(1), .width = 8, .progress = l.progress};
  if (!open_events(&l)) return launch_forget(&l, FAILED);
  tell_start(&l);
  struct sigaction action = {.sa_handler = launch_on_signal};
  sigaction(SIGINT, &action, NULL), sigaction(SIGTERM, &action, NULL);
  for (int i = 0; i < l.n_task && l.ending <= 0; i++)
    if (!launch_start_task(&l, &l.task[i])) {
      l.code = FAILED;
      l.ending = launch_now();
      signal_all(&l, SIGTERM);
    }
  const double began = launch_now();
  launch_watch(&l);
  if (interrupts || (l.look.live && l.code == DONE))
    tell(&l, "all %d tasks have ended, after %.1f s", l.n_task, launch_now() - began);
  return launch_forget(&l, l.code);
}

static const cli_flag flags[] = {
    {"--ps", "N", "parameter servers (1)"},
    {"--workers", "N", "workers (1)"},
    {"--restart", "N", "start a task that fails again, at most N times (0)"},
    {"--grace", "SECONDS", "how long tasks may take to end when they are told to, before they are killed (10)"},
    {"--steps", "N", "how many steps the job makes: on a terminal a bar shows how far each worker is"},
    {"--log-dir", "DIR", "keep what each task prints in DIR/JOB-INDEX.out and .err"},
    {"--status-port", "PORT",
     "a status page of the cluster on this port, and on those that follow one of each task (0: free ones)"},
    {"--private", NULL,
     "make a token that every call must carry, in a file that only this user reads; 'weft top' and\n"
     "'weft check' find it.  TensorFlow's tasks know no tokens and cannot join"},
    {"--require-auth", NULL, "refuse to start tasks without a token or TLS"},
    {"--memory", "SIZE", "a ceiling on the memory of each task, such as 800M, 4G or auto"},
    {"--quiet", NULL, "print what the tasks print, and of ourselves only errors"},
    {"--verbose", NULL, "say which process each task is and how it ended; tasks log information too"},
    {"--events", "FILE", "write a JSON object a line into FILE: every start, end and signal"},
    {"--style", "tf|task_id|parameter_servers|none",
     "flags the program takes: tf (--ps_hosts --worker_hosts --job_name --task_index), task_id\n"
     "(--task_id instead), parameter_servers (--parameter_servers --workers ...), none"},
    {0},
};

const cli_command cli_launch = {
    .name = "launch",
    .arguments = "[OPTION...] -- PROGRAM [ARGUMENT...]",
    .summary = "Run a program as a cluster in this terminal.",
    .about = "A cluster on this machine, in this terminal.  PROGRAM is an executable, or a Python script (run by\n"
             "'weft run').  Ctrl-C lets all tasks end; twice ends them at once.\n\n"
             "  weft launch --ps 1 --workers 2 --restart 3 --log-dir logs -- train.py --steps=1000",
    .flags = flags,
    .more = "TF_CONFIG is set in any style.  The exit code is that of the first task that failed; 130 after Ctrl-C, "
            "143 after\n"
            "SIGTERM.",
    .passes_on = true,
    .run = launch_run,
};
