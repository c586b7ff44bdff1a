/* aliases.h - finds the nodes that must pass on a reference to a variable instead of a value.
 *
 * In TensorFlow the read of a reference variable, and every op that passes its input on unchanged (Identity, Switch,
 * Merge, Enter, ...), shares the variable's memory.  So a node that reads the output of tf.identity(v), or v inside of
 * tf.cond, sees what v holds when that node runs, not what it held when the read ran.  Programs depend on it.  If v is
 * 0, the following gives 6, where a snapshot of v from before the branch would give 1:
 *
 *   def branch():
 *     with tf.control_dependencies([tf.assign(v, 5)]): return v + 1
 *   tf.cond(True, branch, ...)
 *
 * Here a value is a snapshot: an update of a variable that somebody still reads makes new memory.  The nodes found
 * here, called aliases, pass a reference on, and their readers read the variable.  Where no update can run between such
 * a node and its readers, a value and a reference give the same result, and no node becomes an alias: that is so in
 * nearly all plans.  Ops that pass on several inputs (IdentityN) or another shape (Reshape) always take a value. */
#ifndef WEFT_EXEC_PASSES_ALIASES_H
#define WEFT_EXEC_PASSES_ALIASES_H

#include "exec/feeds.h"

typedef struct alias_request {
  const weft_graph *graph; /* its lock is held */
  const plan_request *request;
  const feeds *feeds;
  const int *order; /* the nodes of the plan, inputs before readers */
  int n_order;
  const bool *needs_value; /* per node: its output goes to another device, which gets a value; NULL: none */
} alias_request;

/* Stores for each node of the graph whether it is an alias: its output has the type of a value, and a reference is
 * passed on.  The caller frees the array with weft__free; it is NULL if there is no alias.  Returns
 * RESOURCE_EXHAUSTED. */
weft_err weft__aliases_find(const alias_request *r, bool **out);

/* Returns true if n is an Identity directly behind a reference variable, without control inputs.  It does not run at
 * all: its readers read the variable.  One whose output goes to another device (needs_value, which may be NULL) does
 * run. */
static inline bool weft__is_plain_read(const weft_graph *g, const weft_node *n, const bool *needs_value) {
  if (needs_value && needs_value[n->id]) return false;
  return weft__node_is(n, KIND_IDENTITY) && !weft__out_is_ref(g, (weft_out){n->id, 0, 0}) && n->n_control == 0 &&
         weft__out_is_ref(g, n->in[0]) && (g->node[n->in[0].node]->op->flags & OP_ONCE);
}

/* Returns true if the node passes its input i on: false for Switch's predicate. */
static inline bool weft__input_is_forwarded(const weft_node *n, int i) {
  return n->op && (n->op->flags & OP_FORWARDS) && (i == 0 || weft__node_is(n, KIND_MERGE));
}

/* Returns true if output o of a node is an input that it passes on: false for Merge's output 1, which is the index of
 * the input that came. */
static inline bool weft__output_is_forwarded(const weft_node *n, int o) {
  return n->op && (n->op->flags & OP_FORWARDS) && (o == 0 || !weft__node_is(n, KIND_MERGE));
}

#endif
