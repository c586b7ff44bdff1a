/* train_sync.c - the public functions of synchronous training. */
#include "api/argument.h"
#include "base/alloc.h"
#include "train/model/sync.h"

weft_err weft_sync_create(weft_sync **out, weft_optimizer *o, const char *name, int aggregate, int replicas) {
  API_NEED(out);
  API_NEED(o);

  return weft__sync_create(out, o, aggregate, replicas, name);
}

void weft_sync_destroy(weft_sync *s) { weft__sync_destroy(s); }

weft_err weft_sync_average(weft_sync *s, weft_average *a, int n, const weft_out *variables) {
  API_NEED(s);
  API_NEED(a);
  API_ARRAY(n, variables);
  API_ALL_OF(s->o->g, n, variables);

  return weft__sync_average(s, a, n, variables);
}

weft_out weft_sync_apply(weft_sync *s, int n, const weft_out *variables, const weft_gradient *d, weft_out step) {
  API_NEED_OUT(NULL, s);
  API_ARRAY_OUT(s->o->g, n, variables);
  API_ARRAY_OUT(s->o->g, n, d);
  API_ALL_OF_OUT(s->o->g, n, variables);
  API_OF_OUT(s->o->g, step);

  grad_value *in = weft__alloc_zero((size_t)n + 1, sizeof *in);
  if (!in) {
    weft__named_keep(s->o->g, WEFT_OOM);
    return WEFT_NONE;
  }
  bool good = true;
  for (int i = 0; i < n && good; i++) {
    in[i] = weft__gradient_in(&d[i]);
    weft_out value = in[i].indices.node >= 0 ? in[i].values : in[i].dense;
    good = value.node < 0 || weft__named_given(s->o->g, "gradient", 1, &value);
  }
  weft_out train = good ? weft__sync_apply(s, n, variables, in, step) : WEFT_NONE;
  weft__free(in);
  return train;
}

weft_out weft_sync_init_tokens(weft_sync *s, int tokens) {
  API_NEED_OUT(NULL, s);
  return weft__sync_init_tokens(s, tokens);
}
weft_out weft_sync_op(const weft_sync *s) {
  API_NEED_OUT(NULL, s);
  return s->sync;
}
weft_out weft_sync_close_op(const weft_sync *s) {
  API_NEED_OUT(NULL, s);
  return s->close;
}
weft_out weft_sync_cancel_op(const weft_sync *s) {
  API_NEED_OUT(NULL, s);
  return s->cancel;
}
weft_out weft_sync_queue(const weft_sync *s) {
  API_NEED_OUT(NULL, s);
  return s->queue;
}
weft_out weft_sync_local_step(const weft_sync *s) {
  API_NEED_OUT(NULL, s);
  return s->local_step;
}
weft_out weft_sync_local_init(const weft_sync *s) {
  API_NEED_OUT(NULL, s);
  return s->local_init;
}
weft_out weft_sync_chief_init(const weft_sync *s) {
  API_NEED_OUT(NULL, s);
  return s->chief_init;
}
weft_out weft_sync_ready_for_local_init(const weft_sync *s) {
  API_NEED_OUT(NULL, s);
  return s->ready_for_local_init;
}
