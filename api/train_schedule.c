/* train_schedule.c - the public functions for learning rate decays. */
#include "api/argument.h"
#include "base/alloc.h"
#include "train/model/schedule.h"
#include "weft/train.h"

weft_out weft_exponential_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps,
                                double factor, bool staircase) {
  API_NEED_OUT(NULL, g);

  return !weft__named_given(g, "exponential_decay", 1, &step)
             ? WEFT_NONE
             : weft__exponential_decay(g, &(decay){name, NUM(rate), OUT(step), NUM(steps), NUM(factor), staircase});
}

weft_out weft_natural_exp_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps,
                                double factor, bool staircase) {
  API_NEED_OUT(NULL, g);

  return !weft__named_given(g, "natural_exp_decay", 1, &step)
             ? WEFT_NONE
             : weft__natural_exp_decay(g, &(decay){name, NUM(rate), OUT(step), NUM(steps), NUM(factor), staircase});
}

weft_out weft_inverse_time_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps,
                                 double factor, bool staircase) {
  API_NEED_OUT(NULL, g);

  return !weft__named_given(g, "inverse_time_decay", 1, &step)
             ? WEFT_NONE
             : weft__inverse_time_decay(g, &(decay){name, NUM(rate), OUT(step), NUM(steps), NUM(factor), staircase});
}

weft_out weft_polynomial_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps, double end,
                               double power, bool cycle) {
  API_NEED_OUT(NULL, g);

  return !weft__named_given(g, "polynomial_decay", 1, &step)
             ? WEFT_NONE
             : weft__polynomial_decay(g,
                                      &(decay){.name = name, .rate = NUM(rate), .step = OUT(step), .steps = NUM(steps)},
                                      NUM(end), NUM(power), cycle);
}

weft_out weft_cosine_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps, double alpha) {
  API_NEED_OUT(NULL, g);

  return !weft__named_given(g, "cosine_decay", 1, &step)
             ? WEFT_NONE
             : weft__cosine_decay(g, &(decay){.name = name, .rate = NUM(rate), .step = OUT(step), .steps = NUM(steps)},
                                  NUM(alpha));
}

weft_out weft_cosine_decay_restarts(weft_graph *g, const char *name, double rate, weft_out step, double first_steps,
                                    double t_mul, double m_mul, double alpha) {
  API_NEED_OUT(NULL, g);

  if (!weft__named_given(g, "cosine_decay_restarts", 1, &step)) return WEFT_NONE;
  return weft__cosine_decay_restarts(
      g, &(decay){.name = name, .rate = NUM(rate), .step = OUT(step), .steps = NUM(first_steps)}, NUM(t_mul),
      NUM(m_mul), NUM(alpha));
}

weft_out weft_linear_cosine_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps,
                                  double periods, double alpha, double beta) {
  API_NEED_OUT(NULL, g);

  wave w = {.periods = NUM(periods), .alpha = NUM(alpha), .beta = NUM(beta)};
  if (!weft__named_given(g, "linear_cosine_decay", 1, &step)) return WEFT_NONE;
  return weft__linear_cosine_decay(g, &(decay){.name = name, .rate = NUM(rate), .step = OUT(step), .steps = NUM(steps)},
                                   &w);
}

weft_out weft_noisy_linear_cosine_decay(weft_graph *g, const char *name, double rate, weft_out step, double steps,
                                        double variance, double variance_decay, double periods, double alpha,
                                        double beta) {
  API_NEED_OUT(NULL, g);

  wave w = {NUM(periods), NUM(alpha), NUM(beta), true, NUM(variance), NUM(variance_decay)};
  if (!weft__named_given(g, "noisy_linear_cosine_decay", 1, &step)) return WEFT_NONE;
  return weft__linear_cosine_decay(g, &(decay){.name = name, .rate = NUM(rate), .step = OUT(step), .steps = NUM(steps)},
                                   &w);
}

weft_out weft_piecewise_constant(weft_graph *g, const char *name, weft_out step, int n, const double *boundaries,
                                 const double *values) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, boundaries);
  API_NEED_OUT(g, values);

  if (!weft__named_given(g, "piecewise_constant", 1, &step)) return WEFT_NONE;
  term *all = weft__alloc((2 * (size_t)n + 1) * sizeof *all);
  if (!weft__named_keep(g, all ? WEFT_OK : WEFT_OOM)) return WEFT_NONE;
  for (int i = 0; i < n; i++) all[i] = NUM(boundaries[i]);
  for (int i = 0; i <= n; i++) all[n + i] = NUM(values[i]);
  weft_out o = weft__piecewise_constant(g, name, OUT(step), n, all, all + n);
  weft__free(all);
  return o;
}
