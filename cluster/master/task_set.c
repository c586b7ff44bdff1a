/* task_set.c - which tasks a graph needs, and what they say of their devices. */
#include "cluster/master/task_set.h"

#include "base/alloc.h"
#include <stdlib.h>

/* ---- which tasks there are ---------------------------------------------------------------------- */

static bool text_agrees(bool has_a, const char *a, bool has_b, const char *b) {
  return !has_a || !has_b || strcmp(a, b) == 0;
}

static bool number_agrees(int a, int b) { return a < 0 || b < 0 || a == b; }

/* What is not given on either side agrees with anything. */
static bool intersects(const device_spec *a, const device_spec *b) {
  return text_agrees(a->has_job, a->job, b->has_job, b->job) && number_agrees(a->replica, b->replica) &&
         number_agrees(a->task, b->task);
}

static bool allowed(const world *w, const peer *p) {
  device_spec own;
  if (w->n_filter == 0 || weft__peer_is_self(p)) return true;
  if (weft__device_parse(&own, weft__peer_task(p)) != WEFT_OK) return false;
  for (int i = 0; i < w->n_filter; i++)
    if (intersects(&w->filter[i], &own)) return true;
  return false;
}

static int by_task_name(const void *a, const void *b) {
  return strcmp(weft__peer_task(*(peer *const *)a), weft__peer_task(*(peer *const *)b));
}

static weft_err list_tasks(world *w) {
  int n = weft__peers_count(w->peers);
  w->by_name = weft__alloc_zero((size_t)n + 1, sizeof *w->by_name);
  w->task = weft__alloc_zero((size_t)n + 1, sizeof *w->task);
  if (!w->by_name || !w->task) return WEFT_OOM;
  for (int i = 0; i < n; i++) {
    peer *p = weft__peers_at(w->peers, i);
    if (allowed(w, p)) w->by_name[w->n_by_name++] = p;
  }
  qsort(w->by_name, (size_t)w->n_by_name, sizeof *w->by_name, by_task_name);
  return WEFT_OK;
}

static weft_err add_devices(world *w, const device_info *list, int n, int number) {
  size_t total = (size_t)(w->n_device + n);
  device_info *all = weft__realloc(w->device, total * sizeof *all);
  if (all) w->device = all;
  int *owner = weft__realloc(w->device_task, total * sizeof *owner);
  if (owner) w->device_task = owner;
  if (!all || !owner) return WEFT_OOM;
  for (int i = 0; i < n; i++) {
    w->device[w->n_device] = list[i];
    w->device_task[w->n_device++] = number;
  }
  return WEFT_OK;
}

/* This task is known without asking. */
static weft_err add_self(world *w) {
  device_info *own;
  int n;
  WEFT_TRY(weft__peers_find(w->peers, w->self->name, &w->task[0]));
  WEFT_TRY(weft__task_devices(w->self, &own, &n));
  weft_err err = add_devices(w, own, n, 0);
  if (err)
    weft__device_infos_free(own, n);
  else
    weft__free(own);
  w->n_task = 1;
  return err;
}

weft_err weft__world_init(world *w, peers *p, const task *self, const session_opts *opts) {
  *w = (world){.peers = p, .self = self};
  w->filter = weft__alloc_zero((size_t)opts->n_filter + 1, sizeof *w->filter);
  if (!w->filter) return WEFT_OOM;
  for (; w->n_filter < opts->n_filter; w->n_filter++) {
    weft_err err = weft__device_parse(&w->filter[w->n_filter], opts->filter[w->n_filter]);
    if (err) return weft__fail_in(err, "device_filters[%d]", w->n_filter);
  }
  WEFT_TRY(list_tasks(w));
  return add_self(w);
}

void weft__world_finish(world *w) {
  weft__device_infos_free(w->device, w->n_device);
  weft__free(w->device_task);
  weft__free(w->filter);
  weft__free(w->task);
  weft__free(w->by_name);
  *w = (world){0};
}

/* ---- which of them are needed ------------------------------------------------------------------- */

static bool known(const world *w, const peer *p) {
  for (int i = 0; i < w->n_task; i++)
    if (w->task[i] == p) return true;
  return false;
}

/* The first task in order that a device string allows; NULL: none does, which placement complains of. */
static peer *first_allowed(const world *w, const device_spec *want) {
  for (int i = 0; i < w->n_by_name; i++) {
    device_spec own;
    if (weft__device_parse(&own, weft__peer_task(w->by_name[i])) == WEFT_OK && intersects(want, &own))
      return w->by_name[i];
  }
  return NULL;
}

static weft_err need(const world *w, const char *device_text, contact *list, int *n) {
  device_spec want;
  WEFT_TRY(weft__device_parse(&want, device_text));
  peer *p = first_allowed(w, &want);
  if (!p || known(w, p)) return WEFT_OK;
  for (int i = 0; i < *n; i++)
    if (list[i].to == p) return WEFT_OK;
  list[(*n)++].to = p;
  return WEFT_OK;
}

static weft_err list_needed(const world *w, const weft_graph *g, int from, int end, contact *list, int *n) {
  const char *last = NULL;
  for (int i = from; i < end; i++) {
    const char *device_text = g->node[i]->device;
    if (last && strcmp(last, device_text) == 0) continue;
    last = device_text;
    weft_err err = need(w, device_text, list, n);
    if (err) return weft__fail_in(err, "node '%s'", g->node[i]->name);
  }
  return WEFT_OK;
}

weft_err weft__world_need(const world *w, weft_graph *g, int from, int *end, contact **list, int *n) {
  *n = 0;
  *list = weft__alloc_zero((size_t)w->n_by_name + 1, sizeof **list);
  if (!*list) return WEFT_OOM;
  if (!g) {
    for (int i = 0; i < w->n_by_name; i++)
      if (!known(w, w->by_name[i])) (*list)[(*n)++].to = w->by_name[i];
    return WEFT_OK;
  }
  pthread_mutex_lock(&g->lock);
  *end = g->n_node;
  weft_err err = list_needed(w, g, from, *end, *list, n);
  pthread_mutex_unlock(&g->lock);
  return err;
}

weft_err weft__world_add(world *w, contact *list, int n) {
  for (int i = 0; i < n; i++) {
    if (known(w, list[i].to)) continue;
    WEFT_TRY(add_devices(w, list[i].device, list[i].n_device, w->n_task));
    weft__free(list[i].device); /* its strings are the world's now */
    list[i] = (contact){.to = list[i].to};
    w->task[w->n_task++] = list[i].to;
  }
  return WEFT_OK;
}
