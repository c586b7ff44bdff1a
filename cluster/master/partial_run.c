/* partial_run.c - runs the step of a partial run on a cluster.
 *
 * Include cycle with cluster/master/session: a session sets partial runs up, and each runs its step through its
 * session. */
#include "cluster/master/partial_run.h"

#include "base/alloc.h"
#include "exec/partial_step.h"

typedef struct cluster_partial {
  weft_session *session;
  const session_env *env; /* the session's */
  int64_t id;             /* of the step */
  partial_step *step;
  const plan_request *request;
  cancel *token;
} cluster_partial;

/* Runs the whole step, on a thread of the blocking pool. */
static void cluster_partial_execute(void *arg) {
  cluster_partial *u = arg;
  weft__partial_step_end(u->step, weft__cluster_session_run_by_name(u->session, u->request, u->id, u->token));
}

static weft_err cluster_partial_start(void *arg, partial_step *p, const plan_request *r, cancel *token) {
  cluster_partial *u = arg;
  u->step = p;
  u->request = r;
  u->token = token;
  return weft__blocking_pool_run(u->env->blocking_pool, cluster_partial_execute, u);
}

static weft_err cluster_partial_send(void *arg, const char *key, const weft_tensor *t) {
  const cluster_partial *u = arg;
  return weft__worker_send_value(u->env->worker, u->id, key, t);
}

static void cluster_partial_recv(void *arg, const char *key, recv_fn *fn, void *fn_arg) {
  const cluster_partial *u = arg;
  weft__worker_recv_value(u->env->worker, u->id, key, fn, fn_arg);
}

static void cluster_partial_destroy(void *arg) {
  cluster_partial *u = arg;
  weft__worker_cleanup_step(u->env->worker, u->id);
  weft__free(u);
}

weft_err weft__cluster_partial_setup(weft_session *s, const session_env *env, const plan_request *r, int64_t timeout_ms,
                                     partial_run **out) {
  cluster_partial *u = weft__alloc_zero(1, sizeof *u);
  if (!u) return WEFT_OOM;
  *u = (cluster_partial){.session = s, .env = env, .id = weft__cluster_step_new_id()};
  const device *d = env->task->device[0];
  const partial_host how = {.start = cluster_partial_start,
                            .send = cluster_partial_send,
                            .recv = cluster_partial_recv,
                            .destroy = cluster_partial_destroy,
                            .arg = u,
                            .client = {.name = d->name, .incarnation = d->incarnation},
                            .timeout_ms = timeout_ms,
                            .over = "Must run PartialRunSetup before performing partial runs"};
  return weft__partial_step_create(out, s->graph, r, &how);
}
