/* call.c - a function's body as a plan.
 *
 * The thread that calls waits for the body's end and does as much of its work as it can, so a call never waits for a
 * thread.  A body belongs to the step it is called in: its token, its objects, its resources. */
#include "exec/executors/call.h"

#include "exec/compile.h"
#include "exec/executors/sequential.h"
#include "exec/session.h"
#include "exec/executors/start.h"
#include "state/rendezvous.h"

static void call_drop_plan(void *code) { weft__plan_destroy(code); }

static weft_err call_compile(function *f) {
  plan *p = NULL;
  plan_request r = {.n_feed = f->n_arg,
                    .feed = f->arg,
                    .n_fetch = f->n_ret,
                    .fetch = f->ret,
                    .n_target = f->n_target,
                    .target = f->target};
  if (r.n_fetch + r.n_target == 0) return WEFT_OK; /* it does nothing */
  weft_err err = weft__plan_create(&p, f->body, &r);
  if (err) return weft__fail_in(err, "function %s", f->name);
  f->code = p;
  f->drop = call_drop_plan;
  return WEFT_OK;
}

static weft_err call_run(function *f, const step *st, const weft_tensor *const *arg, weft_tensor **ret) {
  plan *p = f->code;
  if (!p) return WEFT_OK;
  plan_run r = {.feed = arg, .fetched = ret, .step = *st, .deadline_ns = st->deadline_ns, .keeps_feeds = true};
  if (p->executor == PLAN_SEQUENTIAL) return weft__sequential_run(p, &r);
  cancel own; /* a body that fails must not cancel its caller's step */
  cancel_link link;
  weft__cancel_init(&own);
  weft_err err = weft__cancel_link_on(&link, st->cancel, &own);
  if (!err) {
    r.step.cancel = &own;
    err = weft__rendezvous_create(&r.step.rendezvous, NULL);
    if (!err) err = weft__run_wait(p, &r, st->inter);
    weft__cancel_link_off(&link);
    weft__rendezvous_release(r.step.rendezvous);
  }
  weft__cancel_finish(&own);
  return err;
}

const caller weft__caller = {.compile = call_compile, .run = call_run};
