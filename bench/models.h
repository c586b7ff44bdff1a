/* models.h - the layers of the bench's models, on the CPU and on the GPU. */
#ifndef WEFT_BENCH_MODELS_H
#define WEFT_BENCH_MODELS_H

#include <weft/ops.h>

static inline weft_out dense(weft_graph *g, const char *name, weft_out x, int64_t in, int64_t out) {
  weft_scope_push_name(g, name);
  weft_out w = weft_variable(g, "w", weft_truncated_normal(g, WEFT_DIMS(in, out), 0.1f), true);
  weft_out b = weft_variable(g, "b", weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(out)), true);
  weft_out y = weft_add(g, weft_matmul(g, x, w), b);
  weft_scope_pop(g);
  return y;
}

static inline weft_out conv_pool(weft_graph *g, const char *name, weft_out x, int64_t in, int64_t out) {
  weft_scope_push_name(g, name);
  weft_out w = weft_variable(g, "w", weft_truncated_normal(g, WEFT_DIMS(5, 5, in, out), 0.1f), true);
  weft_out b = weft_variable(g, "b", weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(out)), true);
  weft_out h = weft_relu(g, weft_add(g, weft_conv2d(g, x, w, 1, "SAME"), b));
  weft_out y = weft_max_pool(g, h, 2, 2, "SAME");
  weft_scope_pop(g);
  return y;
}

static inline weft_out scalar(weft_graph *g, double v) { return weft_scalar(g, WEFT_FLOAT, v); }

#endif
