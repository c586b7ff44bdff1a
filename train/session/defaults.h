/* defaults.h - defaults for a supervised program: init, ready and summary ops, a saver, the global step.  As in
 * TensorFlow, each is taken from its collection, or created and added to it. */
#ifndef WEFT_TRAIN_SESSION_DEFAULTS_H
#define WEFT_TRAIN_SESSION_DEFAULTS_H

#include "train/checkpoint/saver.h"

/* Returns the first output or node that a collection of names lists; WEFT_NONE if there is none. */
weft_out weft__default_first_of(const weft_graph *g, const char *list);
/* Returns what the program gave (WEFT_NONE: nothing), or what the collection has; otherwise WEFT_NONE with *make
 * set. */
weft_out weft__default_given_or_first(const weft_graph *g, const weft_out *given, const char *list, bool *make);
/* Adds a node ("init") or an output ("concat:0") to a collection; the graph records a failure. */
void weft__default_list_node(weft_graph *g, const char *list, weft_out node);
void weft__default_list_out(weft_graph *g, const char *list, weft_out o);

weft_out weft__default_init_of(weft_graph *g, const char *list, const char *name); /* for a collection of variables */
/* A node that initializes the tables, and an output that names the variables without a value (with_local: the local
 * ones too). */
weft_out weft__default_tables_init(weft_graph *g);
weft_out weft__default_report_of(weft_graph *g, const char *name, bool with_local);
/* The caller owns *saver; it is NULL if the graph has no variables. */
weft_err weft__default_saver(weft_graph *g, bool sharded, weft_saver **saver);
/* Writes the graph as text, atomically: DIR/graph.pbtxt. */
weft_err weft__default_write_graph(weft_graph *g, const char *dir);

#endif
