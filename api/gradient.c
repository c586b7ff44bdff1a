/* gradient.c - the public functions for gradients, dense or as IndexedSlices. */
#include "api/argument.h"
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/gradient.h"

weft_err weft_gradients(weft_graph *g, int n_y, const weft_out *ys, const weft_out *grad_ys, int n_x,
                        const weft_out *xs, weft_out *dxs) {
  API_NEED(g);
  API_ARRAY(n_y, ys);
  API_ARRAY(n_x, xs);
  API_ARRAY(n_x, dxs);

  WEFT_TRY(weft__b_ok(g));
  grad_value *d = weft__alloc_zero((size_t)n_x + 1, sizeof *d);
  if (!d) return WEFT_OOM;
  weft_err err = weft__gradients(g, n_y, ys, n_x, xs, grad_ys, NULL, d);
  for (int i = 0; i < n_x; i++) dxs[i] = err ? WEFT_NONE : weft__gradient_dense(g, &d[i]);
  weft__free(d);
  if (err) weft__status_update(&g->sticky, err);
  return err ? err : weft__b_ok(g);
}

weft_err weft_gradients_with(weft_graph *g, int n_y, const weft_out *ys, const weft_out *grad_ys, int n_x,
                             const weft_out *xs, const weft_gradient_opts *opts, weft_gradient *dxs) {
  API_NEED(g);
  API_ARRAY(n_y, ys);
  API_ARRAY(n_x, xs);
  API_ARRAY(n_x, dxs);
  API_OPTS(weft_gradient_opts, opts);

  gradient_opts o = {0};
  if (opts)
    o = (gradient_opts){.name = opts->name,
                        .colocate = opts->colocate,
                        .gate = opts->gate,
                        .sum = opts->tree ? SUM_TREE : SUM_ADD_N,
                        .n_stop = opts->n_stop,
                        .stop = opts->stop};
  WEFT_TRY(weft__b_ok(g));
  grad_value *d = weft__alloc_zero((size_t)n_x + 1, sizeof *d);
  if (!d) return WEFT_OOM;
  weft_err err = weft__gradients(g, n_y, ys, n_x, xs, grad_ys, &o, d);
  for (int i = 0; i < n_x; i++)
    dxs[i] = err ? (weft_gradient){WEFT_NONE, WEFT_NONE, WEFT_NONE, WEFT_NONE}
                 : (weft_gradient){d[i].dense, d[i].indices, d[i].values, d[i].dense_shape};
  weft__free(d);
  return err;
}
