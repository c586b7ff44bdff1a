/* config.c - reads the fields of a ConfigProto that Weft uses; it ignores the others.  It has no state and no lock. */
#include "cluster/config.h"

#include "base/alloc.h"
#include "base/cast.h"
#include "proto/text.h"
#include <stdio.h>
#include <string.h>

static bool config_is_gpu(const char *type) { return type && strcmp(type, "GPU") == 0; }

/* Reads how each GPU is split into virtual devices, in the order of the visible GPUs. */
static void config_split_gpus(gpu_options *o, const Tensorflow__GPUOptionsExperimental *e) {
  for (size_t i = 0; e && i < e->n_virtual_devices && i < GPU_MAX_CARDS; i++) {
    const Tensorflow__GPUOptionsVirtualDevices *v = e->virtual_devices[i];
    o->parts[i].n = v->n_memory_limit_mb < GPU_MAX_VIRTUAL ? weft__int_sat(v->n_memory_limit_mb) : GPU_MAX_VIRTUAL;
    for (int p = 0; p < o->parts[i].n; p++) o->parts[i].megabytes[p] = (int64_t)v->memory_limit_mb[p];
  }
}

static void config_apply_gpu(gpu_options *o, const Tensorflow__ConfigProto *c) {
  const Tensorflow__GPUOptions *g = c->gpu_options;
  for (size_t i = 0; i < c->n_device_count; i++)
    if (config_is_gpu(c->device_count[i]->key)) {
      o->bounded = true;
      o->limit = c->device_count[i]->value;
    }
  if (!g) return;
  o->fraction = g->per_process_gpu_memory_fraction;
  o->growth = g->allow_growth;
  if (g->visible_device_list) snprintf(o->visible, sizeof o->visible, "%s", g->visible_device_list);
  config_split_gpus(o, g->experimental);
}

bool weft__config_mixed_precision(const Tensorflow__GraphOptions *o) {
  const int32_t toggle = o->rewrite_options ? o->rewrite_options->auto_mixed_precision : 0;
  return toggle == REWRITE_ON || toggle == REWRITE_AGGRESSIVE;
}

void weft__config_apply_task(session_opts *opts, const Tensorflow__ConfigProto *c) {
  for (size_t i = 0; i < c->n_device_count; i++)
    if (c->device_count[i]->key && strcmp(c->device_count[i]->key, "CPU") == 0) opts->cpus = c->device_count[i]->value;
  if (c->intra_op_parallelism_threads) opts->intra_threads = c->intra_op_parallelism_threads;
  if (c->inter_op_parallelism_threads) opts->inter_threads = c->inter_op_parallelism_threads;
  config_apply_gpu(&opts->gpu, c);
  if (c->experimental && c->experimental->collective_group_leader)
    snprintf(opts->collective_leader, sizeof opts->collective_leader, "%s", c->experimental->collective_group_leader);
}

weft_err weft__config_apply(session_opts *opts, const Tensorflow__ConfigProto *c) {
  weft__config_apply_task(opts, c);
  if (c->operation_timeout_in_ms) opts->timeout_ms = c->operation_timeout_in_ms;
  opts->allow_soft_placement |= c->allow_soft_placement;
  opts->log_device_placement |= c->log_device_placement;
  if (c->graph_options) {
    opts->build_cost_model = c->graph_options->build_cost_model;
    opts->build_cost_model_after = c->graph_options->build_cost_model_after;
    opts->mixed_precision = weft__config_mixed_precision(c->graph_options);
  }
  opts->isolate_session_state |= c->isolate_session_state;
  if (c->n_device_filters) {
    opts->n_filter = weft__int_sat(c->n_device_filters);
    opts->filter = (const char *const *)c->device_filters;
  }
  text shown = {0};
  weft__proto_text(&shown, &c->base, true);
  opts->config_text = shown.failed ? NULL : weft__strdup(weft__text_get(&shown));
  weft__text_finish(&shown);
  return opts->config_text ? WEFT_OK : WEFT_OOM;
}
