/* layer.h - the functions of tf.layers: they add variables and the nodes that use them, in a variable scope named
 * after the layer.
 *
 * All functions return WEFT_NONE on failure, and the graph keeps the error (graph/build.h). */
#ifndef WEFT_TRAIN_MODEL_LAYER_H
#define WEFT_TRAIN_MODEL_LAYER_H

#include "train/model/variable_nodes.h"

typedef struct layer {
  const char *name; /* NULL: the name of the kind, made unique */
  reuse_mode reuse;
  const char *activation; /* the last op; NULL: none */
  initializer kernel, bias;
  bool no_bias, untrainable;
  double l1, l2; /* weights of the kernel's regularization losses */
  int64_t stride[2], dilation[2];
  const char *padding; /* "VALID" or "SAME" */
  bool channels_first; /* images are NCHW */
} layer;

/* The last axis of x, whose size must be known, becomes `units`. */
weft_out weft__dense(weft_graph *g, weft_out x, int64_t units, const layer *l);
/* size[2] is height and width. */
weft_out weft__conv2d_layer(weft_graph *g, weft_out x, int64_t filters, const int64_t *size, const layer *l);
weft_out weft__pooling2d(weft_graph *g, bool average, weft_out x, const int64_t *size, const layer *l);
weft_out weft__flatten(weft_graph *g, weft_out x, const char *name);

/* The training mode of a layer: on, off, or the value of a bool output. */
typedef struct training {
  bool on;
  weft_out when; /* node >= 0: used in place of `on` */
} training;

/* tf.layers.dropout, and tf.nn.dropout, which always drops. */
weft_out weft__dropout_layer(weft_graph *g, weft_out x, double rate, training t, bool has_seed, int64_t seed,
                             const char *name);
weft_out weft__dropout(weft_graph *g, weft_out x, double rate, bool has_seed, int64_t seed, const char *name);

typedef struct batch_norm {
  const char *name;
  reuse_mode reuse;
  double momentum, epsilon;
  bool no_center, no_scale, untrainable, channels_first;
  bool unfused; /* fused=False */
} batch_norm;
/* Normalizes over the last axis or axis 1.  The nodes that update the moving mean and variance are added to the
 * collection "update_ops". */
weft_out weft__batch_normalization(weft_graph *g, weft_out x, training t, const batch_norm *b);

/* Add scale * sum |w|, and scale * sum w^2 / 2. */
weft_out weft__l1_regularizer(weft_graph *g, double scale, weft_out w);
weft_out weft__l2_regularizer(weft_graph *g, double scale, weft_out w);

/* ---- used by the layers of this folder ---- */
/* Returns the value of variable `name` in the current scope; WEFT_NONE on failure.  *variable gets the variable
 * itself. */
typedef struct weight {
  const char *name;
  shape shape;
  weft_dtype dtype;
  initializer init;
  bool untrainable;
  double l1, l2;
  bool cached; /* read once, on the layer's device and not on the variable's */
} weight;
weft_out weft__layer_variable(weft_graph *g, const weight *w, weft_out *variable);
/* Pushes the layer's scope, which the caller pops.  Returns false on failure; then there is nothing to pop. */
bool weft__layer_enter(weft_graph *g, const char *name, const char *standard, reuse_mode reuse);

#endif
