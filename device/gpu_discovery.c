/* gpu_discovery.c - finds the cards of the machine and creates GPU devices on them.
 *
 * A device is a card, or a virtual device on one.  A card is opened when a task first needs it and stays open until the
 * process ends, because creating its context takes most of a second.  `cards.lock` guards the open cards and what was
 * logged; the pool of pinned memory is an atomic pointer that is set once. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/cast.h"
#include "base/log.h"
#include "base/text.h"
#include "device/card.h"
#include "device/pinned.h"
#include "device/gpu_plugin.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOGICAL = GPU_MAX_CARDS * GPU_MAX_VIRTUAL };

enum { WORTH_PINNING = 16 << 10 }; /* bytes */

static _Atomic(memory_pool *) pinned; /* NULL until the first card is opened */

static struct {
  pthread_mutex_t lock;
  card *open[GPU_MAX_CARDS][GPU_MAX_VIRTUAL];
  bool reason_logged; /* the log has said why there is no GPU */
  bool shown;         /* the log has shown which cards are peers */
} cards = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Logs once why no GPU is used.  It is a warning if there is one, information if a setting asks for one, and else a
 * debug message.  The lock is held. */
static void gpu_log_why_none(const char *why, const gpu_options *o, bool there) {
  if (cards.reason_logged) return;
  cards.reason_logged = true;
  const bool wanted =
      getenv("WEFT_CUDA_PLUGIN") || getenv("WEFT_VIRTUAL_GPUS") || (o && (o->visible[0] || o->fraction > 0));
  weft__log(there ? LOG_WARNING : wanted ? LOG_INFO : LOG_DEBUG, "No GPU is used: %s", why);
}

/* ---- pinned memory ------------------------------------------------------------------------------ */

static weft_err pinned_get(void *arg, size_t bytes, void **out) {
  const gpu_api *api = arg;
  return api->alloc_host(bytes, out) ? WEFT_RESOURCE_EXHAUSTED : WEFT_OK;
}

static void pinned_give(void *arg, void *at) {
  const gpu_api *api = arg;
  api->free_host(at);
}

/* The lock is held. */
static weft_err pinned_pool_create(const gpu_api *api) {
  memory_pool *made;
  if (atomic_load(&pinned)) return WEFT_OK;
  const memory_source source = {(void *)(uintptr_t)api, pinned_get, pinned_give};
  WEFT_TRY(weft__memory_pool_create(&made, source, SIZE_MAX / 2));
  atomic_store(&pinned, made);
  return WEFT_OK;
}

weft_err weft__pinned_receive_buffer(buffer **out, size_t bytes) {
  memory_pool *pool = bytes < WORTH_PINNING ? NULL : atomic_load(&pinned);
  if (pool && weft__memory_pool_alloc(pool, out, WEFT_UINT8, bytes) == WEFT_OK) return WEFT_OK;
  return weft__buffer_create(out, WEFT_UINT8, (int64_t)bytes);
}

/* ---- cards -------------------------------------------------------------------------------------- */

/* The numbers in "1,0", each below n. */
static weft_err gpu_parse_visible(const char *list, int n, int *out, int *n_out) {
  *n_out = 0;
  if (!*list) {
    for (; *n_out < n && *n_out < GPU_MAX_CARDS; ++*n_out) out[*n_out] = *n_out;
    return WEFT_OK;
  }
  for (const char *at = list; *at;) {
    char *end;
    long number = strtol(at, &end, 10);
    if (end == at || (*end && *end != ',') || *n_out == GPU_MAX_CARDS)
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Could not parse entry in 'visible_device_list': '%s'. visible_device_list = %s", at, list);
    if (number < 0 || number >= n)
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "'visible_device_list' listed an invalid GPU id '%ld' but visible device count is %d", number,
                        n);
    for (int i = 0; i < *n_out; i++)
      if (out[i] == number)
        return weft__fail(WEFT_INVALID_ARGUMENT, "visible_device_list contained a duplicate entry: %s", list);
    out[(*n_out)++] = weft__int_sat(number);
    at = *end ? end + 1 : end;
  }
  return WEFT_OK;
}

/* Logs "DMA: 0 1" and a row of Y and N for each card: which cards can read its memory. */
static void gpu_log_peers(const gpu_api *api, const int *number, int n) {
  if (cards.shown) return;
  cards.shown = true;
  text line = {0};
  for (int i = 0; i < n; i++) weft__text_printf(&line, "%d ", i);
  weft__log(LOG_INFO, "DMA: %s", weft__text_get(&line));
  for (int i = 0; i < n; i++) {
    weft__text_finish(&line);
    for (int j = 0; j < n; j++) {
      int can = i == j;
      if (i != j && api->peers(number[i], number[j], &can)) can = 0;
      weft__text_printf(&line, "%s ", can ? "Y" : "N");
    }
    weft__log(LOG_INFO, "%d:   %s", i, weft__text_get(&line));
  }
  weft__text_finish(&line);
}

/* Returns how many bytes a virtual device may take of its card. */
static size_t gpu_memory_limit(const gpu_options *o, int position, int part, int parts, size_t whole) {
  int64_t megabytes = position < GPU_MAX_CARDS ? o->parts[position].megabytes[part] : 0;
  if (megabytes > 0) return (size_t)megabytes << 20;
  double fraction = o->fraction > 0 ? o->fraction : 0.95;
  return (size_t)((double)whole * fraction / parts);
}

static int gpu_virtual_count(const gpu_options *o, int position) {
  const char *all = getenv("WEFT_VIRTUAL_GPUS");
  int n = position < GPU_MAX_CARDS ? o->parts[position].n : 0;
  if (n == 0 && all) n = atoi(all);
  return n < 1 ? 1 : n > GPU_MAX_VIRTUAL ? GPU_MAX_VIRTUAL : n;
}

typedef struct gpu_open_args {
  const gpu_api *api;
  const gpu_options *o;
  const char *task;
  device ***list;
  int *n, made;     /* made: GPUs so far */
  int64_t capacity; /* of the list, at least */
} gpu_open_args;

static weft_err gpu_append_device(gpu_open_args *w, device *d) {
  weft_err err = WEFT_ARRAY_RESERVE(*w->list, w->capacity, *w->n + 1);
  if (err) {
    weft__device_destroy(d);
    return err;
  }
  (*w->list)[(*w->n)++] = d;
  w->made++;
  return WEFT_OK;
}

/* Opens one visible card and appends its devices. */
static weft_err gpu_open_card(gpu_open_args *w, int position, int number) {
  gpu_properties p;
  const int parts = gpu_virtual_count(w->o, position);
  int code = w->api->properties(number, &p);
  if (code) { /* other cards may still work */
    weft__log(LOG_WARNING, "GPU %d (%s) is not used: %s", number, p.name[0] ? p.name : "unknown",
              w->api->error_text(code));
    return WEFT_OK;
  }
  for (int i = 0; i < parts; i++) {
    device *d;
    card **c = &cards.open[number][i];
    if (w->o->bounded && w->made >= w->o->limit) return WEFT_OK;
    if (!*c) {
      WEFT_TRY(pinned_pool_create(w->api));
      WEFT_TRY(weft__card_create(c, w->api, number, gpu_memory_limit(w->o, position, i, parts, p.memory),
                                 atomic_load(&pinned)));
      weft__log(LOG_INFO, "Creating TensorFlow device (/gpu:%d) -> (device: %d, name: %s, pci bus id: %s)", w->made,
                number, p.name, p.bus);
    }
    WEFT_TRY(weft__card_device(&d, *c, w->task, w->made, &p));
    WEFT_TRY(gpu_append_device(w, d));
  }
  return WEFT_OK;
}

static weft_err gpu_open_all(gpu_open_args *w) {
  int n = 0, visible[GPU_MAX_CARDS], n_visible;
  int code = w->api->count(&n);
  if (code || n == 0) {
    gpu_log_why_none(code ? w->api->error_text(code) : "this machine has none that CUDA_VISIBLE_DEVICES lets one see",
                     w->o, code && w->api->error_kind(code) != GPU_ERROR_NO_DEVICE);
    return WEFT_OK;
  }
  WEFT_TRY(gpu_parse_visible(w->o->visible, n < GPU_MAX_CARDS ? n : GPU_MAX_CARDS, visible, &n_visible));
  gpu_log_peers(w->api, visible, n_visible);
  for (int i = 0; i < n_visible; i++) WEFT_TRY(gpu_open_card(w, i, visible[i]));
  return WEFT_OK;
}

weft_err weft__device_gpus(device ***list, int *n, const char *task, const gpu_options *o) {
  static const gpu_options defaults = {0};
  const char *why;
  if (!o) o = &defaults;
  if (o->bounded && o->limit <= 0) return WEFT_OK;
  gpu_open_args w = {weft__gpu_plugin_api(&why), o, task, list, n, 0, *n};
  pthread_mutex_lock(&cards.lock);
  if (!w.api) gpu_log_why_none(why, o, false);
  weft_err err = w.api ? gpu_open_all(&w) : WEFT_OK;
  pthread_mutex_unlock(&cards.lock);
  return err;
}
