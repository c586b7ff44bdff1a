/* launch_task.c - one task of `weft launch`: its process, its pipes, its lines. */
#include "launch.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READS_AT_ONCE = 16 };

double launch_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- processes --------------------------------------------------------------------------------- */

/* Becomes the program, in the child process.  The child has a process group of its own, so that Ctrl-C reaches only
 * `weft launch`, which then ends its tasks.  The kernel kills the child when `weft launch` ends. */
static void task_exec(char **args, int out, int err, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, 0), dup2(out, 1), dup2(err, 2);
  setenv("PYTHONUNBUFFERED", "1", 0);
  execvp(args[0], args);
  dprintf(2, "weft launch: cannot start %s: %s\n", args[0], strerror(errno));
  _exit(127);
}

bool launch_start(launch_task *t, char **args) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return false;
  if (pipe2(err, O_CLOEXEC) != 0) {
    close(out[0]), close(out[1]);
    return false;
  }
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) task_exec(args, out[1], err[1], parent);
  close(out[1]), close(err[1]);
  if (pid < 0) {
    close(out[0]), close(err[0]);
    return false;
  }
  fcntl(out[0], F_SETFL, O_NONBLOCK), fcntl(err[0], F_SETFL, O_NONBLOCK);
  t->pid = pid;
  t->out.fd = out[0], t->err.fd = err[0];
  t->out.used = t->err.used = 0;
  t->has_step = false;
  return true;
}

bool launch_ended(launch_task *t) {
  int status;
  if (t->pid == 0 || waitpid(t->pid, &status, WNOHANG) != t->pid) return false;
  t->pid = 0;
  t->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

/* ---- lines ------------------------------------------------------------------------------------- */

/* Finds the number that follows a word and any of " :=(,": "step: 5", "loss = 0.1", "global_step/sec: 9". */
static bool number_after(const char *line, const char *word, double *out) {
  for (const char *at = line; (at = strcasestr(at, word)); at++) {
    const char *p = at + strlen(word);
    while (*p && strchr(" :=(,", *p)) p++;
    char *end;
    double v = strtod(p, &end);
    if (end == p || !(isdigit((unsigned char)*p) || *p == '-' || *p == '.')) continue;
    *out = v;
    return true;
  }
  return false;
}

/* Finds the number before a word: "1623 global steps". */
static bool number_before(const char *line, const char *word, double *out) {
  const char *at = strcasestr(line, word);
  if (!at) return false;
  while (at > line && at[-1] == ' ') at--;
  const char *end = at;
  while (at > line && isdigit((unsigned char)at[-1])) at--;
  *out = strtod(at, NULL);
  return at < end;
}

/* Finds the loss: "loss: 0.5", or "loss on training batch is 0.5". */
static bool find_loss(const char *line, double *out) {
  const char *at = strcasestr(line, "loss");
  return at && (number_after(line, "loss", out) || number_after(at, " is ", out));
}

static bool find_step(const char *line, double *out) {
  return number_before(line, "global step", out) || number_after(line, "step", out) ||
         number_before(line, "training step", out);
}

/* Stores the step, the loss and the accuracy that a line of the task has, and the steps per second. */
static void task_parse_line(launch_task *t, const char *line) {
  double v, now = launch_now();
  if (find_loss(line, &v)) t->loss = v, t->has_loss = true;
  if (number_after(line, "accuracy", &v)) t->accuracy = v, t->has_accuracy = true;
  if (!find_step(line, &v) || v < 0) return;
  long step = (long)v;
  if (!t->has_step || step < t->step) t->first_step = step, t->first_time = now, t->rate = 0;
  if (now - t->first_time > 0.05) t->rate = (double)(step - t->first_step) / (now - t->first_time);
  t->step = step;
  t->has_step = true;
}

void launch_erase(launch_look *look) {
  if (!look->drawn) return;
  fputs("\r", stdout);
  if (look->drawn > 1) printf("\033[%dA", look->drawn - 1);
  fputs("\033[J", stdout);
  fflush(stdout);
  look->drawn = 0;
}

void launch_draw(launch_look *look) {
  if (!look->live || !*look->progress) return;
  fputs(look->progress, stdout);
  fflush(stdout);
  look->drawn = 1;
  for (const char *at = look->progress; (at = strchr(at, '\n')); at++) look->drawn++;
}

static void print_line(const launch_task *t, const launch_stream *s, const char *line, launch_look *look) {
  static const int colors[] = {36, 32, 33, 35, 34, 31};
  char name[64];
  snprintf(name, sizeof name, "%s%d", t->job, t->index);
  int color = strcmp(t->job, "ps") == 0 ? 90 : colors[t->index % 6];
  launch_erase(look);
  if (look->color)
    fprintf(s->to, "\033[%dm%-*s |\033[0m %s\n", color, look->width, name, line);
  else
    fprintf(s->to, "%-*s | %s\n", look->width, name, line);
  fflush(s->to);
  launch_draw(look);
}

/* Ends a line of the stream: writes it to the file, keeps it, parses it and prints it. */
static void task_emit_line(launch_task *t, launch_stream *s, launch_look *look) {
  s->line[s->used] = 0;
  if (s->file) fprintf(s->file, "%s\n", s->line), fflush(s->file);
  snprintf(t->last[t->n_last++ % LAUNCH_LAST], LAUNCH_LINE, "%s", s->line);
  task_parse_line(t, s->line);
  print_line(t, s, s->line, look);
  s->used = 0;
}

/* Takes bytes up to the end of a line, or as many as a line may have: longer lines are cut.  Returns their number. */
static size_t task_take_line(launch_task *t, launch_stream *s, const char *bytes, size_t n, launch_look *look) {
  const char *end = memchr(bytes, '\n', n);
  const size_t room = LAUNCH_LINE - 1 - (size_t)s->used, length = end ? (size_t)(end - bytes) : n;
  const size_t taken = length < room ? length : room;
  memcpy(s->line + s->used, bytes, taken);
  s->used += (int)taken;
  if (length > room || (length == room && !end)) {
    task_emit_line(t, s, look);
    return taken;
  }
  if (!end) return taken;
  while (s->used && s->line[s->used - 1] == '\r') s->used--;
  task_emit_line(t, s, look);
  return taken + 1;
}

void launch_read(launch_task *t, launch_stream *s, launch_look *look) {
  static char bytes[1 << 16];
  ssize_t n = 0;
  for (int reads = 0; reads < READS_AT_ONCE && s->fd >= 0 && (n = read(s->fd, bytes, sizeof bytes)) > 0; reads++)
    for (size_t at = 0; at < (size_t)n;) at += task_take_line(t, s, bytes + at, (size_t)n - at, look);
  if (s->fd < 0 || n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return;
  if (s->used) task_emit_line(t, s, look);
  close(s->fd);
  s->fd = -1;
}
