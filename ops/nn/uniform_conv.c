/* uniform_conv.c - convolutions of uniformly quantized integers: UniformQuantizedConvolution and its hybrid form.
 *
 * The operands may have their dimensions in any order, any number of spatial ones, and holes between their elements
 * (dilations).  Elements that padding adds stand for zero.  The hybrid form quantizes each example of its left operand
 * to 8 bits first, over the example's range. */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "ops/math/quantized.h"
#include "ops/math/uniform.h"
#include <math.h>
#include <string.h>

/* ---- the order of dimensions ---- */

enum { LHS, RHS, OUT, OPERANDS };

typedef struct conv_order {
  int64_t major, minor; /* batch and feature; of the filter the output and input features */
  int64_t at[WEFT_MAX_RANK];
  int n; /* spatial dimensions */
} conv_order;

/* Batch, feature, then the spatial dimensions. */
static void order_default(conv_order order[OPERANDS], int rank) {
  for (int p = 0; p < OPERANDS; p++) {
    order[p] = (conv_order){.major = 0, .minor = 1, .n = rank - 2};
    for (int i = 0; i < rank - 2; i++) order[p].at[i] = i + 2;
  }
}

static bool uniform_conv_read_varint(const uint8_t **from, const uint8_t *end, uint64_t *v) {
  *v = 0;
  for (int shift = 0; *from < end && shift < 64; shift += 7) {
    const uint8_t byte = *(*from)++;
    *v |= (uint64_t)(byte & 127) << shift;
    if (!(byte & 128)) return true;
  }
  return false;
}

/* Stores one number of field 1 to 9 of UniformQuantizedConvolutionDimensionNumbersAttr: for the left operand, the right
 * one and the output three each, in each operand's order.  Other fields are skipped. */
static bool order_put(conv_order order[OPERANDS], uint64_t field, uint64_t v) {
  if (field < 1 || field > 9) return true;
  conv_order *o = &order[(field - 1) / 3];
  const bool filter = o == &order[RHS];
  switch ((field - 1) % 3) {
  case 0: *(filter ? &o->minor : &o->major) = (int64_t)v; return true;
  case 1: *(filter ? &o->major : &o->minor) = (int64_t)v; return true;
  default:
    if (o->n == WEFT_MAX_RANK) return false;
    o->at[o->n++] = (int64_t)v;
    return true;
  }
}

static bool order_parse(conv_order order[OPERANDS], attr_str s) {
  const uint8_t *from = (const uint8_t *)s.data, *end = from + s.size;
  while (from < end) {
    uint64_t tag, v;
    if (!uniform_conv_read_varint(&from, end, &tag) || !(tag >> 3) || !uniform_conv_read_varint(&from, end, &v))
      return false;
    if ((tag & 7) == 0) {
      if (!order_put(order, tag >> 3, v)) return false;
    } else if ((tag & 7) == 2 && v <= (uint64_t)(end - from)) {
      const uint8_t *stop = from + v;
      while (from < stop)
        if (!uniform_conv_read_varint(&from, stop, &v) || !order_put(order, tag >> 3, v)) return false;
    } else {
      return false;
    }
  }
  return true;
}

/* Checks that the numbers are 0 .. rank - 1 in some order. */
static bool order_complete(const conv_order *o, int rank) {
  uint64_t seen = 0;
  if (o->n != rank - 2) return false;
  for (int i = 0; i < rank; i++) {
    const int64_t d = i == 0 ? o->major : i == 1 ? o->minor : o->at[i - 2];
    if (d < 0 || d >= rank || (seen >> d & 1)) return false;
    seen |= (uint64_t)1 << d;
  }
  return true;
}

static weft_err order_read(const weft_node *n, int rank, conv_order order[OPERANDS]) {
  const attr_str s = weft__node_str(n, "dimension_numbers");
  if (!s.size) {
    order_default(order, rank);
    return WEFT_OK;
  }
  memset(order, 0, sizeof *order * OPERANDS);
  if (!order_parse(order, s)) return weft__fail(WEFT_INVALID_ARGUMENT, "Error parsing convolution dimension numbers.");
  for (int p = 0; p < OPERANDS; p++)
    if (!order_complete(&order[p], rank))
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "dimension_numbers of the %s must name each of its %d dimensions once, from 0 on",
                        p == LHS   ? "lhs"
                        : p == RHS ? "rhs"
                                   : "output",
                        rank);
  return WEFT_OK;
}

/* ---- sizes ---- */

typedef struct conv_plan {
  conv_order order[OPERANDS];
  shape shape[OPERANDS]; /* all are known */
  int n;                 /* spatial dimensions */
  int64_t stride[WEFT_MAX_RANK], hole[2][WEFT_MAX_RANK], before[WEFT_MAX_RANK];
  int64_t features, batches; /* groups */
} conv_plan;

static int64_t uniform_conv_size_of(const conv_plan *c, int operand, int i) {
  return c->shape[operand].dim[c->order[operand].at[i]];
}

/* Reads a list with a number of at least 1 for each spatial dimension; an empty one stands for ones. */
static weft_err read_steps(const weft_node *n, const char *name, int spatial, int64_t *out) {
  const attr *a = weft__node_attr(n, name);
  const int count = a ? a->n : 0;
  if (count && count != spatial) return weft__fail(WEFT_INVALID_ARGUMENT, "Size of %s Attr must be dims - 2.", name);
  for (int i = 0; i < spatial; i++) {
    out[i] = count ? a->is[i] : 1;
    if (out[i] < 1)
      return weft__fail(WEFT_INVALID_ARGUMENT, "All elements of %s must be >= 1. Given %lld", name, (long long)out[i]);
  }
  return WEFT_OK;
}

/* Stores the size with holes between the elements. */
static weft_err spread(int64_t size, int64_t hole, int64_t *out) {
  *out = size;
  if (size < 1) return WEFT_OK;
  if (__builtin_mul_overflow(size - 1, hole, out) || *out > INT64_MAX / 4)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a dilation of %lld is too large for a dimension of %lld", (long long)hole,
                      (long long)size);
  *out += 1;
  return WEFT_OK;
}

/* Computes the size of the output in a spatial dimension, and what is added before the left operand. */
static weft_err conv_size(conv_plan *c, const weft_node *n, int i, int64_t *out) {
  int64_t size, filter, added = 0;
  WEFT_TRY(spread(uniform_conv_size_of(c, LHS, i), c->hole[LHS][i], &size));
  WEFT_TRY(spread(uniform_conv_size_of(c, RHS, i), c->hole[RHS][i], &filter));
  const attr *explicit = weft__node_attr(n, "explicit_padding");
  if (weft__node_str_is(n, "padding", "SAME")) {
    const int64_t steps = size / c->stride[i] + (size % c->stride[i] != 0); /* the size of the output */
    added = steps > 0 ? (steps - 1) * c->stride[i] + filter - size : 0;
    if (added < 0) added = 0;
    c->before[i] = added / 2;
  } else if (weft__node_str_is(n, "padding", "EXPLICIT")) {
    c->before[i] = explicit->is[2 * i];
    if (__builtin_add_overflow(explicit->is[2 * i], explicit->is[2 * i + 1], &added) || added > INT64_MAX / 4)
      return weft__fail(WEFT_INVALID_ARGUMENT, "explicit_padding of %lld and %lld is too large",
                        (long long)explicit->is[2 * i], (long long)explicit->is[2 * i + 1]);
  }
  const int64_t room = size + added - filter;
  *out = room < 0 ? (room - c->stride[i] + 1) / c->stride[i] + 1 : room / c->stride[i] + 1;
  if (*out < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Expected shape dimensions to be non-negative, got %lld", (long long)*out);
  return WEFT_OK;
}

static weft_err uniform_conv_check_padding(const weft_node *n, int rank) {
  const attr *a = weft__node_attr(n, "explicit_padding");
  const int count = a ? a->n : 0;
  const attr_str kind = weft__node_str(n, "padding");
  if (strcmp(kind.data, "EXPLICIT") != 0) {
    if (strcmp(kind.data, "SAME") != 0 && strcmp(kind.data, "VALID") != 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "padding Attr must be one of [EXPLICIT | SAME | VALID], but given: %s",
                        kind.data);
    if (count)
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "If padding Attr is not 'EXPLICIT', explicit_padding Attr must be empty. Given padding %s and "
                        "explicit_padding of size %d",
                        kind.data, count);
    return WEFT_OK;
  }
  if (count != 2 * (rank - 2))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Size of explicit_padding Attr must be 2 * (rank - 2). Given rank %d and explicit_padding of "
                      "size %d",
                      rank, count);
  for (int i = 0; i < count; i++)
    if (a->is[i] < 0)
      return weft__fail(WEFT_INVALID_ARGUMENT, "All explicit_padding elems must be >= 0, Given %lld",
                        (long long)a->is[i]);
  return WEFT_OK;
}

/* Checks the numbers of features and examples against the groups. */
static weft_err check_groups(const conv_plan *c) {
  const int64_t in = c->shape[LHS].dim[c->order[LHS].minor], batch = c->shape[LHS].dim[c->order[LHS].major],
                taken = c->shape[RHS].dim[c->order[RHS].minor], out = c->shape[RHS].dim[c->order[RHS].major];
  if (c->features < 1 || c->batches < 1 || (c->features > 1 && c->batches > 1))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "feature_group_count and batch_group_count must be at least 1, and one of them 1, but are %lld "
                      "and %lld",
                      (long long)c->features, (long long)c->batches);
  if (in % c->features || in / c->features != taken)
    return weft__fail(WEFT_INVALID_ARGUMENT, "lhs has %lld features in %lld groups, but rhs has %lld input features",
                      (long long)in, (long long)c->features, (long long)taken);
  if (out % c->features || out % c->batches)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "the %lld output features of rhs must be a multiple of feature_group_count %lld and of "
                      "batch_group_count %lld",
                      (long long)out, (long long)c->features, (long long)c->batches);
  if (batch % c->batches)
    return weft__fail(WEFT_INVALID_ARGUMENT, "lhs has a batch of %lld, which is no multiple of batch_group_count %lld",
                      (long long)batch, (long long)c->batches);
  return WEFT_OK;
}

/* Checks the attributes and the shapes, and computes that of the output. */
static weft_err conv_plan_make(conv_plan *c, const weft_node *n, const shape *lhs, const shape *rhs) {
  const int rank = lhs->rank;
  if (rank < 3 || rhs->rank != rank)
    return weft__fail(WEFT_INVALID_ARGUMENT, "lhs and rhs must have one rank of at least 3, but have ranks %d and %d",
                      rank, rhs->rank);
  *c = (conv_plan){.n = rank - 2, .shape = {*lhs, *rhs, {.rank = rank}}};
  c->features = weft__node_int(n, "feature_group_count", 1);
  c->batches = weft__node_int(n, "batch_group_count", 1);
  WEFT_TRY(order_read(n, rank, c->order));
  WEFT_TRY(read_steps(n, "window_strides", c->n, c->stride));
  WEFT_TRY(read_steps(n, "lhs_dilation", c->n, c->hole[LHS]));
  WEFT_TRY(read_steps(n, "rhs_dilation", c->n, c->hole[RHS]));
  WEFT_TRY(uniform_conv_check_padding(n, rank));
  WEFT_TRY(check_groups(c));
  const int64_t batch = lhs->dim[c->order[LHS].major];
  c->shape[OUT].dim[c->order[OUT].major] = batch / c->batches;
  c->shape[OUT].dim[c->order[OUT].minor] = rhs->dim[c->order[RHS].major];
  for (int i = 0; i < c->n; i++) WEFT_TRY(conv_size(c, n, i, &c->shape[OUT].dim[c->order[OUT].at[i]]));
  return WEFT_OK;
}

/* ---- products ---- */

typedef struct conv_work {
  const conv_plan *c;
  const int64_t *x; /* the left operand, less its zero points */
  const int8_t *w;
  const uniform_scale *filter;
  int64_t step[OPERANDS][WEFT_MAX_RANK]; /* elements between neighbors in each dimension */
  void (*put)(const struct conv_work *j, int64_t i, int64_t sum, int64_t example, int64_t feature);
  weft_tensor *y;
  /* of integers */
  double scale; /* of the left operand */
  const uniform_scale *to;
  int64_t low, high;
  /* of the hybrid form */
  const float *example_scale;
} conv_work;

/* Adds the products of the features of one element of the filter.  Hostile zero points may make the sum wrap around. */
static uint64_t feature_sum(const conv_work *j, int64_t x, int64_t w, int64_t zero) {
  const conv_plan *c = j->c;
  const int64_t n = c->shape[RHS].dim[c->order[RHS].minor], by = j->step[LHS][c->order[LHS].minor],
                w_by = j->step[RHS][c->order[RHS].minor];
  uint64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += (uint64_t)j->x[x + i * by] * (uint64_t)(j->w[w + i * w_by] - zero);
  return sum;
}

/* Returns false if the element of the filter meets padding or a hole; else adds to the offsets of both operands. */
static bool filter_meets(const conv_work *j, const int64_t *at, const int64_t *in_filter, int64_t *x, int64_t *w) {
  const conv_plan *c = j->c;
  for (int i = 0; i < c->n; i++) {
    const int64_t spread_at = at[i] * c->stride[i] - c->before[i] + in_filter[i] * c->hole[RHS][i];
    if (spread_at < 0 || spread_at % c->hole[LHS][i] || spread_at / c->hole[LHS][i] >= uniform_conv_size_of(c, LHS, i))
      return false;
    *x += spread_at / c->hole[LHS][i] * j->step[LHS][c->order[LHS].at[i]];
    *w += in_filter[i] * j->step[RHS][c->order[RHS].at[i]];
  }
  return true;
}

/* Moves to the next element of the filter.  Returns false after the last one. */
static bool filter_next(const conv_plan *c, int64_t *in_filter) {
  for (int i = c->n - 1; i >= 0; i--) {
    if (++in_filter[i] < uniform_conv_size_of(c, RHS, i)) return true;
    in_filter[i] = 0;
  }
  return false;
}

static bool filter_empty(const conv_plan *c) {
  for (int i = 0; i < c->n; i++)
    if (!uniform_conv_size_of(c, RHS, i)) return true;
  return false;
}

static void conv_element(const conv_work *j, int64_t i) {
  const conv_plan *c = j->c;
  const conv_order *o = &c->order[OUT];
  int64_t place[WEFT_MAX_RANK], at[WEFT_MAX_RANK], in_filter[WEFT_MAX_RANK] = {0};
  for (int64_t d = c->n + 1, left = i; d >= 0; d--) {
    place[d] = left % c->shape[OUT].dim[d];
    left /= c->shape[OUT].dim[d];
  }
  for (int s = 0; s < c->n; s++) at[s] = place[o->at[s]];
  const int64_t feature = place[o->minor], out = c->shape[OUT].dim[o->minor];
  const int64_t example = place[o->major] + feature / (out / c->batches) * c->shape[OUT].dim[o->major];
  const int64_t first = feature / (out / c->features) * c->shape[RHS].dim[c->order[RHS].minor];
  const int64_t x0 = example * j->step[LHS][c->order[LHS].major] + first * j->step[LHS][c->order[LHS].minor];
  const int64_t w0 = feature * j->step[RHS][c->order[RHS].major], zero = j->filter->zero[feature % j->filter->n];
  uint64_t sum = 0;
  bool more = !filter_empty(c);
  while (more) {
    int64_t x = x0, w = w0;
    if (filter_meets(j, at, in_filter, &x, &w)) sum += feature_sum(j, x, w, zero);
    more = filter_next(c, in_filter);
  }
  j->put(j, i, (int64_t)sum, example, feature);
}

static void conv_elements(void *arg, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) conv_element(arg, i);
}

static void steps_of(const shape *s, int64_t *out) {
  int64_t n = 1;
  for (int d = s->rank - 1; d >= 0; d--) {
    out[d] = n;
    n *= s->dim[d];
  }
}

static void conv_run(kernel *k, conv_work *j) {
  for (int p = 0; p < OPERANDS; p++) steps_of(&j->c->shape[p], j->step[p]);
  j->w = TENSOR_DATA(k->in[1], const int8_t);
  const int64_t n = weft__tensor_count(j->y);
  const double cost = n > 0
                          ? (double)weft__tensor_count(k->in[1]) / (double)j->c->shape[OUT].dim[j->c->order[OUT].minor]
                          : 0; /* elements of the filter for one of the output */
  weft__kernel_loop(k, n, cost < 1e9 ? 1 + 4 * (int64_t)cost : 1000000000, conv_elements, j);
}

/* Reads the scales of the filter, of which there may be one for each output feature. */
static weft_err read_filter(const kernel *k, const conv_plan *c, int at, uniform_scale *u) {
  const int64_t axis = weft__node_int(k->node, "rhs_quantization_axis", -1);
  if (axis != -1 && axis != c->order[RHS].major)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "rhs_quantization_axis must be -1 or that of the output features, %lld, but is %lld",
                             (long long)c->order[RHS].major, (long long)axis);
  WEFT_TRY(weft__uniform_read(k, &k->in[1]->shape, at, "rhs_quantization_axis", u));
  return weft__uniform_check(k, at);
}

static void put_integer(const conv_work *j, int64_t i, int64_t sum, int64_t example, int64_t feature) {
  const int64_t at = feature % j->to->n;
  const double scale = j->scale * (double)j->filter->scale[feature % j->filter->n] / (double)j->to->scale[at];
  (void)example;
  const double steps = floor((double)sum * scale + 0.5);
  weft__quantized_put(j->y, i, weft__uniform_clamp(steps + j->to->zero[at], j->low, j->high));
}

static weft_err read_output(const kernel *k, const conv_plan *c, uniform_scale *to) {
  const int64_t axis = weft__node_int(k->node, "output_quantization_axis", -1);
  if (axis != -1 && axis != c->order[OUT].minor)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "output_quantization_axis must be -1 or that of the features, %lld, but is %lld",
                             (long long)c->order[OUT].minor, (long long)axis);
  if (axis >= 0 && k->in[4]->shape.rank == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "If rhs is per-tensor quantized, output must be also per-tensor quantized.");
  WEFT_TRY(weft__uniform_read(k, &c->shape[OUT], 6, "output_quantization_axis", to));
  return weft__uniform_check(k, 6);
}

static weft_err uniform_conv_cpu(kernel *k) {
  conv_plan c;
  uniform_scale lhs, filter, to;
  WEFT_TRY(weft__kernel_in(k, conv_plan_make(&c, k->node, &k->in[0]->shape, &k->in[1]->shape)));
  if (weft__node_int(k->node, "lhs_quantization_axis", -1) != -1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "lhs_quantization_axis Attr must be -1 (per-tensor).");
  WEFT_TRY(weft__uniform_read(k, &k->in[0]->shape, 2, "lhs_quantization_axis", &lhs));
  WEFT_TRY(weft__uniform_check(k, 2));
  WEFT_TRY(read_filter(k, &c, 4, &filter));
  WEFT_TRY(read_output(k, &c, &to));
  const int64_t n = weft__tensor_count(k->in[0]);
  int64_t *x = weft__alloc_zero((size_t)n + 1, sizeof *x);
  weft_tensor *y = weft__out(k, 0, &c.shape[OUT]);
  if (x && y) {
    for (int64_t i = 0; i < n; i++) x[i] = weft__quantized_get(k->in[0], i) - lhs.zero[0];
    conv_run(k, &(conv_work){.c = &c,
                             .x = x,
                             .filter = &filter,
                             .put = put_integer,
                             .y = y,
                             .scale = (double)lhs.scale[0],
                             .to = &to,
                             .low = weft__node_int(k->node, "output_quantization_min_val", 0),
                             .high = weft__node_int(k->node, "output_quantization_max_val", 0)});
  }
  weft__free(x);
  return !y ? weft__out_refused(&c.shape[OUT]) : x ? WEFT_OK : WEFT_OOM;
}

/* ---- the hybrid form ---- */

static void put_number(const conv_work *j, int64_t i, int64_t sum, int64_t example, int64_t feature) {
  const float scale = j->example_scale[example] * j->filter->scale[feature % j->filter->n];
  TENSOR_DATA(j->y, float)[i] = (float)sum * scale;
}

/* Quantizes each example over its range.  `range` and `scale` have an element for each. */
static void quantize_examples(const weft_tensor *t, int64_t axis, int64_t *x, uniform_range *range, float *scale) {
  const float *from = TENSOR_DATA(t, const float);
  const int64_t n = weft__tensor_count(t), examples = t->shape.dim[axis],
                inner = weft__shape_product(&t->shape, weft__int_sat(axis + 1), t->shape.rank);
  for (int64_t i = 0; i < n; i++) weft__uniform_range_add(&range[i / inner % examples], from[i]);
  for (int64_t e = 0; e < examples; e++) scale[e] = weft__uniform_range_end(&range[e]);
  for (int64_t i = 0; i < n; i++) x[i] = weft__uniform_near(&range[i / inner % examples], from[i]);
}

static weft_err hybrid_cpu(kernel *k) {
  conv_plan c;
  uniform_scale filter;
  WEFT_TRY(weft__kernel_in(k, conv_plan_make(&c, k->node, &k->in[0]->shape, &k->in[1]->shape)));
  WEFT_TRY(read_filter(k, &c, 2, &filter));
  const int64_t n = weft__tensor_count(k->in[0]), examples = k->in[0]->shape.dim[c.order[LHS].major];
  int64_t *x = weft__alloc_zero((size_t)n + 1, sizeof *x);
  float *scale = weft__alloc_zero((size_t)examples + 1, sizeof *scale);
  uniform_range *range = weft__alloc_zero((size_t)examples + 1, sizeof *range);
  weft_tensor *y = weft__out(k, 0, &c.shape[OUT]);
  const bool made = x && scale && range;
  if (made && y) {
    quantize_examples(k->in[0], c.order[LHS].major, x, range, scale);
    conv_run(k, &(conv_work){.c = &c, .x = x, .filter = &filter, .put = put_number, .y = y, .example_scale = scale});
  }
  weft__free(range);
  weft__free(scale);
  weft__free(x);
  return !y ? weft__out_refused(&c.shape[OUT]) : made ? WEFT_OK : WEFT_OOM;
}

/* ---- shapes ---- */

/* Scales and zero points at inputs `at` and at + 1 are scalars, or vectors with a number for each feature. */
static weft_err infer_scales(infer *s, int at, int64_t features) {
  for (int i = at; i < at + 2; i++) {
    const shape *t = &s->in[i];
    if (t->rank > (features == -2 ? 0 : 1))
      return weft__infer_fail(s, "Shape must be at most rank %d but is rank %d", features == -2 ? 0 : 1, t->rank);
    if (t->rank == 1 && t->dim[0] >= 0 && features >= 0 && t->dim[0] != features)
      return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)t->dim[0],
                              (long long)features);
  }
  return WEFT_OK;
}

/* As in TensorFlow, the attributes are checked, and the output's sizes known, where both operands' are. */
static weft_err conv_infer(infer *s) {
  const bool integers = s->n_in == 8;
  conv_plan c;
  const shape *lhs = &s->in[0], *rhs = &s->in[1];
  s->out[0].rank = lhs->rank >= 0 ? lhs->rank : rhs->rank;
  for (int d = 0; d < s->out[0].rank; d++) s->out[0].dim[d] = -1;
  if (!weft__shape_known(lhs) || !weft__shape_known(rhs)) return WEFT_OK;
  if (conv_plan_make(&c, s->node, lhs, rhs)) {
    char *why = weft__strdup(weft__error_message());
    if (!why) return WEFT_OOM;
    const weft_err err = weft__infer_fail(s, "%s", why);
    weft__free(why);
    return err;
  }
  const int64_t out = rhs->dim[c.order[RHS].major];
  if (integers) WEFT_TRY(infer_scales(s, 2, -2));
  WEFT_TRY(infer_scales(s, integers ? 4 : 2, out));
  if (integers) WEFT_TRY(infer_scales(s, 6, out));
  s->out[0] = c.shape[OUT];
  return WEFT_OK;
}

/* ---- cases ---- */

#define BOUNDS(side_) side_ "_quantization_min_val=-128 " side_ "_quantization_max_val=127 "
#define BYTES BOUNDS("lhs") BOUNDS("rhs") BOUNDS("output") "Tout=qint32 "
#define OPERANDS_2D "qi8[2,2,3,4] 1 -2 3 -4 5 -6 7; qi8[3,2,2,2] 2 -1 4; "
#define SCALES "f32[] 0.5; i32[] 3; f32[] 0.25; i32[] -2; f32[] 0.5; i32[] 7"

/* TensorFlow's values are compared in the scenario. */
static const op_case conv_cases[] = {
    {OPERANDS_2D SCALES, NULL, BYTES "padding='VALID'", CASE_NO_GRAD | CASE_NO_PARITY},
    {OPERANDS_2D SCALES, NULL, BYTES "padding='SAME' window_strides=[2,1] lhs_dilation=[1,2] rhs_dilation=[2,1]",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {OPERANDS_2D "f32[] 0.5; i32[] 3; f32[3] 0.25 0.5 1; i32[3] -2 0 1; f32[3] 0.5 1 2; i32[3] 7 0 1", NULL,
     BYTES "padding='EXPLICIT' explicit_padding=[1,0,2,1] rhs_quantization_axis=0 output_quantization_axis=1",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {"qi8[2,4,5] 1 -2 3 -4 5 -6 7; qi8[4,2,2] 2 -1 4; " SCALES, NULL, BYTES "padding='VALID' feature_group_count=2",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {"qi8[2,2,5] 1 -2 3 -4 5 -6 7; qi8[4,2,2] 2 -1 4; " SCALES, NULL, BYTES "padding='VALID' batch_group_count=2",
     CASE_NO_GRAD | CASE_NO_PARITY},
    {"qi8[2,2] 1; qi8[4,2] 2; " SCALES, "error INVALID_ARGUMENT", BYTES "padding='VALID'", CASE_NO_GRAD},
    {0},
};

static const op_case hybrid_cases[] = {
    {"f32[2,2,3,4] 1 -2 3 -4 5 -6 7; qi8[3,2,2,2] 2 -1 4; f32[] 0.25; i32[] -2", NULL,
     BOUNDS("rhs") "Tout=float padding='SAME'", CASE_NO_GRAD},
    {0},
};

#define AXIS(prefix_)                                                                                                  \
  " " prefix_ "_quantization_axis:int=-1 " prefix_ "_quantization_min_val:int " prefix_ "_quantization_max_val:int"
#define WINDOW                                                                                                         \
  " window_strides:list(int)=[] padding:string explicit_padding:list(int)=[] lhs_dilation:list(int)=[] "               \
  "rhs_dilation:list(int)=[] batch_group_count:int=1 feature_group_count:int=1 dimension_numbers:string=''"

OPS(uniform_conv) = {
    {"UniformQuantizedConvolution(lhs:Tin, rhs:Tin, lhs_scales:float, lhs_zero_points:int32, rhs_scales:float, "
     "rhs_zero_points:int32, output_scales:float, output_zero_points:int32) -> (output:Tout) | Tin:type{qint8} "
     "Tout:type{qint32}" WINDOW AXIS("lhs") AXIS("rhs") AXIS("output"),
     "The convolution of integers with a filter of integers, as integers of another scale.", .infer = conv_infer,
     .cpu = uniform_conv_cpu, .cases = conv_cases},
    {"UniformQuantizedConvolutionHybrid(lhs:Tlhs, rhs:Trhs, rhs_scales:float, rhs_zero_points:int32) -> (output:Tout) "
     "| "
     "Tlhs:type{float} Trhs:type{qint8} Tout:type{float}" WINDOW AXIS("rhs"),
     "The convolution of numbers, which are quantized example by example, with a filter of integers.",
     .infer = conv_infer, .cpu = hybrid_cpu, .cases = hybrid_cases},
    {.scenario = "tests/parity/test_quantize.py"},
};
