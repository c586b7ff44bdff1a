/* train_schedule.c - learning rates that fall, as programs ask for them. */
#include "api/argument.h"
#include "train/model/schedule.h"
#include "weft/train.h"

weft_out weft_exponential_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps,
                                double factor, bool staircase) {
  API_NEED_OUT(NULL, g);

  return !weft__named_given(g, "exponential_decay", 1, &step)
             ? WEFT_NONE
             : weft__exponential_decay(g, &(decay){name, rate, step, steps, factor, staircase});
}

weft_out weft_natural_exp_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps,
                                double factor, bool staircase) {
  API_NEED_OUT(NULL, g);

  return !weft__named_given(g, "natural_exp_decay", 1, &step)
             ? WEFT_NONE
             : weft__natural_exp_decay(g, &(decay){name, rate, step, steps, factor, staircase});
}

weft_out weft_inverse_time_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps,
                                 double factor, bool staircase) {
  API_NEED_OUT(NULL, g);

  return !weft__named_given(g, "inverse_time_decay", 1, &step)
             ? WEFT_NONE
             : weft__inverse_time_decay(g, &(decay){name, rate, step, steps, factor, staircase});
}

weft_out weft_polynomial_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps, double end,
                               double power, bool cycle) {
  API_NEED_OUT(NULL, g);

  return !weft__named_given(g, "polynomial_decay", 1, &step)
             ? WEFT_NONE
             : weft__polynomial_decay(g, &(decay){.name = name, .rate = rate, .step = step, .steps = steps}, end, power,
                                      cycle);
}

weft_out weft_cosine_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps, double alpha) {
  API_NEED_OUT(NULL, g);

  return !weft__named_given(g, "cosine_decay", 1, &step)
             ? WEFT_NONE
             : weft__cosine_decay(g, &(decay){.name = name, .rate = rate, .step = step, .steps = steps}, alpha);
}

weft_out weft_cosine_decay_restarts(weft_graph *g, const char *name, double rate, weft_out step, double first_steps,
                                    double t_mul, double m_mul, double alpha) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "cosine_decay_restarts", 1, &step)) return WEFT_NONE;
  return weft__cosine_decay_restarts(g, &(decay){.name = name, .rate = rate, .step = step, .steps = first_steps}, t_mul,
                                     m_mul, alpha);
}

weft_out weft_linear_cosine_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps,
                                  double periods, double alpha, double beta) {
  API_NEED_OUT(NULL, g);

  wave w = {.periods = periods, .alpha = alpha, .beta = beta};
  if (!weft__named_given(g, "linear_cosine_decay", 1, &step)) return WEFT_NONE;
  return weft__linear_cosine_decay(g, &(decay){.name = name, .rate = rate, .step = step, .steps = steps}, &w);
}

weft_out weft_noisy_linear_cosine_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps,
                                        double variance, double variance_decay, double periods, double alpha,
                                        double beta) {
  API_NEED_OUT(NULL, g);

  wave w = {periods, alpha, beta, .noisy = true, .variance = variance, .variance_decay = variance_decay};
  if (!weft__named_given(g, "noisy_linear_cosine_decay", 1, &step)) return WEFT_NONE;
  return weft__linear_cosine_decay(g, &(decay){.name = name, .rate = rate, .step = step, .steps = steps}, &w);
}

weft_out weft_piecewise_constant(weft_graph *g, const char *name, weft_out step, int n, const double *boundaries,
                                 const double *values) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, boundaries);
  API_NEED_OUT(g, values);

  return !weft__named_given(g, "piecewise_constant", 1, &step)
             ? WEFT_NONE
             : weft__piecewise_constant(g, name, step, n, boundaries, values);
}
