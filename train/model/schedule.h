/* schedule.h - learning rate schedules over the global step. */
#ifndef WEFT_TRAIN_MODEL_SCHEDULE_H
#define WEFT_TRAIN_MODEL_SCHEDULE_H

#include "train/model/variable_nodes.h"

typedef struct decay {
  const char *name; /* NULL: TensorFlow's */
  term rate;        /* initial rate; its type is that of the result */
  term step;        /* may be a variable or any output */
  term steps, factor;
  bool staircase;
} decay;

/* tf.train's decays of these names.  WEFT_NONE on failure, and the graph keeps the error (graph/build.h). */
weft_out weft__exponential_decay(weft_graph *g, const decay *d);
weft_out weft__natural_exp_decay(weft_graph *g, const decay *d);
weft_out weft__inverse_time_decay(weft_graph *g, const decay *d);
weft_out weft__polynomial_decay(weft_graph *g, const decay *d, term end, term power, bool cycle);
weft_out weft__cosine_decay(weft_graph *g, const decay *d, term alpha);
/* Cosine decays in sequence, each t_mul times as long as the previous one and m_mul times as high. */
weft_out weft__cosine_decay_restarts(weft_graph *g, const decay *d, term t_mul, term m_mul, term alpha);
typedef struct wave {
  term periods, alpha, beta;
  bool noisy;
  term variance, variance_decay; /* the noise has variance / (1 + step) ^ variance_decay */
  const int64_t *seed;           /* of the noise; NULL: the graph's */
} wave;
/* rate * ((alpha + linear) * cosine + beta). */
weft_out weft__linear_cosine_decay(weft_graph *g, const decay *d, const wave *w);
/* values[i] up to boundaries[i], values[n] after the last.  Select nodes choose, where TensorFlow builds a cond. */
weft_out weft__piecewise_constant(weft_graph *g, const char *name, term step, int n, const term *boundaries,
                                  const term *values);

#endif
