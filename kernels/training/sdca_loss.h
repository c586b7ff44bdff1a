/* sdca_loss.h - the losses that SDCA minimizes: primal and dual value of an example, and its best dual variable. */
#ifndef WEFT_KERNELS_TRAINING_SDCA_LOSS_H
#define WEFT_KERNELS_TRAINING_SDCA_LOSS_H

/* One example while the other ones stay as they are. */
typedef struct sdca_point {
  double label;  /* as .label left it */
  double dual;   /* the dual variable so far */
  double margin; /* the product of weights and features */
  double slope;  /* by how much the margin grows with the dual variable */
} sdca_point;

typedef struct sdca_loss {
  const char *name;
  double smoothness; /* the slope of the loss changes at most by 1 / smoothness; 0: it jumps */
  /* Checks a label and makes it the number that the other functions take, for example -1 or 1.  Returns NULL, or what
   * is wrong with it. */
  const char *(*label)(double *y);
  double (*primal)(double margin, double y);
  double (*slope)(double margin, double y); /* the derivative of primal */
  double (*dual)(double a, double y);       /* infinite where a is out of range */
  double (*update)(const sdca_point *p);    /* returns the dual variable that maximizes the dual objective */
} sdca_loss;

const sdca_loss *weft__sdca_loss(const char *name); /* NULL if there is none of that name */

#endif
