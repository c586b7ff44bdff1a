/* ctc.c - CTCLoss, CTCGreedyDecoder, CTCBeamSearchDecoder: labels that occur somewhere in a sequence of frames.
 *
 * The last class is the blank.  The path of a batch entry is its labels with a blank before, between and after them.
 * alpha[t][u] is the log probability of being at position u of the path after frame t; beta is the log probability
 * of reaching the end from there.  Their product, summed over the positions of a class, is the weight of that class
 * in the frame.  The gradient is the softmax minus this weight.  All is computed in double, and one thread processes
 * one batch entry. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/cast.h"
#include "graph/build.h"
#include "graph/kernel.h"
#include "kernels/work/long_work.h"
#include "tensor/tensor.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes and checks that the ops share ---- */

typedef struct frames {
  const weft_tensor *x; /* (time, batch, classes) */
  const int32_t *length;
  int64_t time, batch, classes;
} frames;

static weft_err read_frames(const kernel *k, int lengths, weft_err wrong_length, frames *f) {
  f->x = k->in[0];
  if (f->x->shape.rank != 3) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "inputs is not a 3-Tensor");
  WEFT_TRY(weft__kernel_vector(k, lengths, "sequence_length"));
  f->time = f->x->shape.dim[0];
  f->batch = f->x->shape.dim[1];
  f->classes = f->x->shape.dim[2];
  f->length = TENSOR_DATA(k->in[lengths], int32_t);
  const int64_t n = weft__tensor_count(k->in[lengths]);
  if (n != f->batch)
    return weft__kernel_fail(k, wrong_length,
                             "len(sequence_length) != batch_size.  len(sequence_length):  %lld batch_size: %lld",
                             (long long)n, (long long)f->batch);
  if (weft__tensor_count(f->x) == 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "inputs must not be empty, got shape %s",
                             weft__shape_text(&f->x->shape));
  for (int64_t b = 0; b < f->batch; b++)
    if (f->length[b] > f->time)
      return weft__kernel_fail(k, wrong_length, "sequence_length(%lld) <= %lld", (long long)b, (long long)f->time);
  return WEFT_OK;
}

static int64_t ctc_at(const frames *f, int64_t t, int64_t b) { return (t * f->batch + b) * f->classes; }

/* ---- CTCLoss ---- */

typedef struct loss {
  frames f;
  const int32_t *labels;
  int64_t *start; /* [batch + 1]: where the labels of each batch entry begin */
  weft_tensor *loss, *gradient;
  bool collapse, merge, ignore_longer;
  atomic_bool no_memory;
  long_work *work;
} loss;

/* The path of one batch entry, and the values along it. */
typedef struct path {
  int64_t places, frames;
  int32_t *class_of;    /* per position */
  double *norm, *alpha; /* norm: per frame, the log of the softmax's sum; alpha: (frames, positions) */
  double *beta, *next;  /* for the current frame and the one after it */
  double *held;         /* per class, for the current frame */
} path;

static double log_add(double a, double b) {
  if (a == -INFINITY) return b;
  if (b == -INFINITY) return a;
  return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

static double log_sum(const frames *f, int64_t t, int64_t b) {
  double max = -INFINITY, sum = 0;
  for (int64_t c = 0; c < f->classes; c++) max = fmax(max, weft__tensor_double(f->x, ctc_at(f, t, b) + c));
  for (int64_t c = 0; c < f->classes; c++) sum += exp(weft__tensor_double(f->x, ctc_at(f, t, b) + c) - max);
  return sum == 0 ? -INFINITY : max + log(sum);
}

static double log_chance(const loss *l, const path *p, int64_t t, int64_t b, int64_t u) {
  WEFT_ASSERT(u >= 0 && u < p->places && p->class_of[u] < l->f.classes);
  return weft__tensor_double(l->f.x, ctc_at(&l->f, t, b) + p->class_of[u]) - p->norm[t];
}

static bool ctc_stays(const loss *l, const path *p, int64_t u) {
  return l->merge || p->class_of[u] == l->f.classes - 1;
}

/* Returns true if position u can be reached from u - 2, skipping the blank between them. */
static bool ctc_skips(const loss *l, const path *p, int64_t u) {
  if (u < 2 || p->class_of[u] == l->f.classes - 1) return false;
  return !(l->merge && p->class_of[u] == p->class_of[u - 2]);
}

enum { LOG_COST = 32 }; /* of a place in a frame, in the operations of kernels/work/long_work.h */

static void ctc_forward(const loss *l, const path *p, int64_t b) {
  for (int64_t t = 0, spent = 0; t < p->frames && !weft__long_work_spent(l->work, &spent, LOG_COST * p->places); t++) {
    double *now = p->alpha + t * p->places;
    const double *last = t > 0 ? now - p->places : now;
    for (int64_t u = 0; u < p->places; u++) {
      double sum = t == 0 && u < 2 ? 0 : -INFINITY;
      if (t > 0 && ctc_stays(l, p, u)) sum = log_add(sum, last[u]);
      if (t > 0 && u > 0) sum = log_add(sum, last[u - 1]);
      if (t > 0 && ctc_skips(l, p, u)) sum = log_add(sum, last[u - 2]);
      now[u] = sum + log_chance(l, p, t, b, u);
    }
  }
}

/* Computes beta of frame t from that of frame t + 1, without the probabilities of frame t itself. */
static void ctc_backward(const loss *l, const path *p, int64_t t, int64_t b) {
  WEFT_ASSERT(t >= 0 && t < p->frames);
  for (int64_t u = 0; u < p->places; u++) {
    double sum = -INFINITY;
    if (t == p->frames - 1) {
      p->beta[u] = u >= p->places - 2 ? 0 : -INFINITY;
      continue;
    }
    if (ctc_stays(l, p, u)) sum = log_add(sum, p->next[u] + log_chance(l, p, t + 1, b, u));
    if (u + 1 < p->places) sum = log_add(sum, p->next[u + 1] + log_chance(l, p, t + 1, b, u + 1));
    if (u + 2 < p->places && ctc_skips(l, p, u + 2))
      sum = log_add(sum, p->next[u + 2] + log_chance(l, p, t + 1, b, u + 2));
    p->beta[u] = sum;
  }
}

static void write_gradient(const loss *l, const path *p, int64_t t, int64_t b, double log_p) {
  const int64_t first = ctc_at(&l->f, t, b);
  for (int64_t c = 0; c < l->f.classes; c++) p->held[c] = -INFINITY;
  for (int64_t u = 0; u < p->places; u++) {
    double *held = &p->held[p->class_of[u]];
    *held = log_add(*held, p->alpha[t * p->places + u] + p->beta[u]);
  }
  for (int64_t c = 0; c < l->f.classes; c++) {
    const double soft = exp(weft__tensor_double(l->f.x, first + c) - p->norm[t]);
    weft__tensor_set_real(l->gradient, first + c, log_p == -INFINITY ? soft : soft - exp(p->held[c] - log_p));
  }
}

static void ctc_solve(const loss *l, path *p, int64_t b) {
  WEFT_ASSERT(p->frames > 0 && p->places > 0 && p->frames <= l->f.time);
  for (int64_t t = 0; t < p->frames; t++) p->norm[t] = log_sum(&l->f, t, b);
  ctc_forward(l, p, b);
  const double *end = p->alpha + (p->frames - 1) * p->places;
  double log_p = end[p->places - 1];
  if (p->places > 1) log_p = log_add(log_p, end[p->places - 2]);
  weft__tensor_set_real(l->loss, b, -log_p);
  int64_t spent = 0;
  for (int64_t t = p->frames - 1; t >= 0 && !weft__long_work_spent(l->work, &spent, LOG_COST * p->places); t--) {
    ctc_backward(l, p, t, b);
    write_gradient(l, p, t, b, log_p);
    double *swap = p->beta;
    p->beta = p->next;
    p->next = swap;
  }
}

/* Builds the path: blanks around the labels.  A label >= the blank ends the labels. */
static void lay_path(const loss *l, int64_t b, path *p) {
  const int32_t blank = weft__int_sat(l->f.classes - 1);
  p->places = 0;
  p->class_of[p->places++] = blank;
  for (int64_t i = l->start[b]; i < l->start[b + 1] && l->labels[i] < blank; i++) {
    if (l->collapse && i > l->start[b] && l->labels[i] == l->labels[i - 1]) continue;
    p->class_of[p->places++] = l->labels[i];
    p->class_of[p->places++] = blank;
  }
}

static void solve_batch(loss *l, int64_t b) {
  WEFT_ASSERT(b >= 0 && b < l->f.batch && l->start[b] <= l->start[b + 1]);
  const int64_t n = l->start[b + 1] - l->start[b], frame_count = l->f.length[b];
  if (frame_count <= 0 || n > frame_count) return; /* the loss and the gradient stay zero */
  const size_t places = (size_t)(2 * n + 1), count = (size_t)frame_count;
  const size_t doubles = count * (places + 1) + 2 * places + (size_t)l->f.classes;
  double *room = weft__alloc(doubles * sizeof *room + places * sizeof(int32_t));
  if (!room) {
    atomic_store(&l->no_memory, true);
    return;
  }
  path p = {.frames = frame_count, .norm = room, .alpha = room + count};
  p.beta = p.alpha + count * places;
  p.next = p.beta + places;
  p.held = p.next + places;
  p.class_of = (int32_t *)(void *)(p.held + l->f.classes);
  lay_path(l, b, &p);
  WEFT_ASSERT(p.places >= 1 && p.places <= 2 * n + 1);
  ctc_solve(l, &p, b);
  weft__free(room);
}

static void solve_batches(void *arg, int64_t begin, int64_t end) {
  for (int64_t b = begin; b < end; b++) solve_batch(arg, b);
}

static weft_err check_label(const kernel *k, const loss *l, int64_t i, int64_t b) {
  const int32_t *v = l->labels;
  if (v[i] < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "All labels must be nonnegative integers, batch: %lld labels: %d", (long long)b, v[i]);
  if (i > l->start[b] && v[i] < l->f.classes - 1 && v[i - 1] >= l->f.classes - 1)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "Saw a non-null label (index >= num_classes - 1) following a null label, batch: %lld "
                             "num_classes: %lld labels: %d,%d",
                             (long long)b, (long long)l->f.classes, v[i - 1], v[i]);
  return WEFT_OK;
}

/* Finds where the labels of each batch entry begin.  The indices must ascend, and each batch entry must have labels. */
static weft_err ctc_read_labels(const kernel *k, loss *l) {
  const shape *s = &k->in[1]->shape;
  WEFT_TRY(weft__kernel_vector(k, 2, "labels_values"));
  if (s->rank != 2 || s->dim[1] != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "labels_indices is not a matrix of two columns: %s",
                             weft__shape_text(s));
  const int64_t n = s->dim[0], *index = TENSOR_DATA(k->in[1], int64_t);
  if (n != weft__tensor_count(k->in[2]))
    return weft__kernel_fail(
        k, WEFT_INVALID_ARGUMENT,
        "labels_indices and labels_values must contain the same number of rows, but saw shapes: %s vs. %s",
        weft__shape_text(s), weft__shape_text(&k->in[2]->shape));
  int64_t i = 0;
  for (int64_t b = 0; b < l->f.batch; b++) {
    l->start[b] = i;
    for (; i < n && index[2 * i] == b; i++) {
      if (i > l->start[b] && index[2 * i + 1] <= index[2 * i - 1]) break;
      WEFT_TRY(check_label(k, l, i, b));
    }
    if (i < n && index[2 * i] <= b) break;
    if (i == l->start[b])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Labels length is zero in batch %lld", (long long)b);
  }
  if (i < n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "label SparseTensor is not valid: indices[%lld] = [%lld,%lld] is out of order or bounds",
                             (long long)i, (long long)index[2 * i], (long long)index[2 * i + 1]);
  l->start[l->f.batch] = n;
  return WEFT_OK;
}

static weft_err check_lengths(const kernel *k, const loss *l) {
  for (int64_t b = 0; b < l->f.batch; b++) {
    const int64_t n = l->start[b + 1] - l->start[b];
    if (l->f.length[b] < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "seq_len(%lld) < 0", (long long)b);
    if (n > l->f.length[b] && !l->ignore_longer)
      return weft__kernel_fail(
          k, WEFT_INVALID_ARGUMENT,
          "Not enough time for target transition sequence (required: %lld, available: %d) in batch "
          "%lld. ignore_longer_outputs_than_inputs leaves such batches out",
          (long long)n, l->f.length[b], (long long)b);
  }
  return WEFT_OK;
}

static weft_err run_loss(kernel *k, loss *l) {
  WEFT_TRY(ctc_read_labels(k, l));
  WEFT_TRY(check_lengths(k, l));
  l->loss = weft__out(k, 0, &SHAPE1(l->f.batch));
  l->gradient = weft__out(k, 1, &l->f.x->shape);
  if (!l->loss || !l->gradient) return WEFT_OOM;
  memset(l->loss->data, 0, (size_t)l->f.batch * weft__dtype_size(l->loss->dtype));
  memset(l->gradient->data, 0, (size_t)weft__tensor_count(l->gradient) * weft__dtype_size(l->loss->dtype));
  const int64_t labels = l->start[l->f.batch] / l->f.batch;
  long_work work = weft__long_work(k);
  l->work = &work;
  weft__kernel_loop(k, l->f.batch, l->f.time * (200 * labels + 20 * l->f.classes), solve_batches, l);
  l->work = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__long_work_end(&work)));
  if (atomic_load(&l->no_memory)) return weft__kernel_fail(k, WEFT_RESOURCE_EXHAUSTED, "no memory for the paths");
  return WEFT_OK;
}

static weft_err loss_cpu(kernel *k) {
  loss l = {.labels = TENSOR_DATA(k->in[2], int32_t),
            .collapse = weft__node_bool(k->node, "preprocess_collapse_repeated", false),
            .merge = weft__node_bool(k->node, "ctc_merge_repeated", true),
            .ignore_longer = weft__node_bool(k->node, "ignore_longer_outputs_than_inputs", false)};
  WEFT_TRY(read_frames(k, 3, WEFT_INVALID_ARGUMENT, &l.f));
  if (!(l.start = weft__alloc((size_t)(l.f.batch + 1) * sizeof *l.start))) return WEFT_OOM;
  const weft_err err = run_loss(k, &l);
  weft__free(l.start);
  return err;
}

static weft_err loss_infer(infer *s) {
  shape x, indices, values, length;
  WEFT_TRY(weft__infer_rank(s, 0, 3, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 2, &indices));
  WEFT_TRY(weft__infer_rank(s, 2, 1, &values));
  WEFT_TRY(weft__infer_rank(s, 3, 1, &length));
  if (indices.dim[0] >= 0 && values.dim[0] >= 0 && indices.dim[0] != values.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)indices.dim[0],
                            (long long)values.dim[0]);
  if (x.dim[1] >= 0 && length.dim[0] >= 0 && x.dim[1] != length.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)x.dim[1],
                            (long long)length.dim[0]);
  if (x.dim[1] < 0) x.dim[1] = length.dim[0];
  s->out[0] = SHAPE1(x.dim[1]);
  s->out[1] = x;
  return WEFT_OK;
}

static weft_err loss_grad(backprop *b) {
  weft_graph *g = b->graph;
  const weft_out once = weft__b_node(g, "PreventGradient", NULL, 1, &b->out[1], 1,
                                     (attr[]){A_STR("message", "the gradient of CTCLoss has no gradient of its own")});
  const weft_out in[] = {b->dout[0], weft__b_scalar(g, WEFT_INT32, -1)};
  b->din[0] = GRAD_DENSE(weft__b_mul(g, weft__b_node(g, "ExpandDims", NULL, 2, in, 0, NULL), once));
  return WEFT_OK;
}

/* ---- CTCGreedyDecoder ---- */

static int64_t best_class(const frames *f, int64_t t, int64_t b) {
  int64_t best = 0;
  for (int64_t c = 1; c < f->classes; c++)
    if (weft__tensor_double(f->x, ctc_at(f, t, b) + c) > weft__tensor_double(f->x, ctc_at(f, t, b) + best)) best = c;
  return best;
}

/* Returns the most probable class of every frame: best[b * max_time + t].  It is computed only once: a peer may
 * still write to the input, and the classes counted must be the classes written. */
static int64_t *best_classes(const frames *f, int64_t max_time) {
  int64_t *best = weft__alloc((size_t)(f->batch * max_time + 1) * sizeof *best);
  for (int64_t b = 0; best && b < f->batch; b++)
    for (int64_t t = 0; t < f->length[b]; t++) best[b * max_time + t] = best_class(f, t, b);
  return best;
}

/* Removes blanks (and repetitions) from the best classes of `count` frames, in place.  Returns the number that
 * remain. */
static int64_t ctc_decode(int64_t *best, int64_t count, int64_t blank, bool merge) {
  int64_t n = 0, last = -1;
  for (int64_t t = 0; t < count; t++) {
    const int64_t c = best[t];
    if (c != blank && !(merge && c == last)) best[n++] = c;
    last = c;
  }
  return n;
}

static weft_err greedy_blank(const kernel *k, int64_t classes, int64_t *blank) {
  *blank = weft__node_int(k->node, "blank_index", -1);
  if (*blank < -classes || *blank >= classes)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "blank_index expected to be between %lld and %lld but was %lld",
                             (long long)-classes, (long long)classes - 1, (long long)*blank);
  if (*blank < 0) *blank += classes;
  return WEFT_OK;
}

/* Computes the negative sum of the best values of each batch entry. */
static void greedy_score(const frames *f, const int64_t *best, int64_t max_time, weft_tensor *score) {
  for (int64_t b = 0; b < f->batch; b++) {
    double sum = 0;
    for (int64_t t = 0; t < f->length[b]; t++)
      sum -= weft__tensor_double(f->x, ctc_at(f, t, b) + best[b * max_time + t]);
    weft__tensor_set_real(score, b, sum);
  }
}

/* best (batch, max_time) is decoded in place; length (batch) is set. */
static weft_err greedy_write(kernel *k, const frames *f, int64_t blank, int64_t max_time, int64_t *best,
                             int64_t *length) {
  const bool merge = weft__node_bool(k->node, "merge_repeated", false);
  int64_t total = 0, longest = 0, done = 0;
  weft_tensor *score = weft__out(k, 3, &SHAPE2(f->batch, 1));
  if (!score) return WEFT_OOM;
  greedy_score(f, best, max_time, score);
  for (int64_t b = 0; b < f->batch; b++) {
    total += length[b] = ctc_decode(best + b * max_time, f->length[b], blank, merge);
    if (length[b] > longest) longest = length[b];
  }
  weft_tensor *index = weft__out(k, 0, &SHAPE2(total, 2)), *values = weft__out(k, 1, &SHAPE1(total));
  weft_tensor *size = weft__out(k, 2, &SHAPE1(2));
  if (!index || !values || !size) return WEFT_OOM;
  int64_t *ij = TENSOR_DATA(index, int64_t);
  for (int64_t b = 0; b < f->batch; b++)
    for (int64_t i = 0; i < length[b]; i++, done++) {
      ij[2 * done] = b, ij[2 * done + 1] = i;
      TENSOR_DATA(values, int64_t)[done] = best[b * max_time + i];
    }
  TENSOR_DATA(size, int64_t)[0] = f->batch;
  TENSOR_DATA(size, int64_t)[1] = longest;
  return WEFT_OK;
}

static weft_err greedy_cpu(kernel *k) {
  frames f;
  int64_t blank;
  WEFT_TRY(read_frames(k, 1, WEFT_FAILED_PRECONDITION, &f));
  WEFT_TRY(greedy_blank(k, f.classes, &blank));
  const int64_t max_time = k->in[0]->shape.dim[0];
  int64_t *best = best_classes(&f, max_time), *length = weft__alloc((size_t)(f.batch + 1) * sizeof *length);
  const weft_err err = best && length ? greedy_write(k, &f, blank, max_time, best, length) : WEFT_OOM;
  weft__free(best);
  weft__free(length);
  return err;
}

static weft_err greedy_infer(infer *s) {
  shape x, length;
  WEFT_TRY(weft__infer_rank(s, 0, 3, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &length));
  if (x.dim[1] >= 0 && length.dim[0] >= 0 && x.dim[1] != length.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)x.dim[1],
                            (long long)length.dim[0]);
  s->out[0] = SHAPE2(-1, 2);
  s->out[1] = SHAPE1(-1);
  s->out[2] = SHAPE1(2);
  s->out[3] = SHAPE2(x.dim[1] >= 0 ? x.dim[1] : length.dim[0], 1);
  return WEFT_OK;
}

/* ---- CTCBeamSearchDecoder ----
 *
 * After each frame the `width` most probable prefixes are kept, each with the probability that its last frame was a
 * blank and the probability that it was its last label.  Prefixes are nodes of a tree: a prefix is its parent plus a
 * label. */

typedef struct prefix {
  int64_t parent; /* -1: the empty prefix */
  int32_t label;
} prefix;

typedef struct beam {
  int64_t node;          /* -1: not in the tree yet; `parent` and `label` describe it */
  int64_t parent, order; /* order: breaks ties; the earlier one stays first */
  int32_t last;          /* its last label; -1: none */
  double blank, label, total;
} beam;

typedef struct search {
  frames f;
  int64_t width, kept, nodes, room, place_room;
  prefix *tree;
  beam *now, *next; /* now: [width]; next: all their possible successors */
  int64_t *place;   /* per node: its index in `now`, or -1 */
  bool *taken;      /* (width, classes): the prefix extended by this class is in `now` too */
  double *chance;   /* probability of each class in the frame */
  long_work *work;
  int64_t spent, cost; /* cost: of the last frame */
} search;

static int ctc_better(const void *a, const void *b) {
  const beam *x = a, *y = b;
  if (x->total != y->total) return x->total > y->total ? -1 : 1;
  return x->order < y->order ? -1 : 1;
}

/* Returns prefix i after a frame that adds no label: a blank, or its last label again. */
static beam ctc_stay(search *s, int64_t i) {
  const beam *old = &s->now[i];
  beam b = *old;
  b.blank = old->total + s->chance[s->f.classes - 1];
  if (b.last >= 0) {
    const int64_t from = s->place[b.parent];
    if (from >= 0) {
      const beam *p = &s->now[from];
      b.label = log_add(b.label, p->last == b.last ? p->blank : p->total);
      s->taken[from * s->f.classes + b.last] = true;
    }
    b.label += s->chance[b.last];
  }
  b.total = log_add(b.blank, b.label);
  return b;
}

static beam ctc_grow(const search *s, const beam *old, int32_t c) {
  const double chance = (old->last == c ? old->blank : old->total) + s->chance[c];
  return (beam){.node = -1, .parent = old->node, .last = c, .blank = -INFINITY, .label = chance, .total = chance};
}

static weft_err ctc_adopt(search *s, beam *b) {
  if (b->node >= 0) return WEFT_OK;
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->tree, s->room, s->nodes + 1));
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->place, s->place_room, s->nodes + 1));
  b->node = s->nodes;
  s->place[s->nodes] = -1;
  s->tree[s->nodes++] = (prefix){b->parent, b->last};
  return WEFT_OK;
}

static weft_err ctc_advance(search *s) {
  const int64_t classes = s->f.classes;
  int64_t n = 0;
  memset(s->taken, 0, (size_t)(s->width * classes));
  for (int64_t i = 0; i < s->kept; i++) s->place[s->now[i].node] = i;
  for (int64_t i = 0; i < s->kept; i++) s->next[n++] = ctc_stay(s, i);
  for (int64_t i = 0; i < s->kept; i++)
    for (int32_t c = 0; c < classes - 1; c++)
      if (!s->taken[i * classes + c]) s->next[n++] = ctc_grow(s, &s->now[i], c);
  for (int64_t i = 0; i < s->kept; i++) s->place[s->now[i].node] = -1;
  for (int64_t i = 0; i < n; i++) s->next[i].order = i;
  qsort(s->next, (size_t)n, sizeof *s->next, ctc_better);
  for (s->kept = 0; s->kept < n && s->kept < s->width && s->next[s->kept].total > -INFINITY; s->kept++) {
    WEFT_TRY(ctc_adopt(s, &s->next[s->kept]));
    s->now[s->kept] = s->next[s->kept];
  }
  return WEFT_OK;
}

static weft_err search_batch(search *s, int64_t b) {
  s->nodes = 0;
  s->kept = 1;
  s->now[0] = (beam){.node = -1, .parent = -1, .last = -1, .label = -INFINITY};
  WEFT_TRY(ctc_adopt(s, &s->now[0]));
  for (int64_t t = 0; t < s->f.length[b] && !weft__long_work_spent(s->work, &s->spent, s->cost); t++) {
    const double sum = log_sum(&s->f, t, b);
    for (int64_t c = 0; c < s->f.classes; c++)
      s->chance[c] = weft__tensor_double(s->f.x, ctc_at(&s->f, t, b) + c) - sum;
    WEFT_TRY(ctc_advance(s));
    s->cost = LOG_COST * s->kept * s->f.classes;
  }
  return weft__long_work_end(s->work);
}

/* Writes the labels of a prefix, last one first; `merge` merges equal neighbors.  If `to` is NULL, they are only
 * counted. */
static int64_t ctc_spell(const search *s, int64_t node, bool merge, int64_t *to) {
  int64_t n = 0;
  int32_t last = -1;
  for (; s->tree[node].parent >= 0; node = s->tree[node].parent) {
    if (merge && s->tree[node].label == last) continue;
    last = s->tree[node].label;
    if (to) to[n] = last;
    n++;
  }
  return n;
}

/* The decoded labels of every path of every batch entry, one after the other. */
typedef struct found {
  int64_t *labels, *length; /* length: (paths, batch) */
  int64_t count, room;
} found;

static weft_err ctc_note(const search *s, found *f, int64_t node, bool merge, int64_t *length) {
  const int64_t n = *length = ctc_spell(s, node, merge, NULL);
  if (n) WEFT_TRY(WEFT_ARRAY_RESERVE(f->labels, f->room, f->count + n));
  int64_t *to = f->labels ? f->labels + f->count : NULL;
  ctc_spell(s, node, merge, to);
  for (int64_t i = 0; i < n / 2; i++) {
    const int64_t x = to[i];
    to[i] = to[n - 1 - i];
    to[n - 1 - i] = x;
  }
  f->count += n;
  return WEFT_OK;
}

static weft_err search_all(kernel *k, search *s, int64_t paths, found *f, weft_tensor *score) {
  const bool merge = weft__node_bool(k->node, "merge_repeated", true);
  for (int64_t b = 0; b < s->f.batch; b++) {
    WEFT_TRY(search_batch(s, b));
    if (s->kept < paths)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Less leaves in the beam search than requested: %lld of %lld",
                               (long long)s->kept, (long long)paths);
    for (int64_t p = 0; p < paths; p++) {
      WEFT_TRY(ctc_note(s, f, s->now[p].node, merge, &f->length[b * paths + p]));
      weft__tensor_set_real(score, b * paths + p, s->now[p].total);
    }
  }
  return WEFT_OK;
}

/* Writes path p as a sparse matrix with one row per batch entry. */
static weft_err write_path(kernel *k, const found *f, int64_t batch, int64_t paths, int64_t p) {
  int64_t total = 0, longest = 0, done = 0, from = 0;
  for (int64_t b = 0; b < batch; b++) {
    const int64_t n = f->length[b * paths + p];
    total += n;
    if (n > longest) longest = n;
  }
  weft_tensor *index = weft__out(k, weft__int_sat(p), &SHAPE2(total, 2)),
              *values = weft__out(k, weft__int_sat(paths + p), &SHAPE1(total));
  weft_tensor *size = weft__out(k, weft__int_sat(2 * paths + p), &SHAPE1(2));
  if (!index || !values || !size) return WEFT_OOM;
  for (int64_t b = 0; b < batch; b++)
    for (int64_t q = 0; q < paths; from += f->length[b * paths + q], q++)
      for (int64_t i = 0; q == p && i < f->length[b * paths + q]; i++, done++) {
        TENSOR_DATA(index, int64_t)[2 * done] = b;
        TENSOR_DATA(index, int64_t)[2 * done + 1] = i;
        TENSOR_DATA(values, int64_t)[done] = f->labels[from + i];
      }
  TENSOR_DATA(size, int64_t)[0] = batch;
  TENSOR_DATA(size, int64_t)[1] = longest;
  return WEFT_OK;
}

static weft_err beam_run(kernel *k, search *s, int64_t paths, found *f) {
  const size_t width = (size_t)s->width, classes = (size_t)s->f.classes;
  s->now = weft__alloc(width * sizeof *s->now);
  s->next = weft__alloc(width * (classes + 1) * sizeof *s->next);
  s->taken = weft__alloc(width * classes * sizeof *s->taken);
  s->chance = weft__alloc(classes * sizeof *s->chance);
  f->length = weft__alloc((size_t)(s->f.batch * paths) * sizeof *f->length);
  if (!s->now || !s->next || !s->taken || !s->chance || !f->length) return WEFT_OOM;
  weft_tensor *score = weft__out(k, weft__int_sat(3 * paths), &SHAPE2(s->f.batch, paths));
  if (!score) return WEFT_OOM;
  WEFT_TRY(search_all(k, s, paths, f, score));
  for (int64_t p = 0; p < paths; p++) WEFT_TRY(write_path(k, f, s->f.batch, paths, p));
  return WEFT_OK;
}

static weft_err beam_cpu(kernel *k) {
  long_work work = weft__long_work(k);
  search s = {.width = weft__node_int(k->node, "beam_width", 1), .work = &work};
  found f = {0};
  const int64_t paths = weft__node_int(k->node, "top_paths", 1);
  WEFT_TRY(read_frames(k, 1, WEFT_FAILED_PRECONDITION, &s.f));
  if (s.width > INT32_MAX / s.f.classes)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "beam_width is %lld", (long long)s.width);
  const weft_err err = beam_run(k, &s, paths, &f);
  void *const rooms[] = {s.tree, s.now, s.next, s.place, s.taken, s.chance, f.labels, f.length};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) weft__free(rooms[i]);
  return err;
}

static weft_err beam_infer(infer *s) {
  shape x, length;
  const int paths = weft__int_sat(weft__node_int(s->node, "top_paths", 1));
  WEFT_TRY(weft__infer_rank(s, 0, 3, &x));
  WEFT_TRY(weft__infer_rank(s, 1, 1, &length));
  if (x.dim[1] >= 0 && length.dim[0] >= 0 && x.dim[1] != length.dim[0])
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)x.dim[1],
                            (long long)length.dim[0]);
  for (int p = 0; p < paths; p++) {
    s->out[p] = SHAPE2(-1, 2);
    s->out[paths + p] = SHAPE1(-1);
    s->out[2 * paths + p] = SHAPE1(2);
  }
  s->out[3 * paths] = SHAPE2(x.dim[1] >= 0 ? x.dim[1] : length.dim[0], paths);
  return WEFT_OK;
}

/* ---- cases ---- */
/* Only float: TensorFlow adds logarithms in float for every type.  The second output is already a gradient and has
 * none of its own, but finite differences would need it. */
#define TWO "i64[3,2] 0 0 0 1 1 0; i32[3]"
#define FLAGS CASE_NO_GRAD | CASE_FIXED_TYPE
static const op_case loss_cases[] = {
    {"f32[5,2,4] normal; " TWO " 0 1 2; i32[2] 5 3", NULL, NULL, FLAGS},
    {"f32[4,2,4] normal; " TWO " 0 0 2; i32[2] 4 3", NULL, NULL, FLAGS},
    {"f32[4,2,4] normal; " TWO " 0 0 2; i32[2] 4 3", NULL, "ctc_merge_repeated=false", FLAGS},
    {"f32[4,2,4] normal; " TWO " 1 1 2; i32[2] 4 3", NULL, "preprocess_collapse_repeated=true", FLAGS},
    {"f32[4,2,4] normal; i64[4,2] 0 0 0 1 0 2 1 0; i32[4] 0 0 0 2; i32[2] 4 3", NULL, NULL, FLAGS},
    {"f32[4,2,4] normal; i64[6,2] 0 0 0 1 0 2 0 3 0 4 1 0; i32[6] 0 1 0 1 0 2; i32[2] 4 3", NULL,
     "ignore_longer_outputs_than_inputs=true", FLAGS},
    {"f32[30,3,6] normal; i64[7,2] 0 0 0 1 0 2 1 0 1 1 2 0 2 4; i32[7] 0 1 1 2 4 3 3; i32[3] 30 17 25", NULL, NULL,
     FLAGS},
    {"f64[2,1,2] 0; i64[1,2] 0 0; i32[1] 0; i32[1] 2",
     "f64[1] .28768207245178096; f64[2,1,2] -.16666666666666666 .16666666666666666 -.16666666666666666 "
     ".16666666666666666",
     NULL, FLAGS | CASE_NO_PARITY},
    {"f32[4,2,4] normal; i64[4,2] 0 0 0 1 0 2 1 0; i32[4] 0 1 0 2; i32[2] 2 3", "error INVALID_ARGUMENT"},
    {"f32[4,2,4] 0; " TWO " 0 1 -2; i32[2] 4 3", "error INVALID_ARGUMENT"},
    {"f32[4,2,4] 0; " TWO " 3 1 2; i32[2] 4 3", "error INVALID_ARGUMENT"},
    {"f32[4,2,4] 0; " TWO " 0 1 2; i32[2] 4 5", "error INVALID_ARGUMENT"},
    {"f32[4,2,4] 0; " TWO " 0 1 2; i32[2] 4 -1", "error INVALID_ARGUMENT"},
    {"f32[4,2,4] 0; i64[2,2] 0 0 2 0; i32[2] 1; i32[2] 4", "error INVALID_ARGUMENT"},
    {"f32[4,2,4] 0; i64[2,2] 1 0 0 0; i32[2] 1; i32[2] 4", "error INVALID_ARGUMENT"},
    {"f32[4,2,4] 0; i64[1,2] 1 0; i32[1] 1; i32[2] 4", "error INVALID_ARGUMENT"},
    {"f32[4,2,4] 0; i64[0,2]; i32[0]; i32[2] 4", "error INVALID_ARGUMENT"},
    {"f32[0,2,4]; " TWO " 0 1 2; i32[2] 0", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case greedy_cases[] = {
    {"f32[4,2,4] normal; i32[2] 4 3"},
    {"f64[9,3,3] normal; i32[3] 9 0 5", NULL, "merge_repeated=true"},
    {"f32[9,3,3] normal; i32[3] 9 0 5", NULL, "merge_repeated=true blank_index=0"},
    {"f32[4,2,4] normal; i32[2] 0 0"},
    {"f32[4,2,4] 0; i32[2] 4 5", "error FAILED_PRECONDITION"},
    {"f32[4,2,4] 0; i32[2] 4 4", "error INVALID_ARGUMENT", "blank_index=9"},
    {0},
};

static const op_case beam_cases[] = {
    {"f32[4,2,4] normal; i32[2] 4 3", NULL, "beam_width=3 top_paths=2", CASE_FIXED_TYPE},
    {"f32[12,3,5] normal; i32[3] 12 1 7", NULL, "beam_width=4 top_paths=3", CASE_FIXED_TYPE},
    {"f32[12,3,5] normal; i32[3] 12 2 7", NULL, "beam_width=40 top_paths=3 merge_repeated=false", CASE_FIXED_TYPE},
    {"f32[12,3,5] normal; i32[3] 12 0 7", NULL, "beam_width=1 top_paths=1", CASE_FIXED_TYPE},
    {"f32[4,2,4] 0; i32[2] 4 3", "error INVALID_ARGUMENT", "beam_width=1 top_paths=2"},
    {"f32[4,2,4] 0; i32[2] 4 5", "error FAILED_PRECONDITION", "beam_width=1 top_paths=1"},
    {0},
};

#define CTC_ATTRS                                                                                                      \
  "preprocess_collapse_repeated:bool=false ctc_merge_repeated:bool=true ignore_longer_outputs_than_inputs:bool=false"
#define CTC_TYPE "T:type{float,double}=float"

OPS(ctc) = {
    {"CTCLoss(inputs:T, labels_indices:int64, labels_values:int32, sequence_length:int32) -> (loss:T, gradient:T) "
     "| " CTC_ATTRS " " CTC_TYPE,
     "How unlikely labels are, wherever along the frames they lie.", .infer = loss_infer, .cpu = loss_cpu,
     .grad = loss_grad, .cases = loss_cases},
    {"CTCGreedyDecoder(inputs:T, sequence_length:int32) -> (decoded_indices:int64, decoded_values:int64, "
     "decoded_shape:int64, log_probability:T) | merge_repeated:bool=false blank_index:int=-1 " CTC_TYPE,
     "The likeliest class of every frame, blanks left out.", .infer = greedy_infer, .cpu = greedy_cpu, .no_grad = true,
     .cases = greedy_cases},
    {"CTCBeamSearchDecoder(inputs:T, sequence_length:int32) -> (decoded_indices:top_paths*int64, "
     "decoded_values:top_paths*int64, decoded_shape:top_paths*int64, log_probability:T) | beam_width:int>=1 "
     "top_paths:int>=1 merge_repeated:bool=true " CTC_TYPE,
     "The likeliest labels, found by keeping the best beginnings.", .infer = beam_infer, .cpu = beam_cpu,
     .no_grad = true, .cases = beam_cases},
    /* TensorFlow has a kernel for GPUs only. */
    {"CTCLossV2(inputs:float, labels_indices:int64, labels_values:int32, sequence_length:int32) -> "
     "(loss:float, gradient:float) | preprocess_collapse_repeated:bool=false ctc_merge_repeated:bool=true "
     "ignore_longer_outputs_than_inputs:bool=false",
     "CTCLoss, with the blank as the first class.", .infer = loss_infer, .grad = loss_grad},
    {0},
};
