/* variable_scope.h - tf.variable_scope and tf.get_variable.
 *
 * A variable scope prefixes the names of variables and has defaults for creating them.  It also opens a name scope
 * for ops.  The two names may differ, because only the name scope is made unique.  If the scope says reuse,
 * variables are found again by their full names. */
#ifndef WEFT_GRAPH_VARIABLE_SCOPE_H
#define WEFT_GRAPH_VARIABLE_SCOPE_H

#include "graph/graph.h"

typedef enum reuse_mode { REUSE_INHERIT, REUSE_NEVER, REUSE_ALWAYS, REUSE_AUTO } reuse_mode;

typedef enum initializer_kind {
  INIT_DEFAULT, /* the scope's; otherwise Glorot's uniform for floats, zeros for integers, bools and strings */
  INIT_ZEROS,
  INIT_ONES,
  INIT_CONSTANT,   /* a in all elements */
  INIT_UNIFORM,    /* [a, b) */
  INIT_NORMAL,     /* mean a, standard deviation b */
  INIT_TRUNCATED,  /* the same, truncated at two standard deviations */
  INIT_SCALING,    /* variance a / fan: see the flags */
  INIT_ORTHOGONAL, /* a times an orthogonal matrix; all axes but the last form the rows */
  INIT_IDENTITY,   /* a times ones on the diagonal of a matrix */
  INIT_UNIT,       /* uniform in +-a * sqrt(3 / inputs), which keeps the scale of the input */
  INIT_TENSOR,     /* this tensor, which gives shape and type */
  INIT_OUTPUT      /* the value of this output, which gives shape and type */
} initializer_kind;

typedef enum scaling_fan { FAN_IN, FAN_OUT, FAN_AVG } scaling_fan;
typedef enum scaling_shape { SCALE_UNIFORM, SCALE_TRUNCATED, SCALE_NORMAL } scaling_shape;

typedef struct initializer {
  initializer_kind kind;
  double a, b;
  scaling_fan fan;
  scaling_shape spread;
  bool has_seed;
  int64_t seed;
  const weft_tensor *tensor;
  weft_out output;
} initializer;

typedef struct variable_scope {
  const char *name;       /* "a/b"; "" for the root */
  const char *name_scope; /* TF's original_name_scope: "a_1/b/" */
  reuse_mode reuse;       /* never REUSE_INHERIT */
  initializer init;
  weft_dtype dtype;
  bool resource; /* use_resource: for variables of layers, the global step and weft_get_variable */
} variable_scope;

typedef struct variable_scope_opts {
  const char *name;            /* a new scope below the current one, or */
  const variable_scope *again; /* a scope to enter again, or */
  const char *default_name;    /* made unique; used if the two above are NULL */
  reuse_mode reuse;
  initializer init;   /* INIT_DEFAULT: inherited */
  weft_dtype dtype;   /* WEFT_INVALID: inherited */
  bool no_name_scope; /* auxiliary_name_scope=False */
} variable_scope_opts;

/* Leave it with weft__scope_pop. *entered (may be NULL) lives as long as the graph. */
weft_err weft__variable_scope_push(weft_graph *g, const variable_scope_opts *o, const variable_scope **entered);
/* Returns the current scope; NULL only if memory is short. */
const variable_scope *weft__variable_scope_now(weft_graph *g);
void weft__variable_scope_reuse(weft_graph *g); /* reuse_variables() */
/* set_use_resource() of the current scope; scopes opened in it inherit it. */
void weft__variable_scope_set_resource(weft_graph *g, bool on);
bool weft__variable_scope_resource(weft_graph *g);

typedef struct variable_spec {
  const char *name; /* relative to the scope */
  bool has_shape;
  shape shape;
  weft_dtype dtype; /* WEFT_INVALID: the scope's, or float */
  initializer init;
  reuse_mode reuse; /* REUSE_INHERIT: the scope's */
  /* the shape of the whole variable if this is a partition, for initializers that scale; NULL: it is whole */
  const shape *whole;
  bool untrainable, local, resource;
  bool cached; /* a reference is read where it is used, not colocated with the variable */
} variable_spec;

typedef struct variable_nodes {
  weft_out variable; /* a reference, or the handle of a resource */
  weft_out initial, read;
  int assign;           /* the node that assigns its initial value */
  bool resource, found; /* found: it existed before */
} variable_nodes;

/* tf.get_variable.  Returns INVALID_ARGUMENT with TensorFlow's message if the variable exists and should not, or
 * does not and should, or has another shape or type.  On failure the graph is unchanged. */
weft_err weft__variable_get(weft_graph *g, const variable_spec *spec, variable_nodes *out);

/* Adds the nodes of a variable with exactly this full name; for weft__variable_get and tf.Variable. */
weft_err weft__variable_build(weft_graph *g, const char *full_name, const variable_spec *spec, variable_nodes *out);

#endif
