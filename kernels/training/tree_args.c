/* tree_args.c - see tree_args.h. */
#include "kernels/training/tree_args.h"

#include "base/alloc.h"
#include "graph/node.h"
#include <math.h>
#include <string.h>

/* Returns one more than an attribute that is a size; as a shape an unknown size stays unknown. */
static int64_t tree_dim_and_one(int64_t v) { return v < 0 || v == INT64_MAX ? -1 : v + 1; }

static int64_t tree_dim(const weft_node *n, char letter) {
  switch (letter) {
  case 'L': return weft__node_int(n, "logits_dimension", -1);
  case 'S': return weft__node_int(n, "max_splits", -1);
  case 'F': return weft__node_int(n, "num_features", -1);
  case 'B': return weft__node_int(n, "num_buckets", -1);
  case 'C': return tree_dim_and_one(weft__node_int(n, "num_buckets", -1)); /* the last bucket is for missing values */
  case '?': return -1;
  default: return letter - '0';
  }
}

weft_err weft__tree_infer_dims(infer *s, const char *const *out) {
  const opdef *d = &s->node->op->opdef;
  for (int arg = 0, at = 0; arg < d->n_out; arg++) {
    const char *count = d->out[arg].number_attr;
    const int64_t end = at + (count ? weft__node_int(s->node, count, 0) : 1);
    for (; at < end && at < s->n_out; at++) {
      s->out[at].rank = 0;
      for (const char *c = out[arg]; *c; c++) s->out[at].dim[s->out[at].rank++] = tree_dim(s->node, *c);
    }
  }
  return WEFT_OK;
}

weft_err weft__tree_float(const kernel *k, int i, const char *arg, double least, double *out) {
  if (weft__tensor_count(k->in[i]) != 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar, but its shape is %s", arg,
                             weft__shape_text(&k->in[i]->shape));
  *out = (double)*TENSOR_DATA(k->in[i], float);
  if (isfinite(*out) && *out >= least) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s is %g, but must be at least %g", arg, *out, least);
}

weft_err weft__tree_list(const kernel *k, const char *arg, int *first, int *count) {
  return weft__kernel_in(k, weft__node_in_range(k->node, arg, first, count));
}

weft_err weft__tree_vector(const kernel *k, int i, const char *arg, int64_t n) {
  const shape *s = &k->in[i]->shape;
  if (s->rank == 1 && (n < 0 || s->dim[0] == n)) return WEFT_OK;
  if (n < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a vector, but its shape is %s", arg,
                             weft__shape_text(s));
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a vector of %lld elements, but its shape is %s", arg,
                           (long long)n, weft__shape_text(s));
}

weft_err weft__tree_ensemble_of(const kernel *k, tree_ensemble **out) {
  return weft__kernel_in(k, weft__kernel_resource(k, 0, TREE_ENSEMBLE_TYPE, (resource **)out));
}

weft_err weft__tree_batch_read(const kernel *k, tree_batch *b) {
  int first = 0, count = 0;
  *b = (tree_batch){0};
  WEFT_TRY(weft__tree_list(k, "bucketized_features", &first, &count));
  b->bucket = weft__alloc((size_t)(count + 1) * sizeof *b->bucket);
  b->dims = weft__alloc((size_t)(count + 1) * sizeof *b->dims);
  if (!b->bucket || !b->dims) return WEFT_OOM;
  for (int i = 0; i < count; i++) {
    const weft_tensor *t = k->in[first + i];
    const int64_t examples = t->shape.rank > 0 ? t->shape.dim[0] : -1;
    if (i == 0) b->examples = examples;
    if (t->shape.rank < 1 || t->shape.rank > 2 || examples != b->examples)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "bucketized_features must be vectors or matrices with a row for each example, but those "
                               "of feature %d have the shape %s, after %lld examples",
                               i, weft__shape_text(&t->shape), (long long)b->examples);
    b->bucket[i] = t->data;
    b->dims[i] = t->shape.rank == 2 ? t->shape.dim[1] : 1;
  }
  b->features = (tree_features){count, b->bucket, b->dims};
  return WEFT_OK;
}

void weft__tree_batch_clear(tree_batch *b) {
  weft__free(b->bucket), weft__free(b->dims);
  b->bucket = NULL, b->dims = NULL;
}
