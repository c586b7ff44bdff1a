/* summary.c - summary nodes.  Each has the name of its scope, and its tag is a constant inside the scope. */
#include "train/model/summary.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include "graph/collection.h"
#include "graph/scope.h"
#include "train/model/nodes.h"
#include "train/model/variable_nodes.h"
#include <ctype.h>
#include <string.h>

static const weft_summary_opts no_opts = {0};

/* Replaces characters that a tag may not have by '_', as TensorFlow does. */
static char *summary_clean(const char *name) {
  char *s = weft__strdup(name), *from = s;
  if (!s) return NULL;
  for (char *c = s; *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr("-/_.", *c) && (unsigned char)*c < 0x80) *c = '_';
  while (*from == '/') from++;
  memmove(s, from, strlen(from) + 1);
  if (strcmp(s, name) != 0) weft__log(LOG_INFO, "Summary name %s is illegal; using %s instead.", name, s);
  return s;
}

/* Opens the scope of a summary and finds its tag: "scope/name", with the family before both and in between. */
static bool summary_enter(weft_graph *g, const char *name, const weft_summary_opts *o, text *tag) {
  char *cleaned = summary_clean(name), *family = o->family ? summary_clean(o->family) : NULL;
  char *inside = family ? weft__sprintf("%s/%s", family, cleaned ? cleaned : "") : cleaned;
  bool ok = cleaned && (family || !o->family) && inside;
  if (!ok) weft__status_update(&g->sticky, WEFT_OOM);
  if (ok) {
    weft__b_push_name(g, inside);
    if (family) weft__text_printf(tag, "%s/", family);
    weft__text_puts(tag, weft__scope_prefix(g));
  }
  if (inside != cleaned) weft__free(inside);
  weft__free(cleaned);
  weft__free(family);
  return ok;
}

static weft_out summary_leave(weft_graph *g, text *tag, weft_out made, const weft_summary_opts *o) {
  weft__b_pop(g);
  weft__text_finish(tag);
  const char *name = made.node >= 0 ? weft__n_out_name(g, made) : NULL;
  if (!name) return WEFT_NONE;
  if (o->n_collection == 0) weft__status_update(&g->sticky, weft__collection_add_name(g, "summaries", name));
  for (int i = 0; i < o->n_collection; i++)
    weft__status_update(&g->sticky, weft__collection_add_name(g, o->collections[i], name));
  return made;
}

/* Adds a summary that consists of a tag, a value and attributes. */
static weft_out summary_simple(weft_graph *g, const char *type, const char *tag_name, const char *name, weft_out x,
                               int n_attr, const attr *attrs, const weft_summary_opts *opts) {
  const weft_summary_opts *o = opts ? opts : &no_opts;
  text tag = {0};
  if (!summary_enter(g, name, o, &tag)) return WEFT_NONE;
  weft_out t = weft__n_string(g, tag_name, weft__text_get(&tag));
  x = weft__variable_or_value(g, x);
  return summary_leave(g, &tag, weft__n_scope_node(g, type, 2, (weft_out[]){t, x}, n_attr, attrs), o);
}

weft_out weft__summary_scalar(weft_graph *g, const char *name, weft_out x, const weft_summary_opts *opts) {
  return summary_simple(g, "ScalarSummary", "tags", name, x, 0, NULL, opts);
}

weft_out weft__summary_histogram(weft_graph *g, const char *name, weft_out x, const weft_summary_opts *opts) {
  return summary_simple(g, "HistogramSummary", "tag", name, x, 0, NULL, opts);
}

weft_out weft__summary_image(weft_graph *g, const char *name, weft_out x, int max_outputs,
                             const weft_summary_opts *opts) {
  return summary_simple(g, "ImageSummary", "tag", name, x, 1, &A_INT("max_images", max_outputs > 0 ? max_outputs : 3),
                        opts);
}

weft_out weft__summary_audio(weft_graph *g, const char *name, weft_out x, weft_out sample_rate, int max_outputs,
                             const weft_summary_opts *opts) {
  const weft_summary_opts *o = opts ? opts : &no_opts;
  text tag = {0};
  if (!summary_enter(g, name, o, &tag)) return WEFT_NONE;
  weft_out t = weft__n_string(g, "tag", weft__text_get(&tag));
  weft_out made = weft__n_scope_node(g, "AudioSummaryV2", 3, (weft_out[]){t, x, sample_rate}, 1,
                                     &A_INT("max_outputs", max_outputs > 0 ? max_outputs : 3));
  return summary_leave(g, &tag, made, o);
}

weft_out weft__summary_tensor(weft_graph *g, const char *name, weft_out x, const void *metadata, size_t size,
                              const weft_summary_opts *opts) {
  const weft_summary_opts *o = opts ? opts : &no_opts;
  text tag = {0};
  weft_tensor *m = NULL;
  if (!summary_enter(g, name, o, &tag)) return WEFT_NONE;
  weft__status_update(&g->sticky, weft__tensor_string(&m, metadata, size));
  weft_out t = weft__n_string(g, "tag", weft__text_get(&tag));
  weft_out meta = weft__n_const(g, "serialized_summary_metadata", m);
  return summary_leave(g, &tag, weft__n_scope_node(g, "TensorSummaryV2", 3, (weft_out[]){t, x, meta}, 0, NULL), o);
}

weft_out weft__summary_text(weft_graph *g, const char *name, weft_out x, const weft_summary_opts *opts) {
  static const char text_plugin[] = "\n\6\n\4text"; /* a SummaryMetadata that names the plugin */
  if (x.node >= 0 && weft__out_type(g, x) != WEFT_STRING) {
    weft__status_update(&g->sticky, weft__fail(WEFT_INVALID_ARGUMENT, "Expected tensor %s to have dtype string, got %s",
                                               g->node[x.node]->name, weft__dtype_name(weft__out_type(g, x))));
    return WEFT_NONE;
  }
  return weft__summary_tensor(g, name, x, text_plugin, sizeof text_plugin - 1, opts);
}

weft_out weft__summary_merge(weft_graph *g, const char *name, int n, const weft_out *in,
                             const weft_summary_opts *opts) {
  weft__b_push_name(g, name ? name : "Merge");
  weft_out made = weft__b_node(g, "MergeSummary", name, n, in, 0, NULL);
  weft__b_pop(g);
  if (made.node < 0 || !opts || opts->n_collection == 0) return made;
  const char *full = weft__n_out_name(g, made);
  for (int i = 0; full && i < opts->n_collection; i++)
    weft__status_update(&g->sticky, weft__collection_add_name(g, opts->collections[i], full));
  return made;
}

weft_out weft__summary_merge_all(weft_graph *g, const char *list, const char *within, const char *name) {
  const collection *c = weft__collection_get(g, list ? list : "summaries");
  if (!c || c->kind != COLLECTION_NAMES || c->n == 0) return WEFT_NONE;
  weft_out *in = weft__alloc(sizeof *in * (size_t)c->n), made = WEFT_NONE;
  weft_err err = in ? WEFT_OK : WEFT_OOM;
  int n = 0;
  for (int i = 0; !err && i < c->n; i++) {
    if (within && strncmp(c->s[i].data, within, strlen(within)) != 0) continue;
    err = weft__graph_find_out(g, c->s[i].data, &in[n++]);
  }
  weft__status_update(&g->sticky, err);
  if (!err && n) made = weft__summary_merge(g, name, n, in, NULL);
  weft__free(in);
  return made;
}
