/* task.c - creates and destroys the devices, resources and thread pools of a task. */
#include "exec/task.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/text.h"

weft_err weft__task_create(task **out, const char *name, int intra_threads, int inter_threads) {
  task *t = weft__alloc_zero(1, sizeof *t);
  if (!t) return WEFT_OOM;
  t->name = weft__strdup(name);
  t->device = weft__alloc_zero(1, sizeof *t->device);
  weft_err err = t->name && t->device ? WEFT_OK : WEFT_OOM;
  if (!err) err = weft__device_cpu(&t->device[0], name, 0);
  if (!err) t->n_device = 1;
  if (!err) err = weft__resources_create(&t->resources);
  if (!err) err = weft__pool_create(&t->intra, intra_threads);
  if (!err) err = weft__pool_create(&t->inter, inter_threads);
  if (err)
    weft__task_destroy(t);
  else
    *out = t;
  return err;
}

enum { CPUS_MAX = 256 };

weft_err weft__task_add_cpus(task *t, int n) {
  if (n > CPUS_MAX)
    return weft__fail(WEFT_INVALID_ARGUMENT, "device_count asks for %d CPU devices; at most %d are possible", n,
                      CPUS_MAX);
  int64_t capacity = t->n_device; /* at least */
  WEFT_TRY(WEFT_ARRAY_RESERVE(t->device, capacity, n));
  for (int i = t->n_device; i < n; i++) {
    WEFT_TRY(weft__device_cpu(&t->device[i], t->name, i));
    t->n_device = i + 1;
  }
  return WEFT_OK;
}

weft_err weft__task_add_gpus(task *t, const gpu_options *o) {
  return weft__device_gpus(&t->device, &t->n_device, t->name, o);
}

void weft__task_destroy(task *t) {
  if (!t) return;
  weft__resources_destroy(t->resources);
  weft__pool_destroy(t->intra);
  weft__pool_destroy(t->inter);
  for (int i = 0; i < t->n_device; i++) weft__device_destroy(t->device[i]);
  weft__free(t->device);
  weft__free(t->name);
  weft__free(t);
}

/* Returns the number of the device that a name means; that of the CPU if there is no such device. */
static int find_device(const task *t, const char *name) {
  device_spec want, full;
  for (int i = 0; i < t->n_device; i++)
    if (strcmp(t->device[i]->name, name) == 0) return i;
  if (!*name || weft__device_parse(&want, name) != WEFT_OK || !want.has_type) return 0;
  for (int i = 0; i < t->n_device; i++)
    if (weft__device_parse(&full, t->device[i]->name) == WEFT_OK && weft__device_matches(&want, &full)) return i;
  return 0;
}

weft_err weft__task_where(const task *t, const weft_graph *g, int **of_node) {
  *of_node = NULL;
  if (t->n_device == 1) return WEFT_OK;
  *of_node = weft__alloc(sizeof **of_node * (size_t)(g->n_node + 1));
  if (!*of_node) return WEFT_OOM;
  for (int i = 0; i < g->n_node; i++) (*of_node)[i] = find_device(t, g->node[i]->device ? g->node[i]->device : "");
  return WEFT_OK;
}

weft_err weft__task_devices(const task *t, device_info **out, int *n) {
  device_info *list = weft__alloc_zero((size_t)t->n_device, sizeof *list);
  if (!list) return WEFT_OOM;
  for (int i = 0; i < t->n_device; i++) {
    const device *d = t->device[i];
    list[i] = (device_info){.name = weft__strdup(d->name),
                            .type = weft__strdup(d->ops->type),
                            .description = weft__strdup(d->description),
                            .memory_limit = d->memory_limit,
                            .incarnation = d->incarnation};
    if (list[i].name && list[i].type && list[i].description) continue;
    weft__place_infos_free(list, t->n_device);
    return WEFT_OOM;
  }
  *out = list;
  *n = t->n_device;
  return WEFT_OK;
}
