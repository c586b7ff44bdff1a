/* tree_quantiles.c - buckets of numbers for boosted trees, with boundaries from approximate quantiles
 * (state/trees/quantile_stream.h). */
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/op.h"
#include "kernels/training/tree_args.h"
#include "kernels/work/long_work.h"
#include "state/dataset.h"
#include "state/trees/quantile_stream.h"
#include <math.h>

/* ---- BoostedTreesBucketize ---- */

typedef struct bucket_job {
  const float *value, *boundary;
  int64_t boundaries;
  int32_t *bucket;
} bucket_job;

/* The first boundary that is not below the value, or the last one.  A value that is NaN is missing. */
static void bucket_range(void *arg, int64_t begin, int64_t end) {
  const bucket_job *j = arg;
  for (int64_t i = begin; i < end; i++) {
    const float v = j->value[i];
    int64_t low = 0, high = j->boundaries ? j->boundaries - 1 : 0;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (j->boundary[middle] < v)
        low = middle + 1;
      else
        high = middle;
    }
    j->bucket[i] = isnan(v) ? -1 : weft__int_sat(low);
  }
}

static weft_err bucketize_cpu(kernel *k) {
  int first = 0, count = 0;
  WEFT_TRY(weft__tree_list(k, "float_values", &first, &count));
  for (int i = 0; i < count; i++) {
    const weft_tensor *boundary = k->in[first + count + i];
    const int64_t n = weft__tensor_count(boundary);
    WEFT_TRY(weft__tree_vector(k, first + i, "float_values", -1));
    WEFT_TRY(weft__tree_vector(k, first + count + i, "bucket_boundaries", -1));
    for (int64_t b = 1; b < n; b++)
      if (!(TENSOR_DATA(boundary, float)[b] >= TENSOR_DATA(boundary, float)[b - 1]))
        return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "boundary %lld of feature %d is %g, after %g: sort them",
                                 (long long)b, i, (double)TENSOR_DATA(boundary, float)[b],
                                 (double)TENSOR_DATA(boundary, float)[b - 1]);
    weft_tensor *out = weft__out(k, i, &k->in[first + i]->shape);
    if (!out) return WEFT_OOM;
    bucket_job j = {k->in[first + i]->data, boundary->data, n, out->data};
    WEFT_TRY(weft__long_loop(k, weft__tensor_count(out), 30, bucket_range, &j));
  }
  return WEFT_OK;
}

/* ---- summaries ---- */

static weft_err out_summary(kernel *k, int i, const quantile_summary *s) {
  weft_tensor *out = weft__out(k, i, &SHAPE2(s->n, 4));
  if (!out) return WEFT_OOM;
  float *to = out->data;
  for (int64_t r = 0; r < s->n; r++, to += 4) {
    const quantile_entry *e = &s->entry[r];
    to[0] = e->value, to[1] = (float)e->weight, to[2] = (float)e->min_rank, to[3] = (float)e->max_rank;
  }
  return WEFT_OK;
}

static weft_err make_summaries_cpu(kernel *k) {
  int first = 0, count = 0;
  double epsilon = 0;
  WEFT_TRY(weft__tree_list(k, "float_values", &first, &count));
  const int weights = first + count;
  WEFT_TRY(weft__tree_vector(k, weights, "example_weights", -1));
  WEFT_TRY(weft__tree_float(k, weights + 1, "epsilon", 0, &epsilon));
  if (!(epsilon > 0 && epsilon < 1))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "epsilon is %g, but must be between 0 and 1", epsilon);
  const int64_t n = k->in[weights]->shape.dim[0];
  for (int i = 0; i < count; i++) {
    quantile_summary s = {0};
    WEFT_TRY(weft__tree_vector(k, first + i, "float_values", n));
    if (k->step) WEFT_TRY(weft__step_check_time(k->step));
    weft_err err = weft__quantile_make(&s, k->in[first + i]->data, k->in[weights]->data, n);
    if (!err) weft__quantile_prune(&s, weft__quantile_size(epsilon, 1));
    if (!err) err = out_summary(k, i, &s);
    weft__quantile_clear(&s);
    if (err) return err;
  }
  return WEFT_OK;
}

/* ---- streams ---- */

static weft_err make_stream(resource **out, void *arg) {
  (void)arg;
  return weft__quantile_stream_create((quantile_stream **)out);
}

static const resource_kind stream_resource = {QUANTILE_STREAM_TYPE, false, make_stream};

static weft_err stream_handle_cpu(kernel *k) {
  return weft__kernel_in(k, weft__resource_output(k, &stream_resource, NULL));
}

/* Calls fn with the stream of input 0. */
typedef weft_err stream_fn(kernel *k, quantile_stream *q);
static weft_err with_stream(kernel *k, stream_fn *fn) {
  resource *r = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__kernel_resource(k, 0, QUANTILE_STREAM_TYPE, &r)));
  const weft_err err = fn(k, (quantile_stream *)r);
  weft__object_release(&r->base);
  return weft__kernel_in(k, err);
}

static weft_err do_create(kernel *k, quantile_stream *q) {
  double epsilon = 0;
  WEFT_TRY(weft__tree_float(k, 1, "epsilon", 0, &epsilon));
  WEFT_TRY(weft__kernel_scalar(k, 2, "num_streams"));
  return weft__quantile_stream_set(q, (float)epsilon, *TENSOR_DATA(k->in[2], int64_t),
                                   weft__node_int(k->node, "max_elements", 0));
}
static weft_err stream_create_cpu(kernel *k) { return with_stream(k, do_create); }

static weft_err do_is_set(kernel *k, quantile_stream *q) {
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  *TENSOR_DATA(out, bool) = weft__quantile_stream_is_set(q);
  return WEFT_OK;
}
static weft_err stream_is_set_cpu(kernel *k) { return with_stream(k, do_is_set); }

static weft_err read_summaries(const kernel *k, int first, int count, quantile_summary *s) {
  for (int i = 0; i < count; i++) {
    const shape *dims = &k->in[first + i]->shape;
    if (dims->rank != 2 || dims->dim[1] != 4)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "summaries[%d] must be a matrix of four columns, but its shape is %s", i,
                               weft__shape_text(dims));
    WEFT_TRY(weft__quantile_read(&s[i], k->in[first + i]->data, dims->dim[0]));
  }
  return WEFT_OK;
}

static weft_err do_add(kernel *k, quantile_stream *q) {
  int first = 0, count = 0;
  WEFT_TRY(weft__tree_list(k, "summaries", &first, &count));
  quantile_summary *s = weft__alloc_zero((size_t)(count + 1), sizeof *s);
  if (!s) return WEFT_OOM;
  weft_err err = read_summaries(k, first, count, s);
  if (!err) err = weft__quantile_stream_add(q, s, count);
  for (int i = 0; i < count; i++) weft__quantile_clear(&s[i]);
  weft__free(s);
  return err;
}
static weft_err stream_add_cpu(kernel *k) { return with_stream(k, do_add); }

static weft_err do_take(kernel *k, quantile_stream *q) {
  quantile_summary *s = weft__alloc_zero((size_t)(k->n_out + 1), sizeof *s);
  if (!s) return WEFT_OOM;
  weft_err err = weft__quantile_stream_take(q, s, k->n_out);
  for (int i = 0; i < k->n_out && !err; i++) err = out_summary(k, i, &s[i]);
  for (int i = 0; i < k->n_out; i++) weft__quantile_clear(&s[i]);
  weft__free(s);
  return err;
}
static weft_err stream_take_cpu(kernel *k) { return with_stream(k, do_take); }

static weft_err do_flush(kernel *k, quantile_stream *q) {
  WEFT_TRY(weft__kernel_scalar(k, 1, "num_buckets"));
  return weft__quantile_stream_flush(q, *TENSOR_DATA(k->in[1], int64_t),
                                     weft__node_bool(k->node, "generate_quantiles", false), k->step);
}
static weft_err stream_flush_cpu(kernel *k) { return with_stream(k, do_flush); }

static weft_err out_boundary(void *arg, int64_t stream, const float *boundary, int64_t n) {
  weft_tensor *out = weft__out(arg, weft__int_sat(stream), &SHAPE1(n));
  if (!out) return WEFT_OOM;
  for (int64_t i = 0; i < n; i++) TENSOR_DATA(out, float)[i] = boundary[i];
  return WEFT_OK;
}
static weft_err do_boundaries(kernel *k, quantile_stream *q) {
  return weft__quantile_stream_boundaries(q, k->n_out, out_boundary, k);
}
static weft_err stream_boundaries_cpu(kernel *k) { return with_stream(k, do_boundaries); }

static weft_err do_restore(kernel *k, quantile_stream *q) {
  int first = 0, count = 0;
  WEFT_TRY(weft__tree_list(k, "bucket_boundaries", &first, &count));
  for (int i = 0; i < count; i++) WEFT_TRY(weft__tree_vector(k, first + i, "bucket_boundaries", -1));
  return weft__quantile_stream_restore(q, k->in + first, count);
}
static weft_err stream_restore_cpu(kernel *k) { return with_stream(k, do_restore); }

static weft_err vectors_infer(infer *s) { return weft__tree_infer_dims(s, (const char *const[]){"?"}); }
static weft_err summaries_infer(infer *s) { return weft__tree_infer_dims(s, (const char *const[]){"?4"}); }

/* ---- cases ---- */

enum { OURS = CASE_NO_GRAD | CASE_NO_PARITY | CASE_FIXED_TYPE };

static const op_case bucketize_cases[] = {
    {"f32[5] -1 0 .5 1 9; f32[2] 3 4; f32[3] 0 1 2; f32[0]", "i32[5] 0 0 1 1 2; i32[2] 0 0", "num_features=2", OURS},
    {"f32[2] 1 2; f32[2] 2 1", "error INVALID_ARGUMENT", "num_features=1", OURS},
    {"f32[2,1] 1 2; f32[2] 1 2", "error INVALID_ARGUMENT", "num_features=1", OURS},
    {0},
};
static const op_case make_summaries_cases[] = {
    {"f32[4] 2 1 2 3; f32[4] 1 2 3 0; f32[] .25", "f32[2,4] 1 2 0 2 2 4 2 6", "num_features=1", OURS},
    {"f32[4] 2 1 2 3; f32[3] 1; f32[] .25", "error INVALID_ARGUMENT", "num_features=1", OURS},
    {"f32[4] 2 1 2 3; f32[4] 1; f32[] 0", "error INVALID_ARGUMENT", "num_features=1", OURS},
    {0},
};

#define STREAM "quantile_stream_resource_handle:resource"
OPS(tree_quantiles) = {
    {"BoostedTreesBucketize(float_values:num_features*float, bucket_boundaries:num_features*float) -> "
     "(buckets:num_features*int32) | num_features:int>=0",
     "The bucket of every value; NaN gives -1, a missing value.", .infer = vectors_infer, .cpu = bucketize_cpu,
     .cases = bucketize_cases},
    {"BoostedTreesMakeQuantileSummaries(float_values:num_features*float, example_weights:float, "
     "epsilon:float) -> (summaries:num_features*float) | num_features:int>=0",
     "The summary of a batch's values.", .infer = summaries_infer, .cpu = make_summaries_cpu,
     .cases = make_summaries_cases},
    {"BoostedTreesQuantileStreamResourceHandleOp() -> (resource:resource) | container:string='' "
     "shared_name:string='' ; stateful",
     "The handle of streams of quantiles.", .infer = weft__infer_scalar, .cpu = stream_handle_cpu, .flags = OP_ONCE,
     .prepare = weft__resource_prepare, .unprepare = weft__resource_unprepare,
     .scenario = "tests/python/test_boosted_trees_ops.py"},
    {"BoostedTreesCreateQuantileStreamResource(" STREAM ", epsilon:float, "
     "num_streams:int64) -> () | max_elements:int=1099511627776 ; stateful",
     "Creates streams of quantiles.", .infer = weft__infer_scalar, .cpu = stream_create_cpu,
     .scenario = "tests/python/test_boosted_trees_ops.py"},
    {"IsBoostedTreesQuantileStreamResourceInitialized(" STREAM ") -> "
     "(is_initialized:bool) ; stateful",
     "Whether streams exist.", .infer = weft__infer_scalar, .cpu = stream_is_set_cpu,
     .scenario = "tests/python/test_boosted_trees_ops.py"},
    {"BoostedTreesQuantileStreamResourceAddSummaries(" STREAM ", "
     "summaries:num_features*float) -> () | num_features:int>=0 ; stateful",
     "Adds summaries to streams.", .infer = weft__infer_scalar, .cpu = stream_add_cpu,
     .scenario = "tests/python/test_boosted_trees_ops.py"},
    {"BoostedTreesFlushQuantileSummaries(" STREAM ") -> "
     "(summaries:num_features*float) | num_features:int>=0 ; stateful",
     "Takes the summaries of streams.", .infer = summaries_infer, .cpu = stream_take_cpu,
     .scenario = "tests/python/test_boosted_trees_ops.py"},
    {"BoostedTreesQuantileStreamResourceFlush(" STREAM ", num_buckets:int64) -> "
     "() | generate_quantiles:bool=false ; stateful",
     "Computes the boundaries of streams.", .infer = weft__infer_scalar, .cpu = stream_flush_cpu,
     .scenario = "tests/python/test_boosted_trees_ops.py"},
    {"BoostedTreesQuantileStreamResourceGetBucketBoundaries(" STREAM ") -> "
     "(bucket_boundaries:num_features*float) | num_features:int>=0 ; stateful",
     "The boundaries of streams.", .infer = vectors_infer, .cpu = stream_boundaries_cpu,
     .scenario = "tests/python/test_boosted_trees_ops.py"},
    {"BoostedTreesQuantileStreamResourceDeserialize(" STREAM ", "
     "bucket_boundaries:num_streams*float) -> () | num_streams:int>=1 ; stateful",
     "Sets the boundaries of streams.", .infer = weft__infer_scalar, .cpu = stream_restore_cpu,
     .scenario = "tests/python/test_boosted_trees_ops.py"},
    {0},
};
