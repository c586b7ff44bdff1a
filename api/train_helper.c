/* train_helper.c - the public function that calls helpers by name, for front ends. */
#include "api/argument.h"
#include "base/alloc.h"
#include "train/model/helper.h"

/* Returns the operands as terms.  Returns NULL if memory is short or an output belongs to another graph; the graph
 * records the failure. */
static term *take_operands(weft_graph *g, const char *kind, int n, const weft_operand *in) {
  term *t = weft__alloc(((size_t)n + 1) * sizeof *t);
  bool good = weft__named_keep(g, t ? WEFT_OK : WEFT_OOM);
  for (int i = 0; i < n && good; i++) {
    const weft_out *out = in[i].out;
    good = !out || out->node < 0 || weft__named_given(g, kind, 1, out);
    t[i] = (term){out ? *out : WEFT_NONE, in[i].number, in[i].constant};
  }
  if (good) return t;
  weft__free(t);
  return NULL;
}

weft_err weft_helper(weft_graph *g, const char *kind, int n, const weft_operand *operands, const weft_helper_opts *opts,
                     weft_out *out) {
  API_NEED(g);
  API_NEED(kind);
  API_ARRAY(n, operands);
  API_NEED(out);
  API_OPTS(weft_helper_opts, opts);

  const weft_helper_opts standard = {0};
  term *in = take_operands(g, kind, n, operands);
  weft_err err = in ? weft__helper(g, kind, n, in, opts ? opts : &standard, out) : weft__b_ok(g);
  weft__free(in);
  weft__status_update(&g->sticky, err);
  return err;
}
