/* library.c - function libraries travel along as bytes; all we do with them is put two together. */
#include "base/alloc.h"
#include "graph/attr_proto.h"
#include "graph/import.h"

static weft_err oom(void) { return weft__fail(WEFT_OOM, "no memory for a function library"); }

static const char *function_name(const Tensorflow__FunctionDef *f) { return f->signature ? f->signature->name : ""; }

static weft_err same_function(const Tensorflow__FunctionDef *a, const Tensorflow__FunctionDef *b, arena *tmp,
                              bool *same) {
  size_t size = tensorflow__function_def__get_packed_size(a);
  *same = size == tensorflow__function_def__get_packed_size(b);
  if (!*same) return WEFT_OK;
  uint8_t *x = weft__arena_alloc(tmp, size + 1), *y = weft__arena_alloc(tmp, size + 1);
  if (!x || !y) return oom();
  tensorflow__function_def__pack(a, x);
  tensorflow__function_def__pack(b, y);
  *same = memcmp(x, y, size) == 0;
  return WEFT_OK;
}

/* Is f already among the first n of list?  A different one of that name is an error. */
static weft_err has_function(Tensorflow__FunctionDef *const *list, size_t n, const Tensorflow__FunctionDef *f,
                             arena *tmp, bool *has) {
  *has = false;
  for (size_t i = 0; i < n && !*has; i++) {
    if (strcmp(function_name(list[i]), function_name(f)) != 0) continue;
    WEFT_TRY(same_function(list[i], f, tmp, has));
    if (!*has)
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Cannot add function '%s' because a different function with the same name already exists.",
                        function_name(f));
  }
  return WEFT_OK;
}

static bool has_gradient(Tensorflow__GradientDef *const *list, size_t n, const Tensorflow__GradientDef *d) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(list[i]->function_name, d->function_name) == 0) return true;
  return false;
}

static weft_err append(Tensorflow__FunctionDefLibrary *into, const Tensorflow__FunctionDefLibrary *more, arena *tmp) {
  Tensorflow__FunctionDef **f = weft__arena_alloc(tmp, sizeof *f * (into->n_function + more->n_function + 1));
  Tensorflow__GradientDef **d = weft__arena_alloc(tmp, sizeof *d * (into->n_gradient + more->n_gradient + 1));
  if (!f || !d) return oom();
  if (into->n_function) memcpy(f, into->function, sizeof *f * into->n_function);
  if (into->n_gradient) memcpy(d, into->gradient, sizeof *d * into->n_gradient);
  into->function = f;
  into->gradient = d;
  for (size_t i = 0; i < more->n_function; i++) {
    bool has;
    WEFT_TRY(has_function(f, into->n_function, more->function[i], tmp, &has));
    if (!has) f[into->n_function++] = more->function[i];
  }
  for (size_t i = 0; i < more->n_gradient; i++)
    if (!has_gradient(d, into->n_gradient, more->gradient[i])) d[into->n_gradient++] = more->gradient[i];
  return WEFT_OK;
}

static weft_err merge(weft_graph *g, const Tensorflow__FunctionDefLibrary *more, arena *tmp) {
  ProtobufCAllocator into_tmp = weft__arena_allocator(tmp);
  Tensorflow__FunctionDefLibrary *all =
      tensorflow__function_def_library__unpack(&into_tmp, g->library.size, (const uint8_t *)g->library.data);
  if (!all) return oom();
  WEFT_TRY(append(all, more, tmp));
  size_t size = tensorflow__function_def_library__get_packed_size(all);
  uint8_t *bytes = weft__arena_alloc(&g->arena, size + 1);
  if (!bytes) return oom();
  tensorflow__function_def_library__pack(all, bytes);
  g->library = (attr_str){(const char *)bytes, size};
  return WEFT_OK;
}

weft_err weft__library_merge(weft_graph *g, const Tensorflow__FunctionDefLibrary *more) {
  if (!more || (more->n_function == 0 && more->n_gradient == 0)) return WEFT_OK;
  arena tmp = {0};
  weft_err err = merge(g, more, &tmp);
  weft__arena_finish(&tmp);
  return err;
}
