/* member.c - keeps a record of every other task and decides when `join` may return.
 *
 * A record changes when a greeting arrives, when one of ours is answered, and when a third task reports a departure.
 * In `join` the other tasks are greeted again and again, so that nothing depends on a single message.  A TensorFlow
 * task does not understand greetings: it counts as left when its address has refused connections for 5 s and it has no
 * session here any more.
 *
 * The lock guards the records and this task's state.  Under it only the departure of a peer is set, which takes the
 * peer's lock.  The hooks are called without it, since they take locks of their own. */
#include "cluster/membership/member.h"
#include "cluster/membership/hosts.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "peer.pb-c.h"
#include <stdlib.h>
#include <string.h>

#define TF_LEFT_NS (5 * NS_PER_S)
#define EVALUATOR "/job:evaluator/" /* it only reads checkpoints, but TF_CONFIG may list it as a task */
enum { JOIN_TIMEOUT_S = 1800, REPORT_S = 60, GREET_MISSING_S = 1, GREET_KNOWN_S = 5 };
enum {
  GOODBYE_MS = 500,     /* how long a goodbye waits for an answer, and for a task that was never reached in all */
  GOODBYE_KNOWN_S = 5,  /* how long it is repeated for a task that answered lately: it may be busy or stopped */
  RECENTLY_LOST_S = 10, /* a task that was lost longer ago has ended or is unreachable */
};

typedef enum goodbye { GOODBYE_NONE, GOODBYE_PENDING, GOODBYE_SENT, GOODBYE_TIMED_OUT, GOODBYE_ENDED } goodbye;

typedef struct member_record {
  bool seen, present; /* has ever answered; answered the last greeting */
  bool is_tf;
  goodbye goodbye; /* whether it knows that this task leaves; ENDED: it answered or refused the connection */
  int64_t goodbye_until_ns;
  bool optional; /* an evaluator, which need not take part in the cluster */
  bool chief, may_return;
  bool told_hosts, warned;      /* it was told the list of hosts; its list was found to differ */
  uint64_t incarnation, former; /* former: that of the process before, if it was restarted */
  uint32_t given_up;            /* how often that process gave this task up as lost */
  member_state state;
  int64_t lost_ns, greeted_ns; /* since when it is not present; when `join` last greeted it */
  int64_t left_ns;             /* when it said goodbye */
} member_record;

struct members {
  peers *peers;
  const char *self;
  uint64_t incarnation;
  member_hooks hooks;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t changed;
  member_state state;
  bool any_ran, chief, may_return;
  member_record *record; /* by number of the peer */
};

/* ---- writing greetings ---- */

/* Returns the state of this task now.  Calls hooks, so the lock is not held. */
static member_state members_own_state(members *m) {
  bool idle = m->hooks.idle(m->hooks.arg), ran = m->hooks.ran(m->hooks.arg);
  pthread_mutex_lock(&m->lock);
  if (m->state == MEMBER_JOINING || m->state == MEMBER_JOINED) m->state = idle ? MEMBER_JOINED : MEMBER_JOINING;
  m->any_ran |= ran;
  member_state state = m->state;
  pthread_mutex_unlock(&m->lock);
  return state;
}

static const char *members_own_address(members *m) {
  peer *self;
  return weft__peers_find(m->peers, m->self, &self) == WEFT_OK ? weft__peer_address(self) : "";
}

/* Returns the list of hosts if the task has not been told it yet; the caller frees it. */
static char *members_hosts_for(members *m, const peer *to) {
  pthread_mutex_lock(&m->lock);
  member_record *r = &m->record[weft__peer_number(to)];
  bool told = r->told_hosts;
  r->told_hosts = true;
  pthread_mutex_unlock(&m->lock);
  return told ? NULL : weft__hosts_text(m->peers);
}

static weft_err members_write_hello(members *m, const peer *to, message *out) {
  member_state state = members_own_state(m);
  char *hosts = members_hosts_for(m, to);
  int n = weft__peers_count(m->peers);
  Weft__Hello hello = WEFT__HELLO__INIT;
  Weft__Departure *one = weft__alloc_zero((size_t)n, sizeof *one), **all = weft__alloc_zero((size_t)n, sizeof *all);
  weft_err err = one && all ? WEFT_OK : WEFT_OOM;
  if (!err) {
    hello.from = (char *)m->self;
    hello.to = (char *)weft__peer_task(to);
    hello.incarnation = m->incarnation;
    hello.address = (char *)(uintptr_t)members_own_address(m);
    hello.state = (int32_t)state;
    hello.version = (char *)WEFT_VERSION;
    if (hosts) hello.hosts = hosts;
    hello.given_up = weft__peer_given_up(to);
    hello.departed = all;
    pthread_mutex_lock(&m->lock);
    hello.ran = m->any_ran;
    hello.chief = m->chief;
    hello.may_return = m->may_return;
    for (int i = 0; i < n; i++)
      if (m->record[i].state == MEMBER_LEFT) {
        weft__departure__init(&one[i]);
        one[i].task = (char *)weft__peer_task(weft__peers_at(m->peers, i));
        one[i].incarnation = m->record[i].incarnation;
        one[i].ago_ms = (weft__clock_now_ns() - m->record[i].left_ns) / NS_PER_MS;
        one[i].chief = m->record[i].chief;
        one[i].may_return = m->record[i].may_return;
        all[hello.n_departed++] = &one[i];
      }
    pthread_mutex_unlock(&m->lock);
    err = weft__message_pack(out, &hello.base);
  }
  weft__free(hosts);
  weft__free(one);
  weft__free((void *)all);
  return err;
}

static weft_err members_on_greeting(void *arg, peer *to, message *hello) {
  members *m = arg;
  pthread_mutex_lock(&m->lock);
  member_record *r = &m->record[weft__peer_number(to)];
  if (r->goodbye == GOODBYE_PENDING) r->goodbye = GOODBYE_SENT;
  pthread_mutex_unlock(&m->lock);
  return members_write_hello(m, to, hello);
}

/* ---- reading greetings ---- */

static void member_record_set_present(member_record *r, bool present) {
  if (!present && (r->present || !r->lost_ns)) r->lost_ns = weft__clock_now_ns();
  r->present = present;
}

/* Tells the sessions that wait for the task whether it has left and will not come back.  The lock is held. */
static void members_publish_departure(peer *p, const member_record *r, bool counts) {
  bool gone = counts && r->state == MEMBER_LEFT && !r->may_return;
  weft__peer_set_departure(p, (peer_departure){gone ? r->left_ns : 0, r->chief});
}

/* Notes a departure that another task reports.  The lock is held.  from_bare_server: a bare server reports it, perhaps
 * from an earlier job.  Then `join` does not wait for the task, but sessions do, since it may be about to start. */
static void members_note_departure(members *m, const Weft__Departure *d, bool from_bare_server) {
  WEFT_ASSERT(weft__lock_is_held(&m->lock));
  peer *p;
  if (weft__peers_find(m->peers, d->task, &p) != WEFT_OK || weft__peer_is_self(p)) return;
  member_record *r = &m->record[weft__peer_number(p)];
  if (r->present && r->incarnation != d->incarnation) return; /* an earlier process of it */
  if (r->former == d->incarnation && r->former) return;
  if (r->state == MEMBER_LEFT && r->incarnation == d->incarnation && r->left_ns) { /* known */
    if (!from_bare_server) members_publish_departure(p, r, true);
    return;
  }
  r->seen = true;
  r->present = false;
  r->state = MEMBER_LEFT;
  r->incarnation = d->incarnation;
  r->chief = d->chief;
  r->may_return = d->may_return;
  r->left_ns = weft__clock_now_ns() - (d->ago_ms > 0 && d->ago_ms < INT64_C(1) << 40 ? d->ago_ms * NS_PER_MS : 0);
  members_publish_departure(p, r, !from_bare_server);
}

/* Warns once if the task that greets was started with other hosts than this one. */
static void members_compare_hosts(members *m, const peer *from, const char *theirs) {
  char me[WEFT_TASK_NAME_SIZE], them[WEFT_TASK_NAME_SIZE];
  char *mine = *theirs ? weft__hosts_text(m->peers) : NULL;
  if (!mine) return;
  weft__task_short(me, sizeof me, m->self);
  weft__task_short(them, sizeof them, weft__peer_task(from));
  if (weft__hosts_differ(mine, me, theirs, them)) {
    pthread_mutex_lock(&m->lock);
    member_record *r = &m->record[weft__peer_number(from)];
    bool warned = r->warned;
    r->warned = true;
    pthread_mutex_unlock(&m->lock);
    if (!warned)
      weft__log(LOG_WARNING,
                "%s was started with other hosts than %s: %s has %s, %s has %s (give all tasks the same lists)", them,
                me, them, theirs, me, mine);
  }
  weft__free(mine);
}

/* Updates the record of a task from its greeting.  Returns true if it is another process than before. */
static bool members_note_hello(members *m, peer *from, const Weft__Hello *h) {
  bool lost = false, restarted = false;
  uint64_t now = 0;
  members_compare_hosts(m, from, h->hosts);
  pthread_mutex_lock(&m->lock);
  member_record *r = &m->record[weft__peer_number(from)];
  if (r->state == MEMBER_LEFT && r->incarnation == h->incarnation) h = NULL; /* its goodbye arrived first */
  if (h) {
    restarted = r->incarnation && r->incarnation != h->incarnation;
    /* The peer gave this task up, so its calls have failed on its side.  After a cut connection they may still run
     * here, and would consume tensors and queue elements that are meant for later calls. */
    bool gave_up = r->incarnation == h->incarnation && h->given_up > r->given_up;
    lost = restarted || gave_up || h->state == MEMBER_LEFT;
    if (r->incarnation != h->incarnation || gave_up) r->given_up = h->given_up;
    now = h->state == MEMBER_LEFT ? 0 : h->incarnation;
    for (size_t i = 0; i < h->n_departed; i++) members_note_departure(m, h->departed[i], h->state == MEMBER_SERVING);
    r->seen = true;
    r->is_tf = false;
    if (restarted) r->former = r->incarnation;
    if (restarted) r->told_hosts = false;
    r->incarnation = h->incarnation;
    r->chief = h->chief;
    r->may_return = h->may_return;
    r->state = h->state < MEMBER_RUNNING || h->state > MEMBER_LEFT ? MEMBER_RUNNING : (member_state)h->state;
    r->left_ns = r->state == MEMBER_LEFT ? weft__clock_now_ns() : 0;
    members_publish_departure(from, r, true);
    member_record_set_present(r, r->state != MEMBER_LEFT);
    m->any_ran |= h->ran;
  }
  pthread_cond_broadcast(&m->changed);
  pthread_mutex_unlock(&m->lock);
  if (lost) m->hooks.lost(m->hooks.arg, weft__peer_task(from));
  if (lost) m->hooks.replaced(m->hooks.arg, weft__peer_task(from), now);
  return restarted;
}

/* Notes a greeting without a Hello in return: a TensorFlow task, or no answer. */
static void members_note_no_hello(members *m, peer *from, bool is_tf) {
  pthread_mutex_lock(&m->lock);
  member_record *r = &m->record[weft__peer_number(from)];
  member_record_set_present(r, is_tf);
  r->seen |= is_tf;
  if (is_tf) {
    r->is_tf = true;
    r->state = MEMBER_RUNNING;
  }
  pthread_cond_broadcast(&m->changed);
  pthread_mutex_unlock(&m->lock);
}

static void members_on_reply(void *arg, peer *from, weft_err err, message *answer) {
  members *m = arg;
  ProtobufCMessage *hello = NULL;
  if (err == WEFT_FAILED_PRECONDITION)
    weft__log(LOG_WARNING, "%s at %s: %s", weft__peer_task(from), weft__peer_address(from), weft__error_message());
  const bool timed_out = err == WEFT_DEADLINE_EXCEEDED;
  if (!err) err = weft__message_unpack(&hello, answer, &weft__hello__descriptor);
  if (err)
    members_note_no_hello(m, from, err == WEFT_UNIMPLEMENTED);
  else
    members_note_hello(m, from, (Weft__Hello *)hello);
  if (hello) protobuf_c_message_free_unpacked(hello, NULL);
  pthread_mutex_lock(&m->lock);
  member_record *r = &m->record[weft__peer_number(from)];
  if (r->goodbye == GOODBYE_SENT) r->goodbye = timed_out ? GOODBYE_TIMED_OUT : GOODBYE_ENDED;
  pthread_mutex_unlock(&m->lock);
}

static void members_on_lost(void *arg, peer *p) {
  members *m = arg;
  members_note_no_hello(m, p, false);
  m->hooks.lost(m->hooks.arg, weft__peer_task(p));
}

static bool address_same_port(const char *one, const char *other) {
  char host[WEFT_HOST_SIZE];
  int a, b;
  return weft__address_split(one, host, &a) != WEFT_OK || weft__address_split(other, host, &b) != WEFT_OK || a == b;
}

/* Returns true if a second process claims to be this task: one is present at the listed address, and the greeting
 * comes from another address.  Greets the first one, so that a task that moved is accepted once its old process is
 * gone. */
static bool members_is_duplicate(members *m, peer *from, const Weft__Hello *h) {
  pthread_mutex_lock(&m->lock);
  const member_record *r = &m->record[weft__peer_number(from)];
  bool taken = r->present && r->state != MEMBER_LEFT && r->incarnation && r->incarnation != h->incarnation;
  pthread_mutex_unlock(&m->lock);
  if (!taken || h->state == MEMBER_LEFT || address_same_port(h->address, weft__peer_address(from))) return false;
  weft__peer_greet(from, 0);
  return true;
}

static weft_err members_answer_hello(members *m, const Weft__Hello *h, message *answer) {
  peer *from;
  if (strcmp(h->to, m->self) != 0)
    return weft__fail(WEFT_FAILED_PRECONDITION, "this is %s, not %s: is it another cluster's?", m->self, h->to);
  WEFT_TRY(weft__peers_find(m->peers, h->from, &from));
  if (!weft__peer_is_self(from)) {
    if (members_is_duplicate(m, from, h))
      return weft__fail(WEFT_FAILED_PRECONDITION, "%s is another process, at %s: it cannot be at %s too", h->from,
                        weft__peer_address(from), h->address);
    bool restarted = members_note_hello(m, from, h);
    if (h->state != MEMBER_LEFT) weft__peer_note_greeting(from, restarted);
  }
  return members_write_hello(m, from, answer);
}

void weft__members_handle(members *m, call *c) {
  ProtobufCMessage *hello = NULL;
  message answer = {0};
  weft_err err = strcmp(weft__call_method(c), WEFT_HELLO_METHOD) == 0
                     ? weft__message_unpack(&hello, weft__call_request(c), &weft__hello__descriptor)
                     : weft__fail(WEFT_UNIMPLEMENTED, "%s is unknown", weft__call_method(c));
  if (!err) err = members_answer_hello(m, (Weft__Hello *)hello, &answer);
  if (hello) protobuf_c_message_free_unpacked(hello, NULL);
  weft__call_respond(c, err, &answer);
  weft__message_finish(&answer);
}

/* ---- states as text ---- */

const char *weft__member_state_name(member_state s) {
  static const char *const names[] = {"running", "serving", "idle", "serving", "done"};
  return s >= MEMBER_RUNNING && s <= MEMBER_LEFT ? names[s] : "unknown";
}

member_state weft__members_own_state(members *m) { return members_own_state(m); }

const char *weft__members_state_text(members *m, int i) {
  pthread_mutex_lock(&m->lock);
  const member_record r = m->record[i];
  pthread_mutex_unlock(&m->lock);
  if (r.state == MEMBER_LEFT) return weft__member_state_name(r.state);
  if (!r.present) return r.seen ? "lost" : "not seen";
  return r.is_tf ? "TensorFlow" : weft__member_state_name(r.state);
}

/* ---- creation ---- */

weft_err weft__members_create(members **out, peers *p, uint64_t incarnation, bool members_serve,
                              const member_hooks *hooks) {
  members *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&m->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&m->lock, NULL);
  m->peers = p;
  m->incarnation = incarnation;
  m->hooks = *hooks;
  m->state = members_serve ? MEMBER_SERVING : MEMBER_RUNNING;
  m->record = weft__alloc_zero((size_t)weft__peers_count(p) + 1, sizeof *m->record);
  if (!m->record) return weft__members_destroy(m), WEFT_OOM;
  for (int i = 0; i < weft__peers_count(p); i++) {
    const char *name = weft__peer_task(weft__peers_at(p, i));
    if (weft__peer_is_self(weft__peers_at(p, i))) m->self = name;
    m->record[i].optional = strncmp(name, EVALUATOR, sizeof EVALUATOR - 1) == 0;
  }
  weft__peers_set_hooks(p, &(peer_hooks){m, members_on_greeting, members_on_reply, members_on_lost});
  *out = m;
  return WEFT_OK;
}

void weft__members_destroy(members *m) {
  if (!m) return;
  pthread_cond_destroy(&m->changed);
  pthread_mutex_destroy(&m->lock);
  weft__free(m->record);
  weft__free(m);
}

/* ---- join ---- */

typedef struct join_status {
  bool done;
  bool only_missing; /* it waits only for tasks that are not present */
  text waiting;      /* the tasks it waits for, and why */
} join_status;

static const char *member_record_wait_reason(const member_record *r) {
  if (!r->seen) return "not seen yet";
  if (!r->present) return "lost";
  return r->state == MEMBER_JOINING ? "sessions at work" : "running";
}

/* Marks a TensorFlow task as left if it has been away long enough; it counts as one that ran a session.  The lock is
 * held. */
static void members_expire_tf(members *m, member_record *r, bool no_sessions, int64_t now) {
  if (!r->is_tf || r->present || r->state == MEMBER_LEFT || !no_sessions || now - r->lost_ns < TF_LEFT_NS) return;
  r->state = MEMBER_LEFT;
  m->any_ran = true;
}

static void members_check_join(members *m, member_state own, bool no_sessions, join_status *join) {
  int64_t now = weft__clock_now_ns();
  bool all_finished = own == MEMBER_JOINED, any_present = false, any_absent = false, any_busy = !all_finished;
  pthread_mutex_lock(&m->lock);
  for (int i = 0; i < weft__peers_count(m->peers); i++) {
    const peer *p = weft__peers_at(m->peers, i);
    member_record *r = &m->record[i];
    if (weft__peer_is_self(p) || (r->optional && !r->seen)) continue;
    members_expire_tf(m, r, no_sessions, now);
    bool finished = r->state >= MEMBER_JOINED; /* also if it is not present any more */
    all_finished &= finished;
    any_present |= r->present;
    any_absent |= r->state == MEMBER_LEFT || !r->present;
    any_busy |= !finished && r->present;
    if (!finished)
      weft__text_printf(&join->waiting, "%s%s (%s)", join->waiting.size ? ", " : "", weft__peer_task(p),
                        member_record_wait_reason(r));
  }
  join->done = all_finished && m->any_ran;
  join->only_missing = !join->done && !any_busy && any_absent && (m->any_ran || !any_present);
  pthread_mutex_unlock(&m->lock);
}

/* Greets the tasks whose state may have changed: missing ones every second, others every 5 s. */
static void members_greet_due(members *m, bool all) {
  int64_t now = weft__clock_now_ns();
  for (int i = 0; i < weft__peers_count(m->peers); i++) {
    peer *p = weft__peers_at(m->peers, i);
    pthread_mutex_lock(&m->lock);
    member_record *r = &m->record[i];
    bool known = r->present && !r->is_tf;
    bool due = all || now - r->greeted_ns >= (known ? GREET_KNOWN_S : GREET_MISSING_S) * NS_PER_S;
    bool greet = due && !weft__peer_is_self(p) && r->state != MEMBER_LEFT;
    if (greet) r->greeted_ns = now;
    pthread_mutex_unlock(&m->lock);
    if (greet) weft__peer_greet(p, 0);
  }
}

static int64_t members_join_timeout_ns(void) {
  const char *value = getenv("WEFT_JOIN_TIMEOUT");
  double seconds = value && *value ? strtod(value, NULL) : JOIN_TIMEOUT_S;
  return seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * (double)NS_PER_S) : 0;
}

static void members_wait(members *m) {
  struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
  pthread_mutex_lock(&m->lock);
  pthread_cond_timedwait(&m->changed, &m->lock, &until);
  pthread_mutex_unlock(&m->lock);
}

static weft_err members_serve(members *m) {
  while (weft__interrupt_pending() == 0) members_wait(m);
  return weft__fail(WEFT_CANCELLED, "interrupted while serving");
}

weft_err weft__members_join(members *m) {
  pthread_mutex_lock(&m->lock);
  bool bare = m->state == MEMBER_SERVING;
  if (!bare) m->state = MEMBER_JOINING;
  pthread_mutex_unlock(&m->lock);
  if (bare) return members_serve(m);
  const int64_t timeout = members_join_timeout_ns();
  int64_t missing_since = 0, reported = weft__clock_now_ns();
  member_state announced = MEMBER_RUNNING;
  metrics_wait seen = {0};
  for (;;) {
    member_state own = members_own_state(m);
    int64_t now = weft__clock_now_ns();
    join_status join = {0};
    members_check_join(m, own, m->hooks.worker_sessions(m->hooks.arg) == 0, &join);
    if (!join.only_missing) missing_since = 0;
    if (join.only_missing && !missing_since) missing_since = now;
    weft_err err = WEFT_OK;
    if (weft__interrupt_pending() > 0)
      err = weft__fail(WEFT_CANCELLED, "interrupted in join, waiting for %s", weft__text_get(&join.waiting));
    else if (!join.done && timeout && missing_since && now - missing_since > timeout)
      err = weft__fail(WEFT_DEADLINE_EXCEEDED, "join waited %lld s for %s (WEFT_JOIN_TIMEOUT)",
                       (long long)(timeout / NS_PER_S),
                       join.waiting.size ? weft__text_get(&join.waiting) : "a session to be run");
    else if (!join.done && now - reported > REPORT_S * NS_PER_S && join.waiting.size) {
      weft__log(LOG_INFO, "join still waiting for %s", weft__text_get(&join.waiting));
      reported = now;
    }
    if (join.waiting.size)
      weft__metrics_wait_begin(&seen, join.waiting.data);
    else
      weft__metrics_wait_end(&seen);
    weft__text_finish(&join.waiting);
    if (!err) members_greet_due(m, own != announced); /* also if done: the others need to know */
    if (err || join.done) {
      weft__metrics_wait_end(&seen);
      return err;
    }
    announced = own;
    members_wait(m);
  }
}

/* ---- goodbye ---- */

void weft__members_set_chief(members *m) {
  pthread_mutex_lock(&m->lock);
  m->chief = true;
  pthread_mutex_unlock(&m->lock);
}

void weft__members_set_failed(members *m) {
  pthread_mutex_lock(&m->lock);
  m->may_return = true;
  pthread_mutex_unlock(&m->lock);
}

/* Chooses whether a task is told that this one leaves, and until when.  The lock is held. */
static void member_record_begin_goodbye(member_record *r, int64_t now) {
  const bool recently_lost = r->seen && !r->present && now - r->lost_ns < RECENTLY_LOST_S * NS_PER_S;
  if (r->state == MEMBER_LEFT || r->is_tf || (r->seen && !r->present && !recently_lost)) return;
  r->goodbye = GOODBYE_TIMED_OUT; /* it is due */
  r->goodbye_until_ns = now + (r->seen ? GOODBYE_KNOWN_S * NS_PER_S : GOODBYE_MS * NS_PER_MS);
}

/* Sends each goodbye that is due or timed out.  Returns true if an answer is awaited. */
static bool members_send_goodbyes(members *m) {
  bool awaited = false;
  for (int i = 0; i < weft__peers_count(m->peers); i++) {
    pthread_mutex_lock(&m->lock);
    member_record *r = &m->record[i];
    const bool wanted =
        r->goodbye != GOODBYE_NONE && r->goodbye != GOODBYE_ENDED && weft__clock_now_ns() < r->goodbye_until_ns;
    const bool due = wanted && r->goodbye == GOODBYE_TIMED_OUT;
    if (due) r->goodbye = GOODBYE_PENDING;
    pthread_mutex_unlock(&m->lock);
    awaited |= wanted;
    if (due) weft__peer_greet(weft__peers_at(m->peers, i), GOODBYE_MS);
  }
  return awaited;
}

void weft__members_goodbye(members *m) {
  pthread_mutex_lock(&m->lock);
  bool already = m->state == MEMBER_LEFT;
  m->state = MEMBER_LEFT;
  m->may_return |= weft__interrupt_count() > 0; /* an orchestrator may have stopped it to move it */
  const int64_t now = weft__clock_now_ns();
  for (int i = 0; i < weft__peers_count(m->peers) && !already; i++)
    if (!weft__peer_is_self(weft__peers_at(m->peers, i))) member_record_begin_goodbye(&m->record[i], now);
  pthread_mutex_unlock(&m->lock);
  while (members_send_goodbyes(m) && weft__interrupt_pending() < 2) members_wait(m);
}
