/* scaffold.h - the ops that a monitored session needs in its graph: given, found in collections, or created. */
#ifndef WEFT_TRAIN_SESSION_SCAFFOLD_H
#define WEFT_TRAIN_SESSION_SCAFFOLD_H

#include "train/checkpoint/saver.h"
#include "weft/supervise.h"

typedef struct scaffold {
  weft_out init, ready, ready_for_local_init, local_init, summary;
  weft_saver *saver;
  bool own_saver;
} scaffold;

/* Fills *s, as TensorFlow's Scaffold.finalize does.  Each op is the one of the options, else the first of its
 * collection, else a new one, which is added to the collection.  The saver is that of the options, else the default
 * saver of the graph.  weft__scaffold_finish releases what *s owns, also after an error.  Returns the first error of
 * building the graph. */
weft_err weft__scaffold_build(scaffold *s, weft_graph *g, const weft_monitored_opts *o);
void weft__scaffold_finish(scaffold *s);

#endif
