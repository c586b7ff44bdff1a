/* summary.h - nodes that make summaries, with TensorFlow's names, tags and collections. */
#ifndef WEFT_TRAIN_MODEL_SUMMARY_H
#define WEFT_TRAIN_MODEL_SUMMARY_H

#include "graph/graph.h"
#include "weft/train.h"

/* All return the summary, a string; WEFT_NONE on failure, and the graph keeps the error (graph/build.h).  opts may be
 * NULL. */
weft_out weft__summary_scalar(weft_graph *g, const char *name, weft_out x, const weft_summary_opts *opts);
weft_out weft__summary_histogram(weft_graph *g, const char *name, weft_out x, const weft_summary_opts *opts);
weft_out weft__summary_image(weft_graph *g, const char *name, weft_out x, int max_outputs,
                             const weft_summary_opts *opts);
weft_out weft__summary_audio(weft_graph *g, const char *name, weft_out x, weft_out sample_rate, int max_outputs,
                             const weft_summary_opts *opts);
/* With a serialized SummaryMetadata. */
weft_out weft__summary_tensor(weft_graph *g, const char *name, weft_out x, const void *metadata, size_t size,
                              const weft_summary_opts *opts);
weft_out weft__summary_text(weft_graph *g, const char *name, weft_out x, const weft_summary_opts *opts);
weft_out weft__summary_merge(weft_graph *g, const char *name, int n, const weft_out *in, const weft_summary_opts *opts);
/* Merges all summaries of a collection (NULL: "summaries") whose names begin with `within` (NULL: all); WEFT_NONE if
 * there are none. */
weft_out weft__summary_merge_all(weft_graph *g, const char *list, const char *within, const char *name);

#endif
