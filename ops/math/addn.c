/* addn.c - AddN: the sum of many tensors of one shape.
 *
 * All inputs are added block by block, so that the partial sum stays in the L1 cache. */
#include "base/alloc.h"
#include "graph/build.h"
#include "kernels/elementwise/binary.h"
#include "kernels/simd/widen.h"
#include "state/optional.h"
#include "state/tensor_list.h"

typedef struct addn_work {
  const kernel *k;
  elem_loop *add;
  weft_dtype type; /* of the tensors */
  size_t size;
  int64_t count;
  char *out;
} addn_work;

static const char *addn_piece(const addn_work *j, int i, int64_t at) {
  return (const char *)j->k->in[i]->data + (size_t)at * j->size;
}

static void add_block(const addn_work *j, int64_t at, int64_t n) {
  char *z = j->out + (size_t)at * j->size;
  const void *in[2] = {addn_piece(j, 0, at), NULL};
  for (int i = 1; i < j->k->n_in; i++) {
    in[1] = addn_piece(j, i, at);
    j->add(z, in, n, NULL);
    in[0] = z;
  }
}

/* Computes sum += next, rounded to the 16-bit type. */
static void add_rounded(const addn_work *j, float *sum, const float *next, int64_t n) {
  uint16_t narrow[ELEM_BLOCK];
  const void *in[2] = {sum, next};
  j->add(sum, in, n, NULL);
  weft__narrow(narrow, sum, n, j->type);
  weft__widen(sum, narrow, n, j->type);
}

static void sum_inputs(const addn_work *j, float *sum, int first, int count, int64_t at, int64_t n) {
  float next[ELEM_BLOCK];
  weft__widen(sum, (const uint16_t *)(const void *)addn_piece(j, first, at), n, j->type);
  for (int i = first + 1; i < first + count; i++) {
    weft__widen(next, (const uint16_t *)(const void *)addn_piece(j, i, at), n, j->type);
    add_rounded(j, sum, next, n);
  }
}

/* Like TensorFlow, adds eight inputs at a time and rounds every addition to the type.  The first group takes the
 * remainder. */
static void add_narrow_block(const addn_work *j, int64_t at, int64_t n) {
  enum { GROUP = 8 };
  float sum[ELEM_BLOCK], group[ELEM_BLOCK];
  const int n_in = j->k->n_in, odd = n_in % GROUP;
  const int first = n_in <= GROUP ? n_in : odd < 2 ? GROUP + odd : odd;
  sum_inputs(j, sum, 0, first, at, n);
  for (int i = first; i < n_in; i += GROUP) {
    sum_inputs(j, group, i, GROUP, at, n);
    add_rounded(j, sum, group, n);
  }
  weft__narrow((uint16_t *)(void *)(j->out + (size_t)at * j->size), sum, n, j->type);
}

static void add_blocks(void *arg, int64_t begin, int64_t end) {
  const addn_work *j = arg;
  for (int64_t b = begin; b < end; b++) {
    const int64_t at = b * ELEM_BLOCK, n = j->count - at < ELEM_BLOCK ? j->count - at : ELEM_BLOCK;
    (weft__is_16bit(j->type) ? add_narrow_block : add_block)(j, at, n);
  }
}

/* ---- variants: lists and optionals are added component by component ---- */

static weft_err add_variants(kernel *k, weft_tensor *sum, const weft_tensor *t);

/* Replaces *sum by *sum + *t.  An element of a list may have no value; then the other one is the sum. */
static weft_err add_into(kernel *k, weft_tensor *sum, const weft_tensor *t) {
  elem_loop *add = weft__add_op.loop[weft__is_16bit(t->dtype) ? WEFT_FLOAT : t->dtype];
  if (!t->buf) return WEFT_OK;
  if (!sum->buf) {
    weft__tensor_share(sum, t);
    return WEFT_OK;
  }
  if (t->dtype == WEFT_VARIANT && sum->dtype == WEFT_VARIANT) return add_variants(k, sum, t);
  if (!add) return weft__kernel_no_type(k, t->dtype);
  if (sum->dtype != t->dtype || !weft__shape_equal(&sum->shape, &t->shape))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the values to add differ: %s%s and %s%s",
                             weft__dtype_name(sum->dtype), weft__shape_text(&sum->shape), weft__dtype_name(t->dtype),
                             weft__shape_text(&t->shape));
  weft_tensor fresh = {0};
  WEFT_TRY(weft__tensor_init(&fresh, t->dtype, &t->shape));
  weft__elementwise_run(k, add, COST_CHEAP, NULL, weft__is_16bit(t->dtype), 2, (const weft_tensor *[]){sum, t}, &fresh);
  weft__tensor_clear(sum);
  *sum = fresh;
  return WEFT_OK;
}

static weft_err add_lists(kernel *k, const weft_tensor *a, const weft_tensor *b, resource **out) {
  tensor_list *x = NULL, *y = NULL, *sum = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__tensor_list_get(a, &x)));
  WEFT_TRY(weft__kernel_in(k, weft__tensor_list_get(b, &y)));
  if (x->n != y->n || x->dtype != y->dtype)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Trying to add two lists of tensors with different lengths. One "
                             "is %lld and the other is %lld",
                             (long long)x->n, (long long)y->n);
  WEFT_TRY(weft__tensor_list_copy(&sum, x, x->n));
  *out = &sum->base;
  weft_err err = WEFT_OK;
  for (int64_t j = 0; !err && j < x->n; j++) err = add_into(k, &sum->t[j], &y->t[j]);
  return err;
}

static weft_err add_optionals(kernel *k, const weft_tensor *a, const weft_tensor *b, resource **out) {
  optional *x = NULL, *y = NULL, *sum = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__optional_get(a, &x)));
  WEFT_TRY(weft__kernel_in(k, weft__optional_get(b, &y)));
  if ((x->n < 0) != (y->n < 0))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Cannot add optionals because one has a value and the other doesn't.");
  if (x->n != y->n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Cannot add optionals because they have different numbers of components: %d and %d.", x->n,
                             y->n);
  WEFT_TRY(weft__optional_create(&sum, x->n));
  *out = &sum->base;
  weft_err err = WEFT_OK;
  for (int i = 0; i < x->n && !err; i++) {
    weft__tensor_share(&sum->t[i], &x->t[i]);
    err = add_into(k, &sum->t[i], &y->t[i]);
  }
  return err;
}

static const char *variant_type(const weft_tensor *t) {
  const resource *r = weft__tensor_count(t) > 0 ? (const resource *)TENSOR_DATA(t, object *)[0] : NULL;
  return r ? r->type : "";
}

static weft_err add_variants(kernel *k, weft_tensor *sum, const weft_tensor *t) {
  const char *type = variant_type(sum);
  if (strcmp(type, variant_type(t)) != 0)
    return weft__kernel_fail(k, WEFT_INTERNAL,
                             "BinaryOpVariants: Variants a and b have different type ids.  Type names: '%s' vs. '%s'",
                             type, variant_type(t));
  resource *made = NULL;
  weft_tensor fresh = {0};
  weft_err err = (strcmp(type, OPTIONAL_TYPE) == 0 ? add_optionals : add_lists)(k, sum, t, &made);
  if (!err) err = weft__tensor_init(&fresh, WEFT_VARIANT, &SHAPE_SCALAR);
  if (err) {
    weft__object_release(made ? &made->base : NULL);
    return err;
  }
  TENSOR_DATA(&fresh, object *)[0] = &made->base;
  weft__tensor_clear(sum);
  *sum = fresh;
  return WEFT_OK;
}

static weft_err add_all_variants(kernel *k) {
  weft_tensor sum = {0};
  weft__tensor_share(&sum, k->in[0]);
  weft_err err = WEFT_OK;
  for (int i = 1; i < k->n_in && !err; i++) err = add_variants(k, &sum, k->in[i]);
  if (!err) err = weft__out_share(k, 0, &sum);
  weft__tensor_clear(&sum);
  return err;
}

static weft_err add_n_cpu(kernel *k) {
  const weft_tensor *x = k->in[0];
  if (x->dtype == WEFT_VARIANT) return add_all_variants(k);
  for (int i = 1; i < k->n_in; i++)
    if (!weft__shape_equal(&x->shape, &k->in[i]->shape))
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "Inputs to operation %s of type %s must have the same size and shape.  Input 0: %s != input %d: %s",
          k->node->name, k->node->op_name, weft__shape_text(&x->shape), i, weft__shape_text(&k->in[i]->shape));
  if (k->n_in == 1) return weft__forward(k, 0, 0, &x->shape);
  addn_work j = {.k = k, .type = x->dtype, .size = weft__dtype_size(x->dtype), .count = weft__tensor_count(x)};
  j.add = weft__add_op.loop[weft__is_16bit(x->dtype) ? WEFT_FLOAT : x->dtype];
  if (!j.add) return weft__kernel_no_type(k, x->dtype);
  weft_tensor *z = weft__out_over(k, 0, 0, &x->shape);
  if (!z) return WEFT_OOM;
  j.out = z->data;
  weft__kernel_loop(k, (j.count + ELEM_BLOCK - 1) / ELEM_BLOCK, 100 * k->n_in, add_blocks, &j);
  return WEFT_OK;
}

static weft_err add_n_grad(backprop *b) {
  for (int i = 0; i < b->n_in; i++) b->din[i] = GRAD_DENSE(b->dout[0]);
  return WEFT_OK;
}

static weft_err accumulate_infer(infer *s) {
  WEFT_TRY(weft__infer_merge_all(s));
  const attr *a = weft__node_attr(s->node, "shape");
  if (!a || a->kind != ATTR_SHAPE) return WEFT_OK;
  const shape all = s->out[0];
  if (weft__shape_merge(&s->out[0], &all, a->shape)) return weft__infer_fail(s, "%s", weft__error_message());
  return WEFT_OK;
}

static const op_case add_n_cases[] = {
    {"f32[3] 1 2 3; f32[3] 10 20 30; f32[3] 100 200 300", "f32[3] 111 222 333"},
    {"f32[] 7", "f32[] 7"},
    {"f32[0]; f32[0]", "f32[0]"},
    {"f32[40,70] rand; f32[40,70] rand; f32[40,70] rand; f32[40,70] rand"},
    {"f32[2] 1; f32[3] 1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case accumulate_cases[] = {
    {"f32[3] 1 2 3; f32[3] 10 20 30; f32[3] 100 200 300", "f32[3] 111 222 333", "shape=[3]"},
    {"f32[] 7", "f32[] 7", "shape=[]"},
    {"f32[0]; f32[0]", "f32[0]", "shape=[0]"},
    {"f32[4,70] rand; f32[4,70] rand", NULL, "shape=[4,70]"},
    {0},
};

OPS(addn) = {
    {"AddN(inputs:N*T) -> (sum:T) | N:int>=1 "
     "T:type{float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
     "complex128,half,uint32,uint64,variant} ; commutative aggregate",
     "The sum of all inputs.", OP_INPLACE, weft__infer_merge_all, add_n_cpu, .grad = add_n_grad, .kind = KIND_SUM,
     .cases = add_n_cases, .amp = AMP_INFER},
    {"AccumulateNV2(inputs:N*T) -> (sum:T) | N:int>=1 T:type{number} shape:shape ; commutative aggregate",
     "The sum of all inputs, of a shape told in advance.", OP_INPLACE, accumulate_infer, add_n_cpu, .grad = add_n_grad,
     .cases = accumulate_cases},
    {0},
};
