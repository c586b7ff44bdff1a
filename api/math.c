/* math.c - the public functions of the most common ops, built with graph/build.h. */
#include "api/argument.h"
#include "graph/build.h"
#include "graph/scope.h"

static weft_out with_attrs(weft_graph *g, const char *type, int n_in, const weft_out *in, int n, const attr *a) {
  return weft__b_node(g, type, NULL, n_in, in, n, a);
}

weft_out weft_input(weft_graph *g, const char *name, weft_dtype dtype, int rank, const int64_t *dims) {
  API_NEED_OUT(NULL, g);
  API_ITEMS_OUT(g, rank, dims);

  shape s = SHAPE_UNKNOWN;
  if (rank >= 0) weft__status_update(&g->sticky, weft__shape_make(&s, rank, dims));
  return weft__b_node(g, "Placeholder", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", dtype), A_SHAPE("shape", &s)});
}

weft_out weft_constant(weft_graph *g, const weft_tensor *value) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, value);

  return with_attrs(g, "Const", 0, NULL, 2,
                    (attr[]){A_TENSOR("value", (weft_tensor *)(uintptr_t)value), A_TYPE("dtype", value->dtype)});
}

weft_out weft_scalar(weft_graph *g, weft_dtype dtype, double v) {
  API_NEED_OUT(NULL, g);
  return weft__b_scalar(g, dtype, v);
}

weft_out weft_zeros(weft_graph *g, weft_dtype dtype, int rank, const int64_t *dims) {
  API_NEED_OUT(NULL, g);
  API_ITEMS_OUT(g, rank, dims);

  return weft__b_fill(g, weft__b_ints(g, dims, rank), weft__b_scalar(g, dtype, 0));
}

/* Adds a random op with a constant shape and seeds drawn from the graph's seed. */
static weft_out random_node(weft_graph *g, const char *type, int rank, const int64_t *dims) {
  int64_t seed, seed2;
  weft_out s = weft__b_ints(g, dims, rank);
  weft__graph_seeds(g, false, 0, &seed, &seed2);
  return with_attrs(g, type, 1, &s, 3,
                    (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_INT("seed", seed), A_INT("seed2", seed2)});
}

weft_out weft_truncated_normal(weft_graph *g, int rank, const int64_t *dims, float stddev) {
  API_NEED_OUT(NULL, g);
  API_ITEMS_OUT(g, rank, dims);

  return weft__b_binary(g, "Mul", random_node(g, "TruncatedNormal", rank, dims),
                        weft__b_scalar(g, WEFT_FLOAT, (double)stddev));
}

weft_out weft_random_uniform(weft_graph *g, int rank, const int64_t *dims, float low, float high) {
  API_NEED_OUT(NULL, g);
  API_ITEMS_OUT(g, rank, dims);

  weft_out u = random_node(g, "RandomUniform", rank, dims);
  u = weft__b_binary(g, "Mul", u, weft__b_scalar(g, WEFT_FLOAT, (double)(high - low)));
  return weft__b_binary(g, "AddV2", u, weft__b_scalar(g, WEFT_FLOAT, (double)low));
}

weft_out weft_add(weft_graph *g, weft_out x, weft_out y) {
  API_NEED_OUT(NULL, g);
  return weft__b_binary(g, "AddV2", x, y);
}
weft_out weft_sub(weft_graph *g, weft_out x, weft_out y) {
  API_NEED_OUT(NULL, g);
  return weft__b_binary(g, "Sub", x, y);
}
weft_out weft_mul(weft_graph *g, weft_out x, weft_out y) {
  API_NEED_OUT(NULL, g);
  return weft__b_binary(g, "Mul", x, y);
}
weft_out weft_div(weft_graph *g, weft_out x, weft_out y) {
  API_NEED_OUT(NULL, g);
  return weft__b_binary(g, "RealDiv", x, y);
}
weft_out weft_square(weft_graph *g, weft_out x) {
  API_NEED_OUT(NULL, g);
  return weft__b_unary(g, "Square", x);
}
weft_out weft_relu(weft_graph *g, weft_out x) {
  API_NEED_OUT(NULL, g);
  return weft__b_unary(g, "Relu", x);
}
weft_out weft_softmax(weft_graph *g, weft_out x) {
  API_NEED_OUT(NULL, g);
  return weft__b_unary(g, "Softmax", x);
}
weft_out weft_matmul(weft_graph *g, weft_out x, weft_out y) {
  API_NEED_OUT(NULL, g);
  return weft__b_matmul(g, x, y, false, false);
}
weft_out weft_bias_add(weft_graph *g, weft_out x, weft_out bias) {
  API_NEED_OUT(NULL, g);
  return weft__b_binary(g, "BiasAdd", x, bias);
}
weft_out weft_cast(weft_graph *g, weft_out x, weft_dtype to) {
  API_NEED_OUT(NULL, g);
  API_OF_OUT(g, x);
  return weft__b_cast(g, x, to);
}
weft_out weft_equal(weft_graph *g, weft_out x, weft_out y) {
  API_NEED_OUT(NULL, g);
  return weft__b_binary(g, "Equal", x, y);
}

weft_out weft_reshape(weft_graph *g, weft_out x, int rank, const int64_t *dims) {
  API_NEED_OUT(NULL, g);
  API_ITEMS_OUT(g, rank, dims);

  return weft__b_reshape(g, x, weft__b_ints(g, dims, rank));
}

/* Returns the axes 0 .. rank-1 of x: a constant if the rank is known. */
static weft_out every_axis(weft_graph *g, weft_out x) {
  if (x.node < 0) return x;
  int rank = weft__out_shape(g, x)->rank;
  int64_t axes[WEFT_MAX_RANK];
  for (int i = 0; i < rank; i++) axes[i] = i;
  if (rank >= 0) return weft__b_ints(g, axes, rank);
  weft_out range[] = {weft__b_scalar(g, WEFT_INT32, 0), weft__b_rank(g, x), weft__b_scalar(g, WEFT_INT32, 1)};
  return weft__b_node(g, "Range", NULL, 3, range, 0, NULL);
}

weft_out weft_mean(weft_graph *g, weft_out x) {
  API_NEED_OUT(NULL, g);
  return weft__b_binary(g, "Mean", x, every_axis(g, x));
}
weft_out weft_sum(weft_graph *g, weft_out x) {
  API_NEED_OUT(NULL, g);
  return weft__b_sum(g, x, every_axis(g, x), false);
}

weft_out weft_argmax(weft_graph *g, weft_out x, int axis) {
  API_NEED_OUT(NULL, g);

  return weft__b_binary(g, "ArgMax", x, weft__b_scalar(g, WEFT_INT32, axis));
}

weft_out weft_sparse_softmax_cross_entropy(weft_graph *g, weft_out logits, weft_out labels) {
  API_NEED_OUT(NULL, g);

  return weft__b_binary(g, "SparseSoftmaxCrossEntropyWithLogits", logits, labels);
}

weft_out weft_conv2d(weft_graph *g, weft_out x, weft_out filter, int stride, const char *padding) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, padding);

  int64_t strides[] = {1, stride, stride, 1};
  return with_attrs(g, "Conv2D", 2, (weft_out[]){x, filter}, 2,
                    (attr[]){A_INTS("strides", strides, 4), A_STR("padding", padding)});
}

weft_out weft_max_pool(weft_graph *g, weft_out x, int size, int stride, const char *padding) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, padding);

  int64_t sizes[] = {1, size, size, 1}, strides[] = {1, stride, stride, 1};
  return with_attrs(g, "MaxPool", 1, &x, 3,
                    (attr[]){A_INTS("ksize", sizes, 4), A_INTS("strides", strides, 4), A_STR("padding", padding)});
}

weft_out weft_assign(weft_graph *g, weft_out variable_ref, weft_out v) {
  API_NEED_OUT(NULL, g);

  return weft__b_binary(g, "Assign", variable_ref, v);
}

weft_out weft_apply_gradient_descent(weft_graph *g, weft_out variable_ref, weft_out rate, weft_out gradient) {
  API_NEED_OUT(NULL, g);

  return with_attrs(g, "ApplyGradientDescent", 3, (weft_out[]){variable_ref, rate, gradient}, 0, NULL);
}
