/* sdca_loss.c - logistic, squared, hinge, smooth hinge and Poisson loss for SDCA.
 *
 * Shalev-Shwartz and Zhang, "Stochastic Dual Coordinate Ascent Methods for Regularized Loss Minimization", derive the
 * updates.  Three of them are closed formulas.  The logistic and the Poisson loss take ten steps of Newton's method
 * in a variable that cannot leave the domain of the dual variable.  Ten steps do not converge for extreme margins;
 * TensorFlow's results show the same number of steps from the same start. */
#include "kernels/training/sdca_loss.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { NEWTON_STEPS = 10 };

/* ---- labels ---- */

static const char *label_any(double *y) {
  (void)y;
  return NULL;
}

static const char *label_binary(double *y) {
  if (*y != 0 && *y != 1) return "Only labels of 0.0 or 1.0 are supported right now. Found example with label: ";
  *y = *y == 0 ? -1 : 1;
  return NULL;
}

static const char *label_count(double *y) {
  if (*y >= 0) return NULL;
  return "Only non-negative labels can be used with the Poisson log loss. Found example with label: ";
}

/* ---- squared loss: (wx - y)^2 / 2 ---- */

static double squared_primal(double margin, double y) { return 0.5 * (y - margin) * (y - margin); }
static double squared_slope(double margin, double y) { return margin - y; }
static double squared_dual(double a, double y) { return a * (0.5 * a - y); }
static double squared_update(const sdca_point *p) {
  return p->dual + (p->label - p->margin - p->dual) / (1 + p->slope);
}

/* ---- hinge loss: max(0, 1 - y wx) ---- */

static double clipped(double a, double y) { return y * fmin(1, fmax(0, a * y)); }

static double hinge_primal(double margin, double y) { return fmax(0, 1 - y * margin); }
static double hinge_slope(double margin, double y) { return y * margin < 1 ? -y : 0; }
static double hinge_dual(double a, double y) { return y * a < 0 || y * a > 1 ? (double)INFINITY : -(y * a); }
static double hinge_update(const sdca_point *p) {
  return clipped(p->dual + (p->label - p->margin) / p->slope, p->label);
}

/* ---- smooth hinge loss: a parabola between y wx = 0 and 1 ---- */

static double smooth_primal(double margin, double y) {
  const double z = y * margin;
  return z >= 1 ? 0 : z <= 0 ? 0.5 - z : 0.5 * (1 - z) * (1 - z);
}
static double smooth_slope(double margin, double y) {
  const double z = y * margin;
  return z >= 1 ? 0 : z <= 0 ? -y : -y * (1 - z);
}
static double smooth_dual(double a, double y) {
  return y * a < 0 || y * a > 1 ? (double)INFINITY : -(y * a) + 0.5 * a * a;
}
static double smooth_update(const sdca_point *p) {
  return clipped(p->dual + (p->label - p->margin - p->dual) / (1 + p->slope), p->label);
}

/* ---- logistic loss: log(1 + exp(-y wx)) ---- */

static double logistic_primal(double margin, double y) {
  const double z = y * margin;
  return z > 0 ? log1p(exp(-z)) : log1p(exp(z)) - z;
}
static double logistic_slope(double margin, double y) { return -y / (1 + exp(y * margin)); }
static double entropy_term(double p) { return p > 0 ? p * log(p) : 0; }
static double logistic_dual(double a, double y) { return entropy_term(y * a) + entropy_term(1 - y * a); }

/* The best dual variable a solves y a = 1 / (1 + exp(y wx)).  With y a = (1 + tanh u) / 2 this is 2 u + y wx = 0, where
 * wx depends on u. */
static double logistic_update(const sdca_point *p) {
  double u = 0;
  for (int i = 0; i < NEWTON_STEPS; i++) {
    const double t = tanh(u), a = 0.5 * (1 + t);
    const double f = 2 * u + p->label * p->margin + (a - p->label * p->dual) * p->slope;
    u -= f / (2 + 0.5 * p->slope * (1 - t * t));
  }
  return 0.5 * p->label * (1 + tanh(u));
}

/* ---- Poisson loss: exp(wx) - y wx ---- */

static double poisson_primal(double margin, double y) { return exp(margin) - y * margin; }
static double poisson_slope(double margin, double y) { return exp(margin) - y; }
static double poisson_dual(double a, double y) {
  return y == a ? 0 : y > a ? (y - a) * (log(y - a) - 1) : (double)INFINITY;
}

/* The best dual variable a solves y - a = exp(wx).  With y - a = exp u this is u = wx, where wx depends on u. */
static double poisson_update(const sdca_point *p) {
  const double aim = p->margin + p->slope * (p->label - p->dual);
  double u = p->label > p->dual ? log(p->label - p->dual) : 0;
  for (int i = 0; i < NEWTON_STEPS; i++) {
    const double e = p->slope * exp(u);
    u -= (u + e - aim) / (1 + e);
  }
  return p->label - exp(u);
}

/* The slope of the Poisson loss has no bound; 1 is what TensorFlow's choice of examples shows. */
static const sdca_loss losses[] = {
    {"logistic_loss", 4, label_binary, logistic_primal, logistic_slope, logistic_dual, logistic_update},
    {"squared_loss", 1, label_any, squared_primal, squared_slope, squared_dual, squared_update},
    {"hinge_loss", 0, label_binary, hinge_primal, hinge_slope, hinge_dual, hinge_update},
    {"smooth_hinge_loss", 1, label_binary, smooth_primal, smooth_slope, smooth_dual, smooth_update},
    {"poisson_loss", 1, label_count, poisson_primal, poisson_slope, poisson_dual, poisson_update},
};

const sdca_loss *weft__sdca_loss(const char *name) {
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
    if (!strcmp(losses[i].name, name)) return &losses[i];
  return NULL;
}
