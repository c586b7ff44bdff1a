/* dataflow.c - runs the nodes of a dataflow as they become ready.
 *
 * A thread that ends a node continues with one of the nodes that became ready.  It submits the others to the pool if
 * they are expensive enough.  A kernel that has to wait is deferred: its node stays counted as active.  What happens
 * when the kernel ends depends on how the run was started:
 * - weft__dataflow_run: the node goes into the inbox of the thread that sleeps in this function, or to the pool if that
 *   thread is busy.  The thread that ended the wait never runs nodes.
 * - weft__dataflow_start: the thread that ended the wait, usually a transport's, runs cheap nodes itself and submits
 *   the rest to the pool.  A short step then needs no switch of threads.  If that thread is already running nodes, it
 *   takes the node when it has finished (`this_thread.ended`).  So two runs that feed each other do not recurse.
 *
 * After the first error (exec/executors/run.h) nodes that become ready are dropped, and the run ends when the last
 * active node has ended.
 *
 * Locks: a dataflow's and a frame's, each alone but for weft__dataflow_frame_begin and weft__iteration_begin, which
 * take the dataflow's inside a frame's. */
#include "exec/executors/dataflow.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/denormal.h"
#include "base/interrupt.h"
#include "exec/executors/dataflow_edge.h"
#include "exec/executors/item.h"
#include "exec/executors/steplog.h"
#include "exec/passes/owned_inputs.h"
#include "kernels/gpu/gpu_host.h"
#include "state/rendezvous.h"
#include "state/variable.h"

enum { EXPENSIVE_NS = 15000 };                   /* a node that takes longer is worth a thread of the pool */
enum { BORROWED_NS = 50000 };                    /* the most that a borrowed thread spends on nodes */
enum { TIMED_STEPS = 16 };                       /* every 16th step is timed, and a node's first run */
enum { PHASE_RUNS, PHASE_RETURNED, PHASE_DONE }; /* of a kernel that defers */
typedef enum outcome { ENDED, DEFERRED } outcome;

static _Thread_local struct { /* what this thread does for asynchronous runs */
  bool inside;                /* it is running nodes */
  bool borrowed;              /* it is needed back soon: see weft__dataflow_start */
  int64_t spent;              /* ns that it spent on nodes, as far as their costs are known */
  node_run *ended, **last;    /* nodes whose wait ended meanwhile; last points at the end of the list */
} this_thread;

static void on_kernel_done(kernel *k, weft_err err);
static void dataflow_process(dataflow *f, node_run *first);

/* ---- one node ---------------------------------------------------------------------------------- */

/* Returns a bit for each input j (< 64) that no other node will read: the kernel may take over its memory. */
static uint64_t last_read_inputs(const node_run *s) {
  const dataflow_node *n = weft__node_run_node(s);
  const plan_item *it = weft__node_run_item(s);
  uint64_t last_read = 0;
  for (int j = 0; j < it->n_in && j < 64; j++) {
    if (n->in[j].home != HOME_ITERATION || it->in[j].from_ref) continue;
    int left = atomic_load_explicit(&s->iteration->readers[n->in[j].index], memory_order_acquire);
    if (left == n->in[j].uses) last_read |= UINT64_C(1) << j;
  }
  return last_read;
}

/* Resolves an input whose slot holds a reference; behind a Merge it may hold a value (exec/passes/aliases.h). */
static weft_err node_resolve_reference(node_run *s, int j) {
  const plan_item *it = weft__node_run_item(s);
  const value *in = weft__node_run_input(s, j);
  if (it->in[j].wants_ref) s->kernel.in[j] = in->ref ? NULL : &in->t;
  if (in->ref) return weft__item_resolve(it, &s->kernel, j, in->ref);
  if (!it->in[j].wants_ref) weft__tensor_share((weft_tensor *)(uintptr_t)s->kernel.in[j], &in->t);
  return WEFT_OK;
}

/* Resolves the inputs that are references.  A merge gets the input that arrived first; its other inputs become NULL. */
static weft_err node_resolve_references(node_run *s) {
  const plan_item *it = weft__node_run_item(s);
  const dataflow_node *n = weft__node_run_node(s);
  int winner = n->kind == DATAFLOW_MERGE ? weft__node_run_winner(s) : -1;
  for (int j = 0; j < it->n_in; j++) {
    s->kernel.ref[j] = NULL;
    if (n->kind == DATAFLOW_MERGE) {
      bool read = it->in[j].from_ref && !it->in[j].wants_ref;
      const weft_tensor *at = read ? &s->iteration->deref[n->first_in + j] : &weft__node_run_input(s, j)->t;
      s->kernel.in[j] = j == winner && !it->in[j].wants_ref ? at : NULL;
      if (j != winner) continue;
    }
    if (it->in[j].from_ref) WEFT_TRY(node_resolve_reference(s, j));
  }
  return WEFT_OK;
}

/* As weft__item_own_inputs, beside the slots: other nodes may be reading those. */
static weft_err node_own_inputs(node_run *s) {
  const plan_item *it = weft__node_run_item(s);
  kernel *k = &s->kernel;
  for (int j = 0; j < it->n_in; j++) {
    if (!weft__input_exposed(it, k, j)) continue;
    weft_tensor *own = &s->iteration->deref[weft__node_run_node(s)->first_in + j], made = {0};
    WEFT_TRY(weft__tensor_clone(&made, k->in[j]));
    weft__tensor_clear(own);
    *own = made;
    k->in[j] = own;
  }
  return WEFT_OK;
}

/* Clears the values that were read from references, and the copies of node_own_inputs. */
static void node_drop_reads(node_run *s) {
  weft_tensor *deref = s->iteration->deref + weft__node_run_node(s)->first_in;
  for (int j = 0; j < s->kernel.n_in; j++) {
    if (!deref[j].buf) continue;
    weft__tensor_clear(&deref[j]);
    if (!weft__node_run_item(s)->in[j].from_ref) s->kernel.in[j] = &weft__node_run_input(s, j)->t; /* it was a copy */
  }
}

/* Updates the moving mean of what the node's kernel takes. */
static void node_note_cost(dataflow_node *n, int64_t ns) {
  unsigned old = atomic_load_explicit(&n->cost, memory_order_relaxed);
  unsigned now = (unsigned)(ns > NS_PER_S ? NS_PER_S : ns + 1);
  atomic_store_explicit(&n->cost, old ? (old / 8) * 7 + now / 8 + 1 : now, memory_order_relaxed);
}

/* Runs the kernel.  *deferred: it has not ended yet, and on_kernel_done will be called. */
static weft_err node_call_kernel(node_run *s, bool dead, bool *deferred) {
  dataflow *f = s->iteration->frame->dataflow;
  kernel *k = &s->kernel;
  dataflow_node *n = weft__node_run_node(s);
  WEFT_ASSERT(k->owner == s && atomic_load(&f->active) > 0);
  k->dying = last_read_inputs(s);
  k->pending = false;
  k->done = on_kernel_done;
  k->input_dead = dead;
  k->iteration = s->iteration->number;
  if (n->kind == DATAFLOW_TRANSFER) k->frame_id = weft__dataflow_frame_id(s->iteration->frame);
  atomic_store_explicit(&s->phase, PHASE_RUNS, memory_order_relaxed);
  const bool first = atomic_load_explicit(&n->cost, memory_order_relaxed) == 0;
  bool timed = f->run.given->log || f->step.id % TIMED_STEPS == 0 || first;
  int64_t begin = s->begin = timed ? weft__clock_now_ns() : 0;
  if (f->run.given->log) weft__step_log_begin();
  weft_err err = weft__item_wait_gpu(f->run.plan, weft__node_run_item(s), first, weft__node_run_item(s)->run(k));
  int64_t end = timed ? weft__clock_now_ns() : 0;
  if (k->scratch) weft__gpu_scratch_release(&k->scratch);
  if (timed) node_note_cost(n, end - begin); /* of one that defers: what the call took */
  *deferred = k->pending && !err && atomic_exchange(&s->phase, PHASE_RETURNED) != PHASE_DONE;
  if (*deferred) return WEFT_OK;
  if (k->pending && !err) {
    err = weft__status_raise(&s->why);
    weft__status_finish(&s->why);
  }
  if (f->run.given->log && !err) weft__step_log_add(f->run.given->log, weft__node_run_item(s), k, begin, end);
  return err;
}

/* The value that an Enter, Exit or NextIteration carries. */
static weft_err carry_input(node_run *s, value *out) {
  if (s->kernel.ref[0])
    out->ref = s->kernel.ref[0];
  else
    weft__tensor_share(&out->t, s->kernel.in[0]);
  return WEFT_OK;
}

static bool kind_carries_value(dataflow_kind kind) {
  return kind == DATAFLOW_ENTER || kind == DATAFLOW_ENTER_CONSTANT || kind == DATAFLOW_EXIT || kind == DATAFLOW_NEXT;
}

/* Delivers the outputs of a node that ran, or its deadness, and ends the node. */
static weft_err node_conclude(node_run *s, bool dead, value *carried, ready *r) {
  if (!dead && s->kernel.out) WEFT_TRY(weft__kernel_check_outputs(&s->kernel));
  node_drop_reads(s);
  WEFT_TRY(weft__node_run_deliver(s, dead, carried, r));
  return weft__node_run_end(s, r);
}

/* Does the node's work: passes a value on between iterations, or calls the kernel.  Dead transfers are called too. */
static weft_err node_start(node_run *s, bool dead, value *carried, bool *deferred) {
  WEFT_TRY(dead ? WEFT_OK : node_resolve_references(s));
  if (kind_carries_value(weft__node_run_node(s)->kind)) return carry_input(s, carried);
  WEFT_TRY(dead ? WEFT_OK : node_own_inputs(s));
  return node_call_kernel(s, dead, deferred);
}

/* Runs a node that is ready and delivers its outputs; r gets the nodes that became ready.  A failure goes to the
 * run. */
static outcome node_visit(dataflow *f, node_run *s, ready *r) {
  bool deferred = false, dead = weft__node_run_is_dead(s);
  value carried = {.dead = false};
  if (atomic_load_explicit(&f->run.failed, memory_order_acquire)) return ENDED;
  weft_err err = weft__run_check_time(f->run.given);
  if (!err && (!dead || weft__node_run_node(s)->kind == DATAFLOW_TRANSFER)) {
    err = node_start(s, dead, &carried, &deferred);
    if (deferred) return DEFERRED;
    if (err) err = weft__item_error(weft__node_run_item(s), err);
  }
  if (!err) err = node_conclude(s, dead, &carried, r);
  weft__tensor_clear(&carried.t);
  if (err) weft__run_fail(&f->run, err);
  return ENDED;
}

/* ---- many nodes -------------------------------------------------------------------------------- */

static void node_resume(node_run *s);

/* A thread calls thread_enter before it runs nodes and thread_leave afterwards.  thread_enter returns false if this
 * thread is running nodes already, further up its stack; thread_leave(false) then does nothing. */
static bool thread_enter(bool borrowed) {
  if (this_thread.inside) return false;
  this_thread.inside = true;
  this_thread.borrowed = borrowed;
  this_thread.spent = 0;
  this_thread.last = &this_thread.ended;
  return true;
}

static node_run *thread_next_ended(void) {
  node_run *s = this_thread.ended;
  if (!s) return NULL;
  this_thread.ended = s->next;
  if (!this_thread.ended) this_thread.last = &this_thread.ended;
  return s;
}

/* Resumes the nodes whose wait has ended meanwhile, which may end the wait of others. */
static void thread_leave(bool outermost) {
  if (!outermost) return;
  for (node_run *s; (s = thread_next_ended());) node_resume(s);
  this_thread.inside = false;
}

static void pool_process(void *arg) { /* a list of nodes */
  node_run *s = arg;
  bool outermost = thread_enter(false);
  dataflow_process(s->iteration->frame->dataflow, s);
  thread_leave(outermost);
}

static void pool_resume(void *arg) {
  bool outermost = thread_enter(false);
  node_resume(arg);
  thread_leave(outermost);
}

/* Returns true if the node only queues work on a GPU's stream, which runs it in the order of the queue anyway.  Several
 * threads that queue would only wait for each other in the driver. */
static bool node_only_queues(const node_run *s) {
  const plan_item *it = weft__node_run_item(s);
  return it->device && !it->no_capture;
}

static bool node_is_expensive(const node_run *s) {
  return !node_only_queues(s) &&
         atomic_load_explicit(&weft__node_run_node(s)->cost, memory_order_relaxed) > EXPENSIVE_NS;
}

/* The nodes that a thread runs next, and how many of them have each load.  The counts spare a walk over the whole list
 * whenever a node makes others ready: in a loop with gradients hundreds may be waiting. */
typedef struct run_list {
  node_run *first;
  int count[NODE_LOADS];
} run_list;

/* LOAD_QUEUES: it only queues work on a GPU. */
static node_load node_load_of(const node_run *s) {
  return node_only_queues(s) ? LOAD_QUEUES : node_is_expensive(s) ? LOAD_EXPENSIVE : LOAD_LITTLE;
}

static node_run *run_list_pop(run_list *l) {
  node_run *s = l->first;
  l->first = s->next;
  l->count[s->load]--;
  WEFT_ASSERT(l->count[s->load] >= 0);
  return s;
}

/* Puts `fresh` in front of the list.  If the thread may `share` its work, it submits all expensive nodes but one to the
 * pool.  If the list has work to queue on a GPU, this thread does that, and all expensive nodes are submitted. */
static void run_list_add(dataflow *f, run_list *l, node_run *fresh, bool share) {
  bool queues = l->count[LOAD_QUEUES] > 0;
  node_run *last = fresh;
  for (node_run *s = fresh; s; last = s, s = s->next) {
    s->load = share ? node_load_of(s) : LOAD_LITTLE;
    queues = queues || s->load == LOAD_QUEUES;
  }
  node_run *rest = l->first, **end = &l->first;
  if (queues && l->count[LOAD_EXPENSIVE] > 0) { /* those in the list are submitted too */
    last->next = rest;
    rest = NULL;
    *l = (run_list){0};
  }
  bool heavy = queues || l->count[LOAD_EXPENSIVE] > 0;
  for (node_run *s = fresh, *next; s; s = next) {
    next = s->next;
    const bool worth = s->load == LOAD_EXPENSIVE, hand = heavy && worth;
    if (hand) s->next = NULL;
    if (hand && weft__pool_submit(f->run.tasks, pool_process, s) == WEFT_OK) continue;
    heavy = heavy || worth;
    l->count[s->load]++;
    *end = s;
    end = &s->next;
  }
  *end = rest;
}

/* Returns true if it submitted the list to the pool, because a borrowed thread has spent enough time on nodes. */
static bool submit_from_borrowed(dataflow *f, node_run *list) {
  if (!this_thread.borrowed || weft__pool_threads(f->run.tasks) == 1) return false;
  const dataflow_node *n = weft__node_run_node(list);
  int64_t cost = atomic_load_explicit(&n->cost, memory_order_relaxed);
  this_thread.spent += cost;
  bool known = (cost > 0 && !(weft__node_run_item(list)->op->flags & OP_BLOCKING)) || kind_carries_value(n->kind);
  return (!known || this_thread.spent > BORROWED_NS) && weft__pool_submit(f->run.tasks, pool_process, list) == WEFT_OK;
}

/* Submits the nodes whose wait ended to the pool, so that they need not wait for a long kernel of this thread. */
static void submit_ended(dataflow *f) {
  for (node_run *s; (s = thread_next_ended());)
    if (weft__pool_submit(f->run.tasks, pool_resume, s) != WEFT_OK) node_resume(s);
}

static void dataflow_end(dataflow *f);

/* The last active node has ended: ends an asynchronous run, or wakes the thread that waits in weft__dataflow_run. */
static void dataflow_finish(dataflow *f) {
  if (f->run.done) {
    dataflow_end(f);
    return;
  }
  pthread_mutex_lock(&f->run.lock);
  f->finished = true;
  pthread_cond_signal(&f->run.wake);
  pthread_mutex_unlock(&f->run.lock);
}

/* Adds `change` to the number of active nodes after a node ended.  True: none is active any more, and f may be
 * freed. */
static bool dataflow_account(dataflow *f, int change) {
  const long before = change ? atomic_fetch_add(&f->active, change) : 0;
  WEFT_ASSERT(change == 0 || (before > 0 && before + change >= 0));
  if (change == 0 || before + change != 0) return false;
  dataflow_finish(f);
  return true;
}

/* Runs the nodes of the list, and those that become ready meanwhile, until all have ended, wait, or are on the pool. */
static void dataflow_run_list(dataflow *f, node_run *first) {
  const bool share = weft__pool_threads(f->run.tasks) > 1;
  run_list l = {0};
  if (first) run_list_add(f, &l, first, share);
  while (l.first) {
    ready r = {0};
    if (submit_from_borrowed(f, l.first)) return;
    if (share && this_thread.ended && node_is_expensive(l.first)) submit_ended(f);
    outcome o = node_visit(f, run_list_pop(&l), &r);
    if (dataflow_account(f, r.count - (o == ENDED))) return;
    if (r.count > 0) run_list_add(f, &l, r.first, share);
  }
}

/* Called by threads of the pool, by the caller of the run and by threads that delivered a value. */
static void dataflow_process(dataflow *f, node_run *first) {
  const uint64_t mode = weft__denormal_flush();
  dataflow_run_list(f, first);
  weft__denormal_restore(mode);
}

/* ---- waiting ----------------------------------------------------------------------------------- */

/* Continues with a node whose deferred kernel has ended. */
static void node_resume(node_run *s) {
  dataflow *f = s->iteration->frame->dataflow;
  WEFT_ASSERT(atomic_load(&s->phase) == PHASE_DONE && atomic_load(&f->active) > 0);
  value none = {.dead = false};
  ready r = {0};
  bool dead = weft__node_run_is_dead(s);
  weft_err err = weft__status_raise(&s->why);
  weft__status_finish(&s->why);
  if (err) err = weft__item_error(weft__node_run_item(s), err);
  if (f->run.given->log && !err)
    weft__step_log_add(f->run.given->log, weft__node_run_item(s), &s->kernel, s->begin, weft__clock_now_ns());
  if (!err && !atomic_load(&f->run.failed)) err = node_conclude(s, dead, &none, &r);
  if (err) weft__run_fail(&f->run, err);
  if (!dataflow_account(f, r.count - 1) && r.first) dataflow_process(f, r.first);
}

/* Called on the thread that ended the wait of s: resumes s, now or, if the thread is running nodes, when it has
 * finished with those. */
static void node_resume_on_thread(node_run *s) {
  if (thread_enter(true)) {
    node_resume(s);
    thread_leave(true);
    return;
  }
  s->next = NULL;
  *this_thread.last = s;
  this_thread.last = &s->next;
}

/* A deferred kernel has ended.  Called once, on any thread. */
static void on_kernel_done(kernel *k, weft_err err) {
  node_run *s = k->owner;
  dataflow *f = s->iteration->frame->dataflow;
  WEFT_ASSERT(atomic_load(&s->phase) != PHASE_DONE);
  weft__status_update(&s->why, err);
  if (atomic_exchange(&s->phase, PHASE_DONE) == PHASE_RUNS)
    return; /* still inside its call: node_call_kernel goes on */
  if (f->run.done) {
    node_resume_on_thread(s);
    return;
  }
  pthread_mutex_lock(&f->run.lock);
  bool leave = f->waiting || weft__pool_threads(f->run.tasks) == 1;
  if (leave) {
    s->next = f->inbox;
    f->inbox = s;
    pthread_cond_signal(&f->run.wake);
  }
  pthread_mutex_unlock(&f->run.lock);
  if (leave || weft__pool_submit(f->run.tasks, pool_resume, s) == WEFT_OK) return;
  node_resume(s);
}

/* Sleeps until a deferred node or the whole run has ended.  Wakes up regularly to check the deadline and interrupts. */
static node_run *next_from_inbox(dataflow *f, bool *finished) {
  bool failed = atomic_load(&f->run.failed); /* then only the end of what still runs is awaited */
  int64_t slice = WEFT_WAIT_SLICE_MS * NS_PER_MS, left = f->run.given->deadline_ns - weft__clock_now_ns();
  if (!failed && f->run.given->deadline_ns && left < slice) slice = left > 0 ? left : 0;
  struct timespec until = weft__clock_deadline(slice);
  pthread_mutex_lock(&f->run.lock);
  f->waiting = true;
  int late = 0;
  while (!f->inbox && !f->finished && !late)
    late = pthread_cond_clockwait(&f->run.wake, &f->run.lock, CLOCK_MONOTONIC, &until);
  node_run *s = f->inbox;
  if (s) f->inbox = s->next;
  f->waiting = false;
  *finished = f->finished;
  pthread_mutex_unlock(&f->run.lock);
  weft_err err = s || *finished || failed ? WEFT_OK : weft__run_check_wait(&f->run);
  if (err) weft__run_fail(&f->run, err);
  return s;
}

/* Resumes the nodes whose wait has ended, one after the other, until the run has ended. */
static void wait_for_all(dataflow *f) {
  bool finished = false;
  while (!finished) {
    node_run *s = next_from_inbox(f, &finished);
    if (s) pool_resume(s);
  }
  WEFT_ASSERT(atomic_load(&f->active) == 0 && !f->inbox);
}

/* ---- a run ------------------------------------------------------------------------------------- */

static weft_err dataflow_begin(dataflow **out, plan *p, plan_run *given, pool *tasks, run_done *done, void *arg) {
  dataflow *f;
  WEFT_TRY(weft__dataflow_acquire(&f, p));
  f->step = given->step;
  f->step.deadline_ns = given->deadline_ns;
  f->inbox = NULL;
  f->finished = f->waiting = false;
  for (int i = 0; i < p->n_feed; i++) weft__tensor_share(&f->root->slot[i].t, given->feed[i]);
  weft_err err = weft__run_begin(&f->run, p, given, tasks, done, arg);
  if (err)
    weft__dataflow_release(f);
  else
    *out = f;
  return err;
}

/* Fetches the results and releases the dataflow, so that the next run can reuse it. */
static weft_err dataflow_conclude(dataflow *f) {
  weft_err err = weft__run_end(&f->run, f->root->slot, weft__status_raise(&f->run.failure));
  weft__dataflow_release(f);
  return err;
}

/* The end of an asynchronous run. */
static void dataflow_end(dataflow *f) {
  run_done *done = f->run.done;
  void *arg = f->run.arg;
  done(arg, dataflow_conclude(f));
}

weft_err weft__dataflow_run(plan *p, plan_run *given, pool *tasks) {
  dataflow *f;
  ready r = {0};
  WEFT_TRY(dataflow_begin(&f, p, given, tasks, NULL, NULL));
  weft__dataflow_ready(f, &r);
  atomic_store(&f->active, r.count);
  if (r.count == 0) f->finished = true;
  if (r.first) pool_process(r.first);
  wait_for_all(f);
  return dataflow_conclude(f);
}

void weft__dataflow_start(plan *p, plan_run *given, pool *tasks, bool borrowed, run_done *done, void *arg) {
  dataflow *f;
  ready r = {0};
  weft_err err = dataflow_begin(&f, p, given, tasks, done, arg);
  if (err) {
    done(arg, err);
    return;
  }
  weft__dataflow_ready(f, &r);
  atomic_store(&f->active, r.count);
  bool outermost = thread_enter(borrowed);
  if (r.count)
    dataflow_process(f, r.first);
  else
    dataflow_end(f);
  thread_leave(outermost);
}
