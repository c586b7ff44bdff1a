/* train_loss.c - the public functions of losses and metrics. */
#include "api/argument.h"
#include "train/model/loss.h"
#include "train/model/metric.h"

weft_out weft_loss(weft_graph *g, const char *kind, weft_out labels, weft_out predictions, const weft_loss_opts *opts) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, kind);
  API_OPTS_OUT(g, weft_loss_opts, opts);

  const weft_loss_opts standard = {0}, *o = opts ? opts : &standard;
  if (!weft__named_given(g, kind, 2, (weft_out[]){labels, predictions}) ||
      (o->weights && !weft__named_given(g, kind, 1, o->weights)))
    return WEFT_NONE;
  return weft__loss(g, kind, labels, predictions, o);
}

weft_out weft_total_loss(weft_graph *g, const char *name, bool regularization) {
  API_NEED_OUT(NULL, g);

  return weft__total_loss(g, name, regularization);
}

weft_err weft_metric(weft_graph *g, const char *kind, weft_out labels, weft_out predictions,
                     const weft_metric_opts *opts, weft_out *value, weft_out *update) {
  API_NEED(g);
  API_NEED(kind);
  API_NEED(value);
  API_NEED(update);
  API_OPTS(weft_metric_opts, opts);

  const weft_metric_opts standard = {0}, *o = opts ? opts : &standard;
  if ((labels.node >= 0 && !weft__named_given(g, kind, 1, &labels)) || !weft__named_given(g, kind, 1, &predictions) ||
      (o->weights && !weft__named_given(g, kind, 1, o->weights)))
    return weft__b_ok(g);
  weft_err err = weft__metric(g, kind, labels, predictions, o, value, update);
  weft__status_update(&g->sticky, err);
  return err;
}
