/* image_check.c - conditions on images and their sizes: checked at once, or by Assert nodes. */
#include "train/model/image_check.h"
#include "base/alloc.h"

weft_out weft__image_fail(weft_graph *g, weft_err err) {
  weft__named_keep(g, err);
  return WEFT_NONE;
}

static void add_check(image_checks *c, weft_out made) {
  if (made.node >= 0 && c->n < IMAGE_CHECKS) c->node[c->n++] = made.node;
}

/* tf.assert_positive(sizes, message) */
static void check_positive(image_checks *c, weft_out sizes) {
  static const char message[] = "inner 3 dims of 'image.shape' must be > 0.";
  weft_graph *g = c->g;
  weft__b_push_name(g, "assert_positive");
  weft_out zero = weft__n_scalar(g, "Const", WEFT_INT32, 0);
  weft__b_push_name(g, "assert_less");
  weft_out less = weft__named_binary_of(g, "Less", "Less", zero, sizes);
  weft_out all = weft__named_reduce(g, "All", "All", less);
  add_check(c, weft__named_assert(g, all, 1, &(assert_data){message, WEFT_NONE}, 3));
  weft__b_pop(g);
  weft__b_pop(g);
}

/* tf.assert_greater_equal(rank, 3, message) */
static void check_rank(image_checks *c, weft_out rank) {
  weft_graph *g = c->g;
  weft__b_push_name(g, "assert_greater_equal");
  weft_out least = weft__n_scalar(g, "y", WEFT_INT32, 3);
  weft_out holds = weft__named_binary_of(g, "GreaterEqual", "GreaterEqual", rank, least);
  weft_out all = weft__named_reduce(g, "All", "All", holds);
  char *x = all.node < 0 ? NULL : weft__sprintf("x (%s) = ", weft__n_out_name(g, rank));
  char *y = all.node < 0 ? NULL : weft__sprintf("y (%s) = ", weft__n_out_name(g, least));
  if (x && y)
    add_check(c, weft__named_assert(g, all, 6,
                                    (assert_data[]){{"'image' must be at least three-dimensional.", WEFT_NONE},
                                                    {"Condition x >= y did not hold element-wise:", WEFT_NONE},
                                                    {x, WEFT_NONE},
                                                    {NULL, rank},
                                                    {y, WEFT_NONE},
                                                    {NULL, least}},
                                    3));
  else if (all.node >= 0)
    weft__named_keep(g, WEFT_OOM);
  weft__free(x);
  weft__free(y);
  weft__b_pop(g);
}

void weft__image_check_shape(image_checks *c, weft_out x) {
  const shape s = *weft__shape_of(c->g, x);
  if (x.node < 0 || c->g->sticky.code) return;
  if (s.rank >= 0 && s.rank < 3) {
    weft__named_keep(c->g,
                     weft__fail(WEFT_INVALID_ARGUMENT, "%s: 'image' (shape %s) must be at least three-dimensional.",
                                c->what, weft__shape_text(&s)));
    return;
  }
  int known = 0;
  bool empty = false;
  for (int i = s.rank - 3; s.rank >= 0 && i < s.rank; i++) {
    known += s.dim[i] >= 0;
    empty |= s.dim[i] == 0;
  }
  if (empty)
    weft__named_keep(c->g, weft__fail(WEFT_INVALID_ARGUMENT, "%s: inner 3 dims of 'image.shape' must be > 0: %s",
                                      c->what, weft__shape_text(&s)));
  if (known == 3 || empty) return;
  weft_out dims = weft__named_shape(c->g, x);
  check_positive(c, weft__named_slice(c->g, dims, (slice_bounds){.has_begin = true, .begin = -3}));
  check_rank(c, weft__named_rank(c->g, x));
}

static bool relation_holds(double x, image_relation relation, double y) {
  return relation == AT_LEAST ? x >= y : relation == MORE_THAN ? x > y : x == y;
}

/* Python asks the tensor of the two operands: a number on the left goes to the right. */
static weft_out relation_node(weft_graph *g, term x, image_relation relation, term y) {
  const bool turned = x.out.node < 0 && relation != EQUAL_TO;
  static const char *const types[][2] = {{"GreaterEqual", "LessEqual"}, {"Greater", "Less"}, {"Equal", "Equal"}};
  const char *type = types[relation][turned];
  return turned ? weft__named_binary(g, type, type, y, x) : weft__named_binary(g, type, type, x, y);
}

void weft__image_check(image_checks *c, term x, image_relation relation, term y, const char *message) {
  double a, b;
  if (c->g->sticky.code) return;
  if (!weft__term_known(x, &a) || !weft__term_known(y, &b)) {
    weft_out holds = relation_node(c->g, x, relation, y);
    add_check(c, weft__named_assert(c->g, holds, 1, &(assert_data){message, WEFT_NONE}, 3));
  } else if (!relation_holds(a, relation, b)) {
    weft__named_keep(c->g, weft__fail(WEFT_INVALID_ARGUMENT, "%s: %s Got %.0f and %.0f.", c->what, message, a, b));
  }
}

weft_out weft__image_after(const image_checks *c, weft_out x) {
  return c->g->sticky.code ? WEFT_NONE : weft__named_after(c->g, "control_dependency", c->n, c->node, x);
}
