/* defaults.h - what a supervised program's graph has when the program does not say: init, ready and summary ops, a
 * saver, the global step.  Each is taken from its collection, or made and put there, as TensorFlow does. */
#ifndef WEFT_TRAIN_SESSION_DEFAULTS_H
#define WEFT_TRAIN_SESSION_DEFAULTS_H

#include "train/checkpoint/saver.h"

/* The first output or node that a collection of names holds; WEFT_NONE if there is none. */
weft_out weft__first_of(const weft_graph *g, const char *list);
/* What the program gave (WEFT_NONE: none), else what the collection has, else WEFT_NONE with *make set. */
weft_out weft__given_or_first(const weft_graph *g, const weft_out *given, const char *list, bool *make);
/* Adds a node ("init") or an output ("concat:0") to a collection; a failure sticks. */
void weft__list_node(weft_graph *g, const char *list, weft_out node);
void weft__list_out(weft_graph *g, const char *list, weft_out o);

weft_out weft__init_of(weft_graph *g, const char *list, const char *name); /* of a collection of variables */
weft_out weft__tables_init(weft_graph *g);
weft_out weft__report_of(weft_graph *g, const char *name, bool with_local);
/* *saver is the caller's; NULL when the graph has no variables. */
weft_err weft__default_saver(weft_graph *g, bool sharded, weft_saver **saver);
/* The graph as text, whole or absent: DIR/graph.pbtxt. */
weft_err weft__write_graph(weft_graph *g, const char *dir);

#endif
