/* variable.c - the nodes of a variable, named and placed as in TensorFlow.
 *
 * A variable has the nodes w, w/Assign, w/read, and its initial value under w/Initializer. w/Assign and w/read are
 * colocated with w; the initial value only has the attribute that it belongs to w.  Checkpoints, other workers and
 * saved graphs rely on these names. */
#include "base/alloc.h"
#include "base/assert.h"
#include "graph/build.h"
#include "graph/collection.h"
#include "graph/scope.h"
#include "graph/variable_scope.h"
#include "tf.pb-c.h"
#include <math.h>
#include <string.h>

/* ---- initial values ---- */

/* Adds a node with exactly the name of the current scope, which was opened for it. */
static weft_out scope_node(weft_graph *g, const char *type, int n_in, const weft_out *in) {
  char *exact = weft__sprintf("%s/", weft__scope_prefix(g));
  if (!exact) weft__status_update(&g->sticky, WEFT_OOM);
  weft_out o = exact ? weft__b_node(g, type, exact, n_in, in, 0, NULL) : WEFT_NONE;
  weft__free(exact);
  return o;
}

static weft_out named_const(weft_graph *g, const char *name, weft_tensor *t) {
  if (!t) return WEFT_NONE; /* the failure is already recorded */
  weft_out o = weft__b_node(g, "Const", name, 0, NULL, 2, (attr[]){A_TENSOR("value", t), A_TYPE("dtype", t->dtype)});
  weft_tensor_destroy(t);
  return o;
}

static weft_out named_scalar(weft_graph *g, const char *name, weft_dtype type, double v) {
  weft_tensor *t = NULL;
  weft__status_update(&g->sticky, weft__tensor_scalar(&t, type, v));
  return named_const(g, name, t);
}

static weft_out named_shape(weft_graph *g, const char *name, const shape *s) {
  weft_tensor *t = NULL;
  weft__status_update(&g->sticky, weft__tensor_dims(&t, s->dim, s->rank));
  return named_const(g, name, t);
}

/* Adds a Const with one value in all elements. */
static weft_out full_const(weft_graph *g, const char *name, const shape *s, weft_dtype type, double v) {
  weft_tensor *t = NULL, *one = NULL;
  weft_err err = weft__tensor_create(&t, type, s);
  if (err == WEFT_OK && type != WEFT_STRING) { /* strings start empty, which is their zero */
    err = weft__tensor_scalar(&one, type, v);
    if (err == WEFT_OK) err = weft__elements_fill(type, t->data, one->data, weft__tensor_count(t));
    weft_tensor_destroy(one);
  }
  weft__status_update(&g->sticky, err);
  if (err == WEFT_OK) return named_const(g, name, t);
  weft_tensor_destroy(t);
  return WEFT_NONE;
}

/* tf.zeros and tf.ones: a Const if small, otherwise a Fill. */
static weft_out init_fill(weft_graph *g, const char *name, const shape *s, weft_dtype type, double v) {
  const int64_t small = 1000;
  if (weft__shape_count(s) < small || type == WEFT_STRING) return full_const(g, name, s, type, v);
  weft__b_push_name(g, name);
  weft_out dims = named_shape(g, "shape_as_tensor", s), value = named_scalar(g, "Const", type, v);
  weft_out o = scope_node(g, "Fill", 2, (weft_out[]){dims, value});
  weft__b_pop(g);
  return o;
}

static weft_out init_random(weft_graph *g, const char *type, weft_out dims, weft_dtype dtype, const initializer *init) {
  int64_t seed, seed2;
  weft__graph_seeds(g, init->has_seed, init->seed, &seed, &seed2);
  return weft__b_node(g, type, NULL, 1, &dims, 3,
                      (attr[]){A_TYPE("dtype", dtype), A_INT("seed", seed), A_INT("seed2", seed2)});
}

static weft_out init_uniform(weft_graph *g, const shape *s, weft_dtype dtype, const initializer *init, double low,
                             double high) {
  weft__b_push_name(g, "random_uniform");
  weft_out dims = named_shape(g, "shape", s);
  weft_out min = named_scalar(g, "min", dtype, low), max = named_scalar(g, "max", dtype, high);
  weft_out u = init_random(g, "RandomUniform", dims, dtype, init);
  weft_out width = weft__b_node(g, "Sub", "sub", 2, (weft_out[]){max, min}, 0, NULL);
  weft_out scaled = weft__b_node(g, "Mul", "mul", 2, (weft_out[]){u, width}, 0, NULL);
  weft_out o = scope_node(g, "AddV2", 2, (weft_out[]){scaled, min});
  weft__b_pop(g);
  return o;
}

static weft_out init_normal(weft_graph *g, const char *name, const char *type, const shape *s, weft_dtype dtype,
                            const initializer *init, double mean, double deviation) {
  weft__b_push_name(g, name);
  weft_out dims = named_shape(g, "shape", s);
  weft_out m = named_scalar(g, "mean", dtype, mean), d = named_scalar(g, "stddev", dtype, deviation);
  weft_out x = init_random(g, type, dims, dtype, init);
  weft_out scaled = weft__b_node(g, "Mul", "mul", 2, (weft_out[]){x, d}, 0, NULL);
  weft_out o = scope_node(g, "AddV2", 2, (weft_out[]){scaled, m});
  weft__b_pop(g);
  return o;
}

/* Computes the numbers of inputs and outputs that a weight of this shape connects (fan in and fan out). */
static void init_fans(const shape *s, double *in, double *out) {
  WEFT_ASSERT(s->rank >= 0);
  *in = *out = s->rank == 1 ? (double)s->dim[0] : 1;
  if (s->rank < 2) return;
  double field = (double)weft__shape_product(s, 0, s->rank - 2);
  *in = field * (double)s->dim[s->rank - 2];
  *out = field * (double)s->dim[s->rank - 1];
}

static weft_out init_variance_scaling(weft_graph *g, const shape *s, const shape *whole, weft_dtype dtype,
                                      const initializer *init) {
  const double cut_deviation = .87962566103423978; /* the deviation of a unit normal that is truncated at 2 */
  double in, out, n, scale = init->a;
  init_fans(whole, &in, &out);
  n = init->fan == FAN_IN ? in : init->fan == FAN_OUT ? out : (in + out) / 2;
  scale /= n > 1 ? n : 1;
  if (init->spread == SCALE_UNIFORM) return init_uniform(g, s, dtype, init, -sqrt(3 * scale), sqrt(3 * scale));
  if (init->spread == SCALE_NORMAL)
    return init_normal(g, "random_normal", "RandomStandardNormal", s, dtype, init, 0, sqrt(scale));
  return init_normal(g, "truncated_normal", "TruncatedNormal", s, dtype, init, 0, sqrt(scale) / cut_deviation);
}

/* All axes but the last count as inputs. */
static weft_out init_uniform_unit(weft_graph *g, const shape *s, const shape *whole, weft_dtype dtype,
                                  const initializer *init) {
  double inputs = whole->rank > 1 ? (double)weft__shape_product(whole, 0, whole->rank - 1) : 1;
  double most = sqrt(3 / (inputs > 1 ? inputs : 1)) * init->a;
  return init_uniform(g, s, dtype, init, -most, most);
}

static weft_out init_times(weft_graph *g, double factor, weft_dtype dtype, weft_out x) {
  weft__b_push_name(g, "mul");
  weft_out in[] = {named_scalar(g, "x", dtype, factor), x};
  weft_out o = scope_node(g, "Mul", 2, in);
  weft__b_pop(g);
  return o;
}

static weft_out init_transpose(weft_graph *g, weft_out x) {
  weft__b_push_name(g, "matrix_transpose/transpose");
  weft_out perm = named_shape(g, "perm", &SHAPE2(1, 0));
  weft_out o = scope_node(g, "Transpose", 2, (weft_out[]){x, perm});
  weft__b_pop(g);
  return o;
}

/* Returns Q of a random matrix, with signs that make it uniformly distributed.  The matrix is made tall and then
 * transposed if necessary. */
static weft_out init_orthogonal(weft_graph *g, const shape *s, weft_dtype dtype, const initializer *init) {
  WEFT_ASSERT(s->rank >= 2);
  int64_t cols = s->dim[s->rank - 1], rows = weft__shape_product(s, 0, s->rank - 1);
  bool wide = rows < cols;
  shape tall = wide ? SHAPE2(cols, rows) : SHAPE2(rows, cols);
  weft_out x = init_normal(g, "random_normal", "RandomStandardNormal", &tall, dtype, init, 0, 1);
  weft_out qr = weft__b_node(g, "Qr", NULL, 1, &x, 1, &A_BOOL("full_matrices", false));
  weft_out diagonal = weft__b_slot(qr, 1);
  diagonal = weft__b_node(g, "DiagPart", NULL, 1, &diagonal, 0, NULL);
  weft_out sign = weft__b_node(g, "Sign", NULL, 1, &diagonal, 0, NULL);
  weft_out q = weft__b_node(g, "Mul", "mul", 2, (weft_out[]){qr, sign}, 0, NULL);
  if (wide) q = init_transpose(g, q);
  weft__b_push_name(g, "Reshape");
  weft_out in[] = {q, named_shape(g, "shape", s)};
  q = scope_node(g, "Reshape", 2, in);
  weft__b_pop(g);
  return init_times(g, init->a, dtype, q);
}

static weft_out init_identity(weft_graph *g, const shape *s, weft_dtype dtype, const initializer *init) {
  WEFT_ASSERT(s->rank == 2);
  int64_t n = s->dim[0] < s->dim[1] ? s->dim[0] : s->dim[1];
  weft__b_push_name(g, "eye");
  weft_out ones = init_fill(g, "ones", &SHAPE1(n), dtype, 1), zeros = init_fill(g, "zeros", s, dtype, 0);
  weft__b_push_name(g, "set_diag");
  weft_out in[] = {zeros, ones, named_scalar(g, "k", WEFT_INT32, 0)};
  weft_out o = scope_node(g, "MatrixSetDiagV3", 3, in);
  weft__b_pop(g);
  weft__b_pop(g);
  return init_times(g, init->a, dtype, o);
}

static weft_out initial_value(weft_graph *g, const shape *s, const variable_spec *spec) {
  const initializer *init = &spec->init;
  const shape *whole = spec->whole ? spec->whole : s;
  const weft_dtype dtype = spec->dtype;
  switch (init->kind) {
  case INIT_ZEROS: return init_fill(g, "zeros", s, dtype, 0);
  case INIT_ONES: return init_fill(g, "ones", s, dtype, 1);
  case INIT_CONSTANT: return full_const(g, "Const", s, dtype, init->a);
  case INIT_UNIFORM: return init_uniform(g, s, dtype, init, init->a, init->b);
  case INIT_NORMAL: return init_normal(g, "random_normal", "RandomStandardNormal", s, dtype, init, init->a, init->b);
  case INIT_TRUNCATED: return init_normal(g, "truncated_normal", "TruncatedNormal", s, dtype, init, init->a, init->b);
  case INIT_SCALING: return init_variance_scaling(g, s, whole, dtype, init);
  case INIT_ORTHOGONAL: return init_orthogonal(g, s, dtype, init);
  case INIT_IDENTITY: return init_identity(g, s, dtype, init);
  case INIT_UNIT: return init_uniform_unit(g, s, whole, dtype, init);
  default: return WEFT_NONE;
  }
}

/* The default: Glorot's uniform for floats; zeros for integers, bools and strings. */
static weft_err default_initializer(const char *name, weft_dtype dtype, initializer *init) {
  dtype_class c = weft__dtype_class(dtype);
  if (init->kind != INIT_DEFAULT) return WEFT_OK;
  if (c == CLASS_FLOAT)
    *init = (initializer){.kind = INIT_SCALING, .a = 1, .fan = FAN_AVG, .spread = SCALE_UNIFORM};
  else if (c == CLASS_INT || c == CLASS_UINT || c == CLASS_BOOL || c == CLASS_STRING)
    *init = (initializer){.kind = INIT_ZEROS};
  else
    return weft__fail(WEFT_INVALID_ARGUMENT, "An initializer for variable %s of %s is required", name,
                      weft__dtype_name(dtype));
  return WEFT_OK;
}

/* ---- the nodes ---- */

static void make_ref(weft_graph *g, const char *exact, const shape *s, weft_dtype dtype, variable_nodes *out) {
  out->variable = weft__b_node(g, "VariableV2", exact, 0, NULL, 2,
                               (attr[]){A_SHAPE("shape", (shape *)(uintptr_t)s), A_TYPE("dtype", dtype)});
}

static void finish_ref(weft_graph *g, bool cached, variable_nodes *out) {
  if (out->variable.node < 0) return;
  weft__b_push_colocate(g, out->variable.node);
  weft_out assign = weft__b_node(g, "Assign", NULL, 2, (weft_out[]){out->variable, out->initial}, 0, NULL);
  out->assign = assign.node;
  if (cached) weft__b_pop(g);
  out->read = weft__b_node(g, "Identity", "read", 1, &out->variable, 0, NULL);
  if (!cached) weft__b_pop(g);
}

static void make_resource(weft_graph *g, const char *exact, const shape *s, weft_dtype dtype, variable_nodes *out) {
  attr_str shared = {exact, strlen(exact) - 1}; /* without the slash */
  attr attrs[] = {A_SHAPE("shape", (shape *)(uintptr_t)s),
                  A_TYPE("dtype", dtype),
                  {.name = "shared_name", .kind = ATTR_STRING, .s = shared},
                  A_STR("debug_name", exact)};
  out->variable = weft__b_node(g, "VarHandleOp", exact, 0, NULL, 4, attrs);
}

static void finish_resource(weft_graph *g, const shape *s, weft_dtype dtype, variable_nodes *out) {
  weft_out v = out->variable;
  if (v.node < 0) return;
  weft__b_push_name(g, "IsInitialized");
  weft__b_node(g, "VarIsInitializedOp", NULL, 1, &v, 0, NULL);
  weft__b_pop(g);
  weft__b_pushed(g, weft__scope_push_colocate(g, -1, true)); /* only the device follows the handle */
  weft__b_pushed(g, weft__scope_push_device(g, g->node[v.node]->device));
  weft_out assign = weft__b_node(g, "AssignVariableOp", "Assign", 2, (weft_out[]){v, out->initial}, 0, NULL);
  out->assign = assign.node;
  weft__b_pop(g);
  weft__b_pop(g);
  weft__b_push_name(g, "Read");
  out->read = weft__b_node(g, "ReadVariableOp", NULL, 1, &v, 1, &A_TYPE("dtype", dtype));
  weft__b_pop(g);
  if (out->read.node >= 0) g->node[out->read.node]->out_shape[0] = *s;
}

/* In the variable's own name scope: adds its initial value, then the variable. */
static weft_err build_inside(weft_graph *g, const variable_spec *spec, const shape *s, variable_nodes *out) {
  const char *name = weft__scope_prefix(g);
  char *exact = weft__sprintf("%s/", name);
  if (!exact) return WEFT_OOM;
  bool own = spec->init.kind != INIT_OUTPUT && spec->init.kind != INIT_TENSOR, belongs = own || spec->resource;
  if (belongs) weft__status_update(&g->sticky, weft__scope_push_class(g, name));
  if (own) {
    weft__b_push_name(g, "Initializer");
    weft__status_update(&g->sticky, weft__scope_push_device(g, NULL));
    out->initial = initial_value(g, s, spec);
    weft__b_pop(g);
    weft__b_pop(g);
  } else if (spec->init.kind == INIT_TENSOR) {
    weft_tensor *t = NULL;
    weft__status_update(&g->sticky, weft__tensor_create_like(&t, spec->init.tensor));
    if (spec->resource) weft__status_update(&g->sticky, weft__scope_push_device(g, NULL));
    out->initial = named_const(g, spec->resource ? "Initializer/initial_value" : "initial_value", t);
    if (spec->resource) weft__b_pop(g);
  }
  if (spec->resource)
    make_resource(g, exact, s, spec->dtype, out);
  else
    make_ref(g, exact, s, spec->dtype, out);
  if (belongs) weft__b_pop(g);
  if (spec->resource)
    finish_resource(g, s, spec->dtype, out);
  else
    finish_ref(g, spec->cached, out);
  weft__free(exact);
  return weft__b_ok(g);
}

static weft_err out_name(const weft_graph *g, weft_out o, char **name) {
  WEFT_ASSERT(weft__out_belongs(g, o));
  *name = weft__sprintf("%s:%d", g->node[o.node]->name, (int)o.slot);
  return *name ? WEFT_OK : WEFT_OOM;
}

static weft_err put_in_lists(weft_graph *g, const Tensorflow__VariableDef *def, const variable_spec *spec) {
  size_t size = tensorflow__variable_def__get_packed_size(def);
  uint8_t *bytes = weft__alloc(size + 1);
  if (!bytes) return WEFT_OOM;
  tensorflow__variable_def__pack(def, bytes);
  weft_err err = weft__collection_add_bytes(g, spec->local ? "local_variables" : "variables", bytes, size);
  if (err == WEFT_OK && def->trainable) err = weft__collection_add_bytes(g, "trainable_variables", bytes, size);
  weft__free(bytes);
  return err;
}

static weft_err list_variable(weft_graph *g, const variable_spec *spec, const variable_nodes *v) {
  Tensorflow__VariableDef def = TENSORFLOW__VARIABLE_DEF__INIT;
  char *name[3] = {0};
  weft_err err = out_name(g, v->variable, &name[0]);
  if (err == WEFT_OK) err = out_name(g, v->initial, &name[1]);
  if (err == WEFT_OK) err = out_name(g, v->read, &name[2]);
  if (err == WEFT_OK) {
    def.variable_name = name[0];
    def.initial_value_name = name[1];
    def.snapshot_name = name[2];
    def.initializer_name = (char *)(uintptr_t)g->node[v->assign]->name;
    def.trainable = !spec->untrainable && !spec->local;
    def.is_resource = spec->resource;
    err = put_in_lists(g, &def, spec);
  }
  for (int i = 0; i < 3; i++) weft__free(name[i]);
  return err;
}

/* Determines shape and type: as requested, or those of the given value. */
static weft_err variable_settle(const weft_graph *g, const char *name, variable_spec *s) {
  if (s->init.kind == INIT_TENSOR || s->init.kind == INIT_OUTPUT) {
    if (s->has_shape) return weft__fail(WEFT_INVALID_ARGUMENT, "If initializer is a constant, do not specify shape.");
    s->shape = s->init.kind == INIT_TENSOR ? s->init.tensor->shape : *weft__out_shape(g, s->init.output);
    s->dtype = s->init.kind == INIT_TENSOR ? s->init.tensor->dtype : weft__out_type(g, s->init.output);
    return WEFT_OK;
  }
  if (!s->has_shape)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Variable %s did not get an initializer, so its `shape` argument must be specified.", name);
  if (!weft__shape_known(&s->shape))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Shape of a new variable (%s) must be fully defined, but instead was %s.",
                      name, weft__shape_text(&s->shape));
  if (s->init.kind == INIT_ORTHOGONAL && s->shape.rank < 2)
    return weft__fail(WEFT_INVALID_ARGUMENT, "The tensor to initialize must be at least two-dimensional");
  if (s->init.kind == INIT_IDENTITY && s->shape.rank != 2)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Identity matrix initializer can only be used for 2D matrices.");
  return default_initializer(name, s->dtype, &s->init);
}

weft_err weft__variable_build(weft_graph *g, const char *full_name, const variable_spec *spec, variable_nodes *out) {
  variable_spec s = *spec;
  int depth = weft__scope_depth(g);
  WEFT_TRY(weft__b_ok(g));
  if (s.dtype == WEFT_INVALID) s.dtype = WEFT_FLOAT;
  WEFT_TRY(variable_settle(g, full_name, &s));
  *out = (variable_nodes){.variable = WEFT_NONE, .initial = s.init.output, .read = WEFT_NONE, .resource = s.resource};
  weft_err err = weft__scope_push_control(g, -1, NULL);
  if (err == WEFT_OK) err = weft__scope_push_name(g, NULL);
  if (err == WEFT_OK) err = weft__scope_push_name(g, full_name);
  if (err == WEFT_OK) err = build_inside(g, &s, &s.shape, out);
  weft__scope_pop_to(g, depth);
  if (err == WEFT_OK) return list_variable(g, &s, out);
  weft__b_clear(g); /* the recorded error is what we return */
  return err;
}
