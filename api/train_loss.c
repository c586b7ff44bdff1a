/* train_loss.c - losses and metrics, as programs ask for them. */
#include "train/loss.h"
#include "train/metric.h"

weft_out weft_loss(weft_graph *g, const char *kind, weft_out labels, weft_out predictions, const weft_loss_opts *opts) {
  return weft__loss(g, kind, labels, predictions, opts ? opts : &(weft_loss_opts){0});
}

weft_out weft_total_loss(weft_graph *g, const char *name, bool regularization) {
  return weft__total_loss(g, name, regularization);
}

weft_err weft_metric(weft_graph *g, const char *kind, weft_out labels, weft_out predictions,
                     const weft_metric_opts *opts, weft_out *value, weft_out *update) {
  weft_err err = weft__metric(g, kind, labels, predictions, opts ? opts : &(weft_metric_opts){0}, value, update);
  weft__status_keep(&g->sticky, err);
  return err;
}
