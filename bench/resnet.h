/* resnet.h - ResNet-50 as the GPU's table has it: 224 x 224 images, batch normalization with its moving statistics,
 * momentum.  Images and filters are cast to the type that is computed in; variables stay float. */
#ifndef WEFT_BENCH_RESNET_H
#define WEFT_BENCH_RESNET_H

#include "models.h"

enum { RESNET_SIDE = 224, RESNET_CLASSES = 1000, RESNET_STATISTICS = 128 };

typedef struct resnet {
  weft_graph *g;
  weft_dtype type;
  weft_out statistic[RESNET_STATISTICS], now[RESNET_STATISTICS]; /* moving means and variances, and the batch's */
  int n_statistic;
} resnet;

static inline weft_out resnet_typed(resnet *r, weft_out x) {
  return r->type == WEFT_FLOAT ? x : weft_cast(r->g, x, r->type);
}

/* A moving statistic of batch normalization's output `slot`. */
static inline void resnet_follow(resnet *r, weft_out y, int slot, int64_t channels, double initial) {
  weft_graph *g = r->g;
  weft_out zeros = weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(channels));
  r->statistic[r->n_statistic] = weft_variable(g, "moving", weft_add(g, zeros, scalar(g, initial)), false);
  r->now[r->n_statistic++] = weft_out_at(y, slot);
}

static inline weft_out resnet_conv(resnet *r, weft_out x, int64_t in, int64_t out, int64_t size, int stride) {
  weft_graph *g = r->g;
  weft_scope_push_name(g, "conv");
  weft_out w = weft_variable(g, "w", weft_truncated_normal(g, WEFT_DIMS(size, size, in, out), 0.05f), true);
  weft_out zeros = weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(out)), none = weft_zeros(g, WEFT_FLOAT, WEFT_DIMS(0));
  weft_out scale = weft_variable(g, "scale", weft_add(g, zeros, scalar(g, 1)), true);
  weft_out offset = weft_variable(g, "offset", zeros, true);
  weft_out h = weft_conv2d(g, x, resnet_typed(r, w), stride, "SAME");
  weft_out y = weft_op_FusedBatchNormV3(g, h, scale, offset, none, none, "epsilon=0.001");
  resnet_follow(r, y, 1, out, 0);
  resnet_follow(r, y, 2, out, 1);
  weft_scope_pop(g);
  return y;
}

/* 1x1, 3x3, 1x1 with four times the filters, and the way past them. */
static inline weft_out resnet_block(resnet *r, weft_out x, int64_t in, int64_t filters, int stride) {
  weft_graph *g = r->g;
  weft_scope_push_name(g, "block");
  weft_out h = weft_relu(g, resnet_conv(r, x, in, filters, 1, 1));
  h = weft_relu(g, resnet_conv(r, h, filters, filters, 3, stride));
  h = resnet_conv(r, h, filters, 4 * filters, 1, 1);
  if (in != 4 * filters) x = resnet_conv(r, x, in, 4 * filters, 1, stride);
  weft_out y = weft_relu(g, weft_add(g, h, x));
  weft_scope_pop(g);
  return y;
}

static inline weft_out resnet_logits(resnet *r, weft_out images) {
  weft_graph *g = r->g;
  weft_out x = resnet_typed(r, weft_reshape(g, images, WEFT_DIMS(-1, RESNET_SIDE, RESNET_SIDE, 3)));
  weft_out h = weft_max_pool(g, weft_relu(g, resnet_conv(r, x, 3, 64, 7, 2)), 3, 2, "SAME");
  static const int blocks[] = {3, 4, 6, 3};
  int64_t in = 64, filters = 64;
  for (int stage = 0; stage < 4; stage++, filters *= 2)
    for (int b = 0; b < blocks[stage]; b++, in = 4 * filters)
      h = resnet_block(r, h, in, filters, b == 0 && stage ? 2 : 1);
  h = weft_op_Mean(g, weft_reshape(g, h, WEFT_DIMS(-1, 7 * 7, in)), weft_scalar(g, WEFT_INT32, 1), NULL);
  if (r->type != WEFT_FLOAT) h = weft_cast(g, h, WEFT_FLOAT);
  return dense(g, "out", h, in, RESNET_CLASSES);
}

#endif
