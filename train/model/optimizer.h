/* optimizer.h - from a loss to the nodes that change the variables.
 *
 * Most optimizers are a row of a table (optimizer_kinds.c): their parameters, the slots they keep beside each
 * variable, and the op that takes them all, with its arguments spelt as a word.  Those that need more nodes than one
 * (GradientDescent and Adam on slices, the powers of Adam) have functions of their own. */
#ifndef WEFT_TRAIN_MODEL_OPTIMIZER_H
#define WEFT_TRAIN_MODEL_OPTIMIZER_H

#include "base/map.h"
#include "graph/gradient.h"
#include "train/model/variable_nodes.h"
#include "weft/train.h"

enum { OPTIMIZER_PARAMS = 8, OPTIMIZER_SLOTS = 3 };
#define BESIDE "Cast" /* a parameter that becomes a constant beside each variable */

typedef struct optimizer_param {
  const char *name; /* TensorFlow's keyword */
  double standard;  /* NAN: must be given */
  const char *
      node; /* the constant it becomes in the optimizer's scope; "": prepare makes it; NULL: it is read while building */
} optimizer_param;

typedef enum slot_fill {
  SLOT_ZEROS,
  SLOT_ONES,
  SLOT_CONSTANT, /* of a parameter's value, under w/SLOT/Initializer */
  SLOT_SCALED,   /* ones times it */
  SLOT_VALUE     /* a constant outside of the variable's scope: TensorFlow's older way */
} slot_fill;

typedef struct optimizer_slot {
  const char *name; /* for get_slot */
  slot_fill fill;
  const char *param; /* whose value it is filled with; NULL: 0 */
} optimizer_slot;

typedef struct update update;
typedef struct optimizer_kind optimizer_kind;
struct optimizer_kind {
  const char *name; /* also of its scope and of its slots' variables */
  optimizer_param param[OPTIMIZER_PARAMS];
  optimizer_slot slot[OPTIMIZER_SLOTS];
  const char *op; /* "Momentum" for ApplyMomentum, SparseApplyMomentum, ResourceApplyMomentum, ... */
  /* Arguments: v the variable, 0-2 its slots, A-H the parameters, p q Adam's powers, g the gradient, i the indices of
   * slices, s the global step. */
  const char *dense, *sparse;
  const char *flag;              /* a parameter that is passed on as the attribute of its name */
  const char *chooser;           /* a parameter that, when not 0, ... */
  const optimizer_kind *instead; /* ... chooses this row */
  weft_err (*slots)(weft_optimizer *o, int n, const weft_out *vars); /* variables that are not beside one */
  weft_err (*prepare)(weft_optimizer *o);                            /* more nodes in its scope */
  weft_out (*sparse_update)(update *u);
  weft_out (*finish)(weft_optimizer *o, const char *name, int n, const int *updates); /* NULL: they are grouped */
};
extern const optimizer_kind *const weft__optimizer_kinds[]; /* ended by NULL */

typedef struct setting { /* of a parameter */
  bool set;
  double number;
  weft_out output; /* node >= 0: this instead of a number */
} setting;

struct weft_optimizer {
  weft_graph *g;
  const optimizer_kind *kind;
  char *name;
  setting value[OPTIMIZER_PARAMS];
  bool locked, powers;             /* use_locking; Adam has made its powers */
  weft_out step;                   /* AdagradDA's global step */
  weft_out node[OPTIMIZER_PARAMS]; /* the parameters while an update is built */
  weft_out extra[2];               /* Adam's powers; AdagradDA's step + 1 */
  map slot[OPTIMIZER_SLOTS];       /* name of a variable -> slot_ref */
};

struct update { /* of one variable */
  weft_optimizer *o;
  weft_out variable;
  weft_dtype dtype;
  bool resource;
  grad_value gradient;
};

weft_err weft__optimizer_create(weft_optimizer **out, weft_graph *g, const char *kind, const char *name);
void weft__optimizer_destroy(weft_optimizer *o);
weft_err weft__optimizer_set(weft_optimizer *o, const char *param, const setting *value);
/* opts may be NULL. */
weft_err weft__optimizer_compute(weft_graph *g, weft_out loss, int n, const weft_out *vars,
                                 const weft_minimize_opts *opts, grad_value *out);
weft_out weft__optimizer_apply(weft_optimizer *o, int n, const weft_out *vars, const grad_value *d, weft_out step,
                               const char *name);
weft_out weft__optimizer_slot(const weft_optimizer *o, weft_out v, const char *slot); /* WEFT_NONE if there is none */

int weft__optimizer_variables(const weft_optimizer *o, weft_out *out, int room); /* how many there are */
const char *weft__optimizer_slot_name(const weft_optimizer *o, int i);           /* NULL from the number of slots on */

/* ---- for the files of optimizers ---- */
int weft__optimizer_param(const weft_optimizer *o, const char *name); /* its index */
double weft__optimizer_number(const weft_optimizer *o, const char *name);
/* Parameter i as a tensor of the update's type. */
weft_out weft__update_param(update *u, int i);
weft_out weft__update_slot(const update *u, int i);
/* Reads variable v where the update is built. */
weft_out weft__update_read(update *u, weft_out v);
/* The rows of slices added up so that each index comes once. */
void weft__update_unique(update *u);

/* grad_value and weft_gradient are the same four outputs. */
grad_value weft__gradient_in(const weft_gradient *d);
weft_gradient weft__gradient_out(const grad_value *d);

#endif
