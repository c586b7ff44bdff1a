/* layer.c - dense, convolution, pooling and flatten layers, and functions that all layers share. */
#include "train/model/layer.h"
#include "base/alloc.h"
#include "base/suggest.h"
#include "graph/collection.h"
#include "graph/scope.h"
#include <string.h>

bool weft__layer_enter(weft_graph *g, const char *name, const char *standard, reuse_mode reuse) {
  if (g->sticky.code) return false;
  variable_scope_opts o = {.name = name, .default_name = standard, .reuse = reuse};
  return weft__named_keep(g, weft__variable_scope_push(g, &o, NULL));
}

static weft_out layer_fail(weft_graph *g, weft_err err) {
  weft__named_keep(g, err);
  return WEFT_NONE;
}

/* ---- regularizers ---- */

/* Multiplies a sum by the constant NAME/scale, as tf.contrib.layers does. */
static weft_out layer_regularizer(weft_graph *g, const char *name, double scale, weft_out w, bool squares) {
  if (w.node < 0) return WEFT_NONE;
  weft__b_push_name(g, name);
  weft_out factor = weft__n_scalar(g, "scale", weft__type_of(g, w), scale);
  weft_out sum = squares ? weft__named_unary(g, "L2Loss", "L2Loss", w)
                         : weft__named_reduce(g, "Sum", "Sum", weft__named_unary(g, "Abs", "Abs", w));
  weft_out o = weft__n_scope_node(g, "Mul", 2, (weft_out[]){factor, sum}, 0, NULL);
  weft__b_pop(g);
  return o;
}

weft_out weft__l1_regularizer(weft_graph *g, double scale, weft_out w) {
  return layer_regularizer(g, "l1_regularizer", scale, w, false);
}

weft_out weft__l2_regularizer(weft_graph *g, double scale, weft_out w) {
  return layer_regularizer(g, "l2_regularizer", scale, w, true);
}

static void layer_regularize(weft_graph *g, const weight *w, weft_out variable, weft_out value) {
  char *below = weft__sprintf("%s/Regularizer/", weft__variable_name(g, variable));
  if (!below) weft__named_keep(g, WEFT_OOM);
  weft__b_push_name(g, below ? below : "Regularizer");
  weft_out sum = w->l1 > 0 ? weft__l1_regularizer(g, w->l1, value) : WEFT_NONE;
  weft_out squares = w->l2 > 0 ? weft__l2_regularizer(g, w->l2, value) : WEFT_NONE;
  weft_out loss = sum.node < 0       ? squares
                  : squares.node < 0 ? sum
                                     : weft__named_binary(g, "AddV2", "add", OUT(sum), OUT(squares));
  weft__b_pop(g);
  weft__free(below);
  const char *name = loss.node < 0 ? NULL : weft__n_out_name(g, loss);
  if (name) weft__named_keep(g, weft__collection_add_name(g, "regularization_losses", name));
}

weft_out weft__layer_variable(weft_graph *g, const weight *w, weft_out *variable) {
  variable_spec spec = {.name = w->name,
                        .has_shape = w->init.kind != INIT_TENSOR,
                        .shape = w->shape,
                        .dtype = w->dtype,
                        .init = w->init,
                        .untrainable = w->untrainable,
                        .resource = weft__variable_scope_resource(g),
                        .cached = w->cached};
  variable_nodes nodes;
  if (g->sticky.code || !weft__named_keep(g, weft__variable_get(g, &spec, &nodes))) return WEFT_NONE;
  weft_out value = weft__variable_value(g, nodes.variable);
  if (variable) *variable = nodes.variable;
  if ((w->l1 > 0 || w->l2 > 0) && !nodes.found) layer_regularize(g, w, nodes.variable, value);
  return value;
}

/* ---- options, which are checked before a layer adds its first node ---- */

static bool can_activate(const op *o) { return o && o->opdef.n_in == 1 && o->opdef.n_out == 1; }

/* An activation is an op with one input and one output. */
static weft_err check_activation(const weft_graph *g, const char *name) {
  if (!name || can_activate(weft__op_find(g->ops, name))) return WEFT_OK;
  suggestion s = {.what = "activation", .name = name};
  for (int i = 0; i < g->ops->by_name.used; i++) {
    const op *o = g->ops->by_name.entries[i].value;
    if (can_activate(o)) weft__suggest_offer(&s, o->opdef.name);
  }
  return weft__suggest_fail(&s, WEFT_INVALID_ARGUMENT);
}

static weft_err layer_check_padding(const char *name) {
  if (!name || strcmp(name, "VALID") == 0 || strcmp(name, "SAME") == 0) return WEFT_OK;
  suggestion s = {.what = "padding", .name = name};
  weft__suggest_offer(&s, "VALID");
  weft__suggest_offer(&s, "SAME");
  return weft__suggest_fail(&s, WEFT_INVALID_ARGUMENT);
}

static weft_err layer_check_count(const char *what, const char *name, int64_t count) {
  if (count >= 0) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s: %s is %lld; it must not be negative", what, name, (long long)count);
}

static weft_err layer_check_options(const weft_graph *g, const char *what, const layer *l) {
  WEFT_TRY(check_activation(g, l->activation));
  WEFT_TRY(layer_check_padding(l->padding));
  WEFT_TRY(layer_check_count(what, "stride_h", l->stride[0]));
  WEFT_TRY(layer_check_count(what, "stride_w", l->stride[1]));
  WEFT_TRY(layer_check_count(what, "dilation_h", l->dilation[0]));
  return layer_check_count(what, "dilation_w", l->dilation[1]);
}

/* Checks what all image layers take; the height and width of the kernel or window are `size`. */
static weft_err check_sizes(const weft_graph *g, const char *what, const int64_t *size, const layer *l) {
  WEFT_TRY(layer_check_count(what, "height", size[0]));
  WEFT_TRY(layer_check_count(what, "width", size[1]));
  return layer_check_options(g, what, l);
}

/* ---- the last nodes of dense and conv2d ---- */

static const char *layer_format_of(const layer *l) { return l->channels_first ? "NCHW" : "NHWC"; }

static weft_out add_bias(weft_graph *g, weft_out x, int64_t units, const layer *l) {
  if (l->no_bias || x.node < 0) return x;
  weight w = {.name = "bias",
              .shape = SHAPE1(units),
              .dtype = weft__type_of(g, x),
              .init = l->bias,
              .untrainable = l->untrainable};
  if (w.init.kind == INIT_DEFAULT) w.init.kind = INIT_ZEROS;
  weft_out bias = weft__layer_variable(g, &w, NULL);
  return weft__b_node(g, "BiasAdd", NULL, 2, (weft_out[]){x, bias}, 1, &A_STR("data_format", layer_format_of(l)));
}

static weft_out layer_activate(weft_graph *g, weft_out x, const layer *l) {
  return l->activation && x.node >= 0 ? weft__b_unary(g, l->activation, x) : x;
}

static weft_out kernel_of(weft_graph *g, weft_out x, const shape *s, const layer *l) {
  weight w = {"kernel", *s, weft__type_of(g, x), l->kernel, l->untrainable, l->l1, l->l2, false};
  return weft__layer_variable(g, &w, NULL);
}

/* ---- dense ---- */

/* Returns the shape of the result: that of x except for the last dimension.  If more than one dimension is unknown,
 * they are read when the graph runs. */
static weft_out result_shape(weft_graph *g, weft_out x, int64_t units) {
  shape s = *weft__shape_of(g, x);
  int unknown = 0;
  s.dim[s.rank - 1] = units;
  for (int i = 0; i < s.rank; i++) unknown += s.dim[i] < 0;
  if (unknown <= 1) return weft__named_ints(g, "shape", s.dim, s.rank);
  weft_out dims = weft__named_unary(g, "Shape", "Shape", x);
  weft_out front = weft__named_slice(g, dims, (slice_bounds){.has_end = true, .end = s.rank - 1});
  weft_out last = weft__named_ints(g, "Const", &units, 1), axis = weft__n_scalar(g, "axis", WEFT_INT32, 0);
  return weft__b_node(g, "ConcatV2", "concat", 3, (weft_out[]){front, last, axis}, 1, &A_INT("N", 2));
}

/* With more than two axes, all but the last form the rows. */
static weft_out layer_tensordot(weft_graph *g, weft_out x, weft_out w, int64_t in, int64_t units) {
  weft__b_push_name(g, "Tensordot");
  const shape *s = weft__shape_of(g, x);
  int64_t count = weft__shape_count(s), rows = count >= 0 && in > 0 ? count / in : -1;
  weft_out flat = weft__named_reshape(g, x, 2, (int64_t[]){rows, in});
  weft_out product = weft__b_node(g, "MatMul", NULL, 2, (weft_out[]){flat, w}, 0, NULL);
  weft_out o = weft__n_scope_node(g, "Reshape", 2, (weft_out[]){product, result_shape(g, x, units)}, 0, NULL);
  weft__b_pop(g);
  if (o.node >= 0) {
    shape known = *s;
    known.dim[known.rank - 1] = units;
    g->node[o.node]->out_shape[0] = known;
  }
  return o;
}

weft_out weft__dense(weft_graph *g, weft_out x, int64_t units, const layer *l) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const shape *s = weft__shape_of(g, x);
  weft_err err = layer_check_count("dense", "units", units);
  if (!err) err = layer_check_options(g, "dense", l);
  if (!err && (s->rank < 2 || s->dim[s->rank - 1] < 0))
    err = weft__fail(WEFT_INVALID_ARGUMENT,
                     "The last dimension of the inputs to a dense layer should be defined. Found: %s",
                     weft__shape_text(s));
  if (err) return layer_fail(g, err);
  int64_t in = s->dim[s->rank - 1];
  if (!weft__layer_enter(g, l->name, "dense", l->reuse)) return WEFT_NONE;
  weft_out w = kernel_of(g, x, &SHAPE2(in, units), l), o = WEFT_NONE;
  if (w.node >= 0 && s->rank == 2)
    o = weft__b_node(g, "MatMul", NULL, 2, (weft_out[]){x, w}, 0, NULL);
  else if (w.node >= 0)
    o = layer_tensordot(g, x, w, in, units);
  o = layer_activate(g, add_bias(g, o, units, l), l);
  weft__b_pop(g);
  return o;
}

/* ---- images ---- */

static const char *padding_of(const layer *l) { return l->padding ? l->padding : "VALID"; }

static int64_t at_least_1(int64_t v) { return v > 0 ? v : 1; }

static weft_err layer_check_image(const weft_graph *g, const char *what, weft_out x, const layer *l) {
  const shape *s = weft__shape_of(g, x);
  if (s->rank == 4) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s: images have 4 axes (%s), got %s", what, layer_format_of(l),
                    weft__shape_text(s));
}

/* Arranges sizes, strides or dilations of height and width in the axis order of the images. */
static void layer_sizes(int64_t *four, int64_t height, int64_t width, const layer *l) {
  four[0] = four[l->channels_first ? 1 : 3] = 1;
  four[l->channels_first ? 2 : 1] = height;
  four[l->channels_first ? 3 : 2] = width;
}

weft_out weft__conv2d_layer(weft_graph *g, weft_out x, int64_t filters, const int64_t *size, const layer *l) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  weft_err err = layer_check_count("conv2d", "filters", filters);
  if (!err) err = check_sizes(g, "conv2d", size, l);
  if (!err) err = layer_check_image(g, "conv2d", x, l);
  int64_t in = err ? -1 : weft__shape_of(g, x)->dim[l->channels_first ? 1 : 3];
  if (!err && in < 0)
    err = weft__fail(WEFT_INVALID_ARGUMENT, "The channel dimension of the inputs should be defined. Found None.");
  if (err) return layer_fail(g, err);
  if (!weft__layer_enter(g, l->name, "conv2d", l->reuse)) return WEFT_NONE;
  int64_t strides[4], dilations[4];
  layer_sizes(strides, at_least_1(l->stride[0]), at_least_1(l->stride[1]), l);
  layer_sizes(dilations, at_least_1(l->dilation[0]), at_least_1(l->dilation[1]), l);
  weft_out w = kernel_of(g, x, &SHAPE4(size[0], size[1], in, filters), l);
  weft_out o = weft__b_node(g, "Conv2D", NULL, 2, (weft_out[]){x, w}, 4,
                            (attr[]){A_INTS("strides", strides, 4), A_INTS("dilations", dilations, 4),
                                     A_STR("padding", padding_of(l)), A_STR("data_format", layer_format_of(l))});
  o = layer_activate(g, add_bias(g, o, filters, l), l);
  weft__b_pop(g);
  return o;
}

weft_out weft__pooling2d(weft_graph *g, bool average, weft_out x, const int64_t *size, const layer *l) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  const char *what = average ? "average_pooling2d" : "max_pooling2d";
  weft_err err = check_sizes(g, what, size, l);
  if (!err) err = layer_check_image(g, what, x, l);
  if (err) return layer_fail(g, err);
  if (!weft__layer_enter(g, l->name, what, l->reuse)) return WEFT_NONE;
  int64_t sizes[4], strides[4];
  layer_sizes(sizes, size[0], size[1], l);
  layer_sizes(strides, l->stride[0] > 0 ? l->stride[0] : size[0], l->stride[1] > 0 ? l->stride[1] : size[1], l);
  weft_out o = weft__b_node(g, average ? "AvgPool" : "MaxPool", NULL, 1, &x, 4,
                            (attr[]){A_INTS("ksize", sizes, 4), A_INTS("strides", strides, 4),
                                     A_STR("padding", padding_of(l)), A_STR("data_format", layer_format_of(l))});
  weft__b_pop(g);
  return o;
}

weft_out weft__flatten(weft_graph *g, weft_out x, const char *name) {
  if (x.node < 0 || g->sticky.code) return WEFT_NONE;
  shape s = *weft__shape_of(g, x);
  if (s.rank < 1)
    return layer_fail(g, weft__fail(WEFT_INVALID_ARGUMENT, "flatten: got shape %s", weft__shape_text(&s)));
  int64_t dims[] = {-1, 1};
  for (int i = 1; i < s.rank; i++) dims[1] = weft__shape_dim_mul(dims[1], s.dim[i]);
  if (dims[1] < 0) dims[0] = s.dim[0];
  if (!weft__layer_enter(g, name, "flatten", REUSE_INHERIT)) return WEFT_NONE;
  weft_out to;
  if (dims[0] < 0 && dims[1] < 0) {
    weft_out rows = weft__named_slice(g, weft__named_unary(g, "Shape", "Shape", x),
                                      (slice_bounds){.has_begin = true, .begin = 0, .has_end = true, .end = 1});
    weft_out rest = weft__named_ints(g, "Const", &dims[1], 1), axis = weft__n_scalar(g, "axis", WEFT_INT32, 0);
    to = weft__b_node(g, "ConcatV2", "concat", 3, (weft_out[]){rows, rest, axis}, 1, &A_INT("N", 2));
  } else {
    to = weft__named_ints(g, "Const", dims, 2);
  }
  weft_out o = weft__b_node(g, "Reshape", NULL, 2, (weft_out[]){x, to}, 0, NULL);
  weft__b_pop(g);
  return o;
}
