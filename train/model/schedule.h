/* schedule.h - learning rates that fall with the global step. */
#ifndef WEFT_TRAIN_MODEL_SCHEDULE_H
#define WEFT_TRAIN_MODEL_SCHEDULE_H

#include "train/model/variable_nodes.h"

typedef struct decay {
  const char *name; /* NULL: TensorFlow's */
  double rate;      /* to begin with */
  weft_out step;    /* a variable or any output */
  double steps, factor;
  bool staircase;
} decay;

weft_out weft__exponential_decay(weft_graph *g, const decay *d);
weft_out weft__natural_exp_decay(weft_graph *g, const decay *d);
weft_out weft__inverse_time_decay(weft_graph *g, const decay *d);
weft_out weft__polynomial_decay(weft_graph *g, const decay *d, double end, double power, bool cycle);
weft_out weft__cosine_decay(weft_graph *g, const decay *d, double alpha);
/* Cosines one after another, each t_mul times as long as the one before and m_mul times as high. */
weft_out weft__cosine_decay_restarts(weft_graph *g, const decay *d, double t_mul, double m_mul, double alpha);
typedef struct wave {
  double periods, alpha, beta;
  bool noisy;
  double variance, variance_decay; /* of the noise: variance / (1 + step) ^ variance_decay */
} wave;
/* rate * ((alpha + linear) * cosine + beta). */
weft_out weft__linear_cosine_decay(weft_graph *g, const decay *d, const wave *w);
/* values[i] up to boundaries[i], values[n] after the last: chosen by Select nodes, where TensorFlow builds a cond. */
weft_out weft__piecewise_constant(weft_graph *g, const char *name, weft_out step, int n, const double *boundaries,
                                  const double *values);

#endif
