/* distinct_rows.h - makes a ps send each row of a lookup once, however often its id occurs in the batch.
 *
 * A worker sends ids to a ps, gets the rows of a table, and later sends a gradient for each of them.  On the ps, the
 * optimizer makes the ids distinct and adds the gradients of equal ids, in the order of the batch.  The pass moves
 * both to the client's task.  The lookup then takes the distinct ids, and the client's task repeats the rows.  The
 * values keep their bits, and distinct ids, rows and gradients travel instead of all of them.
 *
 * The pass only moves ops that the step has; it adds none that make ids distinct.  A step that uses the distinct ids,
 * their numbers or the rows on the ps for something else is not changed. */
#ifndef WEFT_EXEC_PASSES_DISTINCT_ROWS_H
#define WEFT_EXEC_PASSES_DISTINCT_ROWS_H

#include "exec/feeds.h"
#include "exec/passes/cut.h"
#include "exec/passes/order.h"

typedef struct distinct_rows {
  /* Per node: if its output has one row for each distinct id, the node that makes the ids distinct; else -1.  It is a
   * lookup or an Identity of one. */
  int *ids;
  int *lookup; /* per such node: the lookup, perhaps itself */
} distinct_rows;

/* Fills *d, and changes in `where` on which task nodes run.  Only for a step without control flow between Weft tasks.
 * The caller holds the graph's lock, and calls weft__distinct_rows_finish, also after an error.  Returns
 * RESOURCE_EXHAUSTED. */
weft_err weft__distinct_rows_find(distinct_rows *d, const cut *c, int *where, const feeds *f, waits *w,
                                  const int *order, int n_order);
void weft__distinct_rows_finish(distinct_rows *d);
/* Returns what input i of the node reads: distinct ids in place of the lookup's. */
weft_out weft__distinct_rows_input(const distinct_rows *d, const weft_node *n, int i);

#endif
