/* forest.c - the ops of tf.contrib.tensor_forest: a tree grows by a batch of examples, and predicts. */
#include "kernels/training/forest.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "state/variable.h"
#include <math.h>

/* Reads the attributes.  A row of nodes has a sum for each output, so there are never more than INT32_MAX. */
static weft_err forest_attrs(const kernel *k, forest_tree *t) {
  t->regression = weft__node_bool(k->node, "regression", false);
  t->outputs = weft__node_int(k->node, "outputs", 0);
  if (t->outputs >= 1 && t->outputs <= INT32_MAX) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "outputs must be from 1 to %d, but is %lld", INT32_MAX,
                           (long long)t->outputs);
}

static weft_err forest_arrays(kernel *k, forest_tree *t, const weft_tensor *nodes, int64_t features) {
  t->features = features;
  const int64_t width = FOREST_NODE_HEAD + forest_node_sums(t->regression, t->outputs);
  if (nodes->dtype != WEFT_FLOAT || nodes->shape.rank != 2 || nodes->shape.dim[0] < 1 ||
      nodes->shape.dim[0] > (1 << 24) || nodes->shape.dim[1] != width)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "nodes must be 1 to 2^24 rows of %lld floats; the shape is %s",
                             (long long)width, weft__shape_text(&nodes->shape));
  t->nodes = nodes->data;
  t->max_nodes = nodes->shape.dim[0];
  return WEFT_OK;
}

/* ---- ForestGrow ---- */

/* Reads the class of example i, once: y may lie in memory that another process writes to. */
static weft_err example_label(kernel *k, const forest_tree *t, int64_t i, forest_example *e) {
  if (t->regression) return WEFT_OK;
  const float label = *(const volatile float *)e->y;
  if (!(label >= 0 && label < (float)t->outputs))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "label %g of example %lld is not in [0, %lld)", (double)label,
                             (long long)i, (long long)t->outputs);
  e->label = (int64_t)label;
  return WEFT_OK;
}

static weft_err grow_batch(kernel *k, forest_tree *t) {
  const float *x = k->in[3]->data, *y = k->in[4]->data, *weight = k->in[5]->data;
  const int32_t *drawn = k->in[6]->data;
  const int64_t n = k->in[3]->shape.dim[0], width = t->regression ? t->outputs : 1;
  if (!weft__forest_valid(t))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the variables do not hold a tree of %lld features",
                             (long long)t->features);
  for (int64_t i = 0; i < n; i++) {
    forest_example e = {.x = x + i * t->features, .y = y + i * width, .weight = weight[i], .drawn = drawn[i]};
    if (e.drawn < 0 || e.drawn >= t->features)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "drawn[%lld] = %d is not in [0, %lld)", (long long)i, e.drawn,
                               (long long)t->features);
    WEFT_TRY(example_label(k, t, i, &e));
    if (e.weight > 0) weft__forest_add(t, &e);
  }
  return WEFT_OK;
}

static weft_err grow_locked(kernel *k, variable **v) {
  weft_tensor *nodes = NULL, *slots = NULL, *splits = NULL;
  WEFT_TRY(weft__variable_writable(v[0], &nodes));
  WEFT_TRY(weft__variable_writable(v[1], &slots));
  WEFT_TRY(weft__variable_writable(v[2], &splits));
  forest_tree t = {.split_after = weft__node_float(k->node, "split_after_samples", 0),
                   .check_every = weft__node_float(k->node, "check_every_samples", 0)};
  const float confidence = weft__node_float(k->node, "dominate_fraction", 0);
  if (confidence > 0 && confidence < 1) t.early_bound = -logf(1 - confidence);
  WEFT_TRY(forest_attrs(k, &t));
  WEFT_TRY(forest_arrays(k, &t, nodes, k->in[3]->shape.dim[1]));
  const int64_t width = FOREST_SPLIT_HEAD + forest_split_sums(t.regression, t.outputs);
  if (slots->dtype != WEFT_INT32 || slots->shape.rank != 1 || slots->shape.dim[0] < 2 ||
      slots->shape.dim[0] > (1 << 24) || splits->dtype != WEFT_FLOAT || splits->shape.rank != 3 ||
      splits->shape.dim[0] != slots->shape.dim[0] - 1 || splits->shape.dim[1] <= FOREST_SLOT_HEAD ||
      splits->shape.dim[2] != width)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "slots must be an int32 vector of 1 + slots, splits a float tensor of slots, 2 + splits and "
        "%lld; the shapes are %s and %s",
        (long long)width, weft__shape_text(&slots->shape), weft__shape_text(&splits->shape));
  t.slots = slots->data, t.splits = splits->data;
  t.n_slots = splits->shape.dim[0], t.n_splits = splits->shape.dim[1] - FOREST_SLOT_HEAD;
  WEFT_TRY(grow_batch(k, &t));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  *TENSOR_DATA(out, int32_t) = t.slots[0];
  return WEFT_OK;
}

static weft_err grow_cpu(kernel *k) {
  variable *v[3] = {0};
  forest_tree t = {0};
  const shape *x = &k->in[3]->shape;
  WEFT_TRY(forest_attrs(k, &t));
  const int64_t n = x->rank == 2 ? x->dim[0] : -1, width = t.regression ? t.outputs : 1;
  const int64_t targets = weft__tensor_count(k->in[4]);
  if (x->rank != 2 || k->in[5]->shape.rank != 1 || k->in[6]->shape.rank != 1 || k->in[5]->shape.dim[0] != n ||
      k->in[6]->shape.dim[0] != n || targets % width != 0 || targets / width != n)
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "features %s must be a matrix, and targets %s, weights and drawn must have a row for each of "
        "its rows",
        weft__shape_text(x), weft__shape_text(&k->in[4]->shape));
  for (int i = 0; i < 3; i++) WEFT_TRY(weft__kernel_variable(k, i, &v[i]));
  weft__variable_lock(3, v);
  const weft_err err = grow_locked(k, v);
  weft__variable_unlock(3, v);
  return err;
}

static weft_err grow_infer(infer *s) {
  WEFT_TRY(weft__infer_rank(s, 3, 2, NULL));
  WEFT_TRY(weft__infer_rank(s, 5, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 6, 1, NULL));
  s->out[0] = SHAPE_SCALAR;
  return WEFT_OK;
}

/* ---- ForestPredict ---- */

typedef struct predicting {
  const forest_tree *tree;
  const float *x;
  float least, *out;
  int32_t *leaf;
} predicting;

static void predict_rows(void *arg, int64_t begin, int64_t end) {
  const predicting *p = arg;
  for (int64_t i = begin; i < end; i++) {
    int64_t kept = 0;
    p->leaf[i] = weft__int_sat(weft__forest_leaf(p->tree, p->x + i * p->tree->features, p->least, &kept));
    weft__forest_predict(p->tree, kept, p->out + i * p->tree->outputs);
  }
}

static weft_err predict_cpu(kernel *k) {
  const shape *x = &k->in[2]->shape;
  forest_tree t = {.slots = k->in[1]->data, .n_slots = weft__tensor_count(k->in[1]) - 1};
  if (x->rank != 2 || t.n_slots < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "features must be a matrix and slots must not be empty, their shapes are %s and %s",
                             weft__shape_text(x), weft__shape_text(&k->in[1]->shape));
  WEFT_TRY(forest_attrs(k, &t));
  WEFT_TRY(forest_arrays(k, &t, k->in[0], x->dim[1]));
  if (!weft__forest_valid(&t))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the variables do not hold a tree of %lld features",
                             (long long)t.features);
  const shape s = SHAPE2(x->dim[0], t.outputs), per_row = SHAPE1(x->dim[0]);
  weft_tensor *out = weft__out(k, 0, &s), *leaf = out ? weft__out(k, 1, &per_row) : NULL;
  if (!leaf) return weft__out_refused(&s);
  predicting p = {&t, k->in[2]->data, weft__node_float(k->node, "valid_leaf_threshold", 1), out->data, leaf->data};
  weft__kernel_loop(k, x->dim[0], 200, predict_rows, &p);
  return WEFT_OK;
}

static weft_err predict_infer(infer *s) {
  shape x;
  WEFT_TRY(weft__infer_rank(s, 0, 2, NULL));
  WEFT_TRY(weft__infer_rank(s, 1, 1, NULL));
  WEFT_TRY(weft__infer_rank(s, 2, 2, &x));
  const int64_t n = x.rank == 2 ? x.dim[0] : -1;
  s->out[0] = SHAPE2(n, weft__node_int(s->node, "outputs", 0));
  s->out[1] = SHAPE1(n);
  return WEFT_OK;
}

/* ---- cases ---- */

enum { OURS = CASE_NO_GRAD | CASE_NO_PARITY };
#define GROW_BATCH "; f32[4,1] 1 2 1 2; f32[4] 0 1 0 1; f32[4] 1; i32[4] 0"

/* The first example makes the candidate x <= 1; two more, one of each class, split the root. */
static const op_case grow_cases[] = {
    {"&f32[5,6] 0; &i32[3] 0; &f32[2,3,4] 0" GROW_BATCH, "i32[] 3", "outputs=2 split_after_samples=2.0", OURS},
    {"&f32[5,6] 0; &i32[3] 0; &f32[2,3,4] 0" GROW_BATCH, "i32[] 1", "outputs=2 split_after_samples=9.0", OURS},
    {"&f32[2,6] 0; &i32[3] 0; &f32[2,3,4] 0" GROW_BATCH, "i32[] 1", "outputs=2 split_after_samples=2.0", OURS},
    {"&f32[5,6] 0; &i32[3] 0; &f32[2,3,5] 0" GROW_BATCH, "i32[] 3", "outputs=1 split_after_samples=2.0 regression=true",
     OURS},
    {"&f32[5,6] 0; &i32[3] 9; &f32[2,3,4] 0" GROW_BATCH, "error INVALID_ARGUMENT", "outputs=2 split_after_samples=2.0",
     OURS},
    {"&f32[5,6] 9; &i32[3] 1; &f32[2,3,4] 0" GROW_BATCH, "error INVALID_ARGUMENT", "outputs=2 split_after_samples=2.0",
     OURS},
    {"&f32[5,6] 0; &i32[3] 0; &f32[2,3,4] 0; f32[1,1] 1; f32[1] 2; f32[1] 1; i32[1] 0", "error INVALID_ARGUMENT",
     "outputs=2 split_after_samples=2.0", OURS},
    {"&f32[5,6] 0; &i32[3] 0; &f32[2,3,4] 0; f32[1,1] 1; f32[1] 0; f32[1] 1; i32[1] 1", "error INVALID_ARGUMENT",
     "outputs=2 split_after_samples=2.0", OURS},
    {"&f32[5,6] 0; &i32[3] 0; &f32[2,3,4] 0; f32[1,1] 1; f32[2] 0; f32[1] 1; i32[1] 0", "error INVALID_ARGUMENT",
     "outputs=2 split_after_samples=2.0", OURS},
    {"&f32[5,6] 0; &i32[3] 0; &f32[2,3,5] 0" GROW_BATCH, "error INVALID_ARGUMENT",
     "outputs=9223372036854775807 split_after_samples=2.0 regression=true", OURS},
    {"&f32[5,6] 0; &i32[3] 0; &f32[2,3,5] 0" GROW_BATCH, "error INVALID_ARGUMENT",
     "outputs=4611686018427387905 split_after_samples=2.0 regression=true", OURS},
    {"&f32[5,6] 0; &i32[3] 0; &f32[2,3,4] 0" GROW_BATCH, "error INVALID_ARGUMENT",
     "outputs=-9223372036854775807 split_after_samples=2.0", OURS},
    {0},
};
static const op_case predict_cases[] = {
    {"f32[3,6] 1 1.5 1 0 2 2 0 0 0 0 2 0 0 0 0 0 .5 1.5; i32[2] 3 0; f32[2,1] 1 2", "f32[2,2] 1 0 .25 .75; i32[2] 1 2",
     "outputs=2", OURS},
    {"f32[3,6] 1 1.5 1 0 2 2 0 0 0 0 2 0 0 0 0 0 .5 1.5; i32[2] 3 0; f32[2,1] 1 2", "f32[2,2] .5; i32[2] 1 2",
     "outputs=2 valid_leaf_threshold=3.0", OURS},
    {"f32[1,6] 0; i32[1] 0; f32[2,1] 1 2", "f32[2,2] .5; i32[2] 0 0", "outputs=2", OURS},
    {"f32[1,5] 0 0 0 0 2; i32[1] 0; f32[2,1] 1 2", "error INVALID_ARGUMENT", "outputs=2 regression=true", OURS},
    {"f32[1,6] 1; i32[1] 1; f32[2,1] 1 2", "error INVALID_ARGUMENT", "outputs=2", OURS},
    {"f32[1,6] 0; i32[1] 0; f32[2,1] 1 2", "error INVALID_ARGUMENT", "outputs=9223372036854775807", OURS},
    {"f32[1,6] 0; i32[1] 0; f32[2,1] 1 2", "error INVALID_ARGUMENT", "outputs=9223372036854775807 regression=true",
     OURS},
    {0},
};

#define FOREST_ATTRS "outputs:int regression:bool=false "

OPS(forest) = {
    {"ForestGrow(nodes:&float, slots:&int32, splits:&float, features:float, targets:float, weights:float, drawn:int32) "
     "-> "
     "(size:int32) | " FOREST_ATTRS
     "split_after_samples:float check_every_samples:float=0.0 dominate_fraction:float=0.0",
     "Grows a tree of a random forest by a batch of examples.", .infer = grow_infer, .cpu = grow_cpu,
     .flags = OP_UPDATES, .cases = grow_cases},
    {"ForestPredict(nodes:float, slots:int32, features:float) -> (predictions:float, leaf:int32) | " FOREST_ATTRS
     "valid_leaf_threshold:float=1.0",
     "What a tree of a random forest predicts: the share of each class, or the mean of each output.",
     .infer = predict_infer, .cpu = predict_cpu, .cases = predict_cases},
    {0},
};
