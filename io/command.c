/* command.c - runs another program: its input is a file in memory, its outputs are pipes that one thread reads.
 *
 * posix_spawn is used and not fork, because other threads of this process hold locks. */
#include "io/command.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ERRORS_KEPT = 400, CANCEL_CHECK_MS = 50, FIRST_OUTPUT = 1 << 16, OUTPUT_MAX = 1 << 30 };

extern char **environ;

typedef struct command {
  pid_t pid;
  int in, out[2], err[2]; /* -1: closed */
  char *text;             /* standard output */
  int64_t size, capacity;
  char errors[ERRORS_KEPT + 1]; /* the end of standard error */
  size_t n_errors;
} command;

static void command_close(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static weft_err command_input(command *p, const char *name, const char *bytes, size_t size) {
  p->in = memfd_create("weft", MFD_CLOEXEC);
  if (p->in < 0) return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no input for %s: %s", name, strerror(errno));
  for (size_t done = 0; done < size;) {
    const ssize_t n = write(p->in, bytes + done, size - done);
    if (n <= 0) return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no input for %s: %s", name, strerror(errno));
    done += (size_t)n;
  }
  lseek(p->in, 0, SEEK_SET);
  return WEFT_OK;
}

static weft_err command_start(command *p, const char *const *args) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  if (pipe2(p->out, O_CLOEXEC) != 0 || pipe2(p->err, O_CLOEXEC) != 0)
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no pipe for %s: %s", args[0], strerror(errno));
  if (posix_spawn_file_actions_init(&actions) != 0) return WEFT_OOM;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return weft__fail(WEFT_RESOURCE_EXHAUSTED, "no memory to start %s", args[0]);
  }
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  int failed = posix_spawn_file_actions_adddup2(&actions, p->in, 0);
  if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, p->out[1], 1);
  if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, p->err[1], 2);
  if (!failed) failed = posix_spawnp(&p->pid, args[0], &actions, &attributes, (char *const *)args, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed)
    return weft__fail(failed == ENOENT || failed == EACCES ? WEFT_NOT_FOUND : WEFT_INTERNAL, "cannot start %s: %s",
                      args[0], strerror(failed));
  command_close(&p->out[1]), command_close(&p->err[1]), command_close(&p->in);
  return WEFT_OK;
}

static weft_err command_read_output(command *p) {
  WEFT_ASSERT(p->out[0] >= 0 && p->size <= p->capacity);
  if (p->size == p->capacity) {
    if (p->capacity >= OUTPUT_MAX)
      return weft__fail(WEFT_RESOURCE_EXHAUSTED, "the program's output has more than %d bytes", OUTPUT_MAX);
    WEFT_TRY(WEFT_ARRAY_RESERVE(p->text, p->capacity, p->capacity ? p->capacity + 1 : FIRST_OUTPUT));
  }
  const ssize_t n = read(p->out[0], p->text + p->size, (size_t)(p->capacity - p->size));
  if (n <= 0)
    command_close(&p->out[0]);
  else
    p->size += n;
  return WEFT_OK;
}

static void command_read_errors(command *p) {
  char text[ERRORS_KEPT];
  const ssize_t n = read(p->err[0], text, sizeof text);
  if (n <= 0) {
    command_close(&p->err[0]);
    return;
  }
  const size_t more = (size_t)n, keep = p->n_errors < ERRORS_KEPT - more ? p->n_errors : ERRORS_KEPT - more;
  WEFT_ASSERT(more <= ERRORS_KEPT && keep + more <= ERRORS_KEPT);
  memmove(p->errors, p->errors + p->n_errors - keep, keep);
  memcpy(p->errors + keep, text, more);
  p->n_errors = keep + more;
}

/* Reads both outputs until their ends. */
static weft_err command_read(command *p, const cancel *token, int64_t deadline_ns) {
  while (p->out[0] >= 0 || p->err[0] >= 0) {
    struct pollfd fds[2] = {{.fd = p->out[0], .events = POLLIN}, {.fd = p->err[0], .events = POLLIN}};
    if (token && weft__cancel_fired(token)) return weft__fail(WEFT_CANCELLED, "the step was canceled");
    if (deadline_ns && weft__clock_now_ns() > deadline_ns)
      return weft__fail(WEFT_DEADLINE_EXCEEDED, "the step's time is over");
    if (poll(fds, 2, CANCEL_CHECK_MS) <= 0) continue;
    if (fds[0].revents) WEFT_TRY(command_read_output(p));
    if (fds[1].revents) command_read_errors(p);
  }
  return WEFT_OK;
}

/* Waits for the end of the process. */
static weft_err command_end(command *p, const char *name) {
  WEFT_ASSERT(p->pid > 0);
  int code = 0;
  while (waitpid(p->pid, &code, 0) < 0)
    if (errno != EINTR) return weft__fail(WEFT_INTERNAL, "cannot wait for %s: %s", name, strerror(errno));
  if (WIFEXITED(code) && WEXITSTATUS(code) == 0) return WEFT_OK;
  if (WIFEXITED(code) && WEXITSTATUS(code) == 127 && p->n_errors == 0)
    return weft__fail(WEFT_NOT_FOUND, "cannot start %s", name);
  while (p->n_errors && p->errors[p->n_errors - 1] == '\n') p->n_errors--;
  return weft__fail(WEFT_INTERNAL, "%s ended with %s %d: %.*s", name, WIFEXITED(code) ? "exit code" : "signal",
                    WIFEXITED(code) ? WEXITSTATUS(code) : WTERMSIG(code), weft__int_sat((int64_t)p->n_errors),
                    p->errors);
}

weft_err weft__command_run(const char *const *args, const void *in, size_t in_size, const command_limits *limits,
                           char **out, size_t *out_size) {
  command p = {.in = -1, .out = {-1, -1}, .err = {-1, -1}};
  weft_err err = command_input(&p, args[0], in, in_size);
  if (err == WEFT_OK) err = command_start(&p, args);
  if (err == WEFT_OK) {
    err = command_read(&p, limits->token, limits->deadline_ns);
    if (err == WEFT_OK) {
      err = command_end(&p, args[0]);
    } else {
      kill(p.pid, SIGKILL);
      while (waitpid(p.pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
  }
  command_close(&p.in), command_close(&p.out[0]), command_close(&p.out[1]);
  command_close(&p.err[0]), command_close(&p.err[1]);
  if (err != WEFT_OK) {
    weft__free(p.text);
    return err;
  }
  *out = p.text, *out_size = (size_t)p.size;
  return WEFT_OK;
}
