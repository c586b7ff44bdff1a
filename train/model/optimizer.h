/* optimizer.h - from a loss to the nodes that update the variables.
 *
 * Most optimizers are a row of a table (optimizer_kinds.c): their parameters, the slots of each variable, and the op
 * that takes them all, with its arguments spelled as a word.  Those that need more than one node (GradientDescent
 * and Adam on slices, the powers of Adam) have their own functions. */
#ifndef WEFT_TRAIN_MODEL_OPTIMIZER_H
#define WEFT_TRAIN_MODEL_OPTIMIZER_H

#include "base/map.h"
#include "graph/gradient.h"
#include "train/model/variable_nodes.h"
#include "weft/train.h"

enum { OPTIMIZER_PARAMS = 8, OPTIMIZER_SLOTS = 3 };
#define BESIDE "Cast" /* a parameter that becomes a constant colocated with each variable */

typedef struct optimizer_param {
  const char *name; /* TensorFlow's keyword */
  double standard;  /* NAN: required */
  const char
      *node; /* the constant that it becomes in the scope; "": prepare adds it; NULL: it is read while building */
} optimizer_param;

typedef enum slot_fill {
  SLOT_ZEROS,
  SLOT_ONES,
  SLOT_CONSTANT, /* filled with a parameter's value, under w/SLOT/Initializer */
  SLOT_SCALED,   /* ones times the parameter */
  SLOT_VALUE     /* a constant outside the variable's scope: TensorFlow's older way */
} slot_fill;

typedef struct optimizer_slot {
  const char *name; /* for get_slot */
  slot_fill fill;
  const char *param; /* the parameter whose value fills it; NULL: 0 */
} optimizer_slot;

typedef struct update update;
typedef struct optimizer_kind optimizer_kind;
struct optimizer_kind {
  const char *name; /* also the name of its scope and of its slots' variables */
  optimizer_param param[OPTIMIZER_PARAMS];
  optimizer_slot slot[OPTIMIZER_SLOTS];
  const char *op; /* "Momentum" for ApplyMomentum, SparseApplyMomentum, ResourceApplyMomentum, ... */
  /* Arguments: v is the variable, 0-2 are its slots, A-H the parameters, p q Adam's powers, g the gradient, i the
   * indices of slices, s the global step. */
  const char *dense, *sparse;
  const char *flag;              /* a parameter that is passed as the attribute of that name */
  const char *chooser;           /* if this parameter is not 0, */
  const optimizer_kind *instead; /* this row is used */
  weft_err (*slots)(weft_optimizer *o, int n, const weft_out *vars); /* creates variables that are not slots */
  weft_err (*prepare)(weft_optimizer *o);                            /* adds more nodes in its scope */
  weft_out (*sparse_update)(update *u);
  /* NULL: the updates are grouped */
  weft_out (*finish)(weft_optimizer *o, const char *name, int n, const int *updates);
};
extern const optimizer_kind *const weft__optimizer_kinds[]; /* ended by NULL */

typedef struct setting { /* value of a parameter */
  bool set;
  double number;
  weft_out output; /* node >= 0: used in place of the number */
} setting;

struct weft_optimizer {
  weft_graph *g;
  const optimizer_kind *kind;
  char *name;
  setting value[OPTIMIZER_PARAMS];
  bool locked, powers;             /* use_locking; Adam's powers exist */
  weft_out step;                   /* AdagradDA's global step */
  weft_out node[OPTIMIZER_PARAMS]; /* the parameters while an update is built */
  weft_out extra[2];               /* Adam's powers; AdagradDA's step + 1 */
  map slot[OPTIMIZER_SLOTS];       /* name of a variable -> slot_ref */
};

struct update { /* the update of one variable */
  weft_optimizer *o;
  weft_out variable;
  weft_dtype dtype;
  bool resource;
  grad_value gradient;
};

/* As the public functions of these names (weft/train.h).  The caller destroys *out before the graph; the nodes stay.
 * weft__optimizer_set returns INVALID_ARGUMENT for a parameter that the kind does not have. */
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
/* Returns parameter i as a tensor of the update's type. */
weft_out weft__update_param(update *u, int i);
weft_out weft__update_slot(const update *u, int i);
/* Reads variable v where the update is built. */
weft_out weft__update_read(update *u, weft_out v);
/* Sums the rows of slices, so that each index occurs once. */
void weft__update_unique(update *u);

/* grad_value and weft_gradient hold the same four outputs. */
grad_value weft__gradient_in(const weft_gradient *d);
weft_gradient weft__gradient_out(const grad_value *d);

#endif
