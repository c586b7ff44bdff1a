/* server.c - creates the components of a task, dispatches incoming calls to them, and destroys them in reverse order.
 *
 * The components are peers, membership, worker and master.  The port is bound before they are created, so that a port
 * of 0 is known before any task is told the address.  Calls that arrive before the components exist are answered with
 * UNAVAILABLE, and callers retry them.
 *
 * Two locks.  `registry_lock` guards the list of the servers of this process.  `components_lock` is held for reading
 * while another thread uses the components, and for writing when they are about to be destroyed. */
#include "cluster/server.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "cluster/status/page.h"
#include "io/confine.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IDLE_S = 5, STOP_S = 5 /* in join, for steps to end by themselves; in stop, for steps that were canceled */ };

struct weft_server {
  cluster cluster;
  char *job, *bind, *target, *allow_dirs;
  char *token, *certificate, *key, *ca;
  server_opts opts; /* its strings are those above */
  char name[WEFT_TASK_NAME_SIZE];
  pid_t pid; /* of the process that created it */
  listener *listener;
  task *task;
  peers *peers;
  worker *worker;
  members *members;
  master *master;
  page *page;                       /* NULL: no status page */
  pthread_rwlock_t components_lock; /* see above */
  atomic_bool ready;                /* the components exist */
  atomic_bool opened;               /* this program has opened a session */
  weft_server *next;
};

/* The servers of this process: to find them by target, and to say goodbye at exit. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static weft_server *registry;

/* The process that registered the exit handler.  A forked child must not say goodbye. */
static pid_t registry_pid;

/* Says goodbye for a program that ends without destroying its servers. */
static void server_goodbye_at_exit(int code, void *none) {
  (void)none;
  if (getpid() != registry_pid || pthread_mutex_trylock(&registry_lock) != 0) return;
  for (weft_server *s = registry; s; s = s->next) {
    if (code != 0) weft__members_set_failed(s->members);
    weft__members_goodbye(s->members);
  }
  pthread_mutex_unlock(&registry_lock);
}

static void server_register(weft_server *s) {
  pthread_mutex_lock(&registry_lock);
  if (registry_pid != getpid()) on_exit(server_goodbye_at_exit, NULL); /* unlike atexit, it passes the exit code */
  registry_pid = getpid();
  s->next = registry;
  registry = s;
  pthread_mutex_unlock(&registry_lock);
}

static void server_unregister(weft_server *s) {
  pthread_mutex_lock(&registry_lock);
  for (weft_server **at = &registry; *at; at = &(*at)->next)
    if (*at == s) {
      *at = s->next;
      break;
    }
  pthread_mutex_unlock(&registry_lock);
}

weft_server *weft__server_find(const char *target) {
  weft_server *found = NULL;
  pthread_mutex_lock(&registry_lock);
  for (weft_server *s = registry; s && !found; s = s->next)
    if (strcmp(s->target, target) == 0) found = s;
  pthread_mutex_unlock(&registry_lock);
  return found;
}

/* ---- creation ---- */

static weft_err server_copy_string(char **to, const char *from) {
  if (from && !(*to = weft__strdup(from))) return WEFT_OOM;
  return WEFT_OK;
}

static weft_err server_copy_opts(weft_server *s, const server_opts *o) {
  WEFT_TRY(server_copy_string(&s->job, o->job));
  WEFT_TRY(server_copy_string(&s->bind, o->bind));
  WEFT_TRY(server_copy_string(&s->allow_dirs, o->allow_dirs));
  WEFT_TRY(server_copy_string(&s->token, o->security.token));
  WEFT_TRY(server_copy_string(&s->certificate, o->security.certificate));
  WEFT_TRY(server_copy_string(&s->key, o->security.key));
  WEFT_TRY(server_copy_string(&s->ca, o->security.ca));
  s->opts = *o;
  s->opts.job = s->job;
  s->opts.bind = s->bind;
  s->opts.allow_dirs = s->allow_dirs;
  s->opts.security = (security){s->token, s->certificate, s->key, s->ca};
  s->opts.session.filter = NULL; /* borrowed, and used by sessions only */
  s->opts.session.n_filter = 0;
  s->opts.session.config_text = NULL;
  return WEFT_OK;
}

static weft_err server_set_target(weft_server *s, int port) {
  char *target = weft__sprintf("grpc://localhost:%d", port);
  if (!target) return WEFT_OOM;
  weft__free(s->target);
  s->target = target;
  return WEFT_OK;
}

static weft_err server_check_task(const cluster *c, const server_opts *o, const char **address) {
  *address = weft__cluster_address(c, o->job, o->task);
  if (*address) return WEFT_OK;
  const cluster_job *j = weft__cluster_job(c, o->job);
  if (j)
    return weft__fail(WEFT_INTERNAL, "Task %d was not defined in job \"%s\", which has %d tasks", o->task, o->job,
                      j->n_task);
  text jobs = {0};
  for (int i = 0; i < c->n_job; i++) weft__text_printf(&jobs, "%s%s", i ? ", " : "", c->job[i].name);
  weft_err err = weft__fail(WEFT_INTERNAL, "Job \"%s\" was not defined in cluster, whose jobs are: %s", o->job,
                            weft__text_get(&jobs));
  weft__text_finish(&jobs);
  return err;
}

weft_err weft__server_create(weft_server **out, const cluster *c, const server_opts *opts) {
  const char *address;
  char host[WEFT_HOST_SIZE];
  int port;
  WEFT_TRY(server_check_task(c, opts, &address));
  WEFT_TRY(weft__address_split(address, host, &port));
  weft_server *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  s->pid = getpid();
  pthread_rwlock_init(&s->components_lock, NULL);
  weft_err err = weft__cluster_copy(&s->cluster, c);
  if (!err) err = server_copy_opts(s, opts);
  if (!err) err = server_set_target(s, port);
  if (!err)
    *out = s;
  else
    weft__server_destroy(s);
  if (!err) weft__task_name(s->name, sizeof s->name, s->job, opts->task);
  return err;
}

/* ---- the address to listen on ---- */

/* Finds out whether this host can bind the address (*own), and whether it is one that only this host reaches
 * (*loopback).  Returns the result of getaddrinfo. */
static int server_check_host(const char *host, bool *own, bool *loopback) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
  int failed = getaddrinfo(host, NULL, &hints, &found);
  *own = false;
  if (failed) return failed;
  *loopback = true;
  for (struct addrinfo *a = found; a; a = a->ai_next) {
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char shown[64] = "";
    if (getnameinfo(a->ai_addr, a->ai_addrlen, shown, sizeof shown, NULL, 0, NI_NUMERICHOST) == 0 &&
        !weft__host_is_loopback(shown))
      *loopback = false;
    if (fd >= 0 && bind(fd, a->ai_addr, a->ai_addrlen) == 0) *own = true;
    if (fd >= 0) close(fd);
  }
  freeaddrinfo(found);
  return 0;
}

/* Chooses the host and port to listen on, from the cluster or from `bind`. */
static weft_err server_choose_address(const weft_server *s, char host[WEFT_HOST_SIZE], int *port) {
  const char *listed = weft__cluster_address(&s->cluster, s->job, s->opts.task);
  bool loopback = false, own = false;
  WEFT_TRY(weft__address_split(listed, host, port));
  if (s->bind) return weft__address_split(s->bind, host, port);
  if (weft__cluster_is_loopback(&s->cluster)) {
    if (strcmp(host, "localhost") == 0) snprintf(host, WEFT_HOST_SIZE, "127.0.0.1");
    return WEFT_OK;
  }
  int failed = server_check_host(host, &own, &loopback);
  if (failed) /* listening on all interfaces would expose more than was asked for */
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "%s cannot listen on %s, its host in the cluster: the name does not resolve here: %s "
                      "(WEFT_BIND or weft serve --bind HOST:PORT says where to listen instead)",
                      s->name, listed, gai_strerror(failed));
  if (own && !loopback) return WEFT_OK;
  weft__log(LOG_WARNING,
            "%s of %s is not an address of this host that others reach: listening on all of them "
            "(WEFT_BIND=host:port chooses)",
            host, s->name);
  snprintf(host, WEFT_HOST_SIZE, "0.0.0.0");
  return WEFT_OK;
}

static void server_warn_if_open(const weft_server *s, const char *host, int port) {
  if (weft__host_is_loopback(host) || s->token || s->certificate) return;
  weft__log(LOG_WARNING,
            "%s listens on %s:%d without a token or TLS: anyone who reaches the port can run any graph here "
            "(set WEFT_TOKEN, or WEFT_TLS_CERT, WEFT_TLS_KEY and WEFT_TLS_CA)",
            s->name, host, port);
}

/* ---- incoming calls ---- */

static bool server_method_is_of(const char *method, const char *service) {
  return strncmp(method, service, strlen(service)) == 0;
}

/* Runs on threads of the transport and does not block. */
static void server_dispatch(void *arg, call *c) {
  weft_server *s = arg;
  const char *method = weft__call_method(c);
  if (!atomic_load(&s->ready))
    weft__call_respond(c, weft__fail(WEFT_UNAVAILABLE, "%s is starting", s->name), NULL);
  else if (server_method_is_of(method, "/tensorflow.WorkerService/") || server_method_is_of(method, "/weft.Worker/"))
    weft__worker_handle(s->worker, c);
  else if (server_method_is_of(method, "/tensorflow.MasterService/"))
    weft__master_handle(s->master, c);
  else if (strcmp(method, WEFT_REPORT_METHOD) == 0)
    weft__report_handle(&(report_source){s->task, s->peers, s->worker, s->members, s->master}, c);
  else
    weft__members_handle(s->members, c);
}

/* ---- hooks of the membership ---- */

/* Returns true if the components exist; they stay until server_release_components. */
static bool server_hold_components(weft_server *s) {
  pthread_rwlock_rdlock(&s->components_lock);
  if (atomic_load(&s->ready)) return true;
  pthread_rwlock_unlock(&s->components_lock);
  return false;
}

static void server_release_components(weft_server *s) { pthread_rwlock_unlock(&s->components_lock); }

static bool server_sessions_idle(void *arg) {
  weft_server *s = arg;
  int64_t last = 0;
  if (!server_hold_components(s)) return true;
  bool idle = weft__master_sessions(s->master, &last) == 0 || weft__clock_now_ns() - last >= IDLE_S * NS_PER_S;
  server_release_components(s);
  return idle;
}

static bool server_has_run(void *arg) {
  weft_server *s = arg;
  int64_t last = 0;
  if (!atomic_load(&s->opened) || !server_hold_components(s)) return false;
  weft__master_sessions(s->master, &last);
  server_release_components(s);
  return last != 0;
}

static int server_worker_sessions(void *arg) {
  weft_server *s = arg;
  if (!server_hold_components(s)) return 0;
  int n = weft__worker_sessions(s->worker);
  server_release_components(s);
  return n;
}

static void server_task_lost(void *arg, const char *name) {
  weft_server *s = arg;
  if (!server_hold_components(s)) return;
  weft__worker_task_lost(s->worker, name);
  server_release_components(s);
}

static void server_task_replaced(void *arg, const char *name, uint64_t incarnation) {
  weft_server *s = arg;
  if (!server_hold_components(s)) return;
  weft__worker_task_replaced(s->worker, name, incarnation);
  server_release_components(s);
}

/* ---- starting and stopping ---- */

static weft_err server_listen(weft_server *s) {
  char host[WEFT_HOST_SIZE], shown[WEFT_HOST_SIZE + 2];
  int port;
  WEFT_TRY(server_choose_address(s, host, &port));
  snprintf(shown, sizeof shown, strchr(host, ':') ? "[%s]" : "%s", host);
  listener_opts opts = {shown, port, s->opts.security};
  weft_err err = weft__listener_create(&s->listener, &opts, server_dispatch, s);
  if (err) return weft__fail_in(err, "%s", s->name);
  server_warn_if_open(s, host, weft__listener_port(s->listener));
  return server_set_target(s, weft__listener_port(s->listener));
}

/* Replaces a port of 0 in the cluster by the port that was bound. */
static weft_err server_note_port(weft_server *s) {
  char host[WEFT_HOST_SIZE];
  int port;
  char **listed = NULL;
  for (int i = 0; i < s->cluster.n_job; i++)
    for (int j = 0; j < s->cluster.job[i].n_task; j++)
      if (strcmp(s->cluster.job[i].name, s->job) == 0 && s->cluster.job[i].task[j].index == s->opts.task)
        listed = &s->cluster.job[i].task[j].address;
  if (!listed) return weft__fail(WEFT_INTERNAL, "%s is not in its own cluster", s->name);
  WEFT_TRY(weft__address_split(*listed, host, &port));
  if (port != 0) return WEFT_OK;
  char *address = weft__sprintf(strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, weft__listener_port(s->listener));
  if (!address) return WEFT_OOM;
  weft__free(*listed);
  *listed = address;
  return WEFT_OK;
}

static weft_err server_create_components(weft_server *s) {
  member_hooks hooks = {
      s, server_sessions_idle, server_has_run, server_worker_sessions, server_task_lost, server_task_replaced};
  WEFT_TRY(weft__task_create(&s->task, s->name, s->opts.session.intra_threads, s->opts.session.inter_threads));
  WEFT_TRY(weft__task_add_cpus(s->task, s->opts.session.cpus));
  WEFT_TRY(weft__task_add_gpus(s->task, &s->opts.session.gpu));
  WEFT_TRY(weft__peers_create(&s->peers, &s->cluster, s->name, &s->opts.security));
  WEFT_TRY(weft__members_create(&s->members, s->peers, s->task->device[0]->incarnation, s->opts.serve, &hooks));
  WEFT_TRY(weft__worker_create(&s->worker, s->task, s->peers));
  WEFT_TRY(weft__worker_set_collective_leader(s->worker, s->opts.session.collective_leader));
  return weft__master_create(&s->master, s->task, s->worker, s->peers);
}

/* Logs what TensorFlow's servers log; this task's own address appears as localhost. */
static void server_log_start(const weft_server *s) {
  for (int i = 0; i < s->cluster.n_job; i++) {
    const cluster_job *j = &s->cluster.job[i];
    text line = {0};
    for (int k = 0; k < j->n_task; k++) {
      bool own = strcmp(j->name, s->job) == 0 && j->task[k].index == s->opts.task;
      weft__text_printf(&line, "%s%d -> %s", k ? ", " : "", j->task[k].index,
                        own ? s->target + strlen("grpc://") : j->task[k].address);
    }
    weft__log(LOG_INFO, "Initialize GrpcChannelCache for job %s -> {%s}", j->name, weft__text_get(&line));
    weft__text_finish(&line);
  }
  weft__log(LOG_INFO, "Started server with target: %s", s->target);
}

/* Opens the status page on the address that calls use, as a number.  With TLS and without a token it is on loopback,
 * since the page itself is not encrypted. */
static weft_err server_open_page(weft_server *s) {
  char host[WEFT_HOST_SIZE];
  int port;
  if (!s->opts.status_port) return WEFT_OK;
  WEFT_TRY(server_choose_address(s, host, &port));
  bool local = weft__host_is_loopback(host) || (s->certificate && !s->token);
  if (local) snprintf(host, sizeof host, "%s", strchr(host, ':') ? "::1" : "127.0.0.1");
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  if (getaddrinfo(host, NULL, &hints, &found) == 0) {
    getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    freeaddrinfo(found);
  }
  page_opts opts = {host, s->opts.status_port, s->token, local};
  WEFT_TRY(weft__page_create(&s->page, &opts, &(report_source){s->task, s->peers, s->worker, s->members, s->master}));
  weft__log(LOG_INFO, "%s shows its status on http://%s:%d", s->name, local ? "localhost" : host,
            weft__page_port(s->page));
  if (!local && !s->token)
    weft__log(LOG_WARNING, "anyone who reaches port %d can read the status of this cluster (set WEFT_TOKEN)",
              weft__page_port(s->page));
  return WEFT_OK;
}

static bool server_is_busy(weft_server *s) {
  return weft__master_is_busy(s->master) || weft__worker_running(s->worker) > 0;
}

/* Cancels what runs here and waits until nothing runs.  Returns false if a kernel still uses the components. */
static bool server_cancel_work(weft_server *s) {
  if (!s->master) return true;
  int64_t deadline = weft__clock_now_ns() + STOP_S * NS_PER_S;
  weft__master_stop(s->master);
  weft__worker_stop(s->worker);
  while (server_is_busy(s) && weft__clock_now_ns() < deadline && weft__interrupt_pending() < 2)
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  return !server_is_busy(s);
}

static atomic_bool left_kernel;

bool weft__server_left_kernel(void) { return atomic_load(&left_kernel); }

/* Destroys the components.  Returns false if they are in use: they stay until the process ends. */
static bool server_stop(weft_server *s) {
  weft__page_destroy(s->page);
  s->page = NULL;
  pthread_rwlock_wrlock(&s->components_lock);
  atomic_store(&s->ready, false);
  pthread_rwlock_unlock(&s->components_lock);
  if (!server_cancel_work(s)) {
    atomic_store(&left_kernel, true);
    weft__log(LOG_ERROR,
              "%s leaves while a kernel still computes %d s after it was cancelled: its memory and port stay taken "
              "until the process ends",
              s->name, STOP_S);
    return false;
  }
  weft__listener_destroy(s->listener);
  weft__master_destroy(s->master);
  weft__worker_destroy(s->worker);
  weft__peers_destroy(s->peers);
  weft__members_destroy(s->members);
  weft__task_destroy(s->task);
  s->listener = NULL, s->master = NULL, s->worker = NULL, s->members = NULL, s->peers = NULL, s->task = NULL;
  return true;
}

/* The allowed directories hold for the whole process: the last server that has any sets them. */
static weft_err server_confine_files(const weft_server *s) {
  bool guarded = s->token || s->certificate;
  if (!s->allow_dirs && !guarded) return WEFT_OK;
  return weft__confine(s->allow_dirs ? s->allow_dirs : "");
}

static weft_err server_check_auth(const weft_server *s) {
  if (!s->opts.require_auth || s->token || s->certificate) return WEFT_OK;
  return weft__fail(WEFT_FAILED_PRECONDITION,
                    "%s does not start without a token or TLS, because WEFT_REQUIRE_AUTH is set (set WEFT_TOKEN, or "
                    "WEFT_TLS_CERT, WEFT_TLS_KEY and WEFT_TLS_CA)",
                    s->name);
}

weft_err weft__server_start(weft_server *s) {
  if (s->listener) return WEFT_OK;
  WEFT_TRY(server_check_auth(s));
  WEFT_TRY(server_confine_files(s));
  weft_err err = server_listen(s);
  if (!err) err = server_note_port(s);
  if (!err) err = server_create_components(s);
  if (!err) err = server_open_page(s);
  if (err) return server_stop(s), err;
  atomic_store(&s->ready, true);
  server_register(s);
  server_log_start(s);
  return WEFT_OK;
}

weft_err weft__server_join(weft_server *s) {
  if (!s->listener)
    return weft__fail(WEFT_FAILED_PRECONDITION, "%s cannot join before it has started (start the server first)",
                      s->name);
  weft_err err = weft__members_join(s->members);
  if (err != WEFT_CANCELLED) return err;
  char why[256];
  snprintf(why, sizeof why, "%s", weft__error_message());
  int64_t deadline = weft__clock_now_ns() + STOP_S * NS_PER_S;
  while (weft__worker_running(s->worker) > 0 && weft__interrupt_pending() < 2 && weft__clock_now_ns() < deadline)
    nanosleep(&(struct timespec){0, 10000000}, NULL);
  return weft__fail(WEFT_CANCELLED, "%s", why);
}

const char *weft__server_target(const weft_server *s) { return s->target; }
const cluster *weft__server_cluster(const weft_server *s) { return &s->cluster; }
const char *weft__server_job(const weft_server *s) { return s->job; }
int weft__server_task(const weft_server *s) { return s->opts.task; }

weft_err weft__server_open_session(weft_session **out, weft_server *s, weft_graph *g, const session_opts *opts) {
  if (!s->listener)
    return weft__fail(WEFT_FAILED_PRECONDITION, "%s has not been started (start the server first)", s->name);
  WEFT_TRY(weft__master_open(out, s->master, g, opts));
  atomic_store(&s->opened, true);
  return WEFT_OK;
}

void weft__server_set_chief(const char *target) {
  pthread_mutex_lock(&registry_lock);
  for (weft_server *s = registry; s; s = s->next)
    if (strcmp(s->target, target) == 0) weft__members_set_chief(s->members);
  pthread_mutex_unlock(&registry_lock);
}

void weft__server_set_failed(weft_server *s) {
  if (s->members) weft__members_set_failed(s->members);
}

void weft__server_destroy(weft_server *s) {
  if (!s || s->pid != getpid()) return; /* of the parent's: a forked child has none of its threads */
  server_unregister(s);
  if (s->members) weft__members_goodbye(s->members);
  if (!server_stop(s)) return;
  weft__cluster_finish(&s->cluster);
  pthread_rwlock_destroy(&s->components_lock);
  char *owned[] = {s->job, s->bind, s->target, s->allow_dirs, s->token, s->certificate, s->key, s->ca};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) weft__free(owned[i]);
  weft__free(s);
}
