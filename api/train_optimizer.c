/* train_optimizer.c - the public functions of gradients, clipping and optimizers. */
#include "api/argument.h"
#include "base/alloc.h"
#include "train/model/clip.h"
#include "train/model/optimizer.h"
#include <string.h>

static void gradients_to_public(int n, const grad_value *d, weft_gradient *out) {
  for (int i = 0; i < n; i++) out[i] = weft__gradient_out(&d[i]);
}

static bool of_graph(weft_graph *g, const weft_gradient *d) {
  const weft_out part[] = {d->dense, d->indices, d->values, d->dense_shape};
  for (int i = 0; i < 4; i++)
    if (part[i].node >= 0 && !weft__named_given(g, "gradient", 1, &part[i])) return false;
  return true;
}

/* Returns NULL if memory is short or a gradient belongs to another graph; the graph records the failure. */
static grad_value *gradients_from_public(weft_graph *g, int n, const weft_gradient *d) {
  grad_value *in = weft__alloc_zero((size_t)n + 1, sizeof *in);
  bool good = weft__named_keep(g, in ? WEFT_OK : WEFT_OOM);
  for (int i = 0; i < n && good; i++) {
    good = of_graph(g, &d[i]);
    in[i] = weft__gradient_in(&d[i]);
  }
  if (good) return in;
  weft__free(in);
  return NULL;
}

static weft_err optimizer_keep_error(weft_graph *g, weft_err err) {
  weft__status_update(&g->sticky, err);
  return err;
}

weft_out weft_clip_by_value(weft_graph *g, const char *name, weft_out x, weft_out low, weft_out high) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "clip_by_value", 3, (weft_out[]){x, low, high})) return WEFT_NONE;
  return weft__clip_by_value(g, name, x, OUT(low), OUT(high));
}

weft_out weft_clip_by_norm(weft_graph *g, const char *name, weft_out x, double norm) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "clip_by_norm", 1, &x) ? weft__clip_by_norm(g, name, x, NUM(norm), NULL) : WEFT_NONE;
}

weft_out weft_clip_by_average_norm(weft_graph *g, const char *name, weft_out x, double norm) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "clip_by_average_norm", 1, &x)) return WEFT_NONE;
  return weft__clip_by_average_norm(g, name, x, NUM(norm));
}

weft_out weft_global_norm(weft_graph *g, const char *name, int n, const weft_gradient *d) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, d);

  grad_value *in = gradients_from_public(g, n, d);
  weft_out o = in ? weft__global_norm(g, name, n, in) : WEFT_NONE;
  weft__free(in);
  return o;
}

weft_err weft_clip_by_global_norm(weft_graph *g, const char *name, int n, const weft_gradient *d, double limit,
                                  const weft_out *use_norm, weft_gradient *clipped, weft_out *norm) {
  API_NEED(g);
  API_ARRAY(n, d);
  API_NEED(clipped);

  grad_value *in = gradients_from_public(g, n, d);
  if (!in || (use_norm && !weft__named_given(g, "clip_by_global_norm", 1, use_norm))) {
    weft__free(in);
    return weft__b_ok(g);
  }
  weft_out used = weft__clip_by_global_norm(g, name, n, in, NUM(limit), use_norm ? *use_norm : WEFT_NONE, in);
  gradients_to_public(n, in, clipped);
  if (norm) *norm = used;
  weft__free(in);
  return weft__b_ok(g);
}

/* ---- optimizers ---- */

weft_err weft_optimizer_create(weft_optimizer **out, weft_graph *g, const char *kind, const char *name) {
  API_NEED(out);
  API_NEED(g);
  API_NEED(kind);

  return weft__optimizer_create(out, g, kind, name);
}

void weft_optimizer_destroy(weft_optimizer *o) { weft__optimizer_destroy(o); }

weft_err weft_optimizer_set(weft_optimizer *o, const char *param, double value) {
  API_NEED(o);
  API_NEED(param);

  return weft__optimizer_set(o, param, &(setting){.number = value, .output = WEFT_NONE});
}

weft_err weft_optimizer_set_output(weft_optimizer *o, const char *param, weft_out value) {
  API_NEED(o);
  API_NEED(param);
  API_OF(o->g, value);

  if (!weft__out_exists(o->g, value))
    return weft__fail(WEFT_INVALID_ARGUMENT, "'%s' of %s: %d:%d is no output of the graph", param, o->name,
                      (int)value.node, (int)value.slot);
  return weft__optimizer_set(o, param, &(setting){.output = value});
}

weft_err weft_optimizer_compute(weft_optimizer *o, weft_out loss, int n, const weft_out *variables,
                                const weft_minimize_opts *opts, weft_gradient *d) {
  API_NEED(o);
  API_ARRAY(n, variables);
  API_ARRAY(n, d);
  API_OF(o->g, loss);
  API_ALL_OF(o->g, n, variables);
  API_OPTS(weft_minimize_opts, opts);

  grad_value *out = weft__alloc_zero((size_t)n + 1, sizeof *out);
  weft_err err = out ? weft__optimizer_compute(o->g, loss, n, variables, opts, out) : WEFT_OOM;
  if (err == WEFT_OK) gradients_to_public(n, out, d);
  weft__free(out);
  return optimizer_keep_error(o->g, err);
}

weft_out weft_optimizer_apply(weft_optimizer *o, int n, const weft_out *variables, const weft_gradient *d,
                              weft_out step, const char *name) {
  API_NEED_OUT(NULL, o);
  API_ARRAY_OUT(o->g, n, variables);
  API_ARRAY_OUT(o->g, n, d);
  API_ALL_OF_OUT(o->g, n, variables);
  API_OF_OUT(o->g, step);

  grad_value *in = gradients_from_public(o->g, n, d);
  weft_out train = in ? weft__optimizer_apply(o, n, variables, in, step, name) : WEFT_NONE;
  weft__free(in);
  return train;
}

static weft_out optimizer_minimize(weft_optimizer *o, weft_out loss, weft_out step, int n, const weft_out *variables,
                                   const weft_minimize_opts *opts, const char *name) {
  grad_value *d = weft__alloc_zero((size_t)n + 1, sizeof *d);
  weft_err err = d ? weft__optimizer_compute(o->g, loss, n, variables, opts, d) : WEFT_OOM;
  weft_out train = WEFT_NONE;
  if (optimizer_keep_error(o->g, err) == WEFT_OK) train = weft__optimizer_apply(o, n, variables, d, step, name);
  weft__free(d);
  return train;
}

weft_out weft_optimizer_minimize(weft_optimizer *o, weft_out loss, weft_out step, int n, const weft_out *variables,
                                 const weft_minimize_opts *opts, const char *name) {
  API_NEED_OUT(NULL, o);
  API_ARRAY_OUT(o->g, n, variables);
  API_OF_OUT(o->g, step);
  API_OPTS_OUT(o->g, weft_minimize_opts, opts);

  if (n > 0) return optimizer_minimize(o, loss, step, n, variables, opts, name);
  n = weft__variables_in(o->g, "trainable_variables", NULL, 0);
  weft_out *all = weft__alloc(((size_t)n + 1) * sizeof *all), train = WEFT_NONE;
  if (!all) optimizer_keep_error(o->g, WEFT_OOM);
  if (all && n == 0) optimizer_keep_error(o->g, weft__fail(WEFT_INVALID_ARGUMENT, "No variables to optimize."));
  if (all && n > 0) {
    weft__variables_in(o->g, "trainable_variables", all, n);
    train = optimizer_minimize(o, loss, step, n, all, opts, name);
  }
  weft__free(all);
  return train;
}

weft_out weft_optimizer_slot(const weft_optimizer *o, weft_out variable, const char *slot) {
  API_NEED_OUT(NULL, o);
  API_NEED_OUT(NULL, slot);
  if (weft__argument_graph(__func__, "variable", o->g, 1, &variable)) return WEFT_NONE;

  return weft__optimizer_slot(o, variable, slot);
}

const char *weft_optimizer_slot_name(const weft_optimizer *o, int i) {
  API_NEED_OR(o, NULL);
  return weft__optimizer_slot_name(o, i);
}
const char *weft_optimizer_name(const weft_optimizer *o) {
  API_NEED_OR(o, NULL);
  return o->name;
}

int weft_optimizer_variables(const weft_optimizer *o, weft_out *out, int room) {
  API_NEED_OR(o, 0);

  return weft__optimizer_variables(o, out, out ? room : 0);
}
