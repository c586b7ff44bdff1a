/* task_set.c - finds the tasks that a graph requires, and collects the devices of those that answered.
 *
 * It has no lock of its own: the session's placement lock guards it. */
#include "cluster/master/task_set.h"

#include "base/alloc.h"
#include "base/array.h"
#include <stdlib.h>

/* ---- the allowed tasks -------------------------------------------------------------------------- */

static bool task_set_text_matches(bool has_a, const char *a, bool has_b, const char *b) {
  return !has_a || !has_b || strcmp(a, b) == 0;
}

static bool task_set_number_matches(int a, int b) { return a < 0 || b < 0 || a == b; }

/* A field that one of the specs leaves out matches everything. */
static bool task_set_intersects(const device_spec *a, const device_spec *b) {
  return task_set_text_matches(a->has_job, a->job, b->has_job, b->job) &&
         task_set_number_matches(a->replica, b->replica) && task_set_number_matches(a->task, b->task);
}

static bool task_set_allows(const task_set *set, const peer *p) {
  device_spec own;
  if (set->n_filter == 0 || weft__peer_is_self(p)) return true;
  if (weft__device_parse(&own, weft__peer_task(p)) != WEFT_OK) return false;
  for (int i = 0; i < set->n_filter; i++)
    if (task_set_intersects(&set->filter[i], &own)) return true;
  return false;
}

static int task_set_compare(const void *a, const void *b) {
  return strcmp(weft__peer_task(*(peer *const *)a), weft__peer_task(*(peer *const *)b));
}

static weft_err task_set_list_allowed(task_set *set) {
  int n = weft__peers_count(set->peers);
  set->allowed = weft__alloc_zero((size_t)n + 1, sizeof *set->allowed);
  set->task = weft__alloc_zero((size_t)n + 1, sizeof *set->task);
  if (!set->allowed || !set->task) return WEFT_OOM;
  for (int i = 0; i < n; i++) {
    peer *p = weft__peers_at(set->peers, i);
    if (task_set_allows(set, p)) set->allowed[set->n_allowed++] = p;
  }
  qsort(set->allowed, (size_t)set->n_allowed, sizeof *set->allowed, task_set_compare);
  return WEFT_OK;
}

static weft_err task_set_add_devices(task_set *set, const device_info *list, int n, int number) {
  const int64_t total = (int64_t)set->n_device + n;
  WEFT_TRY(WEFT_ARRAY_RESERVE(set->device, set->device_capacity, total));
  WEFT_TRY(WEFT_ARRAY_RESERVE(set->device_task, set->device_task_capacity, total));
  for (int i = 0; i < n; i++) {
    set->device[set->n_device] = list[i];
    set->device_task[set->n_device++] = number;
  }
  return WEFT_OK;
}

/* Adds this task, which needs no call. */
static weft_err task_set_add_self(task_set *set) {
  device_info *own;
  int n;
  WEFT_TRY(weft__peers_find(set->peers, set->self->name, &set->task[0]));
  WEFT_TRY(weft__task_devices(set->self, &own, &n));
  weft_err err = task_set_add_devices(set, own, n, 0);
  if (err)
    weft__place_infos_free(own, n);
  else
    weft__free(own);
  set->n_task = 1;
  return err;
}

weft_err weft__task_set_init(task_set *set, peers *p, const task *self, const session_opts *opts) {
  *set = (task_set){.peers = p, .self = self};
  set->filter = weft__alloc_zero((size_t)opts->n_filter + 1, sizeof *set->filter);
  if (!set->filter) return WEFT_OOM;
  for (; set->n_filter < opts->n_filter; set->n_filter++) {
    weft_err err = weft__device_parse(&set->filter[set->n_filter], opts->filter[set->n_filter]);
    if (err) return weft__fail_in(err, "device_filters[%d]", set->n_filter);
  }
  WEFT_TRY(task_set_list_allowed(set));
  return task_set_add_self(set);
}

void weft__task_set_finish(task_set *set) {
  weft__place_infos_free(set->device, set->n_device);
  weft__free(set->device_task);
  weft__free(set->filter);
  weft__free(set->task);
  weft__free(set->allowed);
  *set = (task_set){0};
}

/* ---- the required tasks ------------------------------------------------------------------------- */

static bool task_set_contains(const task_set *set, const peer *p) {
  for (int i = 0; i < set->n_task; i++)
    if (set->task[i] == p) return true;
  return false;
}

/* Returns the first task that matches the device.  NULL if none does: placement reports that error. */
static peer *task_set_first_match(const task_set *set, const device_spec *want) {
  for (int i = 0; i < set->n_allowed; i++) {
    device_spec own;
    if (weft__device_parse(&own, weft__peer_task(set->allowed[i])) == WEFT_OK && task_set_intersects(want, &own))
      return set->allowed[i];
  }
  return NULL;
}

static weft_err task_set_require_device(const task_set *set, const char *device_text, required_task *list, int *n) {
  device_spec want;
  WEFT_TRY(weft__device_parse(&want, device_text));
  peer *p = task_set_first_match(set, &want);
  if (!p || task_set_contains(set, p)) return WEFT_OK;
  for (int i = 0; i < *n; i++)
    if (list[i].peer == p) return WEFT_OK;
  list[(*n)++].peer = p;
  return WEFT_OK;
}

static weft_err task_set_require_nodes(const task_set *set, const weft_graph *g, int from, int end, required_task *list,
                                       int *n) {
  const char *last = NULL;
  for (int i = from; i < end; i++) {
    const char *device_text = g->node[i]->device;
    if (last && strcmp(last, device_text) == 0) continue;
    last = device_text;
    weft_err err = task_set_require_device(set, device_text, list, n);
    if (err) return weft__fail_in(err, "node '%s'", g->node[i]->name);
  }
  return WEFT_OK;
}

weft_err weft__task_set_require(const task_set *set, weft_graph *g, int from, int *end, required_task **list, int *n) {
  *n = 0;
  *list = weft__alloc_zero((size_t)set->n_allowed + 1, sizeof **list);
  if (!*list) return WEFT_OOM;
  if (!g) {
    for (int i = 0; i < set->n_allowed; i++)
      if (!task_set_contains(set, set->allowed[i])) (*list)[(*n)++].peer = set->allowed[i];
    return WEFT_OK;
  }
  pthread_mutex_lock(&g->lock);
  *end = g->n_node;
  weft_err err = task_set_require_nodes(set, g, from, *end, *list, n);
  pthread_mutex_unlock(&g->lock);
  return err;
}

weft_err weft__task_set_add(task_set *set, required_task *list, int n) {
  for (int i = 0; i < n; i++) {
    if (task_set_contains(set, list[i].peer)) continue;
    WEFT_TRY(task_set_add_devices(set, list[i].device, list[i].n_device, set->n_task));
    weft__free(list[i].device); /* its strings belong to the set now */
    list[i] = (required_task){.peer = list[i].peer};
    set->task[set->n_task++] = list[i].peer;
  }
  return WEFT_OK;
}
