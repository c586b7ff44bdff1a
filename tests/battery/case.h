/* case.h - parses the cases of an op (graph/op.h) and builds their graphs. */
#ifndef WEFT_TESTS_CASE_H
#define WEFT_TESTS_CASE_H

#include "graph/graph.h"

enum { MAX_INPUTS = 32 };

typedef struct case_input {
  weft_tensor *value;
  bool is_variable;
} case_input;

typedef struct test_case {
  const op *op;
  const op_case *from;
  case_input in[MAX_INPUTS];
  int n_in;
} test_case;

/* Reads the inputs.  INTERNAL if the notation is wrong. */
weft_err case_read(test_case *out, const op *o, const op_case *c);
void case_finish(test_case *c);
/* One value, "f32[2,3] 1 2 3"; *is_variable tells of a leading '&'; generators draw other
 * numbers for other seeds. */
weft_err case_value(weft_tensor **out, const char *begin, const char *end, uint64_t seed, bool *is_variable);
/* The end of the part that begins at `at` in a list separated by ';' (quotes respected). */
const char *case_part_end(const char *at);

typedef struct case_graph {
  weft_graph *g;
  weft_node *node;               /* the one under test */
  weft_out feed[MAX_INPUTS];     /* per input: its placeholder */
  weft_out variable[MAX_INPUTS]; /* per input: the variable's output, or WEFT_NONE */
  int init[MAX_INPUTS], n_init;  /* nodes that initialize variables */
  weft_out read[MAX_INPUTS];     /* per input: where a variable's value can be fetched */
} case_graph;

/* A graph with a placeholder for every input, variables where the case asks for them, and the node. */
weft_err case_build(case_graph *out, const op_table *ops, const test_case *c);
/* How the inputs come in: fed through placeholders of their shapes or of unknown ones, or as constants. */
typedef enum case_inputs { CASE_KNOWN, CASE_UNKNOWN, CASE_CONSTANTS } case_inputs;
weft_err case_build_as(case_graph *out, const op_table *ops, const test_case *c, case_inputs how);

#endif
