/* train_layer.c - the public functions of layers. */
#include "api/argument.h"
#include "api/initial.h"
#include "train/model/embedding.h"
#include "train/model/layer.h"
#include "train/model/rnn.h"
#include "weft/train.h"

static const reuse_mode modes[] = {[WEFT_REUSE_INHERIT] = REUSE_INHERIT,
                                   [WEFT_REUSE_NEVER] = REUSE_NEVER,
                                   [WEFT_REUSE_ALWAYS] = REUSE_ALWAYS,
                                   [WEFT_REUSE_AUTO] = REUSE_AUTO};

static weft_err read_reuse(reuse_mode *out, weft_reuse reuse) {
  if (reuse < WEFT_REUSE_INHERIT || reuse > WEFT_REUSE_AUTO)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%d is no way of reusing variables", (int)reuse);
  *out = modes[reuse];
  return WEFT_OK;
}

static weft_err read_layer(layer *out, const weft_layer_opts *o) {
  *out = (layer){0};
  if (!o) return WEFT_OK;
  *out = (layer){.name = o->name,
                 .activation = o->activation,
                 .no_bias = !weft__choice_yes(o->use_bias),
                 .untrainable = !weft__choice_yes(o->trainable),
                 .l1 = o->l1,
                 .l2 = o->l2,
                 .stride = {o->stride_h, o->stride_w},
                 .dilation = {o->dilation_h, o->dilation_w},
                 .padding = o->padding,
                 .channels_first = o->channels_first};
  WEFT_TRY(read_reuse(&out->reuse, o->reuse));
  WEFT_TRY(weft__api_initializer(&out->kernel, o->kernel));
  return weft__api_initializer(&out->bias, o->bias);
}

static bool layer_given(weft_graph *g, const char *what, weft_out x, layer *l, const weft_layer_opts *o) {
  return weft__named_given(g, what, 1, &x) && weft__named_keep(g, read_layer(l, o));
}

weft_out weft_layer_dense(weft_graph *g, weft_out x, int64_t units, const weft_layer_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_OPTS_OUT(g, weft_layer_opts, opts);

  layer l;
  return layer_given(g, "dense", x, &l, opts) ? weft__dense(g, x, units, &l) : WEFT_NONE;
}

weft_out weft_layer_conv2d(weft_graph *g, weft_out x, int64_t filters, int height, int width,
                           const weft_layer_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_OPTS_OUT(g, weft_layer_opts, opts);

  layer l;
  if (!layer_given(g, "conv2d", x, &l, opts)) return WEFT_NONE;
  return weft__conv2d_layer(g, x, filters, (int64_t[]){height, width}, &l);
}

static weft_out layer_pool(weft_graph *g, bool average, weft_out x, int height, int width,
                           const weft_layer_opts *opts) {
  layer l;
  if (!layer_given(g, "pooling2d", x, &l, opts)) return WEFT_NONE;
  return weft__pooling2d(g, average, x, (int64_t[]){height, width}, &l);
}

weft_out weft_layer_max_pooling2d(weft_graph *g, weft_out x, int height, int width, const weft_layer_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_OPTS_OUT(g, weft_layer_opts, opts);

  return layer_pool(g, false, x, height, width, opts);
}

weft_out weft_layer_average_pooling2d(weft_graph *g, weft_out x, int height, int width, const weft_layer_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_OPTS_OUT(g, weft_layer_opts, opts);

  return layer_pool(g, true, x, height, width, opts);
}

weft_out weft_layer_flatten(weft_graph *g, const char *name, weft_out x) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "flatten", 1, &x) ? weft__flatten(g, x, name) : WEFT_NONE;
}

weft_out weft_layer_dropout(weft_graph *g, weft_out x, double rate, const weft_dropout_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_OPTS_OUT(g, weft_dropout_opts, opts);

  const weft_dropout_opts standard = {0}, *o = opts ? opts : &standard;
  training t = {o->training, o->when ? *o->when : WEFT_NONE};
  if (!weft__named_given(g, "dropout", 1, &x) || (o->when && !weft__named_given(g, "dropout", 1, o->when)))
    return WEFT_NONE;
  return weft__dropout_layer(g, x, rate, t, o->has_seed, o->seed, o->name);
}

weft_out weft_layer_batch_normalization(weft_graph *g, weft_out x, const weft_batch_norm_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_OPTS_OUT(g, weft_batch_norm_opts, opts);

  const weft_batch_norm_opts standard = {0}, *o = opts ? opts : &standard;
  training t = {o->training, o->when ? *o->when : WEFT_NONE};
  batch_norm b = {.name = o->name,
                  .momentum = o->momentum != 0 ? o->momentum : .99,
                  .epsilon = o->epsilon != 0 ? o->epsilon : .001,
                  .no_center = !weft__choice_yes(o->center),
                  .no_scale = !weft__choice_yes(o->scale),
                  .untrainable = !weft__choice_yes(o->trainable),
                  .channels_first = o->channels_first,
                  .unfused = !weft__choice_yes(o->fused)};
  if (!weft__named_given(g, "batch_normalization", 1, &x) || !weft__named_keep(g, read_reuse(&b.reuse, o->reuse)) ||
      (o->when && !weft__named_given(g, "batch_normalization", 1, o->when)))
    return WEFT_NONE;
  return weft__batch_normalization(g, x, t, &b);
}

weft_out weft_embedding_lookup(weft_graph *g, const char *name, int n, const weft_out *parts, weft_out ids, bool div) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, parts);

  if (!weft__named_given(g, "embedding_lookup", n, parts) || !weft__named_given(g, "embedding_lookup", 1, &ids))
    return WEFT_NONE;
  return weft__embedding_lookup(g, n, parts, ids, &(lookup_opts){.name = name, .div = div});
}

/* Reads the options of a sparse lookup into l, and the terms that it points to; false if an output is none. */
static bool sparse_given(weft_graph *g, const weft_lookup_opts *opts, sparse_lookup *l, term *norm, term *id) {
  const weft_lookup_opts standard = {0}, *o = opts ? opts : &standard;
  const weft_out in[] = {l->indices, l->ids};
  if (!weft__named_given(g, "embedding_lookup_sparse", l->n, l->parts) ||
      !weft__named_given(g, "embedding_lookup_sparse", 2, in) ||
      (o->weights && !weft__named_given(g, "embedding_lookup_sparse", 1, o->weights)))
    return false;
  *norm = NUM(o->max_norm), *id = NUM((double)o->default_id);
  l->opts = (lookup_opts){o->name, o->div, o->max_norm != 0 ? norm : NULL};
  l->combiner = o->combiner, l->fast = o->fast, l->weights = o->weights ? *o->weights : WEFT_NONE;
  l->default_id = o->has_default ? id : NULL;
  return true;
}

weft_out weft_embedding_lookup_sparse(weft_graph *g, int n, const weft_out *parts, weft_out indices, weft_out ids,
                                      const weft_lookup_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, parts);
  API_OPTS_OUT(g, weft_lookup_opts, opts);

  sparse_lookup l = {.n = n, .parts = parts, .indices = indices, .ids = ids, .dense_shape = WEFT_NONE};
  term norm, id;
  return sparse_given(g, opts, &l, &norm, &id) ? weft__embedding_lookup_sparse(g, &l) : WEFT_NONE;
}

weft_out weft_safe_embedding_lookup_sparse(weft_graph *g, int n, const weft_out *parts, weft_out indices, weft_out ids,
                                           weft_out dense_shape, const weft_lookup_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, parts);
  API_OPTS_OUT(g, weft_lookup_opts, opts);

  sparse_lookup l = {.n = n, .parts = parts, .indices = indices, .ids = ids, .dense_shape = dense_shape};
  term norm, id;
  if (!sparse_given(g, opts, &l, &norm, &id) || !weft__named_given(g, "safe_embedding_lookup_sparse", 1, &dense_shape))
    return WEFT_NONE;
  return weft__safe_embedding_lookup_sparse(g, &l);
}

weft_out weft_l1_regularizer(weft_graph *g, double scale, weft_out w) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "l1_regularizer", 1, &w) ? weft__l1_regularizer(g, scale, w) : WEFT_NONE;
}

weft_out weft_l2_regularizer(weft_graph *g, double scale, weft_out w) {
  API_NEED_OUT(NULL, g);

  return weft__named_given(g, "l2_regularizer", 1, &w) ? weft__l2_regularizer(g, scale, w) : WEFT_NONE;
}

/* ---- recurrent networks ---- */

static weft_err read_rnn(cell *c, rnn *r, weft_cell kind, int64_t units, const weft_rnn_opts *opts) {
  const weft_rnn_opts standard = {0}, *o = opts ? opts : &standard;
  if (kind < WEFT_CELL_BASIC_LSTM || kind > WEFT_CELL_GRU || units < 1)
    return weft__fail(WEFT_INVALID_ARGUMENT, "there is no cell of kind %d with %lld units", (int)kind,
                      (long long)units);
  *c = (cell){.kind = kind == WEFT_CELL_GRU ? CELL_GRU : CELL_BASIC_LSTM,
              .units = units,
              .forget_bias = o->has_forget_bias ? o->forget_bias : 1};
  *r = (rnn){.name = o->name,
             .length = o->sequence_length ? *o->sequence_length : WEFT_NONE,
             .initial = o->initial,
             .time_major = o->time_major};
  WEFT_TRY(read_reuse(&r->reuse, o->reuse));
  return weft__api_initializer(&c->kernel, o->kernel);
}

static bool rnn_given(weft_graph *g, const cell *c, const rnn *r, int n, const weft_out *x) {
  return weft__named_given(g, "rnn", n, x) && (r->length.node < 0 || weft__named_given(g, "rnn", 1, &r->length)) &&
         (!r->initial || weft__named_given(g, "rnn", weft__rnn_cell_states(c), r->initial));
}

weft_err weft_static_rnn(weft_graph *g, weft_cell kind, int64_t units, int n, const weft_out *inputs,
                         const weft_rnn_opts *opts, weft_out *outputs, weft_out *state) {
  API_NEED(g);
  API_ARRAY(n, inputs);
  API_ARRAY(n, outputs);
  API_NEED(state);
  API_OPTS(weft_rnn_opts, opts);

  cell c;
  rnn r;
  if (weft__named_keep(g, read_rnn(&c, &r, kind, units, opts)) && rnn_given(g, &c, &r, n, inputs))
    weft__static_rnn(g, &c, n, inputs, &r, outputs, state);
  return weft__b_ok(g);
}

weft_err weft_dynamic_rnn(weft_graph *g, weft_cell kind, int64_t units, weft_out inputs, const weft_rnn_opts *opts,
                          weft_out *outputs, weft_out *state) {
  API_NEED(g);
  API_NEED(outputs);
  API_OPTS(weft_rnn_opts, opts);

  cell c;
  rnn r;
  *outputs = WEFT_NONE;
  if (weft__named_keep(g, read_rnn(&c, &r, kind, units, opts)) && rnn_given(g, &c, &r, 1, &inputs))
    *outputs = weft__dynamic_rnn(g, &c, inputs, &r, state);
  return weft__b_ok(g);
}
