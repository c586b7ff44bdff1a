/* train.h - optimizers, layers, losses, checkpoints, summaries and input.  Programs include weft.h, which states the
 * rules.
 *
 * A call of this header adds many nodes.  If it fails, the nodes added so far stay in the graph, as in TensorFlow.
 * Nothing uses them, and the graph keeps the error message. */
#ifndef WEFT_TRAIN_H
#define WEFT_TRAIN_H

#include "weft/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data ----------------------------------------------------------------------------------- */

/* Reads an idx file (MNIST's format), plain or gzipped (PATH or PATH.gz, whichever exists), into a tensor: uint8,
 * int8, int16, int32, float or double.  WEFT_DATA_LOSS says what is wrong with the file. */
WEFT_CHECKED weft_err weft_idx_read(weft_tensor **out, const char *path);
/* Reads a file of CIFAR-10's binary version: images are (n, 32, 32, 3) and labels (n), both uint8. */
WEFT_CHECKED weft_err weft_cifar10_read(weft_tensor **images, weft_tensor **labels, const char *path);

/* Images with their labels, in batches as in TensorFlow's tutorials.  They are shuffled before each epoch.  A batch
 * across the end of an epoch has the rest of that epoch and the beginning of the next. */
typedef struct weft_samples weft_samples;
typedef struct weft_samples_opts {
  size_t size;
  bool one_hot;    /* labels are rows of floats instead of int32 */
  int classes;     /* length of such a row; 0: 10 */
  bool bytes;      /* images stay uint8 instead of floats in [0, 1] */
  bool keep_shape; /* an image keeps its axes instead of becoming a row */
  int channels;    /* as keep_shape, with this many channels as last axis: 1 makes (28, 28, 1) of MNIST's (28, 28) */
  weft_choice shuffle; /* default yes */
  bool has_seed;       /* the order is numpy's for this seed; else it differs each time */
  uint32_t seed;
  int64_t validation; /* of MNIST: the number of training images that become the validation set; 0: 5000, < 0: none */
} weft_samples_opts;
/* Creates samples from uint8 tensors, which are shared.  opts may be NULL. */
WEFT_CHECKED weft_err weft_samples_create(weft_samples **out, weft_tensor *images, weft_tensor *labels,
                                          const weft_samples_opts *WEFT_OPTIONAL opts);
WEFT_API void weft_samples_destroy(weft_samples *d);
WEFT_API int64_t weft_samples_size(const weft_samples *d);
WEFT_API int64_t weft_samples_epochs(const weft_samples *d); /* complete epochs */
/* Stores the next n samples (at most all of them) in new tensors. */
WEFT_CHECKED weft_err weft_samples_next(weft_samples *d, int64_t n, weft_tensor **images, weft_tensor **labels);
/* Reads the four idx files of a directory, plain or gzipped; any of the three results may be NULL. */
WEFT_CHECKED weft_err weft_mnist_read(weft_samples **WEFT_OPTIONAL train, weft_samples **WEFT_OPTIONAL validation,
                                      weft_samples **WEFT_OPTIONAL test, const char *folder,
                                      const weft_samples_opts *WEFT_OPTIONAL opts);

/* ---- variables ------------------------------------------------------------------------------ */

/* A variable is represented by output 0 of a VariableV2 or of a VarHandleOp (a resource).  A list is a collection:
 * "variables", "trainable_variables", "local_variables", "moving_average_variables", ... */
WEFT_API int weft_variables(const weft_graph *g, const char *list, weft_out *WEFT_OPTIONAL out,
                            int room); /* returns how many there are */
WEFT_CHECKED weft_err weft_variable_add_to(weft_graph *g, const char *list, weft_out variable);
/* Declares that the variable is the piece at `offset` of a tensor that is partitioned into variables.  Savers then
 * write and read the whole tensor, and slots and averages are pieces too.  Call it before a saver is created. */
WEFT_CHECKED weft_err weft_variable_set_slice(weft_graph *g, weft_out variable, const char *full_name, int rank,
                                              const int64_t *full, const int64_t *offset);
/* tf.get_variable with a partitioner: out[n] are the pieces NAME/part_0, ... along an axis, of equal size as far as
 * possible.  They are initialized as parts of the whole, looked up with `div`, and saved as one tensor. */
WEFT_CHECKED weft_err weft_get_variable_parts(weft_graph *g, const char *name, weft_dtype dtype, int rank,
                                              const int64_t *dims, int axis, int n,
                                              const weft_initial *WEFT_OPTIONAL init, bool trainable, weft_out *out);
/* Returns the value that expressions use: NAME/read, or a new ReadVariableOp. */
WEFT_API weft_out weft_variable_value(weft_graph *g, weft_out variable);
/* Return the node that assigns the initial value, and that value; WEFT_NONE if no list contains the variable. */
WEFT_API weft_out weft_variable_initializer(const weft_graph *g, weft_out variable);
WEFT_API weft_out weft_variable_initial(const weft_graph *g, weft_out variable);
/* Add one node that initializes these variables, and a vector of the names of those that are not initialized.  Names
 * may be NULL. */
WEFT_API weft_out weft_variables_initializer(weft_graph *g, const char *WEFT_OPTIONAL name, int n,
                                             const weft_out *variables);
WEFT_API weft_out weft_report_uninitialized(weft_graph *g, const char *WEFT_OPTIONAL name, int n,
                                            const weft_out *variables);

/* Returns the variable "global_step" (int64) of the collection of that name; WEFT_NONE if there is none. */
WEFT_API weft_out weft_global_step(const weft_graph *g);
WEFT_API weft_out weft_global_step_make(weft_graph *g); /* returns it, or adds a new one */

/* ---- clipping --------------------------------------------------------------------------------- */

/* Clip by value, by norm, or by the global norm of all tensors.  The global norm is stored in *norm unless that is
 * NULL. use_norm, unless NULL, is used in its place. */
WEFT_API weft_out weft_clip_by_value(weft_graph *g, const char *WEFT_OPTIONAL name, weft_out x, weft_out low,
                                     weft_out high);
WEFT_API weft_out weft_clip_by_norm(weft_graph *g, const char *WEFT_OPTIONAL name, weft_out x, double norm);
WEFT_API weft_out weft_clip_by_average_norm(weft_graph *g, const char *WEFT_OPTIONAL name, weft_out x, double norm);
WEFT_API weft_out weft_global_norm(weft_graph *g, const char *WEFT_OPTIONAL name, int n, const weft_gradient *d);
WEFT_CHECKED weft_err weft_clip_by_global_norm(weft_graph *g, const char *WEFT_OPTIONAL name, int n,
                                               const weft_gradient *d, double limit,
                                               const weft_out *WEFT_OPTIONAL use_norm, weft_gradient *clipped,
                                               weft_out *WEFT_OPTIONAL norm);

/* ---- optimizers --------------------------------------------------------------------------------- */

/* kind is "GradientDescent", "ProximalGradientDescent", "Momentum", "RMSProp", "Adam", "Adagrad", "ProximalAdagrad",
 * "Adadelta", "AdagradDA" or "Ftrl".  Its scope and its slots are called `name` (NULL: the kind). */
typedef struct weft_optimizer weft_optimizer;
WEFT_CHECKED weft_err weft_optimizer_create(weft_optimizer **out, weft_graph *g, const char *kind,
                                            const char *WEFT_OPTIONAL name);
WEFT_API void weft_optimizer_destroy(weft_optimizer *o);
/* Set a parameter by TensorFlow's keyword ("learning_rate", "momentum", "use_nesterov", "centered", "use_locking",
 * ...): to a number or, for parameters that may change from step to step, to an output.  AdagradDA's "global_step"
 * is a variable. */
WEFT_CHECKED weft_err weft_optimizer_set(weft_optimizer *o, const char *param, double value);
WEFT_CHECKED weft_err weft_optimizer_set_output(weft_optimizer *o, const char *param, weft_out value);
typedef enum weft_gate {
  WEFT_GATE_OP, /* compute all gradients of one node before any of them is used */
  WEFT_GATE_NONE,
  WEFT_GATE_GRAPH /* compute all gradients of all variables first */
} weft_gate;
typedef struct weft_minimize_opts {
  size_t size;
  weft_gate gate;
  bool colocate;             /* place each gradient with its forward node */
  bool tree;                 /* sum gradients pairwise, which needs less memory */
  const weft_out *grad_loss; /* NULL: ones */
} weft_minimize_opts;
/* Sets d[i] to the gradient of the loss with respect to variable i. */
WEFT_CHECKED weft_err weft_optimizer_compute(weft_optimizer *o, weft_out loss, int n, const weft_out *variables,
                                             const weft_minimize_opts *WEFT_OPTIONAL opts, weft_gradient *d);
/* Adds the node that applies gradients; variables without one are not changed.  step (or WEFT_NONE) is incremented
 * after that.  name may be NULL. */
WEFT_API weft_out weft_optimizer_apply(weft_optimizer *o, int n, const weft_out *variables, const weft_gradient *d,
                                       weft_out step, const char *WEFT_OPTIONAL name);
/* Computes and applies gradients; n 0: of every trainable variable. */
WEFT_API weft_out weft_optimizer_minimize(weft_optimizer *o, weft_out loss, weft_out step, int n,
                                          const weft_out *variables, const weft_minimize_opts *WEFT_OPTIONAL opts,
                                          const char *WEFT_OPTIONAL name);
/* Return a slot of a variable ("momentum" of Momentum, "m" and "v" of Adam; WEFT_NONE if there is none), and the
 * name of slot i (NULL if there are fewer). */
WEFT_API weft_out weft_optimizer_slot(const weft_optimizer *o, weft_out variable, const char *slot);
WEFT_API const char *weft_optimizer_slot_name(const weft_optimizer *o, int i);
WEFT_API const char *weft_optimizer_name(const weft_optimizer *o);
/* Stores all variables of the optimizer, including Adam's powers of beta, at most `room` of them.  Returns how many
 * there are. */
WEFT_API int weft_optimizer_variables(const weft_optimizer *o, weft_out *WEFT_OPTIONAL out, int room);

/* ---- learning rates --------------------------------------------------------------------------- */

/* step is a variable or any other number; names may be NULL.  The three functions compute rate * factor ^ (step /
 * steps), rate * exp(-factor * step / steps), and rate / (1 + factor * step / steps).  With staircase, step / steps
 * is rounded down. */
WEFT_API weft_out weft_exponential_decay(weft_graph *g, const char *WEFT_OPTIONAL name, double rate, weft_out step,
                                         double steps, double factor, bool staircase);
WEFT_API weft_out weft_natural_exp_decay(weft_graph *g, const char *WEFT_OPTIONAL name, double rate, weft_out step,
                                         double steps, double factor, bool staircase);
WEFT_API weft_out weft_inverse_time_decay(weft_graph *g, const char *WEFT_OPTIONAL name, double rate, weft_out step,
                                          double steps, double factor, bool staircase);
/* Decays from rate to end as (1 - step / steps) ^ power falls.  With cycle it starts again instead of staying there. */
WEFT_API weft_out weft_polynomial_decay(weft_graph *g, const char *WEFT_OPTIONAL name, double rate, weft_out step,
                                        double steps, double end, double power, bool cycle);
/* Decays from rate to alpha * rate along half a cosine. */
WEFT_API weft_out weft_cosine_decay(weft_graph *g, const char *WEFT_OPTIONAL name, double rate, weft_out step,
                                    double steps, double alpha);
/* Repeats a cosine decay with restarts.  Each period is t_mul times as long (first_steps at first) and m_mul times
 * as high as the one before. */
WEFT_API weft_out weft_cosine_decay_restarts(weft_graph *g, const char *WEFT_OPTIONAL name, double rate, weft_out step,
                                             double first_steps, double t_mul, double m_mul, double alpha);
/* Computes rate * ((alpha + 1 - step / steps) * cosine + beta), with `periods` periods of the cosine.  The noisy
 * form adds normal noise of variance / (1 + step) ^ variance_decay to the linear part. */
WEFT_API weft_out weft_linear_cosine_decay(weft_graph *g, const char *WEFT_OPTIONAL name, double rate, weft_out step,
                                           double steps, double periods, double alpha, double beta);
WEFT_API weft_out weft_noisy_linear_cosine_decay(weft_graph *g, const char *WEFT_OPTIONAL name, double rate,
                                                 weft_out step, double steps, double variance, double variance_decay,
                                                 double periods, double alpha, double beta);
/* Returns values[i] while step <= boundaries[i], and values[n] after the last of n boundaries. */
WEFT_API weft_out weft_piecewise_constant(weft_graph *g, const char *WEFT_OPTIONAL name, weft_out step, int n,
                                          const double *boundaries, const double *values);

/* ---- helpers by name ---------------------------------------------------------------------------- */

/* A parameter of a helper: an output, else a constant, else a number.  A constant or a number becomes a node with
 * TensorFlow's name for it. */
typedef struct weft_operand {
  const weft_out *out; /* NULL: no output; WEFT_NONE: an operand that is left out */
  const weft_tensor *constant;
  double number;
} weft_operand;
typedef struct weft_helper_opts {
  size_t size;
  const char *name;   /* of its scope; NULL: TensorFlow's; a name that ends in '/' is an open scope */
  bool flag;          /* staircase or cycle of a decay; div of lookups; saturate; align_corners */
  const char *method; /* the combiner of sparse lookups; how resize_images interpolates; NULL: the default */
} weft_helper_opts;
#define WEFT_HELPER_MAX_OPERANDS 65536
/* Functions of TensorFlow's Python API that only add nodes, for front ends whose parameters may be numbers, arrays or
 * outputs.  The functions above build the same nodes.  kind and operands:
 *   "clip_by_value" (x, low, high), "clip_by_norm" (x, norm, and axes unless all), "clip_by_average_norm" (x, norm),
 *   "global_norm" (x...), "clip_by_global_norm" (limit, norm, x...), "embedding_lookup" (ids, max_norm, parts...),
 *   "embedding_lookup_sparse" (indices, ids, weights, max_norm, fast, parts...),
 *   "safe_embedding_lookup_sparse" (indices, ids, dense_shape, weights, default_id, max_norm, fast, parts...),
 *   "saturate_cast" (x, type), "convert_image_dtype" (x, type), where a type is a number of weft_dtype,
 *   "adjust_brightness" (x, delta), "adjust_contrast" (x, factor), "adjust_saturation" (x, factor), "adjust_hue" (x,
 *   delta), "per_image_standardization" (x), "flip_left_right" (x), "flip_up_down" (x), "resize_images" (x, size),
 *   "crop_to_bounding_box", "pad_to_bounding_box" (x, top, left, height, width), "central_crop" (x, fraction),
 *   "resize_image_with_crop_or_pad" (x, height, width); these sizes and the fraction are numbers,
 *   "exponential_decay", "natural_exp_decay", "inverse_time_decay" (rate, step, steps, factor),
 *   "polynomial_decay" (rate, step, steps, end, power), "cosine_decay" (rate, step, steps, alpha),
 *   "cosine_decay_restarts" (rate, step, steps, t_mul, m_mul, alpha),
 *   "linear_cosine_decay" (rate, step, steps, periods, alpha, beta),
 *   "noisy_linear_cosine_decay" (rate, step, steps, variance, variance_decay, periods, alpha, beta),
 *   "piecewise_constant" (step, boundaries..., values...).
 * x, parts and the components of sparse tensors are outputs.  out has room for one output; for clip_by_global_norm, for
 * one output per x. */
WEFT_CHECKED weft_err weft_helper(weft_graph *g, const char *kind, int n, const weft_operand *operands,
                                  const weft_helper_opts *WEFT_OPTIONAL opts, weft_out *out);

/* ---- moving averages ---------------------------------------------------------------------------- */

/* An exponential moving average: decay * average + (1 - decay) * value.  With updates (a variable or an output that
 * counts them; WEFT_NONE: none) the decay is at most (1 + updates) / (10 + updates).  The names of the averages end
 * in `name` (NULL: "ExponentialMovingAverage"). */
typedef struct weft_average weft_average;
WEFT_CHECKED weft_err weft_average_create(weft_average **out, weft_graph *g, const char *WEFT_OPTIONAL name,
                                          double decay, weft_out updates, bool zero_debias);
WEFT_API void weft_average_destroy(weft_average *a);
/* Adds the node that updates the averages of these variables or other outputs; n 0: of all trainable variables. */
WEFT_API weft_out weft_average_apply(weft_average *a, int n, const weft_out *values);
WEFT_API weft_out weft_average_of(const weft_average *a, weft_out value); /* the variable; WEFT_NONE if there is none */
/* Returns the name that an average has or would have, for savers; NULL on failure. */
WEFT_API const char *weft_average_name(weft_average *a, weft_out value);
/* Stores all variables and the names to restore them from, at most `room` of them.  A variable with an average gets
 * the name of its average.  Returns how many there are. */
WEFT_API int weft_average_to_restore(weft_average *a, weft_out *variables, const char **names, int room);

/* ---- synchronous training ------------------------------------------------------------------------ */

/* TensorFlow's SyncReplicasOptimizer: a step applies the mean of `aggregate` gradients.  `replicas` workers (0: as
 * many) share the job.  The optimizer must outlive it.  name may be NULL. */
typedef struct weft_sync weft_sync;
WEFT_CHECKED weft_err weft_sync_create(weft_sync **out, weft_optimizer *o, const char *WEFT_OPTIONAL name,
                                       int aggregate, int replicas);
WEFT_API void weft_sync_destroy(weft_sync *s);
/* Updates moving averages of these variables with each step; call it before apply. */
WEFT_CHECKED weft_err weft_sync_average(weft_sync *s, weft_average *a, int n, const weft_out *variables);
/* Adds the node that a worker runs for each of its batches; the gradients come from weft_optimizer_compute. */
WEFT_API weft_out weft_sync_apply(weft_sync *s, int n, const weft_out *variables, const weft_gradient *d,
                                  weft_out step);
/* The chief runs init_tokens once (tokens -1: `aggregate` of them).  It then runs sync_op in a loop, as a queue
 * runner on `queue` with the ops that close it. */
WEFT_API weft_out weft_sync_init_tokens(weft_sync *s, int tokens);
WEFT_API weft_out weft_sync_op(const weft_sync *s);
WEFT_API weft_out weft_sync_queue(const weft_sync *s);
WEFT_API weft_out weft_sync_close_op(const weft_sync *s);
WEFT_API weft_out weft_sync_cancel_op(const weft_sync *s);
/* The local step of a worker, and the nodes that initialize it once the output of ready_for_local_init is empty:
 * local_init on a worker, chief_init on the chief. */
WEFT_API weft_out weft_sync_local_step(const weft_sync *s);
WEFT_API weft_out weft_sync_local_init(const weft_sync *s);
WEFT_API weft_out weft_sync_chief_init(const weft_sync *s);
WEFT_API weft_out weft_sync_ready_for_local_init(const weft_sync *s);

/* ---- initial values ------------------------------------------------------------------------------ */

/* Kinds of weft_initial besides those of core.h.  Orthogonal: a (0: 1) times a random orthogonal matrix, where all
 * axes but the last form the rows.  Identity: a times the identity matrix.  Unit: uniform in a range that keeps the
 * scale of the input. */
#define WEFT_INIT_ORTHOGONAL ((weft_init)(WEFT_INIT_SCALING + 1))
#define WEFT_INIT_IDENTITY ((weft_init)(WEFT_INIT_SCALING + 2))
#define WEFT_INIT_UNIT ((weft_init)(WEFT_INIT_SCALING + 3))

/* ---- layers -------------------------------------------------------------------------------------- */

/* weft_layer_NAME is tf.layers.NAME, which creates variables.  Ops without variables are weft_NAME (core.h):
 * weft_conv2d takes a filter, and weft_layer_conv2d creates one.  The variables "kernel", "bias", ... are in a
 * variable scope with the layer's name ("dense", "dense_1", ... by default).  opts may be NULL.  Images are NHWC, or
 * NCHW with channels_first. */
typedef struct weft_layer_opts {
  size_t size;
  const char *name;
  weft_reuse reuse;                  /* needs a name */
  const char *activation;            /* the last op ("Relu"); NULL: none */
  const weft_initial *kernel, *bias; /* NULL: Glorot's uniform, zeros */
  weft_choice use_bias, trainable;   /* default yes */
  /* weights of the kernel's losses in "regularization_losses": l1 * sum of absolute values, l2 * sum of squares / 2 */
  double l1, l2;
  int stride_h, stride_w, dilation_h, dilation_w; /* 0: 1; the strides of pooling: its size */
  const char *padding;                            /* NULL: "VALID" */
  bool channels_first;                            /* images are NCHW */
} weft_layer_opts;
WEFT_API weft_out weft_layer_dense(weft_graph *g, weft_out x, int64_t units, const weft_layer_opts *WEFT_OPTIONAL opts);
WEFT_API weft_out weft_layer_conv2d(weft_graph *g, weft_out x, int64_t filters, int height, int width,
                                    const weft_layer_opts *WEFT_OPTIONAL opts);
WEFT_API weft_out weft_layer_max_pooling2d(weft_graph *g, weft_out x, int height, int width,
                                           const weft_layer_opts *WEFT_OPTIONAL opts);
WEFT_API weft_out weft_layer_average_pooling2d(weft_graph *g, weft_out x, int height, int width,
                                               const weft_layer_opts *WEFT_OPTIONAL opts);
WEFT_API weft_out weft_layer_flatten(weft_graph *g, const char *WEFT_OPTIONAL name,
                                     weft_out x); /* merges all axes but the first */

/* In training (or if the bool output `when` is true), sets a fraction `rate` of x to 0 and scales the rest by 1 / (1
 * - rate). */
typedef struct weft_dropout_opts {
  size_t size;
  const char *name;
  bool training;
  const weft_out *when; /* NULL: training decides */
  bool has_seed;
  int64_t seed;
} weft_dropout_opts;
WEFT_API weft_out weft_layer_dropout(weft_graph *g, weft_out x, double rate,
                                     const weft_dropout_opts *WEFT_OPTIONAL opts);

/* Normalizes over the last axis, or over axis 1 of NCHW images.  The nodes that update the moving statistics are in
 * the collection "update_ops": run them with each step. */
typedef struct weft_batch_norm_opts {
  size_t size;
  const char *name;
  weft_reuse reuse;
  bool training;
  const weft_out *when;
  double momentum, epsilon;             /* 0: .99, .001 */
  weft_choice center, scale, trainable; /* default yes */
  bool channels_first;
  /* default yes; no: images are normalized by single ops too, so the moving variance lacks the factor N/(N-1) */
  weft_choice fused;
} weft_batch_norm_opts;
WEFT_API weft_out weft_layer_batch_normalization(weft_graph *g, weft_out x,
                                                 const weft_batch_norm_opts *WEFT_OPTIONAL opts);

/* Looks up the rows `ids` of a table that may be partitioned into n parts.  Row i is in part i mod n; with div, each
 * part holds consecutive rows. */
WEFT_API weft_out weft_embedding_lookup(weft_graph *g, const char *WEFT_OPTIONAL name, int n, const weft_out *parts,
                                        weft_out ids, bool div);
/* Combines rows of a table.  Output row i combines the rows `ids` whose entries in `indices` (entries, 2) begin with
 * i; the entries are in the order of a sparse tensor.  opts may be NULL. */
typedef struct weft_lookup_opts {
  size_t size;
  const char *name;
  /* "mean" (NULL), "sum", or "sqrtn": the sum divided by the root of the sum of squared weights */
  const char *combiner;
  const weft_out *weights; /* one for each id; NULL: all 1 */
  double max_norm;         /* rows with a larger norm are scaled down to it; 0: none */
  bool div;                /* each part holds consecutive rows */
  bool fast;               /* with weights: gathers from one table without removing duplicate ids first */
  bool has_default;        /* of a safe lookup: a row without ids is the row of default_id, else zeros */
  int64_t default_id;
} weft_lookup_opts;
WEFT_API weft_out weft_embedding_lookup_sparse(weft_graph *g, int n, const weft_out *parts, weft_out indices,
                                               weft_out ids, const weft_lookup_opts *WEFT_OPTIONAL opts);
/* The same for a sparse tensor of any rank whose last axis is combined.  Negative ids are dropped, and so are ids
 * without a positive weight unless the combiner is "sum". */
WEFT_API weft_out weft_safe_embedding_lookup_sparse(weft_graph *g, int n, const weft_out *parts, weft_out indices,
                                                    weft_out ids, weft_out dense_shape,
                                                    const weft_lookup_opts *WEFT_OPTIONAL opts);
/* Add scale * sum |w| and scale * sum w^2 / 2, with the names of tf.contrib.layers. */
WEFT_API weft_out weft_l1_regularizer(weft_graph *g, double scale, weft_out w);
WEFT_API weft_out weft_l2_regularizer(weft_graph *g, double scale, weft_out w);

/* ---- recurrent networks --------------------------------------------------------------------------- */

typedef enum weft_cell { WEFT_CELL_BASIC_LSTM, WEFT_CELL_GRU } weft_cell;
typedef struct weft_rnn_opts {
  size_t size;
  const char *name; /* of the variable scope; NULL: "rnn" */
  weft_reuse reuse;
  const weft_out
      *sequence_length;    /* of each row: later outputs are 0 and the state stays the same; NULL: all are full */
  const weft_out *initial; /* the initial states: c and h for LSTM, one for GRU; NULL: zeros */
  bool time_major;         /* dynamic: (time, batch, depth) */
  bool has_forget_bias;    /* else the forget bias is 1 */
  double forget_bias;
  const weft_initial *kernel;
} weft_rnn_opts;
/* Adds an unrolled network: n inputs of (batch, depth) give n outputs.  state has room for 2 and gets the final
 * states. */
WEFT_CHECKED weft_err weft_static_rnn(weft_graph *g, weft_cell cell, int64_t units, int n, const weft_out *inputs,
                                      const weft_rnn_opts *WEFT_OPTIONAL opts, weft_out *outputs, weft_out *state);
/* Adds a network in a loop over the time axis of (batch, time, depth). */
WEFT_CHECKED weft_err weft_dynamic_rnn(weft_graph *g, weft_cell cell, int64_t units, weft_out inputs,
                                       const weft_rnn_opts *WEFT_OPTIONAL opts, weft_out *outputs,
                                       weft_out *WEFT_OPTIONAL state);

/* ---- losses and metrics -------------------------------------------------------------------------- */

typedef enum weft_reduction {
  WEFT_SUM_BY_NONZERO_WEIGHTS, /* the mean over the elements with a nonzero weight */
  WEFT_REDUCE_NONE,            /* one loss for each element */
  WEFT_REDUCE_SUM,
  WEFT_REDUCE_MEAN, /* the sum divided by the sum of the weights */
  WEFT_SUM_OVER_BATCH_SIZE
} weft_reduction;
typedef struct weft_loss_opts {
  size_t size;
  const char *name;
  const weft_out *weights; /* NULL: all 1 */
  weft_reduction reduction;
  const char *collection; /* NULL: "losses"; "": none */
  double label_smoothing; /* of the cross entropies */
  double delta, epsilon;  /* 0: 1 for huber_loss, 1e-7 for log_loss */
  int axis;               /* of cosine_distance */
} weft_loss_opts;
/* kind is "absolute_difference", "cosine_distance", "hinge_loss", "huber_loss", "log_loss",
 * "mean_pairwise_squared_error" (which has its own reduction), "mean_squared_error", "sigmoid_cross_entropy",
 * "softmax_cross_entropy", "sparse_softmax_cross_entropy" (of logits) or "weighted_loss", for which predictions and
 * labels are both the loss of each element.  opts may be NULL. */
WEFT_API weft_out weft_loss(weft_graph *g, const char *kind, weft_out labels, weft_out predictions,
                            const weft_loss_opts *WEFT_OPTIONAL opts);
/* Adds the sum of the collection "losses" and, with `regularization`, of "regularization_losses".  name may be NULL. */
WEFT_API weft_out weft_total_loss(weft_graph *g, const char *WEFT_OPTIONAL name, bool regularization);

typedef struct weft_metric_opts {
  size_t size;
  const char *name;
  const weft_out *weights; /* NULL: all 1 */
  int thresholds;          /* of auc; 0: 200 */
} weft_metric_opts;
/* kind is "mean" (of the predictions), "accuracy", "mean_squared_error", "mean_absolute_error",
 * "root_mean_squared_error", "precision", "recall", "auc", "true_positives", "false_positives", "true_negatives" or
 * "false_negatives".  *value is the metric over all batches so far, and running *update adds a batch.  The totals
 * are local variables. */
WEFT_CHECKED weft_err weft_metric(weft_graph *g, const char *kind, weft_out labels, weft_out predictions,
                                  const weft_metric_opts *WEFT_OPTIONAL opts, weft_out *value, weft_out *update);

/* ---- checkpoints ---------------------------------------------------------------------------- */

/* A saver adds nodes to the graph that write its variables to files and read them back.  Nodes and files are
 * TensorFlow's.  Even if the process dies, a checkpoint is complete or absent.  Any thread may save. */
typedef struct weft_saver weft_saver;
typedef struct weft_saver_opts {
  size_t size;
  int n_variable; /* 0: every variable of the collection "variables" */
  const weft_out *variables;
  const char *const *names; /* in the checkpoint; NULL, or a NULL entry: the variable's own name */
  const char *name;         /* of the name scope; NULL: "save" */
  const char *filename;     /* used if none is fed; NULL: "model" */
  int max_to_keep;          /* 0: the last 5; < 0: all */
  double keep_every_hours;  /* also keeps one checkpoint per this many hours; 0: 10000; < 0: one for each save */
  bool sharded;             /* each device with variables writes a file of its own */
  bool reshape;        /* a variable may have another shape than the saved one, if the number of elements is equal */
  bool relative_paths; /* in the state file, even if the directory was given as an absolute path */
  bool pad_step;       /* "model-00000012" */
  int version;         /* of the files: 0 or 2: V2; 1: V1, one file for each shard, as before TensorFlow 0.12 */
} weft_saver_opts;
/* Creates a saver.  opts may be NULL.  The graph must outlive the saver.  On failure the graph is unchanged. */
WEFT_CHECKED weft_err weft_saver_create(weft_saver **out, weft_graph *g, const weft_saver_opts *WEFT_OPTIONAL opts);
/* Creates a saver from a serialized SaverDef, whose nodes are in the graph already. */
WEFT_CHECKED weft_err weft_saver_adopt(weft_saver **out, weft_graph *g, const void *saver_def, size_t size);
WEFT_API void weft_saver_destroy(weft_saver *s);
WEFT_CHECKED weft_err weft_saver_def(void **out, size_t *size, const weft_saver *s); /* serialized; weft_free */

typedef struct weft_save_opts {
  size_t size;
  const int64_t *step;           /* NULL: none; else the checkpoint's name is "path-step" */
  const weft_out *global_step;   /* the same, as an output to be run */
  const char *latest_filename;   /* of the state file; NULL: "checkpoint" */
  const char *meta_suffix;       /* NULL: "meta" */
  weft_choice write_meta_graph;  /* default yes: PATH.meta */
  weft_choice write_state;       /* default yes; no: does not change the state file, and deletes no older checkpoint */
  bool relative_paths, pad_step; /* as in weft_saver_opts; for adopted savers, which were made without them */
} weft_save_opts;
/* Saves a checkpoint, and creates the directory if needed.  *saved (weft_free; may be NULL) is the checkpoint's
 * name. */
WEFT_CHECKED weft_err weft_saver_save(weft_saver *s, weft_session *sess, const char *path,
                                      const weft_save_opts *WEFT_OPTIONAL opts, char **WEFT_OPTIONAL saved);
WEFT_CHECKED weft_err weft_saver_restore(weft_saver *s, weft_session *sess, const char *path);
/* Restores the newest readable checkpoint of a directory.  *restored (weft_free) is its name, or NULL if there is
 * none.  Damaged ones are logged and skipped. */
WEFT_CHECKED weft_err weft_saver_restore_latest(weft_saver *s, weft_session *sess, const char *dir,
                                                const char *WEFT_OPTIONAL latest_filename, char **restored);

/* The checkpoints of a directory in the order of its state file: oldest first. */
typedef struct weft_checkpoint_state weft_checkpoint_state;
/* *out is NULL if there is no readable state file. */
WEFT_CHECKED weft_err weft_checkpoint_state_read(weft_checkpoint_state **out, const char *dir,
                                                 const char *WEFT_OPTIONAL latest_filename);
WEFT_CHECKED weft_err weft_checkpoint_state_write(const char *dir, const char *latest, int n, const char *const *all,
                                                  const char *WEFT_OPTIONAL latest_filename, bool relative_paths);
WEFT_API void weft_checkpoint_state_destroy(weft_checkpoint_state *s);
WEFT_API const char *weft_checkpoint_state_latest(const weft_checkpoint_state *s);
WEFT_API int weft_checkpoint_state_size(const weft_checkpoint_state *s);
WEFT_API const char *weft_checkpoint_state_path(const weft_checkpoint_state *s, int i);
/* Stores the last checkpoint's name if its files exist, else NULL; weft_free. */
WEFT_CHECKED weft_err weft_checkpoint_latest(char **out, const char *dir, const char *WEFT_OPTIONAL latest_filename);
WEFT_API bool weft_checkpoint_exists(const char *prefix);
/* Stores the start of the local path in a path that may name a file system: "file:///tmp/x" gives "/tmp/x".  Returns
 * UNIMPLEMENTED for others, such as "hdfs://...".  Every function that takes a path calls it. */
WEFT_CHECKED weft_err weft_path_local(const char *path, const char **local);

/* Reads a checkpoint without a graph.  Tensors are ordered by name. */
typedef struct weft_checkpoint weft_checkpoint;
WEFT_CHECKED weft_err weft_checkpoint_open(weft_checkpoint **out, const char *prefix);
WEFT_API void weft_checkpoint_close(weft_checkpoint *c);
WEFT_API int weft_checkpoint_size(const weft_checkpoint *c);
WEFT_API const char *weft_checkpoint_name(const weft_checkpoint *c, int i); /* NULL if there is none */
WEFT_API weft_dtype weft_checkpoint_dtype(const weft_checkpoint *c, int i);
WEFT_API int weft_checkpoint_shape(const weft_checkpoint *c, int i,
                                   int64_t *WEFT_OPTIONAL dims); /* returns the rank; dims has room for 16 */
WEFT_CHECKED weft_err weft_checkpoint_read(weft_tensor **out, weft_checkpoint *c, const char *name);

/* The checkpoints that a saver may still delete.  set: `times` are seconds since 1970, or NULL.  recover: the times
 * are those of the files, and checkpoints that do not exist are left out. */
WEFT_CHECKED weft_err weft_saver_kept(weft_checkpoint_state **out, weft_saver *s);
WEFT_CHECKED weft_err weft_saver_set_kept(weft_saver *s, int n, const char *const *paths,
                                          const double *WEFT_OPTIONAL times);
WEFT_CHECKED weft_err weft_saver_recover_kept(weft_saver *s, int n, const char *const *paths);

/* ---- models to serve ------------------------------------------------------------------------ */

/* A SavedModel: a directory with graphs (saved_model.pb) and their variables.  TensorFlow can load and serve it, and
 * Weft can load TensorFlow's. */
typedef struct weft_saved_model weft_saved_model;
typedef struct weft_signature { /* the inputs and outputs of one way to call the model */
  const char *key;              /* "serving_default" */
  const char *method;           /* "tensorflow/serving/predict" */
  int n_in, n_out;
  const char *const *in_names, *const *out_names;
  const weft_out *in, *out;
  const void *def; /* a serialized SignatureDef, which replaces all fields but the key; or NULL */
  size_t def_size;
} weft_signature;
typedef struct weft_saved_model_opts {
  size_t size;
  int n_tag;
  const char *const *tags; /* "serve" */
  int n_signature;
  const weft_signature *signatures;
  const weft_out *init; /* run after loading, or NULL */
  weft_saver *saver;    /* NULL: one of its own */
  bool clear_devices;
} weft_saved_model_opts;
/* Creates a model that will be written to dir.  Returns ALREADY_EXISTS if the directory exists and is not empty. */
WEFT_CHECKED weft_err weft_saved_model_create(weft_saved_model **out, const char *dir);
WEFT_API void weft_saved_model_destroy(weft_saved_model *m);
/* Adds a graph.  The first graph needs a session, whose variables are saved; later graphs share them (sess NULL). */
WEFT_CHECKED weft_err weft_saved_model_add(weft_saved_model *m, weft_graph *g, weft_session *WEFT_OPTIONAL sess,
                                           const weft_saved_model_opts *opts);
WEFT_CHECKED weft_err weft_saved_model_write(weft_saved_model *m);
/* Imports the graph with exactly these tags into g, under prefix (may be NULL).  Then it restores the variables in
 * the session and runs the model's init op; sess NULL: only the graph.  *meta_graph_def (weft_free; may be NULL)
 * contains the signatures. */
WEFT_CHECKED weft_err weft_saved_model_load(const char *dir, weft_graph *g, weft_session *WEFT_OPTIONAL sess, int n_tag,
                                            const char *const *tags, const char *WEFT_OPTIONAL prefix,
                                            void **WEFT_OPTIONAL meta_graph_def, size_t *WEFT_OPTIONAL size);
/* Stores a text that describes the graphs of the directory, by their tags, and their signatures; weft_free. */
WEFT_CHECKED weft_err weft_saved_model_describe(char **out, const char *dir);
/* The same as JSON: [{"tags", "nodes", "functions", "assets", "signatures": [{"key", "method", "inputs": [{"name",
 * "type", "shape", "tensor"}], "outputs": ...}]}]; weft_free. */
WEFT_CHECKED weft_err weft_saved_model_json(char **out, const char *dir);

/* ---- summaries and events --------------------------------------------------------------------- */

/* Add nodes whose output is a serialized Summary.  They are added to the collection "summaries", which merge_all
 * reads. */
typedef struct weft_summary_opts {
  size_t size;
  const char *family; /* a prefix of the tag; NULL: none */
  int n_collection;   /* 0: "summaries"; < 0: none */
  const char *const *collections;
} weft_summary_opts;
WEFT_API weft_out weft_summary_scalar(weft_graph *g, const char *name, weft_out x,
                                      const weft_summary_opts *WEFT_OPTIONAL opts);
WEFT_API weft_out weft_summary_histogram(weft_graph *g, const char *name, weft_out x,
                                         const weft_summary_opts *WEFT_OPTIONAL opts);
/* NHWC with 1, 3 or 4 channels, uint8 or float; max_outputs 0: 3. */
WEFT_API weft_out weft_summary_image(weft_graph *g, const char *name, weft_out x, int max_outputs,
                                     const weft_summary_opts *WEFT_OPTIONAL opts);
/* (n, frames) or (n, frames, channels) in [-1, 1]; sample_rate is a float scalar in Hz. */
WEFT_API weft_out weft_summary_audio(weft_graph *g, const char *name, weft_out x, weft_out sample_rate, int max_outputs,
                                     const weft_summary_opts *WEFT_OPTIONAL opts);
WEFT_API weft_out weft_summary_text(weft_graph *g, const char *WEFT_OPTIONAL name, weft_out x,
                                    const weft_summary_opts *WEFT_OPTIONAL opts);
/* Adds any tensor, with a serialized SummaryMetadata that names the plug-in which shows it. */
WEFT_API weft_out weft_summary_tensor(weft_graph *g, const char *name, weft_out x, const void *metadata, size_t size,
                                      const weft_summary_opts *WEFT_OPTIONAL opts);
/* Merge several summaries into one.  merge_all merges those of a collection (NULL: "summaries") whose names begin
 * with `within` (NULL: all).  It returns WEFT_NONE without an error if there are none. */
WEFT_API weft_out weft_summary_merge(weft_graph *g, const char *WEFT_OPTIONAL name, int n, const weft_out *in,
                                     const weft_summary_opts *WEFT_OPTIONAL opts);
WEFT_API weft_out weft_summary_merge_all(weft_graph *g, const char *WEFT_OPTIONAL list,
                                         const char *WEFT_OPTIONAL within, const char *WEFT_OPTIONAL name);

/* TensorFlow's FileWriter: writes DIR/events.out.tfevents.* for TensorBoard on its own thread.  Any thread may add
 * events.  A closed writer drops them with a warning. */
typedef struct weft_event_writer weft_event_writer;
typedef struct weft_event_writer_opts {
  size_t size;
  weft_graph *graph;  /* written first; NULL: none */
  int max_queue;      /* events that may wait; 0: 10 */
  double flush_secs;  /* 0: 120 */
  const char *suffix; /* of the file's name */
} weft_event_writer_opts;
WEFT_CHECKED weft_err weft_event_writer_create(weft_event_writer **out, const char *dir,
                                               const weft_event_writer_opts *WEFT_OPTIONAL opts);
WEFT_API void weft_event_writer_destroy(weft_event_writer *w); /* closes it first */
WEFT_API const char *weft_event_writer_dir(const weft_event_writer *w);
/* Adds a serialized Summary, such as the output of the nodes above. */
WEFT_CHECKED weft_err weft_event_writer_add_summary(weft_event_writer *w, const void *summary, size_t size,
                                                    int64_t step);
WEFT_CHECKED weft_err weft_event_writer_add_scalar(weft_event_writer *w, const char *tag, double value, int64_t step);
WEFT_CHECKED weft_err weft_event_writer_add_event(weft_event_writer *w, const void *event, size_t size);
WEFT_CHECKED weft_err weft_event_writer_add_graph(weft_event_writer *w, weft_graph *g, int64_t step);
WEFT_CHECKED weft_err weft_event_writer_add_meta_graph(weft_event_writer *w, const void *meta_graph_def, size_t size,
                                                       int64_t step);
/* A tag may be used once. */
WEFT_CHECKED weft_err weft_event_writer_add_run_metadata(weft_event_writer *w, const void *run_metadata, size_t size,
                                                         const char *tag, int64_t step);
/* state: 1 start, 2 stop, 3 checkpoint; path and message may be NULL. */
WEFT_CHECKED weft_err weft_event_writer_add_session_log(weft_event_writer *w, int state,
                                                        const char *WEFT_OPTIONAL checkpoint_path,
                                                        const char *WEFT_OPTIONAL message, int64_t step);
WEFT_CHECKED weft_err weft_event_writer_flush(weft_event_writer *w);
WEFT_API weft_err weft_event_writer_close(weft_event_writer *w);
WEFT_CHECKED weft_err weft_event_writer_reopen(weft_event_writer *w); /* continues in a new file */

/* ---- threads and input pipelines ---------------------------------------------------------------- */

/* Threads that stop together.  Any thread may request the stop, all threads can see it, and join waits for them.
 * The first interrupt of the program is such a request.  Any thread may call these functions. */
typedef struct weft_coordinator weft_coordinator;
typedef weft_err weft_thread_fn(void *arg); /* a failure requests the stop */
/* Errors with these codes stop the threads but are not raised (n 0: WEFT_OUT_OF_RANGE). */
WEFT_CHECKED weft_err weft_coordinator_create(weft_coordinator **out, int n, const weft_err *clean);
WEFT_API void weft_coordinator_destroy(weft_coordinator *c);
/* Starts a thread that calls fn every `seconds` until the stop (0: without a pause; < 0: once). */
WEFT_CHECKED weft_err weft_coordinator_start(weft_coordinator *c, const char *WEFT_OPTIONAL name, double seconds,
                                             weft_thread_fn *fn, void *WEFT_OPTIONAL arg);
/* Requests the stop.  code is this thread's last failure, or WEFT_OK.  Only the first request counts. */
WEFT_API void weft_coordinator_request_stop(weft_coordinator *c, weft_err code);
WEFT_API bool weft_coordinator_should_stop(weft_coordinator *c);
WEFT_API void weft_coordinator_clear_stop(weft_coordinator *c);
/* returns true if the stop was requested; < 0: waits without a limit */
WEFT_API bool weft_coordinator_wait(weft_coordinator *c, double seconds);
/* Waits until the stop or until all threads have ended, then at most grace_secs (0: 120) for the remaining threads.
 * Returns the error that stopped them.  WEFT_DEADLINE_EXCEEDED names threads that still run, unless ignore_live. */
WEFT_CHECKED weft_err weft_coordinator_join(weft_coordinator *c, double grace_secs, bool ignore_live);
WEFT_CHECKED weft_err weft_coordinator_raise(weft_coordinator *c);

/* Adds a QueueRunner to a collection (list NULL: "queue_runners"): n threads that enqueue until their input ends,
 * and then close the queue.  An op may be listed several times. */
WEFT_CHECKED weft_err weft_queue_runner_add(weft_graph *g, weft_out queue, int n, const weft_out *enqueue,
                                            const char *WEFT_OPTIONAL list);
/* Starts the threads of all queue runners of the list; *started may be NULL.  Stop and join them before the session
 * is destroyed. */
WEFT_CHECKED weft_err weft_queue_runners_start(weft_session *sess, weft_coordinator *WEFT_OPTIONAL c,
                                               const char *WEFT_OPTIONAL list, int *WEFT_OPTIONAL started);
/* Stores the chief's queue runner of synchronous training, serialized; weft_free. */
WEFT_CHECKED weft_err weft_sync_queue_runner(void **out, size_t *size, const weft_sync *s);
/* Starts the threads of one serialized QueueRunnerDef. */
WEFT_CHECKED weft_err weft_queue_runner_start(weft_session *sess, weft_coordinator *WEFT_OPTIONAL c,
                                              const void *queue_runner_def, size_t size, int *WEFT_OPTIONAL started);

typedef struct weft_producer_opts {
  size_t size;
  int64_t num_epochs;  /* 0: without end; else a local variable counts and must be initialized */
  weft_choice shuffle; /* default yes */
  bool has_seed;
  int64_t seed;
  int capacity; /* 0: 32 */
  const char *shared_name, *name;
} weft_producer_opts;
/* Add a queue and its runner, and return the next element: a row of x; one of n strings (or of the elements of x if
 * n is 0); a number below limit (or below the value of x if that is an output). */
WEFT_API weft_out weft_input_producer(weft_graph *g, weft_out x, const weft_producer_opts *WEFT_OPTIONAL opts);
WEFT_API weft_out weft_string_input_producer(weft_graph *g, weft_out x, int n, const char *const *strings,
                                             const weft_producer_opts *WEFT_OPTIONAL opts);
WEFT_API weft_out weft_range_input_producer(weft_graph *g, weft_out x, int64_t limit,
                                            const weft_producer_opts *WEFT_OPTIONAL opts);
/* Stores a row of each of n tensors at a time in out[n]. */
WEFT_API void weft_slice_input_producer(weft_graph *g, int n, const weft_out *x, weft_out *out,
                                        const weft_producer_opts *WEFT_OPTIONAL opts);
WEFT_API weft_out weft_limit_epochs(weft_graph *g, weft_out x, int64_t epochs, const char *WEFT_OPTIONAL name);

typedef struct weft_batch_opts {
  size_t size;
  int batch_size;
  int num_threads;           /* 0: 1; of a join: one for each list */
  int capacity;              /* 0: 32 */
  int64_t min_after_dequeue; /* for shuffled batches */
  bool has_seed;
  int64_t seed;
  bool enqueue_many;              /* the tensors are batches, whose rows are the elements */
  bool dynamic_pad;               /* elements may differ in size, and are padded */
  bool allow_smaller_final_batch; /* the last batch may be smaller; else the rest is dropped */
  const char *shared_name, *name;
} weft_batch_opts;
/* Add batches of n tensors: output i of the returned node is the batch of tensor i.  The join functions take several
 * lists of n tensors, list by list. */
WEFT_API weft_out weft_batch(weft_graph *g, int n, const weft_out *x, const weft_batch_opts *opts);
WEFT_API weft_out weft_shuffle_batch(weft_graph *g, int n, const weft_out *x, const weft_batch_opts *opts);
WEFT_API weft_out weft_batch_join(weft_graph *g, int lists, int n, const weft_out *x, const weft_batch_opts *opts);
WEFT_API weft_out weft_shuffle_batch_join(weft_graph *g, int lists, int n, const weft_out *x,
                                          const weft_batch_opts *opts);

/* ---- images ------------------------------------------------------------------------------------- */

/* tf.image, for images of (height, width, channels) and for batches of images.  Integers are converted to floats in
 * [0, 1] for arithmetic, and back.  Sizes that are unknown while the graph is built are checked when it runs.  A NULL
 * seed means the graph's. */
WEFT_API weft_out weft_image_convert(weft_graph *g, weft_out x, weft_dtype to, bool saturate);
/* method: "bilinear" (NULL), "nearest_neighbor", "bicubic" or "area". */
WEFT_API weft_out weft_image_resize(weft_graph *g, weft_out x, int64_t height, int64_t width,
                                    const char *WEFT_OPTIONAL method, bool align_corners);
WEFT_API weft_out weft_image_crop(weft_graph *g, weft_out x, int64_t top, int64_t left, int64_t height, int64_t width);
/* Pads images with zeros: `top` rows above and `left` columns beside them. */
WEFT_API weft_out weft_image_pad(weft_graph *g, weft_out x, int64_t top, int64_t left, int64_t height, int64_t width);
/* Crops or pads around the center. */
WEFT_API weft_out weft_image_crop_or_pad(weft_graph *g, weft_out x, int64_t height, int64_t width);
WEFT_API weft_out weft_image_central_crop(weft_graph *g, weft_out x, double fraction);
WEFT_API weft_out weft_image_random_crop(weft_graph *g, weft_out x, int n, const int64_t *sizes,
                                         const int64_t *WEFT_OPTIONAL seed);
WEFT_API weft_out weft_image_flip(weft_graph *g, weft_out x, bool up_down); /* false: left and right */
WEFT_API weft_out weft_image_random_flip(weft_graph *g, weft_out x, bool up_down, const int64_t *WEFT_OPTIONAL seed);
WEFT_API weft_out weft_image_brightness(weft_graph *g, weft_out x, double delta);
WEFT_API weft_out weft_image_random_brightness(weft_graph *g, weft_out x, double max_delta,
                                               const int64_t *WEFT_OPTIONAL seed);
WEFT_API weft_out weft_image_contrast(weft_graph *g, weft_out x, double factor);
WEFT_API weft_out weft_image_random_contrast(weft_graph *g, weft_out x, double lower, double upper,
                                             const int64_t *WEFT_OPTIONAL seed);
/* These need RGB images.  A hue of 1 is a full rotation. */
WEFT_API weft_out weft_image_saturation(weft_graph *g, weft_out x, double factor);
WEFT_API weft_out weft_image_random_saturation(weft_graph *g, weft_out x, double lower, double upper,
                                               const int64_t *WEFT_OPTIONAL seed);
WEFT_API weft_out weft_image_hue(weft_graph *g, weft_out x, double delta);
WEFT_API weft_out weft_image_random_hue(weft_graph *g, weft_out x, double max_delta, const int64_t *WEFT_OPTIONAL seed);
WEFT_API weft_out weft_image_standardize(weft_graph *g, weft_out x); /* mean 0, deviation 1 */

/* ---- step stats ----------------------------------------------------------------------------- */

/* Converts a serialized RunMetadata (of weft_session_run, or TensorFlow's) to a table: for each device the ops and
 * the max_nodes nodes (0: all) that took the most time; weft_free.  weft_trace_json writes it for Chrome's trace
 * viewer. */
WEFT_CHECKED weft_err weft_trace_table(char **out, const void *metadata, size_t size, int max_nodes);
/* The same as JSON: {"devices": [{"device", "executed", "span_us", "work_us", "ops": [{"op", "count", "us",
 * "bytes"}], "nodes": [{"node", "count", "us", "bytes"}]}]}, where "bytes" counts allocated memory; weft_free. */
WEFT_CHECKED weft_err weft_trace_table_json(char **out, const void *metadata, size_t size, int max_nodes);

/* Writes it for TensorBoard's profile plug-in: one file for each task in DIR/plugins/profile/TIME, which is created. */
WEFT_CHECKED weft_err weft_trace_profile(const void *metadata, size_t size, const char *dir);

/* ---- inspection: what files hold, without a graph --------------------------------------------- */

/* Calls fn for every record of a TFRecord file, plain or gzipped, in order; checksums are verified.  It stops at the
 * first failure, which may be that of fn. */
typedef weft_err weft_record_fn(void *arg, const void *record, size_t size);
WEFT_CHECKED weft_err weft_records_each(const char *path, weft_record_fn *fn, void *WEFT_OPTIONAL arg);
/* Creates or truncates an uncompressed TFRecord file.  The writer keeps its first failure, which close returns. */
typedef struct weft_record_writer weft_record_writer;
WEFT_CHECKED weft_err weft_record_writer_create(weft_record_writer **out, const char *path);
WEFT_CHECKED weft_err weft_record_write(weft_record_writer *w, const void *record, size_t size);
WEFT_API weft_err weft_record_writer_close(weft_record_writer *WEFT_OPTIONAL w);
/* What a TFRecord file has around a record, for programs that write it elsewhere: `head` goes before it (its size, and
 * a checksum of that), `tail` after it (its checksum). */
typedef struct weft_record_frame {
  unsigned char head[12], tail[4];
} weft_record_frame;
WEFT_CHECKED weft_err weft_record_frame_make(weft_record_frame *out, const void *record, size_t size);

/* Converts a GraphDef in text form (the graph.pbtxt of a supervisor or of tf.io.write_graph) to the bytes that
 * weft_graph_import takes; weft_free.  An error names its line. */
WEFT_CHECKED weft_err weft_graph_def_parse(void **out, size_t *size, const char *source, size_t length);

/* Calls fn for each scalar of a serialized Event (a record of an events file). */
typedef struct weft_event_scalar {
  const char *tag;
  int64_t step;
  double wall_time, value;
} weft_event_scalar;
typedef weft_err weft_event_scalar_fn(void *arg, const weft_event_scalar *s);
WEFT_CHECKED weft_err weft_event_scalars(const void *event, size_t size, weft_event_scalar_fn *fn,
                                         void *WEFT_OPTIONAL arg);

/* Calls fn for each feature of a serialized Example: a vector of strings, floats or int64. */
typedef weft_err weft_feature_fn(void *arg, const char *name, const weft_tensor *value);
WEFT_CHECKED weft_err weft_example_features(const void *example, size_t size, weft_feature_fn *fn,
                                            void *WEFT_OPTIONAL arg);
/* Calls `context` for each context feature of a serialized SequenceExample (a vector), and `list` for each feature
 * list (a vector per step).  A message without feature lists may also be an Example.  A NULL function skips that
 * part. */
typedef weft_err weft_feature_list_fn(void *arg, const char *name, int n_steps, const weft_tensor *const *steps);
WEFT_CHECKED weft_err weft_sequence_example_features(const void *example, size_t size,
                                                     weft_feature_fn *WEFT_OPTIONAL context,
                                                     weft_feature_list_fn *WEFT_OPTIONAL list, void *WEFT_OPTIONAL arg);
/* Creates a serialized Example; weft_free.  Values of any shape are written as vectors. */
WEFT_CHECKED weft_err weft_example_create(void **out, size_t *size, int n, const char *const *names,
                                          const weft_tensor *const *values);

/* Returns element i of a tensor of numbers or bools; the real part of a complex one.  Returns 0 for other types, and
 * if the tensor has no element i. */
WEFT_API double weft_tensor_number(const weft_tensor *t, int64_t i);
/* Stores the first `limit` elements (< 0: all) as TensorFlow prints them; weft_free. */
WEFT_CHECKED weft_err weft_tensor_text(char **out, const weft_tensor *t, int limit);

#ifdef __cplusplus
}
#endif
#endif
