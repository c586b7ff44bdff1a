/* config.c - the fields of a ConfigProto that mean something here. */
#include "dist/config.h"

#include "base/alloc.h"
#include "proto/text.h"

weft_err weft__config_apply(session_opts *opts, const Tensorflow__ConfigProto *c) {
  if (c->intra_op_parallelism_threads) opts->intra_threads = c->intra_op_parallelism_threads;
  if (c->inter_op_parallelism_threads) opts->inter_threads = c->inter_op_parallelism_threads;
  if (c->operation_timeout_in_ms) opts->timeout_ms = c->operation_timeout_in_ms;
  opts->allow_soft_placement |= c->allow_soft_placement;
  opts->log_device_placement |= c->log_device_placement;
  opts->isolate_session_state |= c->isolate_session_state;
  if (c->n_device_filters) {
    opts->n_filter = (int)c->n_device_filters;
    opts->filter = (const char *const *)c->device_filters;
  }
  text shown = {0};
  weft__proto_text(&shown, &c->base, true);
  opts->config_text = shown.failed ? NULL : weft__strdup(weft__text_get(&shown));
  weft__text_finish(&shown);
  return opts->config_text ? WEFT_OK : WEFT_OOM;
}
