/* staged.c - orders a plan by stages, and runs it stage by stage.
 *
 * All receives start when the run starts.  In an asynchronous run, the thread that delivers the last value of a
 * stage runs the stage itself if it is short, and submits it to the pool otherwise.  In a synchronous run the
 * waiting thread runs every stage.  A run's lock guards its counts and its first failure (exec/executors/run.h). */
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

static int by_stage(const void *a, const void *b) {
  const sort_key *x = a, *y = b;
  if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return (int)x->send - (int)y->send;
}

enum { STAGE_MAX = 1 << 16 }; /* the most transfers between tasks on a path through a graph */

static int stage_of(const weft_node *n, const int *stage) {
  int most = is_recv(n) ? weft__int_sat(weft__node_int(n, WEFT_STAGE_ATTR, 0)) : 0;
  if (most < 0 || most > STAGE_MAX)
    most = most < 0 ? 0 : STAGE_MAX; /* the number comes from another task, so it is not trusted */
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
    qsort(list, (size_t)n_order, sizeof *list, by_stage);
    for (int i = 0; i < n_order; i++) order[i] = list[i].node;
  } else {
    weft__free(*stage);
    *stage = NULL;
  }
  weft__free(list);
  weft__free(at);
  return err;
}

static int by_source(const void *a, const void *b) {
  const plan_recv *x = a, *y = b;
  if (x->together != y->together)
    return x->together < y->together ? -1 : 1; /* `together` is the stage here; group_receives replaces it afterwards */
  return strcmp(x->key, y->key);
}

static bool same_source(const plan_recv *a, const plan_recv *b) {
  size_t n = strcspn(a->key, ";");
  return a->together == b->together && strncmp(a->key, b->key, n + 1) == 0;
}

/* Groups the receives of one stage from one device, which are sent as one request.  While the list is sorted,
 * `together` is the stage of each entry; afterwards it is the size of the group in the first entry of a group, and 0
 * in the others. */
static void group_receives(plan *p) {
  for (int i = 0; i < p->staged.n_recv; i++) p->staged.recv[i].together = p->item[p->staged.recv[i].item].stage;
  qsort(p->staged.recv, (size_t)p->staged.n_recv, sizeof *p->staged.recv, by_source);
  for (int i = 0, n; i < p->staged.n_recv; i += n) {
    for (n = 1; i + n < p->staged.n_recv && same_source(&p->staged.recv[i], &p->staged.recv[i + n]);) n++;
    for (int j = 0; j < n; j++) p->staged.recv[i + j].together = j ? 0 : n;
  }
}

weft_err weft__staged_prepare(plan *p) {
  for (int i = 0; i < p->n_item; i++) p->staged.n_recv += is_recv(p->item[i].node);
  p->staged.n_stage = p->n_item ? p->item[p->n_item - 1].stage + 1 : 1;
  p->staged.recv = weft__arena_alloc(&p->arena, sizeof *p->staged.recv * (size_t)(p->staged.n_recv + 1));
  p->staged.cost = weft__arena_alloc(&p->arena, sizeof *p->staged.cost * (size_t)(p->staged.n_stage + 1));
  if (!p->staged.recv || !p->staged.cost) return WEFT_OOM;
  for (int i = 0, n = 0; i < p->n_item; i++) {
    if (!is_recv(p->item[i].node)) continue;
    char *key = weft__rendezvous_key(p->item[i].node, NULL, NULL, 0, 0);
    if (!key) return WEFT_OOM;
    p->staged.recv[n++] = (plan_recv){.item = i, .key = weft__arena_strdup(&p->arena, key)};
    weft__free(key);
    if (!p->staged.recv[n - 1].key) return WEFT_OOM;
  }
  group_receives(p);
  return WEFT_OK;
}

/* ---- a run ------------------------------------------------------------------------------------- */

typedef struct staged staged;

typedef struct pending_recv { /* one receive of the run, the argument of on_recv_ended */
  staged *run;
  int item;
} pending_recv;

struct staged {
  active_run run; /* its lock also guards outstanding, stage and unfinished */
  frame *frame;
  int next;              /* the item to continue with */
  int outstanding;       /* all receives that have not ended */
  int stage;             /* the stage that the run waits for; -1: it does not wait */
  int *unfinished;       /* per stage: receives that have not ended */
  recv_request *request; /* per receive; in the same allocation, after `pending` */
  pending_recv pending[];
};

static void run_to_end(staged *s);

static void task_run_to_end(void *arg) { run_to_end(arg); }

/* Continues an asynchronous run on the thread that delivered the last value, or on the pool if the stage is long. */
static void run_here_or_on_pool(staged *s, int stage) {
  const plan *p = s->run.plan;
  if (weft__cost_is_short(&p->staged.cost[stage], p) || weft__pool_submit(s->run.tasks, task_run_to_end, s) != WEFT_OK)
    run_to_end(s);
}

static weft_err store_received(staged *s, int item, const weft_tensor *t, bool dead) {
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

/* Called when a receive has ended, on any thread: stores the value, and continues the run if its stage is complete. */
static void on_recv_ended(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  pending_recv *r = arg;
  staged *s = r->run;
  if (!err) err = store_received(s, r->item, t, dead);
  if (err) weft__run_fail(&s->run, weft__item_error(&s->run.plan->item[r->item], err));
  pthread_mutex_lock(&s->run.lock);
  WEFT_ASSERT(s->outstanding > 0 && s->unfinished[s->run.plan->item[r->item].stage] > 0);
  s->unfinished[s->run.plan->item[r->item].stage]--;
  s->outstanding--;
  int stage = s->stage;
  bool ready = stage >= 0 && (s->run.failure.code ? s->outstanding == 0 : s->unfinished[stage] == 0);
  bool synchronous = !s->run.done; /* its thread waits in weft__staged_run */
  if (ready && !synchronous) s->stage = -1;
  if (synchronous) pthread_cond_signal(&s->run.wake);
  pthread_mutex_unlock(&s->run.lock);
  if (ready && !synchronous) run_here_or_on_pool(s, stage);
}

static void staged_free(staged *s) {
  weft__run_finish(&s->run);
  weft__free(s->unfinished);
  weft__free(s);
}

/* Ends a run whose result is known and that has no receive outstanding: fetches, and releases the frame. */
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
  s->stage = -1;
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

/* Starts all receives.  Values may arrive at once; they are only counted, since s->stage is -1. */
static void begin_receives(staged *s) {
  rendezvous *r = s->run.given->step.rendezvous;
  const plan *p = s->run.plan;
  for (int i = 0; i < p->staged.n_recv; i++) {
    s->pending[i] = (pending_recv){s, p->staged.recv[i].item};
    s->request[i] = (recv_request){p->staged.recv[i].key, on_recv_ended, &s->pending[i]};
  }
  for (int i = 0, n = p->staged.n_recv, more; i < n; i += more) {
    more = p->staged.recv[i].together;
    weft__rendezvous_recv_all(r, more, &s->request[i]);
  }
}

/* Runs the items of one stage. */
static weft_err run_stage(staged *s, int stage) {
  plan *p = s->run.plan;
  int from = s->next, to = from;
  while (to < p->n_item && p->item[to].stage == stage) to++;
  int64_t start = weft__clock_now_ns();
  weft_err err = weft__frame_run(s->frame, s->run.given, from, to);
  weft__cost_note(&p->staged.cost[stage], weft__clock_now_ns() - start);
  s->next = to;
  return err;
}

/* Returns true if the stage may begin.  If not, the run waits: an asynchronous one is continued by the thread that
 * delivers the stage's last value.  A run that failed waits until all its receives have ended; weft__run_fail cancels
 * the step, which ends them. */
static bool may_begin(staged *s, int stage, weft_err *err) {
  pthread_mutex_lock(&s->run.lock);
  *err = weft__status_raise(&s->run.failure);
  bool now = *err ? s->outstanding == 0 : s->unfinished[stage] == 0;
  if (!now) s->stage = stage;
  pthread_mutex_unlock(&s->run.lock);
  return now;
}

/* Runs stage after stage until one must be waited for (false) or all is over (true). */
static bool run_ready_stages(staged *s, weft_err *err) {
  for (;;) {
    bool over = s->next >= s->run.plan->n_item;
    int stage =
        over ? s->run.plan->staged.n_stage - 1 /* the values of its receives may be unused, but they must have ended */
             : s->run.plan->item[s->next].stage;
    if (!may_begin(s, stage, err)) return false;
    if (*err || over) return true;
    *err = run_stage(s, stage);
    if (*err) weft__run_fail(&s->run, *err);
  }
}

static void run_to_end(staged *s) {
  weft_err err;
  if (!run_ready_stages(s, &err)) return;
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
  begin_receives(s);
  if (borrowed)
    run_here_or_on_pool(s, 0);
  else
    run_to_end(s);
}

/* ---- on one thread ----------------------------------------------------------------------------- */

/* Sleeps until the stage that is waited for may begin; checks the deadline and interrupts every WEFT_WAIT_SLICE_MS. */
static void sleep_until_ready(staged *s) {
  pthread_mutex_lock(&s->run.lock);
  while (s->run.failure.code ? s->outstanding > 0 : s->unfinished[s->stage] > 0) {
    struct timespec until = weft__clock_deadline(WEFT_WAIT_SLICE_MS * NS_PER_MS);
    if (!pthread_cond_clockwait(&s->run.wake, &s->run.lock, CLOCK_MONOTONIC, &until) || s->run.failure.code) continue;
    pthread_mutex_unlock(&s->run.lock);
    weft_err err = weft__run_check_wait(&s->run);
    if (err) weft__run_fail(&s->run, err);
    pthread_mutex_lock(&s->run.lock);
  }
  s->stage = -1;
  pthread_mutex_unlock(&s->run.lock);
}

weft_err weft__staged_run(plan *p, plan_run *given) {
  staged *s;
  weft_err err;
  WEFT_TRY(staged_begin(&s, p, given, NULL, NULL, NULL));
  begin_receives(s);
  while (!run_ready_stages(s, &err)) sleep_until_ready(s);
  return staged_finish(s, err);
}
