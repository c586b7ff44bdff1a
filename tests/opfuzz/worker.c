/* worker.c - runs graphs in a child process.  If a graph kills it, the graph is logged, and a new process continues
 * after it. */
#include "tests/opfuzz/worker.h"
#include "base/clock.h"
#include "base/memory_limit.h"
#include "net/rpc.h"
#include "tests/opfuzz/server.h"
#include "tests/opfuzz/scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 2000, HANG_S = 90, MOST_MB = 2560, POLL_MS = 20, KINDS = 300 };
enum { EXIT_NO_SERVER = 76, EXIT_SERVER = 77, EXIT_LEAK = 78, AGAIN = 3 };
#define MEMORY "256M" /* what the library may take: more fails its step */
#define SECOND INT64_C(1000000000)

/* What the sanitizers are told; the environment's ASAN_OPTIONS go before.  No leaks are looked for in the parent. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1:max_allocation_size_mb=600:quarantine_size_mb=16:handle_abort=1:"
         "detect_stack_use_after_return=0:leak_check_at_exit=0";
}
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) { return "print_stacktrace=1"; }
const char *__lsan_default_options(void);
const char *__lsan_default_options(void) { return "leak_check_at_exit=0"; }
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* ---- findings ---- */

static struct {
  char what[300];
  int count;
  int64_t first;
} kinds[KINDS];
static int n_kinds;

/* The line that tells one finding from another: the sanitizer's, with the place in the tree. */
static void signature(const char *log, char *out, size_t room) {
  FILE *f = fopen(log, "r");
  char line[1000], error[150] = "", place[140] = "";
  while (f && fgets(line, sizeof line, f)) {
    const char *at = strstr(line, "runtime error: ");
    line[strcspn(line, "\n")] = 0;
    if (!*error && at) snprintf(error, sizeof error, "%.149s", line);
    if (!*error && (at = strstr(line, "ERROR: AddressSanitizer: "))) {
      snprintf(error, sizeof error, "%s", at + 25);
      error[strcspn(error, " ")] = 0;
    }
    if (!*error && strstr(line, "Assertion")) snprintf(error, sizeof error, "%.149s", line);
    if (!*error && (at = strstr(line, "ERROR: LeakSanitizer"))) snprintf(error, sizeof error, "leak");
    if (*error && !*place && strstr(line, "    #") && strstr(line, ".c:") && !strstr(line, "/base/alloc.c") &&
        !strstr(line, "tests/") && (at = strstr(line, " in ")))
      snprintf(place, sizeof place, "%s", at + 4);
  }
  if (f) fclose(f);
  char *root = strstr(place, " /");
  if (root) { /* "function /where/the/tree/is/ops/file.c:12" without the tree's place */
    const char *at = root + strlen(root);
    for (int slashes = 0; at > root && slashes < 2; at--) slashes += at[-1] == '/';
    memmove(root + 1, at + 1 + (*at != '/'), strlen(at + 1 + (*at != '/')) + 1);
  }
  snprintf(out, room, "%s in %s", error, place);
}

static void copy_log(const char *log) {
  FILE *f = fopen(log, "r");
  char line[1000];
  for (int n = 0, on = 0; f && n < 40 && fgets(line, sizeof line, f);) {
    if (strstr(line, "ERROR:") || strstr(line, "runtime error") || strstr(line, "Assertion")) on = 1;
    if (!on) continue;
    printf("    %s", line);
    n++;
  }
  if (f) fclose(f);
}

static void finding(const options *o, shared *s, int64_t index, const char *why, const char *log) {
  char what[300], sign[300];
  signature(log, sign, sizeof sign);
  snprintf(what, sizeof what, "%.100s: %.190s", why, sign);
  s->findings++;
  for (int i = 0; i < n_kinds; i++)
    if (strcmp(kinds[i].what, what) == 0) {
      kinds[i].count++;
      return;
    }
  printf("FINDING %s\n  repeat: --seed %llu --from %lld%s%s --only\n", what, (unsigned long long)o->seed,
         (long long)index, o->op ? " --op " : "", o->op ? o->op : "");
  copy_log(log);
  if (n_kinds == KINDS) return;
  snprintf(kinds[n_kinds].what, sizeof kinds[n_kinds].what, "%s", what);
  kinds[n_kinds].count = 1;
  kinds[n_kinds++].first = index;
}

static void print_kinds(void) {
  if (n_kinds) printf("%d kinds of findings:\n", n_kinds);
  for (int i = 0; i < n_kinds; i++)
    printf("  %4d x %s (first at %lld)\n", kinds[i].count, kinds[i].what, (long long)kinds[i].first);
}

/* ---- the worker ---- */

static model the_model; /* large */
static request the_request;

static weft_err run_request(const request *q, const op_table *table, channel *c) {
  return c ? fuzz_run_there(q, c) : fuzz_run_here(q, table);
}

typedef struct worker {
  pid_t pid;
  int64_t next, end; /* its graphs */
  char log[64];
} worker;

/* A look for leaks takes seconds, so first the graph must have taken memory, and again each time it is run again. */
static bool leaks(const request *q, const op_table *table, size_t before) {
  if (!__sanitizer_get_current_allocated_bytes || !__lsan_do_recoverable_leak_check) return false;
  for (int i = 0; i < AGAIN; i++) {
    const size_t now = __sanitizer_get_current_allocated_bytes();
    if (now <= before) return false;
    before = now;
    fuzz_run_here(q, table);
  }
  return __sanitizer_get_current_allocated_bytes() > before && __lsan_do_recoverable_leak_check();
}

static size_t allocated(void) {
  return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() : 0;
}

static void run_graph(const options *o, const op_table *table, shared *s, int64_t index, channel *c) {
  weft_err err = fuzz_graph_at(o, table, index, &the_model, &the_request);
  if (!err) {
    const int64_t began = weft__clock_now_ns();
    const size_t before = allocated();
    err = run_request(&the_request, table, c);
    if (c && (err == WEFT_UNAVAILABLE || weft__clock_now_ns() - began > 28 * SECOND) && !server_answers(c))
      _exit(EXIT_SERVER);
    fuzz_count(s, &the_request, err == WEFT_OK);
    s->results += err == WEFT_OK;
    if (!c && leaks(&the_request, table, before)) _exit(EXIT_LEAK);
  }
  s->graphs++;
  request_finish(&the_request);
  model_finish(&the_model);
}

static void work(const options *o, const op_table *table, shared *s, const worker *w, int slot) {
  channel *c = NULL;
  int fd = open(w->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd >= 0) dup2(fd, 2);
  weft_must(weft__memory_limit_set(MEMORY));
  if (o->server && server_connect(&c, o->server) != WEFT_OK) _exit(EXIT_NO_SERVER);
  for (int64_t i = w->next; i < w->end; i++) {
    s->now[slot].index = i;
    s->now[slot].began_ns = weft__clock_now_ns();
    run_graph(o, table, s, i, c);
  }
  s->now[slot].index = w->end;
  _exit(0);
}

static void start(const options *o, const op_table *table, shared *s, worker *w, int slot) {
  s->now[slot].index = w->next;
  s->now[slot].began_ns = weft__clock_now_ns();
  snprintf(w->log, sizeof w->log, "worker-%d.log", slot);
  fflush(stdout);
  w->pid = fork();
  if (w->pid == 0) work(o, table, s, w, slot);
}

/* ---- the parent ---- */

static long resident_mb(pid_t pid) {
  char path[64];
  long size = 0, resident = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
  FILE *f = fopen(path, "r");
  if (f && fscanf(f, "%ld %ld", &size, &resident) != 2) resident = 0;
  if (f) fclose(f);
  return resident / 256;
}

static void stop(pid_t pid) {
  int ending;
  kill(pid, SIGABRT); /* the sanitizer says where it was */
  for (int i = 0; i < 100; i++) {
    if (waitpid(pid, &ending, WNOHANG) == pid) return;
    nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
  kill(pid, SIGKILL);
  waitpid(pid, &ending, 0);
}

/* The worker is over: why, and where the next one begins. */
static void ended(const options *o, shared *s, worker *w, int slot, int ending) {
  const int64_t at = s->now[slot].index;
  const int code = WIFEXITED(ending) ? WEXITSTATUS(ending) : -1;
  w->pid = 0;
  if (code == 0) {
    w->next = w->end;
  } else if (code == EXIT_NO_SERVER) {
    server_revive(o, at);
  } else if (code == EXIT_SERVER) {
    server_revive(o, at);
    finding(o, s, at, "the server died", SERVER_LOG_BEFORE);
    w->next = at + 1;
  } else {
    finding(o, s, at, code == EXIT_LEAK ? "leak" : "crash", w->log);
    w->next = at + 1;
  }
}

static void look_after(const options *o, shared *s, worker *w, int slot) {
  int ending;
  const pid_t pid = w->pid;
  if (waitpid(pid, &ending, WNOHANG) == pid) {
    ended(o, s, w, slot, ending);
    return;
  }
  const bool hangs = weft__clock_now_ns() - s->now[slot].began_ns > HANG_S * SECOND && s->now[slot].index < w->end;
  const bool swells = resident_mb(pid) > MOST_MB;
  if (!hangs && !swells) return;
  const int64_t at = s->now[slot].index;
  char why[100];
  stop(pid);
  snprintf(why, sizeof why, hangs ? "hangs for %d s" : "takes more than %d MB", hangs ? HANG_S : MOST_MB);
  finding(o, s, at, why, w->log);
  w->pid = 0;
  w->next = at + 1;
}

static bool may_start(const options *o, int64_t next, int64_t began) {
  if (o->seconds) return weft__clock_now_ns() - began < o->seconds * SECOND;
  return next < o->from + o->count;
}

void fuzz_all(const options *o, const op_table *table, shared *s) {
  options with = *o;
  worker all[MAX_WORKERS] = {{0}};
  char scratch[512];
  int64_t next = o->from, began = weft__clock_now_ns();
  int running = 0, n = o->workers < 1 ? 1 : o->workers > MAX_WORKERS ? MAX_WORKERS : o->workers;
  scratch_enter(scratch, sizeof scratch);
  if (o->serve) with.server = server_start(o->serve);
  do {
    running = 0;
    for (int i = 0; i < n; i++) {
      worker *w = &all[i];
      if (w->pid == 0 && w->next >= w->end && may_start(o, next, began)) {
        w->next = next;
        w->end = o->seconds || next + CHUNK < o->from + o->count ? next + CHUNK : o->from + o->count;
        next = w->end;
      }
      if (w->pid == 0 && w->next < w->end) start(&with, table, s, w, i);
      if (w->pid > 0) look_after(&with, s, w, i);
      running += w->pid > 0 || w->next < w->end;
    }
    nanosleep(&(struct timespec){0, POLL_MS * 1000000}, NULL);
  } while (running || may_start(o, next, began));
  if (o->serve) server_stop();
  scratch_leave(scratch);
  print_kinds();
}

int fuzz_one(const options *o, const op_table *table, shared *s) {
  channel *c = NULL;
  char scratch[512];
  FILE *f = o->dump ? fopen(o->dump, "wb") : NULL;
  scratch_enter(scratch, sizeof scratch);
  weft_must(weft__memory_limit_set(MEMORY));
  weft_err err = fuzz_graph_at(o, table, o->from, &the_model, &the_request);
  if (!err) {
    printf("form %s%s\n", fuzz_form_names[the_request.form], the_request.differentiate >= 0 ? ", differentiated" : "");
    model_print(&the_model);
  }
  if (f && !err) fwrite(the_request.bytes, 1, the_request.size, f);
  if (f) fclose(f);
  if (!err && o->server) err = server_connect(&c, o->server);
  if (!err) err = run_request(&the_request, table, c);
  printf("%s%s%s\n", weft_error_name(err), err ? ": " : "", err ? weft__error_message() : "");
  request_finish(&the_request);
  model_finish(&the_model);
  weft__channel_destroy(c);
  scratch_leave(scratch);
  (void)s;
  return 0;
}

/* ---- graphs that once went wrong ---- */

typedef struct old_case {
  char *name, *text;
} old_case;

static int read_cases(const char *path, old_case *list, int room) {
  static char text[200000];
  FILE *f = fopen(path, "r");
  size_t size = f ? fread(text, 1, sizeof text - 1, f) : 0;
  int n = 0;
  if (f) fclose(f);
  text[size] = 0;
  for (char *at = strncmp(text, "== ", 3) == 0 ? text : strstr(text, "\n== "); at && n < room; n++) {
    at += *at == '\n';
    list[n].name = at + 3;
    at += strcspn(at, "\n");
    if (*at) *at++ = 0;
    list[n].text = at;
    at = strstr(at, "\n== ");
    if (at) *at++ = 0;
  }
  return n;
}

static void run_form(const op_table *table, const old_case *c, form f, bool fed) {
  fuzz_random r = {1};
  if (model_read(&the_model, table, c->text) != WEFT_OK) {
    printf("%s: %s\n", c->name, weft__error_message());
    _exit(2);
  }
  for (int i = 0; i < the_model.n_node; i++)
    for (int k = 0; k < the_model.node[i].n_in; k++)
      the_model.node[i].in[k].fed = fed, the_model.node[i].in[k].says = SHAPE_ANY;
  if (request_write(&the_request, &the_model, f, &r) == WEFT_OK) {
    if (f == FORM_PLAIN && the_request.n_feed) the_request.differentiate = 0;
    const size_t before = allocated();
    fuzz_run_here(&the_request, table);
    if (leaks(&the_request, table, before)) _exit(EXIT_LEAK);
  }
  request_finish(&the_request);
  model_finish(&the_model);
}

/* The forms from `from` on, in a process of their own: 0, or how it ended; s->now[0].index says in which. */
static int run_case(const op_table *table, const old_case *c, int from, const char *log, shared *s) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0) dup2(fd, 2);
    weft_must(weft__memory_limit_set(MEMORY));
    alarm(300);
    for (int f = from; f < 2 * FORMS; f++) {
      s->now[0].index = f;
      run_form(table, c, (form)(f / 2), f % 2 == 0);
    }
    _exit(0);
  }
  int ending = 0;
  waitpid(pid, &ending, 0);
  return ending;
}

int replay(const options *o, const op_table *table, shared *s) {
  static old_case list[2000];
  char scratch[512];
  int n = read_cases(o->replay, list, 2000);
  if (n == 0) {
    printf("FAILED: no cases in %s\n", o->replay);
    return 1;
  }
  scratch_enter(scratch, sizeof scratch);
  for (int i = 0; i < n; i++)
    for (int f = 0; f < 2 * FORMS; f++) {
      int ending = run_case(table, &list[i], f, "case.log", s);
      if (ending == 0) break;
      f = (int)s->now[0].index;
      printf("FAILED %s, form %s, %s: ends with %d\n", list[i].name, fuzz_form_names[f / 2], f % 2 ? "constant" : "fed",
             ending);
      copy_log("case.log");
      s->findings++;
    }
  scratch_leave(scratch);
  printf("%d cases in %d forms each, %d failures\n", n, 2 * FORMS, s->findings);
  return s->findings != 0;
}
