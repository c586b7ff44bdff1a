/* staged.c - orders a plan by stages, and runs it stage by stage.
 *
 * All receives start when the run starts.  One thread at a time runs the stages of a run.  Where a stage cannot begin,
 * that thread parks the run, which means that it stores the stage in awaited_stage.
 *
 * A synchronous run (weft__staged_run) belongs to one thread, which runs every stage.  It sleeps while the run is
 * parked, and sets awaited_stage to -1 itself.
 *
 * In an asynchronous run (weft__staged_start) the thread that parks the run leaves.  The thread that delivers the last
 * value of the awaited stage sets awaited_stage to -1 and continues the run.  After a failure it is the thread that
 * ends the last receive of all.  That thread counts as borrowed: it runs the stage and the next ones as long as they
 * are short and need not wait, and submits the run to the pool before a long one.
 *
 * A run's lock guards its counts and its first failure (exec/executors/run.h).
 *
 * If the run has a timeout, the master gives the step a deadline; it may also cancel the step.  Both end the receives
 * (state/rendezvous.h), and so the run.  If a faulty master gave wrong stage numbers, tasks may wait for each other
 * until then. */
#include "exec/executors/staged.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "exec/executors/sequential.h"
#include "state/rendezvous.h"
#include "state/resource.h"
#include <stdlib.h>
#include <string.h>

static bool is_recv(const weft_node *n) { return weft__node_is(n, KIND_RECV); }
static bool is_send(const weft_node *n) { return weft__node_is(n, KIND_SEND); }

/* ---- order ------------------------------------------------------------------------------------- */

/* Returns true if the plan can run by stages: only transfers wait, and every _Recv has a stage. */
static bool has_stages(const weft_graph *g, const int *order, int n) {
  bool any = false;
  for (int i = 0; i < n; i++) {
    const weft_node *node = g->node[order[i]];
    if (!node->op || node->op->flags & OP_CONTROL_FLOW) return false;
    if (!(node->op->flags & OP_ASYNC)) continue;
    if (!is_send(node) && !is_recv(node)) return false;
    if (is_recv(node) && weft__node_int(node, WEFT_STAGE_ATTR, 0) < 1) return false;
    any = true;
  }
  return any;
}

typedef struct sort_key { /* sorts the nodes of a plan */
  int node, stage;
  int at; /* its index in the old order; for a send, that of its producer */
  bool send;
} sort_key;

static int compare_sort_keys(const void *a, const void *b) {
  const sort_key *x = a, *y = b;
  if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return (int)x->send - (int)y->send;
}

/* The largest stage number; larger ones are replaced by it.  Stage numbers come from another task, and some arrays have
 * an entry per stage, so a limit is needed.  All stages from here on thus become one.  Such a stage may wait for a
 * value that depends on a send of the same stage; then the run waits until its deadline or its cancellation. */
enum { STAGE_MAX = 1 << 16 };

static int stage_of(const weft_node *n, const int *stage) {
  int most = is_recv(n) ? weft__int_sat(weft__node_int(n, WEFT_STAGE_ATTR, 0)) : 0;
  if (most > STAGE_MAX) most = STAGE_MAX;
  for (int i = 0; i < n->n_in; i++)
    if (stage[n->in[i].node] > most) most = stage[n->in[i].node];
  for (int i = 0; i < n->n_control; i++)
    if (stage[n->control[i]] > most) most = stage[n->control[i]];
  return most;
}

weft_err weft__staged_order(const weft_graph *g, int *order, int n_order, int **stage) {
  *stage = NULL;
  if (!has_stages(g, order, n_order)) return WEFT_OK;
  sort_key *list = weft__alloc((size_t)(n_order + 1) * sizeof *list);
  int *at = weft__alloc_zero((size_t)g->n_node + 1, sizeof *at);
  *stage = weft__alloc_zero((size_t)g->n_node + 1, sizeof **stage);
  weft_err err = list && at && *stage ? WEFT_OK : WEFT_OOM;
  for (int i = 0; i < n_order && !err; i++) {
    const weft_node *n = g->node[order[i]];
    bool send = is_send(n) && n->n_control == 0; /* with control inputs it must stay behind them */
    (*stage)[n->id] = stage_of(n, *stage);
    at[n->id] = send ? at[n->in[0].node] : i;
    list[i] = (sort_key){n->id, (*stage)[n->id], at[n->id], send};
  }
  if (!err) {
    qsort(list, (size_t)n_order, sizeof *list, compare_sort_keys);
    for (int i = 0; i < n_order; i++) order[i] = list[i].node;
  } else {
    weft__free(*stage);
    *stage = NULL;
  }
  weft__free(list);
  weft__free(at);
  return err;
}

static int compare_receives(const void *a, const void *b) {
  const plan_recv *x = a, *y = b;
  if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
  return strcmp(x->key, y->key);
}

/* A key begins with the name of the sending device, up to the first ';'. */
static bool same_source(const plan_recv *a, const plan_recv *b) {
  size_t n = strcspn(a->key, ";");
  return a->stage == b->stage && strncmp(a->key, b->key, n + 1) == 0;
}

/* Groups the receives of one stage from one device: one request asks for all of them. */
static void staged_group_receives(plan *p) {
  plan_recv *recv = p->staged.recv;
  const int n = p->staged.n_recv;
  qsort(recv, (size_t)n, sizeof *recv, compare_receives);
  for (int first = 0, i = 0; i < n; i++) {
    if (!same_source(&recv[first], &recv[i])) first = i;
    recv[first].group_size++;
  }
}

weft_err weft__staged_prepare(plan *p) {
  for (int i = 0; i < p->n_item; i++) {
    WEFT_ASSERT(i == 0 || p->item[i].stage >= p->item[i - 1].stage); /* staged_run_stage relies on it */
    p->staged.n_recv += is_recv(p->item[i].node);
  }
  p->staged.n_stage = p->n_item ? p->item[p->n_item - 1].stage + 1 : 1;
  p->staged.recv = weft__arena_alloc(&p->arena, sizeof *p->staged.recv * (size_t)(p->staged.n_recv + 1));
  p->staged.cost = weft__arena_alloc(&p->arena, sizeof *p->staged.cost * (size_t)(p->staged.n_stage + 1));
  if (!p->staged.recv || !p->staged.cost) return WEFT_OOM;
  for (int i = 0, n = 0; i < p->n_item; i++) {
    if (!is_recv(p->item[i].node)) continue;
    char *key = weft__rendezvous_key(p->item[i].node, NULL, NULL, 0, 0);
    if (!key) return WEFT_OOM;
    p->staged.recv[n++] = (plan_recv){.item = i, .stage = p->item[i].stage, .key = weft__arena_strdup(&p->arena, key)};
    weft__free(key);
    if (!p->staged.recv[n - 1].key) return WEFT_OOM;
  }
  staged_group_receives(p);
  return WEFT_OK;
}

/* ---- a run ------------------------------------------------------------------------------------- */

typedef struct staged staged;

typedef struct pending_recv { /* one receive of the run, the argument of staged_on_recv_ended */
  staged *run;
  int item;
} pending_recv;

struct staged {
  active_run run; /* its lock also guards outstanding, awaited_stage and unfinished */
  frame *frame;
  int next;              /* the item to continue with */
  int outstanding;       /* all receives that have not ended */
  int awaited_stage;     /* the stage that the run waits for; -1: it does not wait */
  int *unfinished;       /* per stage: receives that have not ended */
  recv_request *request; /* per receive; in the same allocation, after `pending` */
  pending_recv pending[];
};

static void staged_continue(staged *s, bool borrowed);

static void staged_continue_on_pool(void *arg) { staged_continue(arg, false); }

/* Stores a received value in its slot.  No lock is needed: only this receive writes the slot, and no item reads it
 * before `unfinished` of its stage reached 0 under the run's lock. */
static weft_err staged_store_received(staged *s, int item, const weft_tensor *t, bool dead) {
  const plan_item *it = &s->run.plan->item[item];
  weft_dtype expected = weft__dtype_base(it->node->out_type[0]);
  if (dead)
    return weft__fail_node(
        WEFT_INTERNAL,
        "%s {{node %s}}: received a dead value (the sender took another branch), but this part has no control flow",
        it->node->op_name, it->node->name);
  if (t->dtype != expected)
    return weft__fail_node(WEFT_INTERNAL, "%s {{node %s}}: received a tensor of type %s, want %s", it->node->op_name,
                           it->node->name, weft__dtype_name(t->dtype), weft__dtype_name(expected));
  return weft__tensor_keep(&s->frame->slot[it->first_out].t, t);
}

/* Called when a receive has ended, on any thread and without a lock of the rendezvous: stores the value, and continues
 * the run if its stage is complete.  The thread may be a transport's, or one that runs a _Send of another part of the
 * step, so it counts as borrowed. */
static void staged_on_recv_ended(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  pending_recv *r = arg;
  staged *s = r->run;
  if (!err) err = staged_store_received(s, r->item, t, dead);
  if (err) weft__run_fail(&s->run, weft__item_error(&s->run.plan->item[r->item], err));
  pthread_mutex_lock(&s->run.lock);
  WEFT_ASSERT(s->outstanding > 0 && s->unfinished[s->run.plan->item[r->item].stage] > 0);
  s->unfinished[s->run.plan->item[r->item].stage]--;
  s->outstanding--;
  int stage = s->awaited_stage;
  bool ready = stage >= 0 && (s->run.failure.code ? s->outstanding == 0 : s->unfinished[stage] == 0);
  bool synchronous = !s->run.done; /* its thread waits in weft__staged_run */
  if (ready && !synchronous) s->awaited_stage = -1;
  if (synchronous) pthread_cond_signal(&s->run.wake);
  pthread_mutex_unlock(&s->run.lock);
  if (ready && !synchronous) staged_continue(s, true);
}

static void staged_free(staged *s) {
  weft__run_finish(&s->run);
  weft__free(s->unfinished);
  weft__free(s);
}

/* Ends a run whose result is known and that has no receive outstanding: fetches, and frees the frame and the run.
 * Saves the thread's error meanwhile, because releasing may store another one. */
static weft_err staged_finish(staged *s, weft_err err) {
  WEFT_ASSERT(s->outstanding == 0);
  err = weft__run_end(&s->run, s->frame->slot, err);
  status kept = {0};
  weft__status_update(&kept, err);
  weft__frame_release(s->frame, err == WEFT_OK);
  staged_free(s);
  err = weft__status_raise(&kept);
  weft__status_finish(&kept);
  return err;
}

static weft_err staged_begin(staged **out, plan *p, plan_run *given, pool *tasks, run_done *done, void *arg) {
  const plan_staged *info = &p->staged;
  staged *s = weft__alloc_zero(1, sizeof *s + (sizeof(pending_recv) + sizeof(recv_request)) * (size_t)info->n_recv);
  if (!s) return WEFT_OOM;
  weft__run_init(&s->run);
  s->awaited_stage = -1;
  s->request = (recv_request *)(s->pending + info->n_recv);
  s->unfinished = weft__alloc_zero((size_t)info->n_stage + 1, sizeof *s->unfinished);
  weft_err err = s->unfinished ? weft__frame_begin(&s->frame, p, given) : WEFT_OOM;
  if (err) {
    staged_free(s);
    return err;
  }
  err = weft__run_begin(&s->run, p, given, tasks, done, arg);
  if (err) return staged_finish(s, err); /* no receive has begun */
  s->outstanding = info->n_recv;
  for (int i = 0; i < info->n_recv; i++) s->unfinished[p->item[info->recv[i].item].stage]++;
  *out = s;
  return WEFT_OK;
}

/* Starts all receives.  Values may arrive on other threads before this function returns.  Those threads store and count
 * them, but do not continue the run: awaited_stage is -1 until this thread parks the run. */
static void staged_begin_receives(staged *s) {
  rendezvous *r = s->run.given->step.rendezvous;
  const plan *p = s->run.plan;
  for (int i = 0; i < p->staged.n_recv; i++) {
    s->pending[i] = (pending_recv){s, p->staged.recv[i].item};
    s->request[i] = (recv_request){p->staged.recv[i].key, staged_on_recv_ended, &s->pending[i]};
  }
  for (int i = 0, n = p->staged.n_recv, size; i < n; i += size) {
    size = p->staged.recv[i].group_size;
    weft__rendezvous_recv_all(r, size, &s->request[i]);
  }
}

/* Runs the items of one stage. */
static weft_err staged_run_stage(staged *s, int stage) {
  plan *p = s->run.plan;
  int from = s->next, to = from;
  while (to < p->n_item && p->item[to].stage == stage) to++;
  int64_t start = weft__clock_now_ns();
  weft_err err = weft__frame_run(s->frame, s->run.given, from, to);
  weft__cost_note(&p->staged.cost[stage], weft__clock_now_ns() - start);
  s->next = to;
  return err;
}

/* Finds what the run does next:
 *   returns  *err         meaning
 *   true     WEFT_OK      the stage may begin
 *   true     the failure  the run has failed and may end
 *   false    (unused)     the run is parked: receives must end first
 * A run that failed is parked until all its receives have ended; weft__run_fail cancels the step, which ends them. */
static bool stage_try_begin(staged *s, int stage, weft_err *err) {
  pthread_mutex_lock(&s->run.lock);
  *err = weft__status_raise(&s->run.failure);
  const bool ready = *err ? s->outstanding == 0 : s->unfinished[stage] == 0;
  if (!ready) s->awaited_stage = stage;
  pthread_mutex_unlock(&s->run.lock);
  return ready;
}

/* Submits the run to the pool, and returns true, if the stage is long.  If memory is short, the run stays on this
 * thread: late callbacks of an event loop are better than a failed step. */
static bool stage_try_pass_to_pool(staged *s, int stage) {
  const plan *p = s->run.plan;
  return !weft__cost_is_short(&p->staged.cost[stage], p) &&
         weft__pool_submit(s->run.tasks, staged_continue_on_pool, s) == WEFT_OK;
}

/* Runs stage after stage.  Returns true if the run may end, with its result in *err.  Returns false if it was parked or
 * submitted to the pool.  An asynchronous run may then have been ended by another thread: the caller must not use s. */
static bool staged_run_ready_stages(staged *s, bool borrowed, weft_err *err) {
  for (;;) {
    const bool all_ran = s->next >= s->run.plan->n_item;
    /* After the last item, stage_try_begin is called once more, to return the error of an item of the last stage. */
    const int stage = all_ran ? s->run.plan->staged.n_stage - 1 : s->run.plan->item[s->next].stage;
    if (!stage_try_begin(s, stage, err)) return false;
    if (*err || all_ran) return true;
    if (borrowed && stage_try_pass_to_pool(s, stage)) return false;
    *err = staged_run_stage(s, stage);
    if (*err) weft__run_fail(&s->run, *err);
  }
}

/* Continues an asynchronous run that is not parked, and ends it if nothing is left to do.  borrowed: see start.h. */
static void staged_continue(staged *s, bool borrowed) {
  weft_err err;
  if (!staged_run_ready_stages(s, borrowed, &err)) return;
  run_done *done = s->run.done;
  void *arg = s->run.arg;
  err = staged_finish(s, err);
  done(arg, err);
}

void weft__staged_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg) {
  staged *s;
  weft_err err = staged_begin(&s, p, given, tasks, done, arg);
  if (err) {
    done(arg, err);
    return;
  }
  staged_begin_receives(s);
  staged_continue(s, borrowed);
}

/* ---- synchronous runs -------------------------------------------------------------------------- */

/* Sleeps until the awaited stage may begin or, once the run has failed, until all receives have ended.  Until then it
 * checks the deadline and interrupts whenever nothing arrived for WEFT_WAIT_SLICE_MS. */
static void staged_sleep_until_ready(staged *s) {
  pthread_mutex_lock(&s->run.lock);
  while (s->run.failure.code ? s->outstanding > 0 : s->unfinished[s->awaited_stage] > 0) {
    struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
    if (!pthread_cond_clockwait(&s->run.wake, &s->run.lock, CLOCK_MONOTONIC, &until) || s->run.failure.code) continue;
    pthread_mutex_unlock(&s->run.lock);
    weft_err err = weft__run_check_wait(&s->run);
    if (err) weft__run_fail(&s->run, err);
    pthread_mutex_lock(&s->run.lock);
  }
  s->awaited_stage = -1;
  pthread_mutex_unlock(&s->run.lock);
}

weft_err weft__staged_run(plan *p, plan_run *given) {
  staged *s;
  weft_err err;
  WEFT_TRY(staged_begin(&s, p, given, NULL, NULL, NULL));
  staged_begin_receives(s);
  while (!staged_run_ready_stages(s, false, &err)) staged_sleep_until_ready(s);
  return staged_finish(s, err);
}
