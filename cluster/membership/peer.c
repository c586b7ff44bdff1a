/* peer.c - calls to other tasks, and the thread that notices when one falls silent.
 *
 * A call in flight has a cancel token of its own, chained to the caller's, so that it can be ended from
 * here.  The connection to a peer is a `line`: it is thrown away when the peer falls silent (what is sent
 * into a dead connection is retried for minutes) and exchanged for one with pings once the peer is known
 * to be Weft.  A line that nothing uses is destroyed by the health thread, since that may wait.
 *
 * A peer's lock guards everything in it and is held for moments only, never while something is called. */
#include "cluster/membership/peer.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/map.h"
#include <stdio.h>
#include <string.h>

enum { FIRST_LOOK_MS = 100, PING_MS = 400, SILENCE_MS = 1300, LATE_MS = 400 };
#define MS INT64_C(1000000)

typedef struct line {
  channel *channel;
  int refs; /* the peer's and each call's */
  struct line *next;
} line;

typedef struct flight { /* a call under way */
  peer *peer;
  line *line;
  cancel cancel;      /* what the transport watches */
  cancel *from;       /* the caller's, or NULL */
  cancel_watch watch; /* on it */
  bool waits;         /* until the peer is there: silence does not end it */
  bool asks_status;   /* a greeting that TensorFlow understands */
  const char *method; /* a literal */
  int64_t began_ns;
  rpc_callback *fn;
  void *arg;
  int refs; /* the ring's and, while it is being ended, the health thread's */
  struct flight *next, *prev;
} flight;

struct peer {
  peers *all;
  char task[WEFT_TASK_NAME_SIZE];
  char *address;
  int number;
  bool self;
  pthread_mutex_t lock; /* guards what follows */
  line *line;           /* NULL: not used so far, or thrown away */
  flight flights;       /* a ring */
  int n_flight, watched;
  peer_kind kind;
  bool greeting, again; /* a greeting is under way; another is wanted */
  int64_t again_ms;
  int64_t heard_ns, greeted_ns; /* when last; heard_ns is 0 while nobody is there */
  atomic_uint given_up;         /* needs no lock */
  peer_departure departure;
};

struct peers {
  security security;
  peer_hooks hooks;
  cancel closing; /* ends greetings */
  int n;
  peer *peer;
  map by_task;
  pthread_t thread;
  pthread_mutex_t lock; /* guards what follows; taken after a peer's */
  pthread_cond_t wake;
  bool stop, busy, started;
  int64_t ticked_ns, late_ns; /* when the health thread last looked, and when it last did so late: silence was ours */
  line *retired;
};

/* ---- making ---- */

static weft_err make_peer(peers *all, int i, const char *job, const cluster_task *t, const char *self) {
  peer *p = &all->peer[i];
  weft__task_name(p->task, sizeof p->task, job, t->index);
  p->all = all;
  p->number = i;
  p->self = strcmp(p->task, self) == 0;
  p->flights.next = p->flights.prev = &p->flights;
  p->address = weft__strdup(t->address);
  pthread_mutex_init(&p->lock, NULL);
  all->n++;
  return p->address ? weft__map_put(&all->by_task, p->task, p) : WEFT_OOM;
}

weft_err weft__peers_create(peers **out, const cluster *c, const char *self, const security *s) {
  peers *all = weft__alloc_zero(1, sizeof *all);
  if (!all) return WEFT_OOM;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&all->wake, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&all->lock, NULL);
  weft__cancel_init(&all->closing);
  if (s) all->security = *s;
  all->peer = weft__alloc_zero((size_t)weft__cluster_size(c) + 1, sizeof *all->peer);
  weft_err err = all->peer ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < c->n_job && !err; i++)
    for (int j = 0; j < c->job[i].n_task && !err; j++)
      err = make_peer(all, all->n, c->job[i].name, &c->job[i].task[j], self);
  if (err)
    weft__peers_destroy(all);
  else
    *out = all;
  return err;
}

void weft__peers_hook(peers *p, const peer_hooks *hooks) { p->hooks = *hooks; }

weft_err weft__peers_find(peers *all, const char *name, peer **out) {
  char task[WEFT_TASK_NAME_SIZE];
  const char *index = strstr(name, "/task:"), *end = index ? strchr(index + 1, '/') : NULL;
  size_t n = end ? (size_t)(end - name) : strlen(name);
  if (n < sizeof task) {
    memcpy(task, name, n);
    task[n] = 0;
    *out = weft__map_get(&all->by_task, task);
    if (*out) return WEFT_OK;
  }
  return weft__fail(WEFT_NOT_FOUND, "the cluster has no task '%.*s'", n > 200 ? 200 : weft__int_sat(n), name);
}

int weft__peers_count(const peers *p) { return p->n; }
peer *weft__peers_at(const peers *p, int i) { return &p->peer[i]; }
int weft__peer_number(const peer *p) { return p->number; }
const char *weft__peer_task(const peer *p) { return p->task; }
const char *weft__peer_address(const peer *p) { return p->address; }
bool weft__peer_is_self(const peer *p) { return p->self; }
unsigned weft__peer_given_up(const peer *p) { return atomic_load(&p->given_up); }

peer_kind weft__peer_kind(peer *p) {
  pthread_mutex_lock(&p->lock);
  peer_kind kind = p->kind;
  pthread_mutex_unlock(&p->lock);
  return kind;
}

/* ---- lines ---- */

/* The line a call goes by, with a reference.  The peer is locked. */
static weft_err take_line(peer *p, line **out) {
  if (!p->line) {
    line *l = weft__alloc_zero(1, sizeof *l);
    if (!l) return WEFT_OOM;
    channel_opts opts = {p->all->security, p->kind == PEER_WEFT};
    weft_err err = weft__channel_create(&l->channel, p->address, &opts);
    if (err) return weft__free(l), err;
    l->refs = 1;
    p->line = l;
  }
  p->line->refs++;
  *out = p->line;
  return WEFT_OK;
}

/* Gives a reference back; the last one hands the line to the health thread.  The peer is locked. */
static void drop_line(peer *p, line *l) {
  if (!l || --l->refs) return;
  pthread_mutex_lock(&p->all->lock);
  l->next = p->all->retired;
  p->all->retired = l;
  p->all->busy = true;
  pthread_cond_signal(&p->all->wake);
  pthread_mutex_unlock(&p->all->lock);
}

/* Later calls go by a new line.  The peer is locked. */
static void forget_line(peer *p) {
  drop_line(p, p->line);
  p->line = NULL;
}

static void set_kind(peer *p, peer_kind kind) {
  if (kind == p->kind) return;
  p->kind = kind;
  if (kind == PEER_WEFT) forget_line(p); /* the next has pings */
}

void weft__peer_met(peer *p, bool restarted) {
  pthread_mutex_lock(&p->lock);
  if (restarted) forget_line(p); /* it may be waiting to connect again, and calls would be refused meanwhile */
  set_kind(p, PEER_WEFT);
  pthread_mutex_unlock(&p->lock);
}

/* ---- the health thread ---- */

static void *health(void *arg);

/* Sees to it that the health thread runs and looks. */
static void wake_health(peers *all) {
  pthread_mutex_lock(&all->lock);
  if (!all->started && !all->stop) all->started = pthread_create(&all->thread, NULL, health, all) == 0;
  if (!all->busy) pthread_cond_signal(&all->wake);
  all->busy = true;
  pthread_mutex_unlock(&all->lock);
}

static void drop_flight(flight *f) {
  if (--f->refs) return;
  weft__cancel_finish(&f->cancel);
  weft__free(f);
}

/* Ends the calls under way; those that wait for the peer to come only if `waiting_too`. */
static void fire_flights(peer *p, bool waiting_too, weft_err code, const char *why) {
  flight *some[64];
  bool more = true;
  pthread_mutex_lock(&p->lock);
  while (more) {
    int n = 0;
    more = false;
    for (flight *f = p->flights.next; f != &p->flights && !more; f = f->next) {
      if ((f->waits && !waiting_too) || weft__cancel_fired(&f->cancel)) continue;
      more = n == 64;
      if (more) continue;
      f->refs++;
      some[n++] = f;
    }
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < n; i++) weft__cancel_fire(&some[i]->cancel, code, "%s at %s: %s", p->task, p->address, why);
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < n; i++) drop_flight(some[i]);
  }
  pthread_mutex_unlock(&p->lock);
}

/* A peer fell silent or went away: its calls end, on whatever line they went, and its connection is left. */
static void leave(peer *p, bool was_there, const char *why) {
  pthread_mutex_lock(&p->lock);
  forget_line(p);
  if (was_there) atomic_fetch_add(&p->given_up, 1);
  pthread_mutex_unlock(&p->lock);
  fire_flights(p, was_there, WEFT_UNAVAILABLE, was_there ? "it does not answer any more" : why);
  if (was_there && p->all->hooks.died) p->all->hooks.died(p->all->hooks.arg, p);
}

/* Greets those that something waits for.  How long until the next is due, in ns; -1: nobody is needed. */
static int64_t ping_all(peers *all, int64_t now) {
  int64_t wait = -1;
  for (int i = 0; i < all->n; i++) {
    peer *p = &all->peer[i];
    pthread_mutex_lock(&p->lock);
    bool needed = !p->self && (p->n_flight > 0 || p->watched > 0);
    int64_t last = p->heard_ns > p->greeted_ns ? p->heard_ns : p->greeted_ns, left = last + PING_MS * MS - now;
    bool due = needed && !p->greeting && left <= 0;
    pthread_mutex_unlock(&p->lock);
    if (left <= 0) left = PING_MS * MS;
    if (needed && (wait < 0 || left < wait)) wait = left;
    if (due) weft__peer_greet(p, 0);
  }
  return wait;
}

static void destroy_line(line *l) {
  weft__channel_destroy(l->channel);
  weft__free(l);
}

static void destroy_lines(line *l) {
  while (l) {
    line *next = l->next;
    destroy_line(l);
    l = next;
  }
}

static void *health(void *arg) {
  peers *all = arg;
  int64_t wait = FIRST_LOOK_MS * MS; /* if busy */
  pthread_mutex_lock(&all->lock);
  while (!all->stop) {
    struct timespec until = weft__clock_deadline(all->busy ? wait : -1);
    int64_t before = weft__clock_now_ns();
    bool was_busy = all->busy;
    pthread_cond_timedwait(&all->wake, &all->lock, &until);
    int64_t now = weft__clock_now_ns();
    if (was_busy && now - before > wait + LATE_MS * MS) all->late_ns = now;
    all->ticked_ns = now;
    if (all->stop) break;
    line *retired = all->retired;
    all->retired = NULL;
    all->busy = false; /* whoever comes from now on says so again */
    pthread_mutex_unlock(&all->lock);
    destroy_lines(retired);
    int64_t next = ping_all(all, now);
    pthread_mutex_lock(&all->lock);
    wait = next < 0 ? FIRST_LOOK_MS * MS : next;
    all->busy |= next >= 0;
  }
  pthread_mutex_unlock(&all->lock);
  return NULL;
}

/* ---- greetings ---- */

static void greeted(void *arg, weft_err err, message *reply);

static void send_greeting(peer *p, int64_t timeout_ms) {
  message hello = {0};
  line *l = NULL;
  pthread_mutex_lock(&p->lock);
  peer_kind kind = p->kind;
  weft_err err = take_line(p, &l);
  p->greeted_ns = weft__clock_now_ns();
  pthread_mutex_unlock(&p->lock);
  if (!err && kind != PEER_TF && p->all->hooks.say) err = p->all->hooks.say(p->all->hooks.arg, p, &hello);
  flight *f = err ? NULL : weft__alloc_zero(1, sizeof *f);
  if (!f) { /* no memory: as if nobody answered */
    weft__message_finish(&hello);
    pthread_mutex_lock(&p->lock);
    drop_line(p, l);
    p->greeting = false;
    pthread_mutex_unlock(&p->lock);
    return;
  }
  *f = (flight){.peer = p, .line = l, .asks_status = kind == PEER_TF};
  call_opts opts = {.timeout_ms = timeout_ms ? timeout_ms : SILENCE_MS, .only_grpc = true, .cancel = &p->all->closing};
  weft__channel_call(l->channel, f->asks_status ? "/tensorflow.WorkerService/GetStatus" : WEFT_HELLO_METHOD, &hello,
                     &opts, greeted, f);
}

/* What the answer says of the peer; true: there is nobody, or not any more.  The peer is locked. */
static bool judge(peer *p, const flight *f, weft_err err) {
  if (err != WEFT_UNAVAILABLE && err != WEFT_DEADLINE_EXCEEDED) { /* whatever it says, it lives */
    p->heard_ns = weft__clock_now_ns();
    if (err == WEFT_OK) set_kind(p, f->asks_status ? PEER_TF : PEER_WEFT);
    if (err == WEFT_UNIMPLEMENTED) set_kind(p, PEER_TF);
    return false;
  }
  peers *all = p->all;
  pthread_mutex_lock(&all->lock); /* were we asleep ourselves? */
  bool ours = all->late_ns > p->greeted_ns ||
              (all->started && all->busy && weft__clock_now_ns() - all->ticked_ns > (PING_MS + LATE_MS) * MS);
  pthread_mutex_unlock(&all->lock);
  if (ours || p->heard_ns > p->greeted_ns) return false;
  p->kind = PEER_UNKNOWN;                                   /* another program may come back in its place */
  return p->heard_ns != 0 || err == WEFT_DEADLINE_EXCEEDED; /* a connection that is refused ends its calls by itself */
}

static void greeted(void *arg, weft_err err, message *reply) {
  flight *f = arg;
  peer *p = f->peer;
  peers *all = p->all;
  char why[256]; /* the step that failed: resolve, connect or the greeting itself */
  snprintf(why, sizeof why, "no answer yet: %s", err ? weft__error_message() : "");
  pthread_mutex_lock(&p->lock);
  bool was_status = f->asks_status, lost = judge(p, f, err), was_there = p->heard_ns != 0;
  if (lost) p->heard_ns = 0;
  drop_line(p, f->line);
  int64_t timeout_ms = p->again_ms;
  bool again = p->again && !weft__cancel_fired(&all->closing);
  p->greeting = again;
  p->again = false;
  pthread_mutex_unlock(&p->lock);
  weft__free(f);
  if (all->hooks.heard && was_status && err == WEFT_OK)
    err = weft__fail(WEFT_UNIMPLEMENTED, "%s is TensorFlow", p->task);
  if (all->hooks.heard) all->hooks.heard(all->hooks.arg, p, err, err == WEFT_OK ? reply : NULL);
  if (lost) leave(p, was_there, why);
  if (again) send_greeting(p, timeout_ms);
}

void weft__peer_greet(peer *p, int64_t timeout_ms) {
  pthread_mutex_lock(&p->lock);
  bool under_way = p->greeting;
  if (under_way) {
    p->again = true;
    p->again_ms = timeout_ms;
  }
  p->greeting = true;
  pthread_mutex_unlock(&p->lock);
  if (!under_way) send_greeting(p, timeout_ms);
}

void weft__peers_greet_all(peer *of) {
  for (int i = 0; i < of->all->n; i++)
    if (!of->all->peer[i].self) weft__peer_greet(&of->all->peer[i], 0);
}

void weft__peer_set_departure(peer *p, peer_departure d) {
  pthread_mutex_lock(&p->lock);
  p->departure = d;
  pthread_mutex_unlock(&p->lock);
}

peer_departure weft__peer_departed(peer *p) {
  pthread_mutex_lock(&p->lock);
  peer_departure d = p->departure;
  pthread_mutex_unlock(&p->lock);
  return d;
}

void weft__peer_watch(peer *p, int change) {
  pthread_mutex_lock(&p->lock);
  p->watched += change;
  pthread_mutex_unlock(&p->lock);
  if (change > 0) wake_health(p->all);
}

/* ---- calls ---- */

/* The reference: a transport that answers at once must not take the token away while it fires. */
static void pass_on_cancel(void *arg) {
  flight *f = arg;
  peer *p = f->peer;
  weft_err code = weft__cancel_raise(f->from);
  pthread_mutex_lock(&p->lock);
  f->refs++;
  pthread_mutex_unlock(&p->lock);
  weft__cancel_fire(&f->cancel, code, "%s", weft__error_message());
  pthread_mutex_lock(&p->lock);
  drop_flight(f);
  pthread_mutex_unlock(&p->lock);
}

static void landed(void *arg, weft_err err, message *reply) {
  flight *f = arg;
  peer *p = f->peer;
  bool refused = err == WEFT_UNAVAILABLE && !weft__cancel_fired(&f->cancel);
  if (f->from) weft__cancel_watch_remove(f->from, &f->watch);
  if (refused) weft__fail_in(err, "%s", p->task);
  f->fn(f->arg, err, reply);
  pthread_mutex_lock(&p->lock);
  if (err == WEFT_OK && p->line == f->line) p->heard_ns = weft__clock_now_ns();
  bool doubtful = refused && p->heard_ns && !p->greeting && !p->self; /* is it gone, or only busy losing another? */
  f->prev->next = f->next;
  f->next->prev = f->prev;
  if (!doubtful) p->n_flight--; /* else the last thing: until then the peer stays */
  drop_line(p, f->line);
  drop_flight(f);
  pthread_mutex_unlock(&p->lock);
  if (!doubtful) return;
  weft__peer_greet(p, 0);
  pthread_mutex_lock(&p->lock);
  p->n_flight--;
  pthread_mutex_unlock(&p->lock);
}

/* Lists the call; `first`: nothing is known of the peer yet. */
static weft_err take_off(peer *p, flight *f, bool *first) {
  pthread_mutex_lock(&p->lock);
  weft_err err = take_line(p, &f->line);
  if (!err) {
    *first = p->kind == PEER_UNKNOWN && !p->greeting && !p->self;
    f->next = &p->flights;
    f->prev = p->flights.prev;
    f->prev->next = f->next->prev = f;
    p->n_flight++;
  }
  pthread_mutex_unlock(&p->lock);
  return err;
}

void weft__peer_call(peer *p, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                     void *arg) {
  flight *f = weft__alloc_zero(1, sizeof *f);
  bool first = false;
  weft_err err = f ? WEFT_OK : WEFT_OOM;
  if (f) {
    *f = (flight){.peer = p, .method = method, .began_ns = weft__clock_now_ns(), .fn = fn, .arg = arg, .refs = 1};
    weft__cancel_init(&f->cancel);
    f->from = opts ? opts->cancel : NULL;
    f->waits = opts && opts->wait_for_ready;
    if (f->from) err = weft__cancel_watch_add(f->from, &f->watch, pass_on_cancel, f);
    if (err) f->from = NULL;
    if (!err) err = take_off(p, f, &first);
  }
  if (err) {
    weft__message_finish(request);
    if (f && f->from) weft__cancel_watch_remove(f->from, &f->watch);
    fn(arg, err, NULL);
    if (f) drop_flight(f);
    return;
  }
  call_opts own = {.timeout_ms = opts ? opts->timeout_ms : 0,
                   .wait_for_ready = f->waits,
                   .more = opts && opts->more,
                   .cancel = &f->cancel};
  channel *c = f->line->channel; /* f may be gone before the call returns */
  weft__channel_call(c, method, request, &own, landed, f);
  wake_health(p->all);
  if (first) weft__peer_greet(p, 0);
}

void weft__peer_flush(peer *p) {
  pthread_mutex_lock(&p->lock);
  if (p->line) weft__channel_flush(p->line->channel); /* what an older one held ends with its connection */
  pthread_mutex_unlock(&p->lock);
}

/* Calls are listed in the order in which they began. */
bool weft__peer_oldest(peer *p, int64_t *began_ns, const char **method) {
  pthread_mutex_lock(&p->lock);
  const flight *f = p->flights.next;
  bool any = f != &p->flights;
  if (any) *began_ns = f->began_ns, *method = f->method;
  pthread_mutex_unlock(&p->lock);
  return any;
}

/* ---- unmaking ---- */

static void stop_health(peers *all) {
  pthread_mutex_lock(&all->lock);
  all->stop = true;
  bool started = all->started;
  pthread_cond_signal(&all->wake);
  pthread_mutex_unlock(&all->lock);
  if (started) pthread_join(all->thread, NULL);
}

/* Ends what is under way to a peer and waits until it has ended: the transport answers every call. */
static void settle(peer *p) {
  for (bool quiet = false; !quiet;) {
    fire_flights(p, true, WEFT_CANCELLED, "the server is being shut down");
    pthread_mutex_lock(&p->lock);
    quiet = p->n_flight == 0 && !p->greeting;
    pthread_mutex_unlock(&p->lock);
    if (!quiet) nanosleep(&(struct timespec){0, MS}, NULL);
  }
}

void weft__peers_destroy(peers *all) {
  if (!all) return;
  stop_health(all);
  weft__cancel_fire(&all->closing, WEFT_CANCELLED, "the server is being shut down");
  for (int i = 0; i < all->n; i++) settle(&all->peer[i]);
  for (int i = 0; i < all->n; i++)
    if (all->peer[i].line) destroy_line(all->peer[i].line);
  destroy_lines(all->retired);
  for (int i = 0; i < all->n; i++) {
    weft__free(all->peer[i].address);
    pthread_mutex_destroy(&all->peer[i].lock);
  }
  weft__map_finish(&all->by_task);
  weft__cancel_finish(&all->closing);
  pthread_cond_destroy(&all->wake);
  pthread_mutex_destroy(&all->lock);
  weft__free(all->peer);
  weft__free(all);
}
