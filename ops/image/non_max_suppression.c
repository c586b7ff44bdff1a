/* non_max_suppression.c - selects the boxes with the highest scores and drops boxes that overlap them.
 *
 * Candidates are processed by descending score, ties by index.  A candidate that overlaps a selected box by more
 * than the threshold is dropped.  The soft variant (V5) instead lowers its score and puts it back.  The overlap of
 * two boxes is their intersection over union (IoU); NonMaxSuppressionWithOverlaps takes it as an input. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "kernels/simd/widen.h"
#include "kernels/work/long_work.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct candidate {
  int32_t box;
  int32_t seen; /* the number of selected boxes that have already lowered its score */
  float score;
} candidate;

typedef struct suppression {
  int64_t n;                              /* number of boxes */
  const float *boxes, *overlaps, *scores; /* boxes (n, 4) with row stride `stride`, or overlaps (n, n) */
  int64_t stride;                         /* row stride of boxes */
  int64_t score_stride;
  float threshold, lowest, sigma; /* of the overlap, of the score; of the soft decrease of scores */
  int64_t most;                   /* maximum number to select */
  candidate *heap;                /* (n) */
  int64_t waiting;                /* candidates in the heap */
  int32_t *chosen;                /* room for the smaller of most and n */
  float *chosen_score;
  int64_t n_chosen;
  long_work *work;
} suppression;

/* ---- overlap ---- */

static float intersection_over_union(const float *a, const float *b) {
  const float ay1 = fminf(a[0], a[2]), ax1 = fminf(a[1], a[3]), ay2 = fmaxf(a[0], a[2]), ax2 = fmaxf(a[1], a[3]);
  const float by1 = fminf(b[0], b[2]), bx1 = fminf(b[1], b[3]), by2 = fmaxf(b[0], b[2]), bx2 = fmaxf(b[1], b[3]);
  const float area_a = (ay2 - ay1) * (ax2 - ax1), area_b = (by2 - by1) * (bx2 - bx1);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = fmaxf(fminf(ay2, by2) - fmaxf(ay1, by1), 0), width = fmaxf(fminf(ax2, bx2) - fmaxf(ax1, bx1), 0);
  return height * width / (area_a + area_b - height * width);
}

static float nms_overlap(const suppression *s, int32_t i, int32_t j) {
  WEFT_ASSERT(i >= 0 && i < s->n && j >= 0 && j < s->n);
  if (s->overlaps) return s->overlaps[(int64_t)i * s->n + j];
  return intersection_over_union(s->boxes + i * s->stride, s->boxes + j * s->stride);
}

/* ---- a heap of candidates, the best first ---- */

static bool nms_better(const candidate *a, const candidate *b) {
  return a->score > b->score || (a->score == b->score && a->box < b->box);
}

static void heap_down(candidate *h, int64_t n, int64_t i) {
  for (int64_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && nms_better(&h[child + 1], &h[child])) child++;
    if (!nms_better(&h[child], &h[i])) return;
    const candidate t = h[i];
    h[i] = h[child], h[child] = t;
  }
}

static void heap_push(suppression *s, candidate c) {
  WEFT_ASSERT(s->waiting >= 0 && s->waiting < s->n);
  int64_t i = s->waiting++;
  for (s->heap[i] = c; i > 0 && nms_better(&s->heap[i], &s->heap[(i - 1) / 2]); i = (i - 1) / 2) {
    const candidate t = s->heap[i];
    s->heap[i] = s->heap[(i - 1) / 2], s->heap[(i - 1) / 2] = t;
  }
}

static candidate heap_pop(suppression *s) {
  WEFT_ASSERT(s->waiting > 0);
  const candidate best = s->heap[0];
  s->heap[0] = s->heap[--s->waiting];
  heap_down(s->heap, s->waiting, 0);
  return best;
}

/* ---- choosing ---- */

/* Compares the candidate with the boxes that were selected since it was last examined, the latest first.  Returns
 * false if it is dropped. */
static bool nms_survives(const suppression *s, candidate *c) {
  for (int64_t j = s->n_chosen - 1; j >= c->seen; j--) {
    const float shared = nms_overlap(s, c->box, s->chosen[j]);
    if (s->sigma <= 0) {
      if (shared > s->threshold) return false;
      continue;
    }
    c->score *= expf(-0.5f / s->sigma * shared * shared);
    if (c->score <= s->lowest) return false;
  }
  return true;
}

enum { OVERLAP_COST = 8 }; /* in the operations of kernels/work/long_work.h */

static void nms_choose(suppression *s) {
  int64_t spent = 0, cost = 0;
  while (s->n_chosen < s->most && s->waiting > 0 && !weft__long_work_spent(s->work, &spent, cost)) {
    candidate c = heap_pop(s);
    cost = OVERLAP_COST * (s->n_chosen - c.seen + 1);
    const float before = c.score;
    if (!nms_survives(s, &c)) continue;
    c.seen = weft__int_sat(s->n_chosen);
    if (c.score == before) {
      WEFT_ASSERT(s->n_chosen < s->n);
      s->chosen_score[s->n_chosen] = c.score;
      s->chosen[s->n_chosen++] = c.box;
    } else if (c.score > s->lowest) {
      heap_push(s, c);
    }
  }
}

static void suppression_finish(suppression *s) {
  weft__free(s->heap);
  weft__free(s->chosen);
  weft__free(s->chosen_score);
}

/* Selects among the boxes whose score is above the minimum. suppression_finish frees the lists. */
static weft_err nms_suppress(suppression *s) {
  WEFT_ASSERT(s->n >= 0 && s->most >= 0 && !s->heap);
  const size_t room = (size_t)(s->most < s->n ? s->most : s->n) + 1;
  s->heap = weft__alloc_zero((size_t)s->n + 1, sizeof *s->heap);
  s->chosen = weft__alloc_zero(room, sizeof *s->chosen);
  s->chosen_score = weft__alloc_zero(room, sizeof *s->chosen_score);
  if (!s->heap || !s->chosen || !s->chosen_score) return WEFT_OOM;
  for (int64_t i = 0; i < s->n; i++) {
    const float score = s->scores[i * s->score_stride];
    if (score > s->lowest) heap_push(s, (candidate){.box = weft__int_sat(i), .score = score});
  }
  nms_choose(s);
  return weft__long_work_end(s->work);
}

/* ---- arguments ---- */

static weft_err scalar_at(const kernel *k, int i, const char *name, double *out) {
  WEFT_TRY(weft__kernel_scalar(k, i, name));
  *out = weft__tensor_double(k->in[i], 0);
  return WEFT_OK;
}

/* Reads a threshold, which must be in [0, 1]. */
static weft_err share_at(const kernel *k, int i, const char *name, float *out) {
  double v;
  WEFT_TRY(scalar_at(k, i, name, &v));
  *out = (float)v;
  if (v >= 0 && v <= 1) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be in [0, 1], got %g", name, v);
}

static weft_err count_at(const kernel *k, int i, const char *name, int64_t *out) {
  double v;
  WEFT_TRY(scalar_at(k, i, name, &v));
  *out = (int64_t)v;
  if (v >= 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be non-negative, got %lld", name, (long long)*out);
}

/* Reads boxes (or overlaps) and scores, widened to float. */
static weft_err non_max_suppression_read_boxes(const kernel *k, suppression *s, widened *boxes, widened *scores,
                                               bool overlaps) {
  const shape *b = &k->in[0]->shape, *c = &k->in[1]->shape;
  if (b->rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "boxes must be 2-D, got shape %s", weft__shape_text(b));
  if (b->dim[1] != (overlaps ? b->dim[0] : 4))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s, got shape %s",
                             overlaps ? "overlaps must be square" : "boxes must have 4 columns", weft__shape_text(b));
  if (c->rank != 1 || c->dim[0] != b->dim[0])
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "scores has incompatible shape %s for %lld boxes",
                             weft__shape_text(c), (long long)b->dim[0]);
  if (b->dim[0] > INT32_MAX)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "too many boxes: %lld", (long long)b->dim[0]);
  WEFT_TRY(weft__widened_load(boxes, k->in[0]));
  WEFT_TRY(weft__widened_load(scores, k->in[1]));
  s->n = b->dim[0], s->stride = 4, s->score_stride = 1, s->scores = scores->data;
  *(overlaps ? &s->overlaps : &s->boxes) = boxes->data;
  return WEFT_OK;
}

/* Reads all inputs except boxes and scores; they depend on the version of the op. */
static weft_err read_limits(const kernel *k, suppression *s) {
  s->lowest = -INFINITY;
  WEFT_TRY(count_at(k, 2, "max_output_size", &s->most));
  if (k->n_in == 3) {
    s->threshold = (float)weft__node_float(k->node, "iou_threshold", 0.5);
    if (!(s->threshold >= 0 && s->threshold <= 1))
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "iou_threshold must be in [0, 1], got %g",
                               (double)s->threshold);
    return WEFT_OK;
  }
  double v = 0;
  if (s->overlaps) {
    WEFT_TRY(scalar_at(k, 3, "overlap_threshold", &v));
    s->threshold = (float)v;
  } else {
    WEFT_TRY(share_at(k, 3, "iou_threshold", &s->threshold));
  }
  if (k->n_in > 4) {
    WEFT_TRY(scalar_at(k, 4, "score_threshold", &v));
    s->lowest = (float)v;
  }
  if (k->n_in > 5) {
    WEFT_TRY(scalar_at(k, 5, "soft_nms_sigma", &v));
    s->sigma = (float)v;
    if (!(v >= 0)) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "soft_nms_sigma must be non-negative, got %g", v);
  }
  return WEFT_OK;
}

/* ---- one list of boxes ---- */

static weft_err put_scores(kernel *k, int i, const suppression *s, int64_t length) {
  widened w = {0};
  weft_tensor *t = weft__out(k, i, &SHAPE1(length));
  if (!t) return WEFT_OOM;
  WEFT_TRY(weft__widened_output(&w, t));
  for (int64_t j = 0; j < length; j++) w.data[j] = j < s->n_chosen ? s->chosen_score[j] : 0;
  weft__widened_store(&w, t);
  weft__widened_finish(&w);
  return WEFT_OK;
}

/* Writes the indices and, depending on the version, scores and the number of valid entries. */
static weft_err put_outputs(kernel *k, const suppression *s) {
  const bool pad = weft__node_bool(k->node, "pad_to_max_output_size", false);
  const int64_t length = pad ? s->most : s->n_chosen;
  weft_tensor *y = weft__out(k, 0, &SHAPE1(length));
  if (!y) return weft__out_refused(&SHAPE1(length));
  for (int64_t j = 0; j < length; j++) TENSOR_DATA(y, int32_t)[j] = j < s->n_chosen ? s->chosen[j] : 0;
  if (k->n_out == 3) WEFT_TRY(put_scores(k, 1, s, length));
  if (k->n_out == 1) return WEFT_OK;
  weft_tensor *count = weft__out(k, k->n_out - 1, &SHAPE_SCALAR);
  if (!count) return WEFT_OOM;
  TENSOR_DATA(count, int32_t)[0] = (int32_t)s->n_chosen;
  return WEFT_OK;
}

static weft_err nms_run(kernel *k, bool overlaps) {
  long_work work = weft__long_work(k);
  suppression s = {.work = &work};
  widened boxes = {0}, scores = {0};
  weft_err err = non_max_suppression_read_boxes(k, &s, &boxes, &scores, overlaps);
  if (!err) err = read_limits(k, &s);
  if (!err) err = nms_suppress(&s);
  if (!err) err = put_outputs(k, &s);
  suppression_finish(&s);
  weft__widened_finish(&boxes), weft__widened_finish(&scores);
  return err;
}

static weft_err nms_cpu(kernel *k) { return nms_run(k, false); }
static weft_err nms_overlaps_cpu(kernel *k) { return nms_run(k, true); }

/* ---- all classes of a batch ---- */

typedef struct detection {
  const float *box;
  float score;
  int32_t class, order; /* order: position among all detections, to break ties */
} detection;

typedef struct combined {
  int64_t batch, boxes, box_sets, classes; /* box_sets: 1, or one for each class */
  int64_t per_class, total, length;        /* length: size of the outputs */
  float threshold, lowest;
  bool clip;
} combined;

static int better_detection(const void *a, const void *b) {
  const detection *x = a, *y = b;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static weft_err combined_read(const kernel *k, combined *c) {
  const shape *b = &k->in[0]->shape, *s = &k->in[1]->shape;
  if (b->rank != 4 || s->rank != 3 || b->dim[3] != 4 || b->dim[0] != s->dim[0] || b->dim[1] != s->dim[1] ||
      (b->dim[2] != 1 && b->dim[2] != s->dim[2]))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "boxes must be (batch, boxes, 1 or classes, 4) and scores (batch, boxes, classes), not %s "
                             "and %s",
                             weft__shape_text(b), weft__shape_text(s));
  *c = (combined){.batch = b->dim[0], .boxes = b->dim[1], .box_sets = b->dim[2], .classes = s->dim[2]};
  double lowest;
  WEFT_TRY(count_at(k, 2, "max_size_per_class", &c->per_class));
  WEFT_TRY(count_at(k, 3, "max_total_size", &c->total));
  WEFT_TRY(share_at(k, 4, "iou_threshold", &c->threshold));
  WEFT_TRY(scalar_at(k, 5, "score_threshold", &lowest));
  if (c->per_class <= 0 || c->total <= 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "max_size_per_class and max_total_size must be > 0");
  if (c->boxes > INT32_MAX || c->classes > INT32_MAX)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "too many boxes or classes");
  c->lowest = (float)lowest;
  c->clip = weft__node_bool(k->node, "clip_boxes", true);
  const int64_t most = c->per_class > INT64_MAX / (c->classes + 1) ? INT64_MAX : c->per_class * c->classes;
  c->length = weft__node_bool(k->node, "pad_per_class", false) && most < c->total ? most : c->total;
  return WEFT_OK;
}

/* Adds the selected boxes of one class of one image to the list. */
static weft_err combined_class(const kernel *k, const combined *c, int64_t n, int64_t class, detection *found,
                               int64_t *count) {
  long_work work = weft__long_work(k);
  suppression s = {.n = c->boxes, .stride = c->box_sets * 4, .score_stride = c->classes, .most = c->per_class};
  s.work = &work;
  s.boxes = TENSOR_DATA(k->in[0], float) + (n * c->boxes * c->box_sets + (c->box_sets > 1 ? class : 0)) * 4;
  s.scores = TENSOR_DATA(k->in[1], float) + n * c->boxes * c->classes + class;
  s.threshold = c->threshold, s.lowest = c->lowest;
  const weft_err err = nms_suppress(&s);
  for (int64_t i = 0; !err && i < s.n_chosen; i++, ++*count)
    found[*count] =
        (detection){s.boxes + s.chosen[i] * s.stride, s.chosen_score[i], weft__int_sat(class), weft__int_sat(*count)};
  suppression_finish(&s);
  return err;
}

static float combined_clip(const combined *c, float v) { return !c->clip ? v : v < 0 ? 0 : v > 1 ? 1 : v; }

static weft_err combined_image(kernel *k, const combined *c, int64_t n, detection *found, weft_tensor *const *out) {
  WEFT_ASSERT(n >= 0 && n < c->batch);
  int64_t count = 0;
  for (int64_t class = 0; class < c->classes; class ++) WEFT_TRY(combined_class(k, c, n, class, found, &count));
  if (count > 1) qsort(found, (size_t)count, sizeof *found, better_detection);
  const int64_t valid = count < c->length ? count : c->length;
  for (int64_t i = 0; i < c->length; i++) {
    const int64_t at = n * c->length + i;
    for (int j = 0; j < 4; j++)
      TENSOR_DATA(out[0], float)[at * 4 + j] = i < valid ? combined_clip(c, found[i].box[j]) : 0;
    TENSOR_DATA(out[1], float)[at] = i < valid ? found[i].score : 0;
    TENSOR_DATA(out[2], float)[at] = i < valid ? (float)found[i].class : 0;
  }
  TENSOR_DATA(out[3], int32_t)[n] = weft__int_sat(valid);
  return WEFT_OK;
}

static weft_err combined_cpu(kernel *k) {
  combined c;
  WEFT_TRY(combined_read(k, &c));
  const shape s[4] = {SHAPE3(c.batch, c.length, 4), SHAPE2(c.batch, c.length), SHAPE2(c.batch, c.length),
                      SHAPE1(c.batch)};
  weft_tensor *out[4];
  for (int i = 0; i < 4; i++) {
    out[i] = weft__out(k, i, &s[i]);
    if (!out[i]) return weft__out_refused(&s[i]);
  }
  const int64_t each = c.per_class < c.boxes ? c.per_class : c.boxes;
  detection *found = weft__alloc_zero((size_t)(each * c.classes) + 1, sizeof *found);
  weft_err err = found ? WEFT_OK : WEFT_OOM;
  for (int64_t n = 0; !err && n < c.batch; n++) err = combined_image(k, &c, n, found, out);
  weft__free(found);
  return err;
}

static weft_err combined_infer(infer *s) {
  shape boxes, scores;
  WEFT_TRY(weft__infer_rank(s, 0, 4, &boxes));
  WEFT_TRY(weft__infer_rank(s, 1, 3, &scores));
  for (int i = 2; i < 6; i++) WEFT_TRY(weft__infer_rank(s, i, 0, NULL));
  const weft_tensor *total = weft__infer_value(s, 3), *each = weft__infer_value(s, 2);
  int64_t length = total ? weft__tensor_int(total, 0) : -1;
  if (total && length <= 0) return weft__infer_fail(s, "max_total_size should be > 0");
  if (weft__node_bool(s->node, "pad_per_class", false)) {
    const int64_t most = each ? weft__shape_dim_mul(weft__tensor_int(each, 0), scores.dim[2]) : -1;
    length = length < 0 || most < 0 ? -1 : most < length ? most : length;
  }
  s->out[0] = SHAPE3(boxes.dim[0], length, 4);
  s->out[1] = s->out[2] = SHAPE2(boxes.dim[0], length);
  s->out[3] = SHAPE1(boxes.dim[0]);
  return WEFT_OK;
}

/* ---- shapes ---- */

static weft_err nms_infer(infer *s) {
  shape boxes, scores, most;
  WEFT_TRY(weft__infer_rank(s, 0, 2, &boxes));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &scores));
  for (int i = 2; i < s->n_in; i++) WEFT_TRY(weft__infer_rank(s, i, 0, &most));
  if (boxes.dim[0] >= 0 && scores.dim[0] >= 0 && boxes.dim[0] != scores.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)boxes.dim[0],
                            (long long)scores.dim[0]);
  int64_t length = -1;
  const weft_tensor *given = weft__infer_value(s, 2);
  if (given && weft__node_bool(s->node, "pad_to_max_output_size", false)) {
    length = weft__tensor_int(given, 0);
    if (length < 0) return weft__infer_fail(s, "max_output_size must be non-negative, got %lld", (long long)length);
  }
  s->out[0] = SHAPE1(length);
  if (s->n_out == 3) s->out[1] = SHAPE1(length);
  if (s->n_out > 1) s->out[s->n_out - 1] = SHAPE_SCALAR;
  return WEFT_OK;
}

#define BOXES "f32[6,4] 0 0 1 1 0 0.1 1 1.1 0 -0.1 1 0.9 0 10 1 11 0 10.1 1 11.1 0 100 1 101"
#define SCORES "f32[6] .9 .75 .6 .95 .5 .3"
#define FLIPPED "f32[3,4] 1 1 0 0 0 0.1 1 1.1 2 2 2 2"

static const op_case nms_cases[] = {
    {BOXES "; " SCORES "; i32[] 3", "i32[3] 3 0 5", NULL, CASE_NO_GRAD},
    {BOXES "; " SCORES "; i32[] 30", NULL, "iou_threshold=0.3", CASE_NO_GRAD},
    {FLIPPED "; f32[3] .5 .5 .5; i32[] 3", NULL, NULL, CASE_NO_GRAD},
    {"f32[0,4] 0; f32[0] 0; i32[] 3", "i32[0]", NULL, CASE_NO_GRAD},
    {BOXES "; " SCORES "; i32[] 0", "i32[0]", NULL, CASE_NO_GRAD},
    {BOXES "; " SCORES "; i32[] 3", "error INVALID_ARGUMENT", "iou_threshold=1.5", CASE_NO_GRAD},
    {BOXES "; f32[5] 1; i32[] 3", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {"f32[6,3] 0; " SCORES "; i32[] 3", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};
static const op_case nms2_cases[] = {
    {BOXES "; " SCORES "; i32[] 3; f32[] 0.5", "i32[3] 3 0 5", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {BOXES "; " SCORES "; i32[] 3; f32[] -0.5", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case nms3_cases[] = {
    {BOXES "; " SCORES "; i32[] 3; f32[] 0.5; f32[] 0.4", "i32[2] 3 0", NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {BOXES "; " SCORES "; i32[] 6; f32[] 0.9; f32[] 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case nms4_cases[] = {
    {BOXES "; " SCORES "; i32[] 5; f32[] 0.5; f32[] 0.4", NULL, "pad_to_max_output_size=true",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {BOXES "; " SCORES "; i32[] 5; f32[] 0.5; f32[] 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case nms5_cases[] = {
    {BOXES "; " SCORES "; i32[] 6; f32[] 0.5; f32[] 0; f32[] 0.5", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {BOXES "; " SCORES "; i32[] 6; f32[] 1; f32[] 0.2; f32[] 0.5", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {BOXES "; " SCORES "; i32[] 8; f32[] 1; f32[] 0; f32[] 0.1", NULL, "pad_to_max_output_size=true",
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {BOXES "; " SCORES "; i32[] 3; f32[] 0.5; f32[] 0; f32[] 0", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {BOXES "; " SCORES "; i32[] 3; f32[] 0.5; f32[] 0; f32[] -1", "error INVALID_ARGUMENT", NULL,
     CASE_NO_GRAD | CASE_FIXED_TYPE},
    {0},
};
static const op_case overlap_cases[] = {
    {"f32[3,3] 1 .6 .1 .6 1 .2 .1 .2 1; f32[3] .9 .8 .7; i32[] 3; f32[] .5; f32[] 0", "i32[2] 0 2", NULL, CASE_NO_GRAD},
    {"f32[3,3] 1 .6 .1 .6 1 .2 .1 .2 1; f32[3] .9 .8 .7; i32[] 3; f32[] .05; f32[] .75", NULL, NULL, CASE_NO_GRAD},
    {"f32[3,2] 1; f32[3] .9 .8 .7; i32[] 3; f32[] .5; f32[] 0", "error INVALID_ARGUMENT", NULL, CASE_NO_GRAD},
    {0},
};

#define BATCH "f32[1,6,1,4] 0 0 1 1 0 0.1 1 1.1 0 -0.1 1 0.9 0 10 1 11 0 10.1 1 11.1 0 100 1 101"
#define TWO "f32[1,6,2] .9 .3 .75 .5 .6 .95 .95 .6 .5 .75 .3 .9"
static const op_case combined_cases[] = {
    {BATCH "; f32[1,6,1] .9 .75 .6 .95 .5 .3; i32[] 3; i32[] 4; f32[] .5; f32[] 0",
     "f32[1,4,4] 0 1 1 1 0 0 1 1 0 1 1 1 0; f32[1,4] .95 .9 .3 0; f32[1,4] 0; i32[1] 3", NULL, CASE_NO_GRAD},
    {BATCH "; " TWO "; i32[] 3; i32[] 4; f32[] .5; f32[] 0", NULL, "clip_boxes=false", CASE_NO_GRAD},
    {BATCH "; " TWO "; i32[] 3; i32[] 9; f32[] .5; f32[] 0", NULL, "clip_boxes=false pad_per_class=true", CASE_NO_GRAD},
    {BATCH "; " TWO "; i32[] 3; i32[] 9; f32[] .5; f32[] .8", NULL, NULL, CASE_NO_GRAD},
    {"f32[2,6,2,4] unit; f32[2,6,2] unit; i32[] 3; i32[] 5; f32[] .3; f32[] .1", NULL, NULL, CASE_NO_GRAD},
    {BATCH "; " TWO "; i32[] 3; i32[] 0; f32[] .5; f32[] .8", "error INVALID_ARGUMENT", NULL, 0},
    {BATCH "; " TWO "; i32[] 3; i32[] 4; f32[] 1.5; f32[] .8", "error INVALID_ARGUMENT", NULL, 0},
    {0},
};

#define HEAD "boxes:T, scores:T, max_output_size:int32"
#define TYPES "T:type{half,float}=float"
#define THRESHOLD_TYPES " T_threshold:type{half,float}=float"
#define PADDED " pad_to_max_output_size:bool=false"

static weft_err proposals_infer(infer *s) {
  static const int ranks[] = {4, 4, 2, 3, 0, 0, 0};
  shape scores;
  for (int i = 6; i > 0; i--) WEFT_TRY(weft__infer_rank(s, i, ranks[i], NULL));
  WEFT_TRY(weft__infer_rank(s, 0, 4, &scores));
  const int64_t kept = weft__node_int(s->node, "post_nms_topn", -1);
  s->out[0] = SHAPE3(scores.dim[0], kept, 4);
  s->out[1] = SHAPE2(scores.dim[0], kept);
  return WEFT_OK;
}

OPS(non_max_suppression) = {
    {"NonMaxSuppression(boxes:float, scores:float, max_output_size:int32) -> (selected_indices:int32) | "
     "iou_threshold:float=0.5",
     "The best boxes that do not overlap.", .infer = nms_infer, .cpu = nms_cpu, .no_grad = true, .cases = nms_cases},
    {"NonMaxSuppressionV2(" HEAD ", iou_threshold:T_threshold) -> (selected_indices:int32) | " TYPES THRESHOLD_TYPES,
     "The same, with the threshold as an input.", .infer = nms_infer, .cpu = nms_cpu, .no_grad = true,
     .cases = nms2_cases},
    {"NonMaxSuppressionV3(" HEAD ", iou_threshold:T_threshold, score_threshold:T_threshold) -> "
     "(selected_indices:int32) | " TYPES THRESHOLD_TYPES,
     "The same, above a score.", .infer = nms_infer, .cpu = nms_cpu, .cases = nms3_cases},
    {"NonMaxSuppressionV4(" HEAD ", iou_threshold:T_threshold, score_threshold:T_threshold) -> "
     "(selected_indices:int32, valid_outputs:int32) | " TYPES THRESHOLD_TYPES PADDED,
     "The same, padded to one length on demand.", .infer = nms_infer, .cpu = nms_cpu, .cases = nms4_cases},
    {"NonMaxSuppressionV5(" HEAD ", iou_threshold:T, score_threshold:T, soft_nms_sigma:T) -> "
     "(selected_indices:int32, selected_scores:T, valid_outputs:int32) | " TYPES PADDED,
     "The same, where overlapping boxes have lower scores instead of none.", .infer = nms_infer, .cpu = nms_cpu,
     .cases = nms5_cases},
    {"NonMaxSuppressionWithOverlaps(overlaps:float, scores:float, max_output_size:int32, overlap_threshold:float, "
     "score_threshold:float) -> (selected_indices:int32)",
     "The best boxes of a matrix of overlaps.", .infer = nms_infer, .cpu = nms_overlaps_cpu, .no_grad = true,
     .cases = overlap_cases},
    {"CombinedNonMaxSuppression(boxes:float, scores:float, max_output_size_per_class:int32, max_total_size:int32, "
     "iou_threshold:float, score_threshold:float) -> (nmsed_boxes:float, nmsed_scores:float, nmsed_classes:float, "
     "valid_detections:int32) | pad_per_class:bool=false clip_boxes:bool=true",
     "The best boxes of all classes of a batch.", .infer = combined_infer, .cpu = combined_cpu,
     .cases = combined_cases},
    /* TensorFlow has a kernel for GPUs only. */
    {"GenerateBoundingBoxProposals(scores:float, bbox_deltas:float, image_info:float, anchors:float, "
     "nms_threshold:float, pre_nms_topn:int32, min_size:float) -> (rois:float, roi_probabilities:float) | "
     "post_nms_topn:int=300",
     "The best boxes of a region proposal network.", .infer = proposals_infer, .no_grad = true},
    {0},
};
