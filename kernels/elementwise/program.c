/* program.c - runs a chain of elementwise ops block by block.
 *
 * Each step of the chain runs on a block that stays in the cache, so intermediate values are never written to
 * memory.  Inputs from outside the chain broadcast to its result just as they did through its ops.  So the chain is
 * one elementwise loop with more inputs. */
#include "kernels/elementwise/program.h"

#include "base/alloc.h"
#include "device/gpu_api.h"
#include "kernels/gpu/gpu_host.h"
#include "state/variable.h"

void weft__program_run(void *z, const void *const *in, int64_t n, const void *arg) {
  const program *p = arg;
  const size_t size = weft__dtype_size(p->type);
  _Alignas(WEFT_ALIGN) char temp[PROGRAM_STEPS][PROGRAM_BLOCK * sizeof(double)];
  for (int64_t at = 0; at < n; at += PROGRAM_BLOCK) {
    int64_t count = n - at < PROGRAM_BLOCK ? n - at : PROGRAM_BLOCK;
    for (int s = 0; s < p->n_step; s++) {
      const fused_step *f = &p->step[s];
      const void *from[2];
      for (int i = 0; i < f->n_in; i++)
        from[i] = f->arg[i] >= 0 ? (const char *)in[f->arg[i]] + (size_t)at * size : temp[-1 - f->arg[i]];
      f->loop(s == p->n_step - 1 ? (char *)z + (size_t)at * size : temp[s], from, count, NULL);
    }
  }
}

static weft_err program_cpu(kernel *k) {
  const program *p = k->state;
  shape s = k->in[0]->shape;
  for (int i = 1; i < k->n_in; i++) {
    weft_err err = weft__shape_broadcast(&s, &s, &k->in[i]->shape);
    if (err) return weft__kernel_in(k, err);
  }
  weft_tensor *out = weft__elementwise_out(k, &s);
  if (!out) return WEFT_RESOURCE_EXHAUSTED;
  return weft__elementwise_run_long(k, weft__program_run, p->cost, p, false, k->n_in, k->in, out);
}

const op weft__program_op = {.def = "_Fused", .cpu = program_cpu, .unprepare = weft__free, .flags = OP_INPLACE};

/* Input 0 is the variable v or its handle, and v gets the result.  The caller holds its lock. */
static weft_err program_update_locked(kernel *k, const program *p, variable *v) {
  const weft_tensor *in[ELEM_MAX_IN];
  weft_tensor *now = NULL;
  if (!v->value.buf) return weft__variable_fail_uninitialized(k, v);
  WEFT_TRY(weft__variable_writable(v, &now));
  if (k->device) WEFT_TRY(k->device->ops->sync(k->device)); /* simulated: a copy to the value may still be pending */
  in[0] = now;
  shape s = now->shape;
  for (int i = 1; i < k->n_in; i++) {
    in[i] = k->in[i];
    weft_err err = weft__shape_broadcast(&s, &s, &in[i]->shape);
    if (err) return weft__kernel_in(k, err);
  }
  if (!weft__shape_equal(&s, &now->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the variable and its update do not have the same shape");
  weft__elementwise_run(k, weft__program_run, p->cost, p, false, k->n_in, in, now);
  return WEFT_OK;
}

static weft_err program_update_cpu(kernel *k) {
  variable *v = NULL;
  WEFT_TRY(weft__kernel_variable(k, 0, &v));
  weft__variable_lock(1, &v);
  weft_err err = program_update_locked(k, k->state, v);
  weft__variable_unlock(1, &v);
  if (!err && k->n_out) weft__out_ref(k, 0, v);
  return err;
}

const op weft__program_update_op = {.def = "_FusedUpdate", .cpu = program_update_cpu, .unprepare = weft__free};

weft_err weft__program_simulated(kernel *k) {
  const gpu_api *api = weft__device_api(k->device);
  api->kernel_begin(k->stream);
  weft_err err = k->op->cpu(k);
  api->kernel_end(k->stream);
  return err;
}

/* ---- epilogues --------------------------------------------------------------------------------- */

void weft__fused_epilogue_unprepare(void *state) {
  fused_epilogue *e = state;
  weft__fused_node_finish(&e->first);
  weft__free(e);
}

int weft__epilogue_operands(const kernel *k, const fused_epilogue *e, const weft_tensor *result,
                            const weft_tensor **in) {
  int n = 0;
  for (int i = e->first.n_in; i < k->n_in; i++) {
    if (n == e->from) in[n++] = result;
    in[n++] = k->in[i];
  }
  if (n == e->from) in[n++] = result;
  return n;
}

weft_err weft__epilogue_run(kernel *k, const fused_epilogue *e) {
  weft_tensor *y = &k->out[0].t;
  const weft_tensor *in[ELEM_MAX_IN];
  const int n = weft__epilogue_operands(k, e, y, in);
  shape s = y->shape;
  for (int i = 0; i < n; i++) {
    const weft_err err = weft__shape_broadcast(&s, &s, &in[i]->shape);
    if (err) return weft__kernel_in(k, err);
  }
  if (!weft__shape_equal(&s, &y->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s does not broadcast to %s", weft__shape_text(&s),
                             weft__shape_text(&y->shape));
  return weft__elementwise_run_long(k, weft__program_run, e->program.cost, &e->program, false, n, in, y);
}
