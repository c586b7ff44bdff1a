/* resolving_connection.c - a line to a host name: resolve, connect, then hand calls to a line to the addresses.
 *
 * The name is looked up again before each connection, since a task that was started again may have another address.
 * Calls wait in a list until a connection stands; a thread makes it, lives as long as calls wait, and ends those whose
 * time is up.  A call that does not wait for the peer fails with the step that failed: resolve or connect. */
#include "net/grpc/connection.h"
#include "net/grpc/name_lookup.h"

#ifdef WEFT_HAVE_GRPC
#include "base/alloc.h"
#include "base/clock.h"
#include <string.h>

enum { LOOK_MS = 5, LOOK_UP_AGAIN_MS = 1000, OTHER_FAMILY_MS = 300 };

typedef struct named_line named_line;

typedef struct pending { /* a call that waits for the connection */
  named_line *line;
  struct pending *next, *prev; /* the line's ring, or a list of those taken from it */
  bool listed;
  message request;
  call_opts opts;
  int64_t deadline_ns; /* 0: none */
  cancel_watch watch;
  rpc_callback *fn;
  void *arg;
  char *method; /* behind the struct */
} pending;

typedef struct retired { /* a line to addresses that are not used any more */
  struct retired *next;
  line *line;
} retired;

struct named_line {
  line base;
  char *address, *host; /* "ps0:2222", "ps0" */
  int number;
  channel_opts opts;
  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t wake;
  line *current; /* to the addresses of `target`; NULL: none yet */
  bool standing; /* its connection stood when last looked at: calls need not wait */
  char *target;
  int passing; /* calls that are being handed to a line */
  retired *retired;
  pending waiting; /* the ring's head */
  int ending;      /* calls taken from the ring that are not answered yet */
  bool dialing, closing;
  pthread_t thread; /* the last that was started, */
  bool joinable;    /* and is to be joined */
  /* the thread's own */
  lookup *lookup;
  resolved found;
  int family;
  int64_t found_ns, failed_ns; /* when the name was resolved; since when the connection fails, 0: it does not */
};

/* ---- calls that wait ---- */

/* With the lock held. */
static void unlist(pending *p) {
  p->prev->next = p->next;
  p->next->prev = p->prev;
  p->listed = false;
  p->line->ending++;
}

static void free_pending(pending *p) {
  weft__message_finish(&p->request);
  weft__free(p);
}

static void ended_one(named_line *l) {
  pthread_mutex_lock(&l->lock);
  if (--l->ending == 0) pthread_cond_broadcast(&l->wake);
  pthread_mutex_unlock(&l->lock);
}

/* Answers a call that was unlisted; err's message is this thread's. */
static void end_pending(pending *p, weft_err err) {
  named_line *l = p->line;
  status kept = {0};
  weft__status_keep(&kept, err);
  if (p->opts.cancel) weft__cancel_off(p->opts.cancel, &p->watch);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  p->fn(p->arg, err, NULL);
  free_pending(p);
  ended_one(l);
}

static void on_cancel(void *arg) {
  pending *p = arg;
  named_line *l = p->line;
  pthread_mutex_lock(&l->lock);
  bool ours = p->listed;
  if (ours) unlist(p);
  pthread_mutex_unlock(&l->lock);
  if (ours) end_pending(p, weft__cancel_raise(p->opts.cancel));
}

typedef bool choose(const pending *p, int64_t now_ns);
static bool is_any(const pending *p, int64_t now_ns) { return (void)p, (void)now_ns, true; }
static bool is_hasty(const pending *p, int64_t now_ns) { return (void)now_ns, !p->opts.wait_for_ready; }
static bool is_late(const pending *p, int64_t now_ns) { return p->deadline_ns && p->deadline_ns <= now_ns; }

/* The calls that are chosen, out of the ring and in their order. */
static pending *take_pending(named_line *l, choose *which) {
  pending *first = NULL, **end = &first;
  int64_t now = weft__now_ns();
  pthread_mutex_lock(&l->lock);
  for (pending *p = l->waiting.next, *next; p != &l->waiting; p = next) {
    next = p->next;
    if (!which(p, now)) continue;
    unlist(p);
    *end = p;
    end = &p->next;
    p->next = NULL;
  }
  pthread_mutex_unlock(&l->lock);
  return first;
}

/* Hands a call that was unlisted to the line to the addresses. */
static void pass_pending(pending *p) {
  named_line *l = p->line;
  call_opts opts = p->opts;
  if (opts.cancel) weft__cancel_off(opts.cancel, &p->watch);
  if (p->deadline_ns) {
    int64_t left = (p->deadline_ns - weft__now_ns()) / 1000000;
    opts.timeout_ms = left > 0 ? left : 1;
  }
  l->current->kind->call(l->current, p->method, &p->request, &opts, p->fn, p->arg);
  free_pending(p);
  ended_one(l);
}

static void pass_all(named_line *l, choose *which) {
  for (pending *p = take_pending(l, which), *next; p; p = next) {
    next = p->next;
    pass_pending(p);
  }
}

static void end_late(named_line *l) {
  for (pending *p = take_pending(l, is_late), *next; p; p = next) {
    next = p->next;
    if (l->lookup)
      end_pending(p, weft__fail(WEFT_DEADLINE_EXCEEDED, "%s: resolving %s took longer than %lld ms (is DNS dead?)",
                                l->address, l->host, (long long)p->opts.timeout_ms));
    else
      end_pending(p, weft__fail(WEFT_DEADLINE_EXCEEDED, "%s: connecting to %s took longer than %lld ms", l->address,
                                l->target ? l->target : l->host, (long long)p->opts.timeout_ms));
  }
}

/* ---- connecting ---- */

/* Destroys lines that nobody can be using any more. */
static void destroy_retired(named_line *l, bool all) {
  pthread_mutex_lock(&l->lock);
  retired **at = &l->retired, *gone = NULL;
  while (*at) {
    retired *r = *at;
    if (!all && (l->passing || !weft__grpc_line_is_idle(r->line))) {
      at = &r->next;
      continue;
    }
    *at = r->next;
    r->next = gone;
    gone = r;
  }
  pthread_mutex_unlock(&l->lock);
  for (retired *next; gone; gone = next) {
    next = gone->next;
    gone->line->kind->destroy(gone->line);
    weft__free(gone);
  }
}

/* From now on calls go to these addresses. */
static weft_err use_target(named_line *l, const char *target) {
  if (l->target && strcmp(l->target, target) == 0) return WEFT_OK;
  line *made = NULL;
  retired *r = l->current ? weft__alloc_zero(1, sizeof *r) : NULL;
  char *copy = weft__strdup(target);
  weft_err err =
      copy && (r || !l->current) ? weft__grpc_line_open(&made, target, l->address, l->host, &l->opts) : WEFT_OOM;
  if (err) {
    weft__free(r);
    weft__free(copy);
    return err;
  }
  pthread_mutex_lock(&l->lock);
  if (r) {
    *r = (retired){l->retired, l->current};
    l->retired = r;
  }
  l->current = made;
  l->standing = false;
  char *before = l->target;
  l->target = copy;
  pthread_mutex_unlock(&l->lock);
  weft__free(before);
  l->failed_ns = 0;
  return WEFT_OK;
}

static void fail_hasty(named_line *l, weft_err code, const char *why) {
  for (pending *p = take_pending(l, is_hasty), *next; p; p = next) {
    next = p->next;
    end_pending(p, weft__fail(code, "%s: cannot resolve %s: %s", l->address, l->host, why));
  }
}

/* The name, looked up if that was long ago.  False: not known yet. */
static bool resolve_name(named_line *l) {
  int64_t now = weft__now_ns();
  if (!l->lookup && l->found_ns && now - l->found_ns < LOOK_UP_AGAIN_MS * INT64_C(1000000)) return l->found.n > 0;
  if (!l->lookup) l->lookup = weft__lookup_begin(l->host, l->number);
  resolved r;
  if (!l->lookup || !weft__lookup_done(l->lookup, &r)) return false;
  weft__lookup_release(l->lookup);
  l->lookup = NULL;
  weft__resolved_finish(&l->found);
  l->found = r;
  l->found_ns = now;
  if (l->family >= r.n) l->family = 0;
  return r.n > 0;
}

/* One look at how far the connection is. */
static void dial_once(named_line *l) {
  int64_t now = weft__now_ns();
  if (!resolve_name(l)) {
    if (!l->lookup) fail_hasty(l, WEFT_UNAVAILABLE, l->found.why[0] ? l->found.why : "no memory or thread to do it");
    return;
  }
  weft_err err = use_target(l, l->found.target[l->family]);
  if (err) {
    fail_hasty(l, err, weft__error_message());
    return;
  }
  line_state state = weft__grpc_line_state(l->current, true);
  if (state == LINE_READY) {
    pthread_mutex_lock(&l->lock);
    l->standing = true;
    pthread_mutex_unlock(&l->lock);
    pass_all(l, is_any);
  }
  if (state == LINE_FAILED) pass_all(l, is_hasty); /* it says why */
  if (state != LINE_FAILED)
    l->failed_ns = 0;
  else if (!l->failed_ns)
    l->failed_ns = now;
  else if (l->found.n > 1 && now - l->failed_ns > OTHER_FAMILY_MS * INT64_C(1000000))
    l->family = !l->family, l->failed_ns = 0;
}

static void *dial(void *arg) {
  named_line *l = arg;
  for (;;) {
    dial_once(l);
    end_late(l);
    destroy_retired(l, false);
    struct timespec until = weft__deadline(LOOK_MS * INT64_C(1000000));
    pthread_mutex_lock(&l->lock);
    bool over = l->closing || l->waiting.next == &l->waiting;
    if (!over) pthread_cond_clockwait(&l->wake, &l->lock, CLOCK_MONOTONIC, &until);
    if (over) l->dialing = false;
    pthread_mutex_unlock(&l->lock);
    if (over) return NULL;
  }
}

/* With the lock held; false: no thread can be started. */
static bool start_dialing(named_line *l) {
  if (l->dialing) return true;
  if (l->joinable) pthread_join(l->thread, NULL); /* it has said that it ends, and takes no lock after that */
  l->joinable = l->dialing = pthread_create(&l->thread, NULL, dial, l) == 0;
  return l->dialing;
}

/* ---- calls ---- */

static void list_call(named_line *l, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                      void *arg) {
  size_t size = strlen(method) + 1;
  pending *p = weft__alloc_zero(1, sizeof *p + size);
  weft_err err = p ? weft__message_own(request) : WEFT_OOM;
  if (!err) {
    p->method = memcpy(p + 1, method, size);
    p->line = l, p->opts = *opts, p->fn = fn, p->arg = arg;
    if (opts->timeout_ms > 0) p->deadline_ns = weft__now_ns() + opts->timeout_ms * 1000000;
    pthread_mutex_lock(&l->lock); /* so that a token that fires meanwhile finds the call listed */
    if (opts->cancel) err = weft__cancel_on(opts->cancel, &p->watch, on_cancel, p);
    if (!err) {
      weft__message_move(&p->request, request);
      p->next = &l->waiting, p->prev = l->waiting.prev;
      p->prev->next = p->next->prev = p;
      p->listed = true;
      pthread_cond_broadcast(&l->wake);
      if (!start_dialing(l)) {
        unlist(p);
        pthread_mutex_unlock(&l->lock);
        end_pending(p, weft__fail(WEFT_RESOURCE_EXHAUSTED, "%s: no thread to connect with", l->address));
        return;
      }
    }
    pthread_mutex_unlock(&l->lock);
    if (!err) return;
  }
  weft__free(p);
  weft__message_finish(request);
  fn(arg, err, NULL);
}

static void call_named(line *base, const char *method, message *request, const call_opts *opts, rpc_callback *fn,
                       void *arg) {
  named_line *l = (named_line *)base;
  pthread_mutex_lock(&l->lock);
  line *to = l->standing ? l->current : NULL;
  if (to) l->passing++;
  pthread_mutex_unlock(&l->lock);
  bool ready = to && weft__grpc_line_state(to, false) == LINE_READY;
  if (ready) to->kind->call(to, method, request, opts, fn, arg);
  if (to) {
    pthread_mutex_lock(&l->lock);
    if (!ready && l->current == to) l->standing = false;
    if (--l->passing == 0) pthread_cond_broadcast(&l->wake);
    pthread_mutex_unlock(&l->lock);
  }
  if (!ready) list_call(l, method, request, opts, fn, arg);
}

/* ---- the line ---- */

static void destroy_named(line *base) {
  named_line *l = (named_line *)base;
  pthread_mutex_lock(&l->lock);
  l->closing = true;
  pthread_cond_broadcast(&l->wake);
  pthread_mutex_unlock(&l->lock);
  if (l->joinable) pthread_join(l->thread, NULL);
  for (pending *p = take_pending(l, is_any), *next; p; p = next) {
    next = p->next;
    end_pending(p, weft__fail(WEFT_CANCELLED, "%s: the connection was closed by this side", l->address));
  }
  pthread_mutex_lock(&l->lock);
  while (l->ending || l->passing) pthread_cond_wait(&l->wake, &l->lock);
  pthread_mutex_unlock(&l->lock);
  if (l->current) l->current->kind->destroy(l->current);
  destroy_retired(l, true);
  weft__lookup_release(l->lookup);
  weft__resolved_finish(&l->found);
  pthread_cond_destroy(&l->wake);
  pthread_mutex_destroy(&l->lock);
  weft__free(l->target);
  weft__free(l->address);
  weft__free(l->host);
  weft__free(l);
}

weft_err weft__named_line_open(line **out, const char *address, const char *host, int number,
                               const channel_opts *opts) {
  static const line_kind kind = {call_named, destroy_named};
  *out = NULL;
  named_line *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return WEFT_OOM;
  l->base.kind = &kind;
  l->number = number;
  l->opts = *opts;
  l->waiting.next = l->waiting.prev = &l->waiting;
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->wake, NULL);
  if ((l->address = weft__strdup(address)) && (l->host = weft__strdup(host))) return *out = &l->base, WEFT_OK;
  destroy_named(&l->base);
  return WEFT_OOM;
}
#endif
