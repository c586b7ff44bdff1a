/* sync_run.c - SyncReplicasOptimizer at run time.
 *
 * The chief sets the local steps, enqueues the first tokens and runs the queue runner that averages gradients.
 * After a recovery, steps and tokens are set again, even if every ps kept its variables.  The interrupted update may
 * have taken the gradients of one ps and not those of another; then every worker would wait for a token that never
 * comes.  Surplus tokens do no harm: the gradient of an old step is dropped with its token.  The runner continues,
 * because its session recovers by itself. */
#include "train/session/sync_run.h"

#include "base/alloc.h"
#include "tf.pb-c.h"
#include "train/session/monitored.h"
#include "train/session/queue_runner.h"
#include "train/session/run.h"

static char *sync_run_name_of(const weft_graph *g, weft_out o) { return (char *)(uintptr_t)g->node[o.node]->name; }

weft_err weft__sync_runner_def(const weft_sync *s, uint8_t **def, size_t *size) {
  Tensorflow__QueueRunnerDef d = TENSORFLOW__QUEUE_RUNNER_DEF__INIT;
  int32_t closed = WEFT_OUT_OF_RANGE;
  const weft_graph *g = s->o->g;
  if (s->sync.node < 0 || s->queue.node < 0)
    return weft__fail(WEFT_FAILED_PRECONDITION, "Should be called after apply_gradients().");
  char *enqueue = sync_run_name_of(g, s->sync);
  d.queue_name = sync_run_name_of(g, s->queue);
  d.n_enqueue_op_name = 1;
  d.enqueue_op_name = &enqueue;
  d.close_op_name = sync_run_name_of(g, s->close);
  d.cancel_op_name = sync_run_name_of(g, s->cancel);
  d.n_queue_closed_exception_types = 1;
  d.queue_closed_exception_types = &closed;
  *size = tensorflow__queue_runner_def__get_packed_size(&d);
  if (!(*def = weft__alloc(*size + 1))) return WEFT_OOM;
  tensorflow__queue_runner_def__pack(&d, *def);
  return WEFT_OK;
}

typedef struct sync_hook {
  weft_hook *hook;
  weft_sync *sync;
  bool chief, running;
  int tokens;
  weft_out init_tokens;
} sync_hook;

static weft_err sync_begin(void *arg, weft_hook *h) {
  sync_hook *s = arg;
  s->hook = h;
  s->running = false;
  if (s->sync->sync.node < 0) return weft__fail(WEFT_FAILED_PRECONDITION, "Should be called after apply_gradients().");
  s->init_tokens = s->chief ? weft__sync_init_tokens(s->sync, s->tokens) : WEFT_NONE;
  return weft__status_raise(&s->sync->o->g->sticky);
}

static weft_err start_runner(sync_hook *s, weft_coordinator *c) {
  uint8_t *def;
  size_t size;
  WEFT_TRY(weft__sync_runner_def(s->sync, &def, &size));
  weft_err err = weft__queue_runner_start(weft__monitored_raw(s->hook->owner), c, def, size, NULL);
  weft__free(def);
  s->running = !err;
  return err;
}

static weft_err sync_created(void *arg, weft_session *sess, weft_coordinator *c) {
  sync_hook *s = arg;
  weft_out init = s->chief ? s->sync->chief_init : s->sync->local_init;
  if (init.node >= 0) WEFT_TRY(weft__run_target(sess, init.node));
  if (s->init_tokens.node >= 0) WEFT_TRY(weft__run_target(sess, s->init_tokens.node));
  return s->chief && !s->running ? start_runner(s, c) : WEFT_OK;
}

weft_err weft__hook_sync(weft_hook **out, weft_sync *sync, bool chief, int tokens) {
  static const weft_hook_fns fns = {sync_begin, sync_created, NULL, NULL, NULL};
  sync_hook *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  *s = (sync_hook){.sync = sync, .chief = chief, .tokens = tokens, .init_tokens = WEFT_NONE};
  return weft__hook_create(out, &fns, s, weft__free);
}
