/* library.c - function libraries, stored as bytes for each function, in the order of addition. */
#include "graph/library.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "graph/attr_proto.h"
#include "proto/canonical.h"
#include <stdlib.h>

struct function_library {
  object base;
  pthread_mutex_t lock; /* leaf lock; guards all below */
  arena arena;
  map functions; /* name -> library_function, in the order of addition */
  map gradients; /* name -> name of its gradient, in the order of addition */
};

static weft_err library_oom(void) { return weft__fail(WEFT_OOM, "no memory for a function library"); }

/* ---- creating and destroying ---- */

static void library_destroy(object *o) {
  function_library *l = (function_library *)o;
  weft__map_finish(&l->functions);
  weft__map_finish(&l->gradients);
  weft__arena_finish(&l->arena);
  pthread_mutex_destroy(&l->lock);
  weft__free(l);
}

static weft_err need_library(weft_graph *g) {
  if (g->library) return WEFT_OK;
  function_library *l = weft__alloc_zero(1, sizeof *l);
  if (!l) return library_oom();
  atomic_init(&l->base.refs, 1);
  l->base.destroy = library_destroy;
  pthread_mutex_init(&l->lock, NULL);
  g->library = l;
  return WEFT_OK;
}

weft_err weft__library_share(weft_graph *to, weft_graph *from) {
  WEFT_ASSERT(!to->library);
  WEFT_TRY(need_library(from));
  weft__object_retain(&from->library->base);
  to->library = from->library;
  to->library_shared = true;
  return WEFT_OK;
}

void weft__library_release(weft_graph *g) {
  weft__object_release(g->library ? &g->library->base : NULL);
  g->library = NULL;
}

/* ---- finding ---- */

const library_function *weft__library_find(const weft_graph *g, const char *name) {
  function_library *l = g->library;
  if (!l) return NULL;
  pthread_mutex_lock(&l->lock);
  const library_function *f = weft__map_get(&l->functions, name);
  pthread_mutex_unlock(&l->lock);
  return f;
}

const char *weft__library_gradient(const weft_graph *g, const char *name) {
  function_library *l = g->library;
  if (!l) return NULL;
  pthread_mutex_lock(&l->lock);
  const char *gradient = weft__map_get(&l->gradients, name);
  pthread_mutex_unlock(&l->lock);
  return gradient;
}

/* ---- adding ---- */

static weft_err add_new(function_library *l, const op_table *ops, const Tensorflow__FunctionDef *def, const char *name,
                        const char *bytes, size_t size) {
  library_function *f = weft__arena_alloc(&l->arena, sizeof *f);
  if (!f) return library_oom();
  *f = (library_function){.name = weft__arena_strdup(&l->arena, name),
                          .def = {weft__arena_copy(&l->arena, bytes, size), size}};
  if (!f->name || !f->def.data) return library_oom();
  if (def->signature) WEFT_TRY(weft__function_op(&f->op, ops, def->signature, &l->arena));
  return weft__map_put(&l->functions, name, f);
}

static int compare_nodes(const void *x, const void *y) {
  const Tensorflow__NodeDef *a = *(Tensorflow__NodeDef *const *)x, *b = *(Tensorflow__NodeDef *const *)y;
  return strcmp(a->name, b->name);
}

/* Serializes the function with its maps sorted by key and its nodes by name, and without debug information, which is
 * an unknown field. */
static weft_err canonical_bytes(attr_str *out, const char *data, size_t size, arena *a) {
  ProtobufCAllocator into = weft__arena_allocator(a);
  Tensorflow__FunctionDef *f = tensorflow__function_def__unpack(&into, size, (const uint8_t *)data);
  if (!f) return library_oom();
  weft__proto_canonical(&f->base);
  if (f->n_node_def > 1) qsort((void *)f->node_def, f->n_node_def, sizeof *f->node_def, compare_nodes);
  out->size = tensorflow__function_def__get_packed_size(f);
  char *bytes = weft__arena_alloc(a, out->size + 1);
  if (!bytes) return library_oom();
  tensorflow__function_def__pack(f, (uint8_t *)bytes);
  out->data = bytes;
  return WEFT_OK;
}

/* Compares two functions.  Protobuf writes a map in any order, so functions with different bytes may be equal. */
static weft_err check_same(const library_function *there, const char *bytes, size_t size) {
  if (there->def.size == size && memcmp(bytes, there->def.data, size) == 0) return WEFT_OK;
  arena a = {0};
  attr_str one = {0}, other = {0};
  weft_err err = canonical_bytes(&one, there->def.data, there->def.size, &a);
  if (!err) err = canonical_bytes(&other, bytes, size, &a);
  if (!err && (one.size != other.size || memcmp(one.data, other.data, one.size) != 0))
    err = weft__fail(WEFT_INVALID_ARGUMENT,
                     "Cannot add function '%s' because a different function with the same name already exists.",
                     there->name);
  weft__arena_finish(&a);
  return err;
}

static weft_err add_function(function_library *l, const op_table *ops, const Tensorflow__FunctionDef *def) {
  WEFT_ASSERT(weft__lock_is_held(&l->lock));
  const char *name = def->signature ? def->signature->name : "";
  const size_t size = tensorflow__function_def__get_packed_size(def);
  const library_function *there = weft__map_get(&l->functions, name);
  char *bytes = weft__alloc(size + 1);
  if (!bytes) return library_oom();
  tensorflow__function_def__pack(def, (uint8_t *)bytes);
  weft_err err = there ? check_same(there, bytes, size) : add_new(l, ops, def, name, bytes, size);
  weft__free(bytes);
  return err;
}

static weft_err add_gradient(function_library *l, const Tensorflow__GradientDef *d) {
  WEFT_ASSERT(weft__lock_is_held(&l->lock));
  if (weft__map_get(&l->gradients, d->function_name)) return WEFT_OK;
  char *name = weft__arena_strdup(&l->arena, d->gradient_func);
  return name ? weft__map_put(&l->gradients, d->function_name, name) : library_oom();
}

weft_err weft__library_merge(weft_graph *g, const Tensorflow__FunctionDefLibrary *more) {
  if (!more || (more->n_function == 0 && more->n_gradient == 0)) return WEFT_OK;
  WEFT_TRY(need_library(g));
  function_library *l = g->library;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&l->lock);
  for (size_t i = 0; i < more->n_function && !err; i++) err = add_function(l, g->ops, more->function[i]);
  for (size_t i = 0; i < more->n_gradient && !err; i++) err = add_gradient(l, more->gradient[i]);
  pthread_mutex_unlock(&l->lock);
  return err;
}

/* ---- undoing additions ---- */

library_mark weft__library_mark(const weft_graph *g) {
  return g->library && !g->library_shared ? (library_mark){g->library->functions.count, g->library->gradients.count}
                                          : (library_mark){0, 0};
}

static void forget_newest(map *m, int keep) {
  WEFT_ASSERT(keep >= 0);
  for (int i = m->used - 1; i >= 0 && m->count > keep; i--)
    if (m->entries[i].key) weft__map_remove(m, m->entries[i].key);
}

void weft__library_rewind(weft_graph *g, library_mark m) {
  if (!g->library || g->library_shared) return; /* a body adds none, but its caller may have */
  pthread_mutex_lock(&g->library->lock);
  forget_newest(&g->library->functions, m.n_function);
  forget_newest(&g->library->gradients, m.n_gradient);
  pthread_mutex_unlock(&g->library->lock);
}

/* ---- as a message ---- */

static weft_err export_functions(const function_library *l, arena *a, Tensorflow__FunctionDefLibrary *out) {
  WEFT_ASSERT(weft__lock_is_held(&l->lock) && out->n_function == 0);
  ProtobufCAllocator into = weft__arena_allocator(a);
  out->function = weft__arena_alloc(a, sizeof *out->function * ((size_t)l->functions.count + 1));
  if (!out->function) return library_oom();
  for (int i = 0; i < l->functions.used; i++) {
    const library_function *f = l->functions.entries[i].value;
    if (!l->functions.entries[i].key) continue;
    Tensorflow__FunctionDef *def = tensorflow__function_def__unpack(&into, f->def.size, (const uint8_t *)f->def.data);
    if (!def) return library_oom();
    out->function[out->n_function++] = def;
  }
  return WEFT_OK;
}

static weft_err export_gradients(const function_library *l, arena *a, Tensorflow__FunctionDefLibrary *out) {
  WEFT_ASSERT(weft__lock_is_held(&l->lock) && out->n_gradient == 0);
  out->gradient = weft__arena_alloc(a, sizeof *out->gradient * ((size_t)l->gradients.count + 1));
  if (!out->gradient) return library_oom();
  for (int i = 0; i < l->gradients.used; i++) {
    if (!l->gradients.entries[i].key) continue;
    Tensorflow__GradientDef *d = weft__arena_alloc(a, sizeof *d);
    if (!d) return library_oom();
    tensorflow__gradient_def__init(d);
    d->function_name = weft__arena_strdup(a, l->gradients.entries[i].key);
    d->gradient_func = weft__arena_strdup(a, l->gradients.entries[i].value);
    if (!d->function_name || !d->gradient_func) return library_oom();
    out->gradient[out->n_gradient++] = d;
  }
  return WEFT_OK;
}

weft_err weft__library_export(const weft_graph *g, arena *a, Tensorflow__FunctionDefLibrary **out) {
  function_library *l = g->library;
  *out = NULL;
  if (!l || l->functions.count + l->gradients.count == 0) return WEFT_OK;
  Tensorflow__FunctionDefLibrary *all = weft__arena_alloc(a, sizeof *all);
  if (!all) return library_oom();
  tensorflow__function_def_library__init(all);
  pthread_mutex_lock(&l->lock);
  weft_err err = export_functions(l, a, all);
  if (!err) err = export_gradients(l, a, all);
  pthread_mutex_unlock(&l->lock);
  *out = all;
  return err;
}
