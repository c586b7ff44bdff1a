/* aliases.h - finds the nodes whose output must follow a reference variable.
 *
 * In TensorFlow the read of a reference variable, and every op that passes its input on unchanged (Identity, Switch,
 * Merge, Enter, ...), shares the variable's memory.  So a node that reads the output of tf.identity(v), or v inside of
 * tf.cond, sees what v holds when that node runs, not what it held when the read ran.  Programs depend on it:
 *
 *   tf.cond(p, lambda: after([tf.assign(v, 5)], lambda: v + 1), ...)      gives 6
 *
 * Here a value is a snapshot: an update of a variable that somebody still reads makes new memory.  The nodes found here
 * pass the reference on instead of a value, and their readers read the variable.  Where no update can come between such
 * a node and its readers the two are the same, and nothing is marked: that is so in nearly all plans. */
#ifndef WEFT_EXEC_PASSES_ALIASES_H
#define WEFT_EXEC_PASSES_ALIASES_H

#include "exec/feeds.h"

typedef struct alias_request {
  const weft_graph *graph; /* its lock is held */
  const plan_request *request;
  const feeds *feeds;
  const int *order; /* the nodes of the plan, inputs before readers */
  int n_order;
  const bool *stays; /* per node: its output goes to another device, so that a value is made; NULL: none */
} alias_request;

/* Stores for each node whether its output is a reference, in an array that the caller frees with weft__free; NULL if
 * there is none. */
weft_err weft__aliases_find(const alias_request *r, bool **out);

/* Returns true if n is the `read` of a reference variable, which nothing delays.  Such a read does not run at all: its
 * readers read the variable.  One whose output goes to another device (stays, which may be NULL) does run. */
static inline bool weft__is_plain_read(const weft_graph *g, const weft_node *n, const bool *stays) {
  if (stays && stays[n->id]) return false;
  return weft__node_is(n, KIND_IDENTITY) && !weft__out_is_ref(g, (weft_out){n->id, 0, 0}) && n->n_control == 0 &&
         weft__out_is_ref(g, n->in[0]) && (g->node[n->in[0].node]->op->flags & OP_ONCE);
}

/* Returns true if input i of a node that forwards is what the node forwards. */
static inline bool weft__input_is_forwarded(const weft_node *n, int i) {
  return n->op && (n->op->flags & OP_FORWARDS) && (i == 0 || weft__node_is(n, KIND_MERGE));
}

/* Returns true if output o of a node that forwards is what it forwards: all but Merge's second, which is a number. */
static inline bool weft__output_is_forwarded(const weft_node *n, int o) {
  return n->op && (n->op->flags & OP_FORWARDS) && (o == 0 || !weft__node_is(n, KIND_MERGE));
}

#endif
