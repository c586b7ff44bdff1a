/* fuzz_op.h - calls one op's kernel on bytes of a fuzzer, without a session. */
#ifndef WEFT_TESTS_FUZZ_OP_H
#define WEFT_TESTS_FUZZ_OP_H

#include "graph/build.h"
#include "graph/kernel.h"
#include "ops/all.h"
#include <stdlib.h>

enum { FUZZ_OP_INPUTS = 8, FUZZ_OP_OUTPUTS = 8 };

/* Parsed once and kept for the life of the process. */
static inline op_table *fuzz_op_table(void) {
  static op_table *t;
  if (!t && weft__op_table_create(&t, weft__ops_all()) != WEFT_OK) abort();
  return t;
}

/* A node of that op whose inputs are placeholders of these types and of unknown shape.  Its graph lives as long as the
 * process; the target keeps the node in a static variable. */
static inline const weft_node *fuzz_op_node(const char *name, int n_in, const weft_dtype *type, int n_attr,
                                            const attr *attrs) {
  weft_graph *g;
  weft_out in[FUZZ_OP_INPUTS];
  shape any = SHAPE_UNKNOWN;
  if (n_in > FUZZ_OP_INPUTS || weft__graph_create(&g, fuzz_op_table()) != WEFT_OK) abort();
  for (int i = 0; i < n_in; i++)
    in[i] =
        weft__b_node(g, "Placeholder", NULL, 0, NULL, 2, (attr[]){A_TYPE("dtype", type[i]), A_SHAPE("shape", &any)});
  weft_out o = weft__b_node(g, name, NULL, n_in, in, n_attr, attrs);
  if (weft__b_ok(g) != WEFT_OK || g->node[o.node]->n_out > FUZZ_OP_OUTPUTS) abort();
  return g->node[o.node];
}

/* Reads every byte of a tensor, so that the sanitizers see memory that is not there. */
static inline void fuzz_op_touch(const weft_tensor *t) {
  static volatile uint8_t sum; /* volatile, so that the loads stay */
  if (!t->buf || t->dtype == WEFT_STRING) return;
  for (size_t i = 0; i < weft__tensor_bytes(t); i++) sum = (uint8_t)(sum ^ ((const uint8_t *)t->data)[i]);
}

/* Runs the kernel once; what it computes is read and dropped. */
static inline weft_err fuzz_op_run(const weft_node *n, const weft_tensor **in) {
  value out[FUZZ_OP_OUTPUTS] = {{.dead = false}};
  variable *ref[FUZZ_OP_INPUTS] = {NULL};
  step st = {0};
  kernel k = {
      .node = n, .op = n->op, .step = &st, .n_in = n->n_in, .n_out = n->n_out, .in = in, .ref = ref, .out = out};
  weft_err err = n->op->prepare ? n->op->prepare(n, &k.state) : WEFT_OK;
  if (!err) err = n->op->cpu(&k);
  if (n->op->unprepare) n->op->unprepare(k.state);
  for (int i = 0; i < n->n_out; i++) {
    if (!err) fuzz_op_touch(&out[i].t);
    weft__tensor_clear(&out[i].t);
  }
  return err;
}

/* The same for an op with one string input: the bytes. */
static inline weft_err fuzz_op_run_bytes(const weft_node *n, const uint8_t *data, size_t size) {
  weft_tensor *t;
  if (weft__tensor_string(&t, (const char *)data, size) != WEFT_OK) return WEFT_RESOURCE_EXHAUSTED;
  weft_err err = fuzz_op_run(n, (const weft_tensor *[]){t});
  weft_tensor_destroy(t);
  return err;
}

/* The same for a decoder of images: the first byte chooses the number of channels (0: as the file has them). */
static inline void fuzz_op_decode(const char *op_name, const uint8_t *data, size_t size) {
  static const weft_node *node[5]; /* by number of channels; a target has one decoder */
  if (size == 0) return;
  const int channels = data[0] % 5;
  if (!node[channels])
    node[channels] = fuzz_op_node(op_name, 1, (weft_dtype[]){WEFT_STRING}, 1, (attr[]){A_INT("channels", channels)});
  fuzz_op_run_bytes(node[channels], data + 1, size - 1);
}

#endif
