/* while_loop.h - tf.while_loop: nodes made between begin and end run again and again.
 *
 *     while_loop l;
 *     weft__while_loop_begin(&l, g, "while", n, initial);       l.var[i]: the variables, for the condition
 *     weft__while_loop_body(&l, condition);                     l.var[i]: the variables, in an iteration
 *     ...
 *     weft__while_loop_end(&l, next, last);
 * What is used from outside enters by itself.  Failures stick to the graph; end must be called all the same. */
#ifndef WEFT_TRAIN_MODEL_WHILE_LOOP_H
#define WEFT_TRAIN_MODEL_WHILE_LOOP_H

#include "base/map.h"
#include "graph/build.h"

enum { WHILE_LOOP_VARS = 8 };

typedef struct while_loop {
  weft_graph *g;
  const char *frame;
  int n, first; /* first: nodes from this id on are inside */
  int pivot;    /* a node that runs once in every iteration; nodes without inputs wait for it */
  weft_out var[WHILE_LOOP_VARS], merge[WHILE_LOOP_VARS], exit[WHILE_LOOP_VARS];
  map entered; /* "node:slot" from outside -> its Enter, in the graph's memory */
} while_loop;

/* n is at most WHILE_LOOP_VARS. */
void weft__while_loop_begin(while_loop *l, weft_graph *g, const char *name, int n, const weft_out *initial);
void weft__while_loop_body(while_loop *l, weft_out condition);
/* `next` has the variables of the next iteration; `last` gets their values after the loop. */
void weft__while_loop_end(while_loop *l, const weft_out *next, weft_out *last);

#endif
