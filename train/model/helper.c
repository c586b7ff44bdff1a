/* helper.c - the table of helpers: which function builds each, and how many operands it takes. */
#include "train/model/helper.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "base/suggest.h"
#include "train/model/clip.h"
#include "train/model/embedding.h"
#include "train/model/image.h"
#include "train/model/schedule.h"
#include <string.h>

typedef struct call { /* one call of a helper */
  weft_graph *g;
  int n;
  const term *in;
  const weft_helper_opts *o;
  weft_out *out;
} call;

/* ---- clipping: the tensor is an output, the bounds are operands ---- */

static void clip_by_value(const call *c) {
  *c->out = weft__clip_by_value(c->g, c->o->name, c->in[0].out, c->in[1], c->in[2]);
}

static void clip_by_norm(const call *c) {
  *c->out = weft__clip_by_norm(c->g, c->o->name, c->in[0].out, c->in[1], c->n > 2 ? &c->in[2] : NULL);
}

static void clip_by_average_norm(const call *c) {
  *c->out = weft__clip_by_average_norm(c->g, c->o->name, c->in[0].out, c->in[1]);
}

/* Returns the operands as gradients.  The caller frees the list, and has replaced IndexedSlices by their values. */
static grad_value *helper_dense_gradients(weft_graph *g, int n, const term *in) {
  grad_value *d = weft__alloc_zero((size_t)n + 1, sizeof *d);
  if (!weft__named_keep(g, d ? WEFT_OK : WEFT_OOM)) return NULL;
  for (int i = 0; i < n; i++)
    d[i] = (grad_value){.dense = in[i].out, .indices = WEFT_NONE, .values = WEFT_NONE, .dense_shape = WEFT_NONE};
  return d;
}

static void global_norm(const call *c) {
  grad_value *d = helper_dense_gradients(c->g, c->n, c->in);
  if (d) *c->out = weft__global_norm(c->g, c->o->name, c->n, d);
  weft__free(d);
}

/* Operands: limit, norm, then the tensors. */
static void clip_by_global_norm(const call *c) {
  const int n = c->n - 2;
  grad_value *d = helper_dense_gradients(c->g, n, c->in + 2);
  if (d) weft__clip_by_global_norm(c->g, c->o->name, n, d, c->in[0], c->in[1].out, d);
  for (int i = 0; d && i < n; i++) c->out[i] = d[i].dense;
  weft__free(d);
}

/* ---- embeddings: ids, the largest norm or none, then the parts of the table ---- */

static const term *unless_left_out(const term *t) {
  return t->out.node >= 0 || t->constant || t->number != 0 ? t : NULL;
}

/* Returns the parts of a table, which are the operands from `first` on.  The caller frees the list. */
static weft_out *table_parts(const call *c, int first) {
  weft_out *parts = weft__alloc((size_t)(c->n - first) * sizeof *parts);
  if (!weft__named_keep(c->g, parts ? WEFT_OK : WEFT_OOM)) return NULL;
  for (int i = first; i < c->n; i++) parts[i - first] = c->in[i].out;
  return parts;
}

static void embedding_lookup(const call *c) {
  weft_out *parts = table_parts(c, 2);
  const lookup_opts opts = {c->o->name, c->o->flag, unless_left_out(&c->in[1])};
  if (parts) *c->out = weft__embedding_lookup(c->g, c->n - 2, parts, c->in[0].out, &opts);
  weft__free(parts);
}

/* The operands that both sparse lookups end with: the largest norm, whether to be fast, the parts. */
static void sparse_rows(const call *c, sparse_lookup l, int first,
                        weft_out look_up(weft_graph *g, const sparse_lookup *l)) {
  weft_out *parts = table_parts(c, first + 2);
  l.opts = (lookup_opts){c->o->name, c->o->flag, unless_left_out(&c->in[first])};
  l.n = c->n - first - 2, l.parts = parts, l.combiner = c->o->method, l.fast = c->in[first + 1].number != 0;
  l.indices = c->in[0].out, l.ids = c->in[1].out;
  if (parts && weft__named_given(c->g, "embedding_lookup_sparse", l.n, parts) &&
      weft__named_given(c->g, "embedding_lookup_sparse", 2, (weft_out[]){l.indices, l.ids}))
    *c->out = look_up(c->g, &l);
  weft__free(parts);
}

static void embedding_lookup_sparse(const call *c) {
  sparse_rows(c, (sparse_lookup){.weights = c->in[2].out, .dense_shape = WEFT_NONE}, 3, weft__embedding_lookup_sparse);
}

static void safe_embedding_lookup_sparse(const call *c) {
  sparse_lookup l = {.dense_shape = c->in[2].out, .weights = c->in[3].out, .default_id = unless_left_out(&c->in[4])};
  if (weft__named_given(c->g, "safe_embedding_lookup_sparse", 1, &l.dense_shape))
    sparse_rows(c, l, 5, weft__safe_embedding_lookup_sparse);
}

/* ---- images: the image, then parameters ---- */

/* Returns an operand that is a whole number, limited to 2^53, up to which a double is exact. */
static int64_t whole_number(const call *c, int i) {
  const double most = 9007199254740992, x = c->in[i].number;
  return x >= most ? (int64_t)most : x > -most ? (int64_t)x : -(int64_t)most;
}

/* Returns the type of an operand, which is given as its number. */
static weft_dtype type_of_term(const call *c, int i) { return (weft_dtype)weft__int_sat(whole_number(c, i)); }

static void saturate_cast(const call *c) {
  *c->out = weft__saturate_cast(c->g, c->o->name, c->in[0].out, type_of_term(c, 1));
}

static void convert_image_dtype(const call *c) {
  *c->out = weft__image_convert(c->g, c->o->name, c->in[0].out, type_of_term(c, 1), c->o->flag);
}

static void adjust_brightness(const call *c) {
  *c->out = weft__image_brightness(c->g, c->in[0].out, c->o->name, c->in[1]);
}

static void adjust_contrast(const call *c) { *c->out = weft__image_contrast(c->g, c->in[0].out, c->o->name, c->in[1]); }

static void adjust_saturation(const call *c) {
  *c->out = weft__image_saturation(c->g, c->in[0].out, c->o->name, c->in[1]);
}

static void adjust_hue(const call *c) { *c->out = weft__image_hue(c->g, c->in[0].out, c->o->name, c->in[1]); }

static void per_image_standardization(const call *c) {
  *c->out = weft__image_standardize(c->g, c->in[0].out, c->o->name);
}

static void flip_left_right(const call *c) { *c->out = weft__image_flip(c->g, c->in[0].out, c->o->name, false); }
static void flip_up_down(const call *c) { *c->out = weft__image_flip(c->g, c->in[0].out, c->o->name, true); }

static void resize_images(const call *c) {
  *c->out = weft__image_resize(c->g, c->in[0].out, c->o->name, c->in[1], c->o->method, c->o->flag);
}

/* Operands: the image, top, left, height, width. */
static image_box box_of(const call *c) { return (image_box){c->in[1], c->in[2], c->in[3], c->in[4]}; }

static void crop_to_bounding_box(const call *c) {
  const image_box b = box_of(c);
  *c->out = weft__image_crop(c->g, c->in[0].out, c->o->name, &b);
}

static void pad_to_bounding_box(const call *c) {
  const image_box b = box_of(c);
  *c->out = weft__image_pad(c->g, c->in[0].out, c->o->name, &b);
}

static void resize_image_with_crop_or_pad(const call *c) {
  *c->out = weft__image_crop_or_pad(c->g, c->in[0].out, c->o->name, c->in[1], c->in[2]);
}

static void central_crop(const call *c) {
  *c->out = weft__image_central_crop(c->g, c->in[0].out, c->o->name, c->in[1]);
}

static void checked_image(const call *c) {
  weft__named_push(c->g, c->o->name, "image");
  *c->out = weft__image_checked(c->g, "image", c->in[0].out);
  weft__b_pop(c->g);
}

/* The last operand is the seed, if the program gave one. */
static const int64_t *seed_of(const call *c, int last, int64_t *seed) {
  *seed = c->n > last ? whole_number(c, last) : 0;
  return c->n > last ? seed : NULL;
}

/* Operands: the image, the axis (0: up and down), whether it is a batch. */
static void flip_at_random(const call *c) {
  int64_t seed;
  const bool up_down = c->in[1].number == 0, each = c->in[2].number != 0;
  weft__named_push(c->g, c->o->name, "random_flip");
  *c->out = weft__image_flip_at_random(c->g, c->in[0].out, up_down, each, seed_of(c, 3, &seed));
  weft__b_pop(c->g);
}

static void random_crop(const call *c) {
  int64_t seed;
  *c->out = weft__image_random_crop(c->g, c->in[0].out, c->o->name, c->in[1], seed_of(c, 2, &seed));
}

/* ---- learning rates: rate, step, steps, then what the schedule has of its own ---- */

static decay decay_of(const call *c) {
  return (decay){c->o->name, c->in[0], c->in[1], c->in[2], c->n > 3 ? c->in[3] : NUM(0), c->o->flag};
}

static void exponential_decay(const call *c) {
  decay d = decay_of(c);
  *c->out = weft__exponential_decay(c->g, &d);
}

static void natural_exp_decay(const call *c) {
  decay d = decay_of(c);
  *c->out = weft__natural_exp_decay(c->g, &d);
}

static void inverse_time_decay(const call *c) {
  decay d = decay_of(c);
  *c->out = weft__inverse_time_decay(c->g, &d);
}

static void polynomial_decay(const call *c) {
  decay d = decay_of(c);
  *c->out = weft__polynomial_decay(c->g, &d, c->in[3], c->in[4], c->o->flag);
}

static void cosine_decay(const call *c) {
  decay d = decay_of(c);
  *c->out = weft__cosine_decay(c->g, &d, c->in[3]);
}

static void cosine_decay_restarts(const call *c) {
  decay d = decay_of(c);
  *c->out = weft__cosine_decay_restarts(c->g, &d, c->in[3], c->in[4], c->in[5]);
}

static void linear_cosine_decay(const call *c) {
  decay d = decay_of(c);
  *c->out = weft__linear_cosine_decay(c->g, &d, &(wave){.periods = c->in[3], .alpha = c->in[4], .beta = c->in[5]});
}

static void noisy_linear_cosine_decay(const call *c) {
  decay d = decay_of(c);
  int64_t seed;
  wave w = {c->in[5], c->in[6], c->in[7], .noisy = true, .variance = c->in[3], .variance_decay = c->in[4]};
  w.seed = seed_of(c, 8, &seed);
  *c->out = weft__linear_cosine_decay(c->g, &d, &w);
}

/* Operands: the step, n boundaries, n + 1 values. */
static void piecewise_constant(const call *c) {
  const int boundaries = c->n / 2 - 1;
  *c->out = weft__piecewise_constant(c->g, c->o->name, c->in[0], boundaries, c->in + 1, c->in + 1 + boundaries);
}

/* ---- the table ---- */

static const struct helper_kind {
  const char *name;
  int least, most;
  void (*build)(const call *c);
  bool of_output; /* the first operand must be an output */
} kinds[] = {
    {"adjust_brightness", 2, 2, adjust_brightness, true},
    {"adjust_contrast", 2, 2, adjust_contrast, true},
    {"adjust_hue", 2, 2, adjust_hue, true},
    {"adjust_saturation", 2, 2, adjust_saturation, true},
    {"central_crop", 2, 2, central_crop, true},
    {"checked_image", 1, 1, checked_image, true},
    {"clip_by_average_norm", 2, 2, clip_by_average_norm, true},
    {"clip_by_global_norm", 2, WEFT_HELPER_MAX_OPERANDS, clip_by_global_norm},
    {"clip_by_norm", 2, 3, clip_by_norm, true},
    {"clip_by_value", 3, 3, clip_by_value, true},
    {"convert_image_dtype", 2, 2, convert_image_dtype, true},
    {"cosine_decay", 4, 4, cosine_decay},
    {"cosine_decay_restarts", 6, 6, cosine_decay_restarts},
    {"crop_to_bounding_box", 5, 5, crop_to_bounding_box, true},
    {"embedding_lookup", 3, WEFT_HELPER_MAX_OPERANDS, embedding_lookup, true},
    {"embedding_lookup_sparse", 6, WEFT_HELPER_MAX_OPERANDS, embedding_lookup_sparse, true},
    {"exponential_decay", 4, 4, exponential_decay},
    {"flip_at_random", 3, 4, flip_at_random, true},
    {"flip_left_right", 1, 1, flip_left_right, true},
    {"flip_up_down", 1, 1, flip_up_down, true},
    {"global_norm", 0, WEFT_HELPER_MAX_OPERANDS, global_norm},
    {"inverse_time_decay", 4, 4, inverse_time_decay},
    {"linear_cosine_decay", 6, 6, linear_cosine_decay},
    {"natural_exp_decay", 4, 4, natural_exp_decay},
    {"noisy_linear_cosine_decay", 8, 9, noisy_linear_cosine_decay},
    {"pad_to_bounding_box", 5, 5, pad_to_bounding_box, true},
    {"per_image_standardization", 1, 1, per_image_standardization, true},
    {"piecewise_constant", 2, WEFT_HELPER_MAX_OPERANDS, piecewise_constant},
    {"polynomial_decay", 5, 5, polynomial_decay},
    {"random_crop", 2, 3, random_crop, true},
    {"resize_image_with_crop_or_pad", 3, 3, resize_image_with_crop_or_pad, true},
    {"resize_images", 2, 2, resize_images, true},
    {"safe_embedding_lookup_sparse", 8, WEFT_HELPER_MAX_OPERANDS, safe_embedding_lookup_sparse, true},
    {"saturate_cast", 2, 2, saturate_cast, true},
};

static weft_err find_helper(const char *kind, int n, const term *in, const struct helper_kind **found) {
  suggestion s = {.what = "helper", .name = kind};
  *found = NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    weft__suggest_offer(&s, kinds[i].name);
    if (strcmp(kinds[i].name, kind) == 0) *found = &kinds[i];
  }
  if (!*found) return weft__suggest_fail(&s, WEFT_INVALID_ARGUMENT);
  if (n < (*found)->least || n > (*found)->most)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: takes %d to %d operands, got %d", kind, (*found)->least,
                      (*found)->most, n);
  if ((*found)->of_output && in[0].out.node < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s: operand 0 must be an output of the graph", kind);
  return WEFT_OK;
}

/* Returns as many outputs as the caller has room for. */
static int helper_outputs(const struct helper_kind *kind, int n) {
  return kind->build == clip_by_global_norm ? n - 2 : 1;
}

weft_err weft__helper(weft_graph *g, const char *kind, int n, const term *in, const weft_helper_opts *o,
                      weft_out *out) {
  const struct helper_kind *found;
  WEFT_TRY(find_helper(kind, n, in, &found));
  for (int i = 0; i < helper_outputs(found, n); i++) out[i] = WEFT_NONE;
  found->build(&(call){g, n, in, o, out});
  return weft__b_ok(g);
}
