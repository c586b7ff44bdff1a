/* saturate.c - tf.saturate_cast: what does not fit into a type becomes the nearest that does. */
#include "train/model/image.h"

#include <float.h>
#include <string.h>

/* Stores the least and the largest value of a type.  Returns false if it has none. */
static bool type_range(weft_dtype type, double *low, double *high) {
  static const struct {
    weft_dtype type;
    double low, high;
  } ranges[] = {
      {WEFT_UINT8, 0, UINT8_MAX},
      {WEFT_INT8, INT8_MIN, INT8_MAX},
      {WEFT_UINT16, 0, UINT16_MAX},
      {WEFT_INT16, INT16_MIN, INT16_MAX},
      {WEFT_UINT32, 0, UINT32_MAX},
      {WEFT_INT32, INT32_MIN, INT32_MAX},
      {WEFT_UINT64, 0, (double)UINT64_MAX},
      {WEFT_INT64, (double)INT64_MIN, (double)INT64_MAX},
      {WEFT_HALF, -65504, 65504},
      {WEFT_BFLOAT16, -0x1.fep127, 0x1.fep127},
      {WEFT_FLOAT, (double)-FLT_MAX, (double)FLT_MAX},
      {WEFT_DOUBLE, -DBL_MAX, DBL_MAX},
      {WEFT_BOOL, 0, 1},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (ranges[i].type == type) return *low = ranges[i].low, *high = ranges[i].high, true;
  return false;
}

double weft__type_largest(weft_dtype type) {
  double low, high;
  return type_range(type, &low, &high) ? high : 0;
}

/* A float that was rounded away from zero becomes the one before it. */
static void round_to_zero(weft_tensor *t, double bound) {
  const double have = weft__tensor_double(t, 0);
  if (!(bound > 0 ? have > bound : have < bound)) return;
  if (t->dtype == WEFT_FLOAT) --*TENSOR_DATA(t, uint32_t);
  if (t->dtype == WEFT_HALF || t->dtype == WEFT_BFLOAT16) --*TENSOR_DATA(t, uint16_t);
}

/* Builds a constant of the type: the bound, or the nearest number inside the bounds that the type has. */
static weft_out bound_of_type(weft_graph *g, weft_dtype type, double bound) {
  weft_tensor *t = NULL;
  const bool end = bound == (double)INT64_MAX && (type == WEFT_INT64 || type == WEFT_UINT64); /* rounded up to 2^63 */
  if (!weft__named_keep(g, weft__tensor_scalar(&t, type, end ? 0 : bound))) return WEFT_NONE;
  if (end)
    *TENSOR_DATA(t, int64_t) = INT64_MAX;
  else
    round_to_zero(t, bound);
  return weft__n_const(g, "Const", t);
}

weft_out weft__saturate_here(weft_graph *g, weft_out x, weft_dtype to) {
  double low, high, least, most;
  const weft_dtype from = weft__type_of(g, x);
  if (x.node < 0 || g->sticky.code || from == to) return x;
  if (!type_range(from, &low, &high) || !type_range(to, &least, &most)) {
    weft__named_keep(g, weft__fail(WEFT_INVALID_ARGUMENT, "saturate_cast: cannot convert %s to %s, which have no range",
                                   weft__dtype_name(from), weft__dtype_name(to)));
    return WEFT_NONE;
  }
  if (low < least || high > most) {
    weft_out in[] = {x, bound_of_type(g, from, low > least ? low : least), WEFT_NONE};
    in[2] = bound_of_type(g, from, high < most ? high : most);
    x = weft__b_node(g, "ClipByValue", "clamp", 3, in, 0, NULL);
  }
  return weft__n_scope_node(g, "Cast", 1, &x, 1, &A_TYPE("DstT", to));
}

weft_out weft__saturate_cast(weft_graph *g, const char *name, weft_out x, weft_dtype to) {
  weft__named_push(g, name, "saturate_cast");
  x = weft__saturate_here(g, x, to);
  weft__b_pop(g);
  return x;
}
