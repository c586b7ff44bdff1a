/* member.c - keeps a record of every other task and decides when `join` may return.
 *
 * A record changes when a greeting comes in, when one of ours is answered, and when a third task tells of
 * a departure.  In `join` the others are asked again and again, so nothing depends on one message
 * arriving.  A TensorFlow task does not understand greetings: it has left when its address refuses
 * connections for 5 s and the sessions it had here are gone. */
#include "cluster/membership/member.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "peer.pb-c.h"
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define GONE_AFTER (5 * SECOND)
#define EVALUATOR "/job:evaluator/" /* TensorFlow's: it reads checkpoints, and TF_CONFIG may list it all the same */
enum { GOODBYE_MS = 500, JOIN_TIMEOUT_S = 1800, REPORT_S = 60, ASK_MISSING_S = 1, ASK_KNOWN_S = 5 };

typedef enum goodbye { GOODBYE_NONE, GOODBYE_WANTED, GOODBYE_SAID, GOODBYE_HEARD } goodbye;

typedef struct record {
  bool seen, there; /* ever; when last asked */
  bool is_tf;
  goodbye goodbye; /* has it been told that we leave? */
  bool optional;   /* an evaluator, which need not be a task of the cluster at all */
  bool chief, may_return;
  uint64_t incarnation, former; /* the one before, if it was restarted */
  uint32_t given_up;            /* how often this process has given us up */
  member_state state;
  int64_t lost_ns, asked_ns; /* since when it is not there; when it was last asked */
  int64_t left_ns;           /* when it said goodbye */
} record;

struct members {
  peers *peers;
  const char *self;
  uint64_t incarnation;
  member_hooks hooks;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t news;
  member_state state;
  bool somebody_ran, chief, may_return;
  record *record; /* by the peer's number */
};

/* ---- what a greeting says ---- */

/* Computed without the lock: the hooks have their own. */
static member_state own_state(members *m) {
  bool idle = m->hooks.idle(m->hooks.arg), ran = m->hooks.ran(m->hooks.arg);
  pthread_mutex_lock(&m->lock);
  if (m->state == MEMBER_JOINING || m->state == MEMBER_JOINED) m->state = idle ? MEMBER_JOINED : MEMBER_JOINING;
  m->somebody_ran |= ran;
  member_state state = m->state;
  pthread_mutex_unlock(&m->lock);
  return state;
}

static const char *own_address(members *m) {
  peer *self;
  return weft__peers_find(m->peers, m->self, &self) == WEFT_OK ? weft__peer_address(self) : "";
}

static weft_err write_hello(members *m, const peer *to, message *out) {
  member_state state = own_state(m);
  int n = weft__peers_count(m->peers);
  Weft__Hello hello = WEFT__HELLO__INIT;
  Weft__Departure *one = weft__alloc_zero((size_t)n, sizeof *one), **all = weft__alloc_zero((size_t)n, sizeof *all);
  weft_err err = one && all ? WEFT_OK : WEFT_OOM;
  if (!err) {
    hello.from = (char *)m->self;
    hello.to = (char *)weft__peer_task(to);
    hello.incarnation = m->incarnation;
    hello.address = (char *)(uintptr_t)own_address(m);
    hello.state = (int32_t)state;
    hello.version = (char *)WEFT_VERSION;
    hello.given_up = weft__peer_given_up(to);
    hello.departed = all;
    pthread_mutex_lock(&m->lock);
    hello.ran = m->somebody_ran;
    hello.chief = m->chief;
    hello.may_return = m->may_return;
    for (int i = 0; i < n; i++)
      if (m->record[i].state == MEMBER_LEFT) {
        weft__departure__init(&one[i]);
        one[i].task = (char *)weft__peer_task(weft__peers_at(m->peers, i));
        one[i].incarnation = m->record[i].incarnation;
        one[i].ago_ms = (weft__clock_now_ns() - m->record[i].left_ns) / 1000000;
        one[i].chief = m->record[i].chief;
        one[i].may_return = m->record[i].may_return;
        all[hello.n_departed++] = &one[i];
      }
    pthread_mutex_unlock(&m->lock);
    err = weft__message_pack(out, &hello.base);
  }
  weft__free(one);
  weft__free((void *)all);
  return err;
}

static weft_err say(void *arg, peer *to, message *hello) {
  members *m = arg;
  pthread_mutex_lock(&m->lock);
  record *r = &m->record[weft__peer_number(to)];
  if (r->goodbye == GOODBYE_WANTED) r->goodbye = GOODBYE_SAID;
  pthread_mutex_unlock(&m->lock);
  return write_hello(m, to, hello);
}

/* ---- what is heard ---- */

static void set_there(record *r, bool there) {
  if (!there && (r->there || !r->lost_ns)) r->lost_ns = weft__clock_now_ns();
  r->there = there;
}

/* Tells the sessions that wait for the task whether it has left for good.  The lock is held. */
static void publish_departure(peer *p, const record *r, bool counts) {
  bool gone = counts && r->state == MEMBER_LEFT && !r->may_return;
  weft__peer_set_departure(p, (peer_departure){gone ? r->left_ns : 0, r->chief});
}

/* by_pool: a bare server says so, which has served jobs before this one: its word tells who need not be waited for in
 * `join`, but a session waits for the task, which may be about to start. */
static void note_departure(members *m, const Weft__Departure *d, bool by_pool) {
  peer *p;
  if (weft__peers_find(m->peers, d->task, &p) != WEFT_OK || weft__peer_is_self(p)) return;
  record *r = &m->record[weft__peer_number(p)];
  if (r->there && r->incarnation != d->incarnation) return; /* an earlier life of it */
  if (r->former == d->incarnation && r->former) return;
  if (r->state == MEMBER_LEFT && r->incarnation == d->incarnation && r->left_ns) { /* known */
    if (!by_pool) publish_departure(p, r, true);
    return;
  }
  r->seen = true;
  r->there = false;
  r->state = MEMBER_LEFT;
  r->incarnation = d->incarnation;
  r->chief = d->chief;
  r->may_return = d->may_return;
  r->left_ns = weft__clock_now_ns() - (d->ago_ms > 0 && d->ago_ms < INT64_C(1) << 40 ? d->ago_ms * 1000000 : 0);
  publish_departure(p, r, !by_pool);
}

/* True: it is another process than the one we knew. */
static bool note_hello(members *m, peer *from, const Weft__Hello *h) {
  bool lost = false, restarted = false;
  uint64_t now = 0;
  pthread_mutex_lock(&m->lock);
  record *r = &m->record[weft__peer_number(from)];
  if (r->state == MEMBER_LEFT && r->incarnation == h->incarnation) h = NULL; /* overtaken by its goodbye */
  if (h) {
    restarted = r->incarnation && r->incarnation != h->incarnation;
    /* Its calls have failed there, but a connection that was cut may not have told us so: they would go on here, and take
     * what is meant for their successors. */
    bool gave_up = r->incarnation == h->incarnation && h->given_up > r->given_up;
    lost = restarted || gave_up || h->state == MEMBER_LEFT;
    if (r->incarnation != h->incarnation || gave_up) r->given_up = h->given_up;
    now = h->state == MEMBER_LEFT ? 0 : h->incarnation;
    for (size_t i = 0; i < h->n_departed; i++) note_departure(m, h->departed[i], h->state == MEMBER_SERVING);
    r->seen = true;
    r->is_tf = false;
    if (restarted) r->former = r->incarnation;
    r->incarnation = h->incarnation;
    r->chief = h->chief;
    r->may_return = h->may_return;
    r->state = h->state < MEMBER_RUNNING || h->state > MEMBER_LEFT ? MEMBER_RUNNING : (member_state)h->state;
    r->left_ns = r->state == MEMBER_LEFT ? weft__clock_now_ns() : 0;
    publish_departure(from, r, true);
    set_there(r, r->state != MEMBER_LEFT);
    m->somebody_ran |= h->ran;
  }
  pthread_cond_broadcast(&m->news);
  pthread_mutex_unlock(&m->lock);
  if (lost) m->hooks.lost(m->hooks.arg, weft__peer_task(from));
  if (lost) m->hooks.replaced(m->hooks.arg, weft__peer_task(from), now);
  return restarted;
}

/* A greeting that brought no hello: a TensorFlow task, or nobody. */
static void note_silence(members *m, peer *from, bool is_tf) {
  pthread_mutex_lock(&m->lock);
  record *r = &m->record[weft__peer_number(from)];
  set_there(r, is_tf);
  r->seen |= is_tf;
  if (is_tf) {
    r->is_tf = true;
    r->state = MEMBER_RUNNING;
  }
  pthread_cond_broadcast(&m->news);
  pthread_mutex_unlock(&m->lock);
}

static void heard(void *arg, peer *from, weft_err err, message *answer) {
  members *m = arg;
  ProtobufCMessage *hello = NULL;
  if (err == WEFT_FAILED_PRECONDITION)
    weft__log(LOG_WARNING, "%s at %s: %s", weft__peer_task(from), weft__peer_address(from), weft__error_message());
  if (!err) err = weft__message_unpack(&hello, answer, &weft__hello__descriptor);
  if (err)
    note_silence(m, from, err == WEFT_UNIMPLEMENTED);
  else
    note_hello(m, from, (Weft__Hello *)hello);
  if (hello) protobuf_c_message_free_unpacked(hello, NULL);
  pthread_mutex_lock(&m->lock);
  record *r = &m->record[weft__peer_number(from)];
  if (r->goodbye == GOODBYE_SAID) r->goodbye = GOODBYE_HEARD;
  pthread_mutex_unlock(&m->lock);
}

static void died(void *arg, peer *p) {
  members *m = arg;
  note_silence(m, p, false);
  m->hooks.lost(m->hooks.arg, weft__peer_task(p));
}

static bool same_port(const char *one, const char *other) {
  char host[WEFT_HOST_SIZE];
  int a, b;
  return weft__address_split(one, host, &a) != WEFT_OK || weft__address_split(other, host, &b) != WEFT_OK || a == b;
}

/* Two processes for one seat: another is there, at the address that is listed, and this one has a different one.  Whether
 * the first is still there is asked, so that one that moved is let in once the old one is gone. */
static bool is_twin(members *m, peer *from, const Weft__Hello *h) {
  pthread_mutex_lock(&m->lock);
  const record *r = &m->record[weft__peer_number(from)];
  bool taken = r->there && r->state != MEMBER_LEFT && r->incarnation && r->incarnation != h->incarnation;
  pthread_mutex_unlock(&m->lock);
  if (!taken || h->state == MEMBER_LEFT || same_port(h->address, weft__peer_address(from))) return false;
  weft__peer_greet(from, 0);
  return true;
}

static weft_err answer_hello(members *m, const Weft__Hello *h, message *answer) {
  peer *from;
  if (strcmp(h->to, m->self) != 0)
    return weft__fail(WEFT_FAILED_PRECONDITION, "this is %s, not %s: is it another cluster's?", m->self, h->to);
  WEFT_TRY(weft__peers_find(m->peers, h->from, &from));
  if (!weft__peer_is_self(from)) {
    if (is_twin(m, from, h))
      return weft__fail(WEFT_FAILED_PRECONDITION, "%s is another process, at %s: it cannot be at %s too", h->from,
                        weft__peer_address(from), h->address);
    bool restarted = note_hello(m, from, h);
    if (h->state != MEMBER_LEFT) weft__peer_met(from, restarted);
  }
  return write_hello(m, from, answer);
}

void weft__member_handle(members *m, call *c) {
  ProtobufCMessage *hello = NULL;
  message answer = {0};
  weft_err err = strcmp(weft__call_method(c), WEFT_HELLO_METHOD) == 0
                     ? weft__message_unpack(&hello, weft__call_request(c), &weft__hello__descriptor)
                     : weft__fail(WEFT_UNIMPLEMENTED, "%s is unknown", weft__call_method(c));
  if (!err) err = answer_hello(m, (Weft__Hello *)hello, &answer);
  if (hello) protobuf_c_message_free_unpacked(hello, NULL);
  weft__call_respond(c, err, &answer);
  weft__message_finish(&answer);
}

/* ---- for people ---- */

const char *weft__member_state_name(member_state s) {
  static const char *const names[] = {"running", "in join", "done", "serving", "left"};
  return s >= MEMBER_RUNNING && s <= MEMBER_LEFT ? names[s] : "unknown";
}

member_state weft__members_own(members *m) { return own_state(m); }

const char *weft__members_word(members *m, int i) {
  pthread_mutex_lock(&m->lock);
  const record r = m->record[i];
  pthread_mutex_unlock(&m->lock);
  if (r.state == MEMBER_LEFT) return "left";
  if (!r.there) return r.seen ? "lost" : "not seen";
  return r.is_tf ? "TensorFlow" : weft__member_state_name(r.state);
}

/* ---- making ---- */

weft_err weft__members_create(members **out, peers *p, uint64_t incarnation, bool serve, const member_hooks *hooks) {
  members *m = weft__alloc_zero(1, sizeof *m);
  if (!m) return WEFT_OOM;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&m->news, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&m->lock, NULL);
  m->peers = p;
  m->incarnation = incarnation;
  m->hooks = *hooks;
  m->state = serve ? MEMBER_SERVING : MEMBER_RUNNING;
  m->record = weft__alloc_zero((size_t)weft__peers_count(p) + 1, sizeof *m->record);
  if (!m->record) return weft__members_destroy(m), WEFT_OOM;
  for (int i = 0; i < weft__peers_count(p); i++) {
    const char *name = weft__peer_task(weft__peers_at(p, i));
    if (weft__peer_is_self(weft__peers_at(p, i))) m->self = name;
    m->record[i].optional = strncmp(name, EVALUATOR, sizeof EVALUATOR - 1) == 0;
  }
  weft__peers_hook(p, &(peer_hooks){m, say, heard, died});
  *out = m;
  return WEFT_OK;
}

void weft__members_destroy(members *m) {
  if (!m) return;
  pthread_cond_destroy(&m->news);
  pthread_mutex_destroy(&m->lock);
  weft__free(m->record);
  weft__free(m);
}

/* ---- join ---- */

typedef struct verdict {
  bool done;
  bool only_missing; /* nothing keeps us but tasks that are not there */
  text waiting;      /* for whom, and why */
} verdict;

static const char *why_waiting(const record *r) {
  if (!r->seen) return "not seen yet";
  if (!r->there) return "lost";
  return r->state == MEMBER_JOINING ? "sessions at work" : "running";
}

/* A TensorFlow task that went away by itself has left, and it had come to run. */
static void bury_tf(members *m, record *r, bool no_sessions, int64_t now) {
  if (!r->is_tf || r->there || r->state == MEMBER_LEFT || !no_sessions || now - r->lost_ns < GONE_AFTER) return;
  r->state = MEMBER_LEFT;
  m->somebody_ran = true;
}

static void judge(members *m, member_state own, bool no_sessions, verdict *v) {
  int64_t now = weft__clock_now_ns();
  bool all_settled = own == MEMBER_JOINED, any_there = false, any_away = false, any_busy = !all_settled;
  pthread_mutex_lock(&m->lock);
  for (int i = 0; i < weft__peers_count(m->peers); i++) {
    const peer *p = weft__peers_at(m->peers, i);
    record *r = &m->record[i];
    if (weft__peer_is_self(p) || (r->optional && !r->seen)) continue;
    bury_tf(m, r, no_sessions, now);
    bool settled = r->state >= MEMBER_JOINED; /* remembered also when it is not there any more */
    all_settled &= settled;
    any_there |= r->there;
    any_away |= r->state == MEMBER_LEFT || !r->there;
    any_busy |= !settled && r->there;
    if (!settled)
      weft__text_printf(&v->waiting, "%s%s (%s)", v->waiting.size ? ", " : "", weft__peer_task(p), why_waiting(r));
  }
  v->done = all_settled && m->somebody_ran;
  v->only_missing = !v->done && !any_busy && any_away && (m->somebody_ran || !any_there);
  pthread_mutex_unlock(&m->lock);
}

/* Asks those whose state may have changed: unknown ones often, known ones now and then. */
static void ask_around(members *m, bool everybody) {
  int64_t now = weft__clock_now_ns();
  for (int i = 0; i < weft__peers_count(m->peers); i++) {
    peer *p = weft__peers_at(m->peers, i);
    pthread_mutex_lock(&m->lock);
    record *r = &m->record[i];
    bool known = r->there && !r->is_tf;
    bool due = everybody || now - r->asked_ns >= (known ? ASK_KNOWN_S : ASK_MISSING_S) * SECOND;
    bool ask = due && !weft__peer_is_self(p) && r->state != MEMBER_LEFT;
    if (ask) r->asked_ns = now;
    pthread_mutex_unlock(&m->lock);
    if (ask) weft__peer_greet(p, 0);
  }
}

static int64_t join_timeout_ns(void) {
  const char *value = getenv("WEFT_JOIN_TIMEOUT");
  double seconds = value && *value ? strtod(value, NULL) : JOIN_TIMEOUT_S;
  return seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * 1e9) : 0;
}

static void wait_for_news(members *m) {
  struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * INT64_C(1000000));
  pthread_mutex_lock(&m->lock);
  pthread_cond_timedwait(&m->news, &m->lock, &until);
  pthread_mutex_unlock(&m->lock);
}

static weft_err serve(members *m) {
  while (weft__interrupt_pending() == 0) wait_for_news(m);
  return weft__fail(WEFT_CANCELLED, "interrupted while serving");
}

weft_err weft__members_join(members *m) {
  pthread_mutex_lock(&m->lock);
  bool stays = m->state == MEMBER_SERVING;
  if (!stays) m->state = MEMBER_JOINING;
  pthread_mutex_unlock(&m->lock);
  if (stays) return serve(m);
  const int64_t timeout = join_timeout_ns();
  int64_t missing_since = 0, reported = weft__clock_now_ns();
  member_state told = MEMBER_RUNNING;
  metrics_wait seen = {0};
  for (;;) {
    member_state own = own_state(m);
    int64_t now = weft__clock_now_ns();
    verdict v = {0};
    judge(m, own, m->hooks.worker_sessions(m->hooks.arg) == 0, &v);
    if (!v.only_missing) missing_since = 0;
    if (v.only_missing && !missing_since) missing_since = now;
    weft_err err = WEFT_OK;
    if (weft__interrupt_pending() > 0)
      err = weft__fail(WEFT_CANCELLED, "interrupted in join, waiting for %s", weft__text_get(&v.waiting));
    else if (!v.done && timeout && missing_since && now - missing_since > timeout)
      err = weft__fail(WEFT_DEADLINE_EXCEEDED, "join waited %lld s for %s (WEFT_JOIN_TIMEOUT)",
                       (long long)(timeout / SECOND),
                       v.waiting.size ? weft__text_get(&v.waiting) : "a session to be run");
    else if (!v.done && now - reported > REPORT_S * SECOND && v.waiting.size) {
      weft__log(LOG_INFO, "join still waiting for %s", weft__text_get(&v.waiting));
      reported = now;
    }
    if (v.waiting.size)
      weft__metrics_wait_begin(&seen, v.waiting.data);
    else
      weft__metrics_wait_end(&seen);
    weft__text_finish(&v.waiting);
    if (!err) ask_around(m, own != told); /* also when we are done: the others must hear of it */
    if (err || v.done) {
      weft__metrics_wait_end(&seen);
      return err;
    }
    told = own;
    wait_for_news(m);
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

static bool anybody_untold(members *m) {
  bool untold = false;
  pthread_mutex_lock(&m->lock);
  for (int i = 0; i < weft__peers_count(m->peers); i++)
    untold |= m->record[i].goodbye == GOODBYE_WANTED || m->record[i].goodbye == GOODBYE_SAID;
  pthread_mutex_unlock(&m->lock);
  return untold;
}

void weft__members_goodbye(members *m) {
  pthread_mutex_lock(&m->lock);
  bool already = m->state == MEMBER_LEFT;
  m->state = MEMBER_LEFT;
  m->may_return |= weft__interrupt_count() > 0; /* by an orchestrator that moves it, perhaps */
  pthread_mutex_unlock(&m->lock);
  for (int i = 0; i < weft__peers_count(m->peers) && !already; i++) {
    peer *p = weft__peers_at(m->peers, i);
    pthread_mutex_lock(&m->lock);
    record *r = &m->record[i];
    bool dead = r->seen && !r->there;
    bool tell = !weft__peer_is_self(p) && r->state != MEMBER_LEFT && !r->is_tf && !dead;
    if (tell) r->goodbye = GOODBYE_WANTED;
    pthread_mutex_unlock(&m->lock);
    if (tell) weft__peer_greet(p, GOODBYE_MS);
  }
  int64_t deadline = weft__clock_now_ns() + GOODBYE_MS * INT64_C(1000000);
  while (anybody_untold(m) && weft__clock_now_ns() < deadline && weft__interrupt_pending() < 2) wait_for_news(m);
}
