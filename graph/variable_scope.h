/* variable_scope.h - tf.variable_scope and tf.get_variable.
 *
 * A variable scope prefixes the names of variables and carries defaults for making them; it opens a
 * name scope for ops as well, whose name may differ, since that one is made unique and this is not.
 * Variables made here are found again under their full name when the scope says reuse. */
#ifndef WEFT_GRAPH_VARIABLE_SCOPE_H
#define WEFT_GRAPH_VARIABLE_SCOPE_H

#include "graph/graph.h"

typedef enum reuse_mode { REUSE_INHERIT, REUSE_NEVER, REUSE_ALWAYS, REUSE_AUTO } reuse_mode;

typedef enum initializer_kind {
  INIT_DEFAULT, /* the scope's; else Glorot's uniform for floats, zeros for integers, bools and strings */
  INIT_ZEROS,
  INIT_ONES,
  INIT_CONSTANT,   /* a everywhere */
  INIT_UNIFORM,    /* [a, b) */
  INIT_NORMAL,     /* mean a, deviation b */
  INIT_TRUNCATED,  /* the same within two deviations */
  INIT_SCALING,    /* variance a over fan: see the flags */
  INIT_ORTHOGONAL, /* a times an orthogonal matrix, the axes but the last as rows */
  INIT_IDENTITY,   /* a times ones on the diagonal of a matrix */
  INIT_UNIT,       /* uniform, so that what goes in keeps its size: a * sqrt(3 / inputs) either way */
  INIT_TENSOR,     /* this tensor: it gives shape and type */
  INIT_OUTPUT      /* the value of this output: it gives shape and type */
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
  bool resource; /* use_resource: what layers, the global step and weft_get_variable make here */
} variable_scope;

typedef struct variable_scope_opts {
  const char *name;            /* a new scope below the current one, or */
  const variable_scope *again; /* one to enter again, or */
  const char *default_name;    /* used, made unique, when the two above are NULL */
  reuse_mode reuse;
  initializer init;   /* INIT_DEFAULT: inherited */
  weft_dtype dtype;   /* WEFT_INVALID: inherited */
  bool no_name_scope; /* auxiliary_name_scope=False */
} variable_scope_opts;

/* Left with weft__scope_pop.  *entered (may be NULL) lives as long as the graph. */
weft_err weft__variable_scope_push(weft_graph *g, const variable_scope_opts *o, const variable_scope **entered);
/* The current one; never NULL but when memory is out. */
const variable_scope *weft__variable_scope_now(weft_graph *g);
void weft__variable_scope_reuse(weft_graph *g); /* reuse_variables() */
/* set_use_resource() on the current scope; scopes that are opened in it inherit it. */
void weft__variable_scope_set_resource(weft_graph *g, bool on);
bool weft__variable_scope_resource(weft_graph *g);

typedef struct variable_spec {
  const char *name; /* below the scope */
  bool has_shape;
  shape shape;
  weft_dtype dtype; /* WEFT_INVALID: the scope's, else float */
  initializer init;
  reuse_mode reuse;   /* REUSE_INHERIT: the scope's */
  const shape *whole; /* of which this is a piece, as initializers that scale see it; NULL: it is whole */
  bool untrainable, local, resource;
  bool cached; /* a reference is read where it is used, not beside the variable */
} variable_spec;

typedef struct variable_nodes {
  weft_out variable; /* a reference, or the handle of a resource */
  weft_out initial, read;
  int assign;           /* node that gives it its initial value */
  bool resource, found; /* found: it was there before */
} variable_nodes;

/* tf.get_variable.  INVALID_ARGUMENT in TensorFlow's words when it exists and should not, or the other way
 * round, or has another shape or type.  On failure the graph is as it was. */
weft_err weft__variable_get(weft_graph *g, const variable_spec *spec, variable_nodes *out);

/* The nodes of a variable whose full name is taken as it is: called by the above, and by tf.Variable. */
weft_err weft__variable_build(weft_graph *g, const char *full_name, const variable_spec *spec, variable_nodes *out);

#endif
