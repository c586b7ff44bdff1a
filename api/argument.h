/* argument.h - how public functions reject invalid arguments: NULL for a required pointer, or a negative count.  The
 * message names the function and the parameter. tests/misuse.py calls every function with such arguments.
 *
 * A function begins with these macros:
 *   API_NEED(p)          returns INVALID_ARGUMENT
 *   API_NEED_OUT(g, p)   records the failure in the graph and returns WEFT_NONE
 *   API_NEED_OR(p, r)    sets this thread's message and returns r; r is empty in a void function
 *   API_NEED_ON(g, p)    records the failure in the graph and returns from a void function
 *   API_NEED_IN(b, p)    records the failure in the builder and returns from a void function; otherwise the node would
 *                        be made, and a rejected attribute would silently have its default
 *   API_ARRAY...         the same for n elements at p, where p may be NULL if n is 0
 *   API_OF, API_ALL_OF   the same for a handle, or n handles, of another graph
 *   API_OPTS...          the same for an option struct whose size this library cannot read */
#ifndef WEFT_API_ARGUMENT_H
#define WEFT_API_ARGUMENT_H

#include "base/choice.h"
#include "base/status.h"

/* Return INVALID_ARGUMENT, with a message that names both: a NULL argument, and a negative count. */
weft_err weft__argument_null(const char *function, const char *parameter);
weft_err weft__argument_count(const char *function, const char *parameter, int64_t n);
/* Records the failure in the graph, which may be NULL.  Returns WEFT_NONE. */
weft_out weft__argument_fail(weft_graph *g, weft_err err);
/* Records the failure in the builder, which may be NULL. */
void weft__builder_refuse(weft_builder *b, weft_err err);

/* Reads the program's option struct. *opts stays unchanged if its size is 0 (the layout of 0.2.0) or `known`.  A
 * struct of another size is copied to own, which is zeroed: fields that an older struct lacks stay zero, and a newer
 * struct must not set a field that this library does not know. */
weft_err weft__options_read(const char *type, void *own, size_t known, const void **opts);

#define API_NEED(p)                                                                                                    \
  do {                                                                                                                 \
    if (!(p)) return weft__argument_null(__func__, #p);                                                                \
  } while (0)
#define API_NEED_OUT(g, p)                                                                                             \
  do {                                                                                                                 \
    if (!(p)) return weft__argument_fail(g, weft__argument_null(__func__, #p));                                        \
  } while (0)
#define API_NEED_OR(p, ...)                                                                                            \
  do {                                                                                                                 \
    if (!(p)) {                                                                                                        \
      weft__argument_null(__func__, #p);                                                                               \
      return __VA_ARGS__;                                                                                              \
    }                                                                                                                  \
  } while (0)

#define API_ARRAY(n, p)                                                                                                \
  do {                                                                                                                 \
    if ((n) < 0) return weft__argument_count(__func__, #n, n);                                                         \
    if ((n) > 0 && !(p)) return weft__argument_null(__func__, #p);                                                     \
  } while (0)
#define API_ARRAY_OUT(g, n, p)                                                                                         \
  do {                                                                                                                 \
    if ((n) < 0) return weft__argument_fail(g, weft__argument_count(__func__, #n, n));                                 \
    if ((n) > 0 && !(p)) return weft__argument_fail(g, weft__argument_null(__func__, #p));                             \
  } while (0)
#define API_ARRAY_OR(n, p, ...)                                                                                        \
  do {                                                                                                                 \
    if ((n) < 0) {                                                                                                     \
      weft__argument_count(__func__, #n, n);                                                                           \
      return __VA_ARGS__;                                                                                              \
    }                                                                                                                  \
    API_ITEMS_OR(n, p, __VA_ARGS__);                                                                                   \
  } while (0)
#define API_NEED_ON(g, p)                                                                                              \
  do {                                                                                                                 \
    if (!(p)) {                                                                                                        \
      weft__argument_fail(g, weft__argument_null(__func__, #p));                                                       \
      return;                                                                                                          \
    }                                                                                                                  \
  } while (0)
#define API_ARRAY_ON(g, n, p)                                                                                          \
  do {                                                                                                                 \
    if ((n) < 0 || ((n) > 0 && !(p))) {                                                                                \
      weft__argument_fail(g, (n) < 0 ? weft__argument_count(__func__, #n, n) : weft__argument_null(__func__, #p));     \
      return;                                                                                                          \
    }                                                                                                                  \
  } while (0)

/* Returns INVALID_ARGUMENT if one of n handles at x is from another graph. */
weft_err weft__argument_graph(const char *function, const char *parameter, const weft_graph *g, int n,
                              const weft_out *x);
/* Checks that the handle x, or the n handles at x, belong to graph g.  Ops check their inputs themselves. */
#define API_OF(g, x)                                                                                                   \
  do { WEFT_TRY(weft__argument_graph(__func__, #x, g, 1, &(x))); } while (0)
#define API_ALL_OF(g, n, x)                                                                                            \
  do { WEFT_TRY(weft__argument_graph(__func__, #x, g, n, x)); } while (0)
#define API_ALL_OF_OUT(g, n, x)                                                                                        \
  do {                                                                                                                 \
    weft_err of_err_ = weft__argument_graph(__func__, #x, g, n, x);                                                    \
    if (of_err_) return weft__argument_fail(g, of_err_);                                                               \
  } while (0)
#define API_ALL_OF_ON(g, n, x)                                                                                         \
  do {                                                                                                                 \
    weft_err of_err_ = weft__argument_graph(__func__, #x, g, n, x);                                                    \
    if (of_err_) {                                                                                                     \
      weft__argument_fail(g, of_err_);                                                                                 \
      return;                                                                                                          \
    }                                                                                                                  \
  } while (0)
#define API_OF_OUT(g, x)                                                                                               \
  do {                                                                                                                 \
    weft_err of_err_ = weft__argument_graph(__func__, #x, g, 1, &(x));                                                 \
    if (of_err_) return weft__argument_fail(g, of_err_);                                                               \
  } while (0)

/* Reads the program's options, of any version. `opts` is the parameter and may be NULL. */
#define API_OPTS_READ(type, opts)                                                                                      \
  type own_##opts = {0};                                                                                               \
  const void *given_##opts = opts;                                                                                     \
  const weft_err err_##opts = weft__options_read(#type, &own_##opts, sizeof own_##opts, &given_##opts);                \
  opts = given_##opts
#define API_OPTS(type, opts)                                                                                           \
  API_OPTS_READ(type, opts);                                                                                           \
  WEFT_TRY(err_##opts)
#define API_OPTS_OUT(g, type, opts)                                                                                    \
  API_OPTS_READ(type, opts);                                                                                           \
  if (err_##opts) return weft__argument_fail(g, err_##opts)
#define API_OPTS_ON(g, type, opts)                                                                                     \
  API_OPTS_READ(type, opts);                                                                                           \
  if (err_##opts) {                                                                                                    \
    weft__argument_fail(g, err_##opts);                                                                                \
    return;                                                                                                            \
  }

/* Checks n elements at p.  A count <= 0 means none (for a shape: an unknown rank). */
#define API_ITEMS(n, p)                                                                                                \
  do {                                                                                                                 \
    if ((n) > 0 && !(p)) return weft__argument_null(__func__, #p);                                                     \
  } while (0)
#define API_ITEMS_OUT(g, n, p)                                                                                         \
  do {                                                                                                                 \
    if ((n) > 0 && !(p)) return weft__argument_fail(g, weft__argument_null(__func__, #p));                             \
  } while (0)
#define API_ITEMS_OR(n, p, ...)                                                                                        \
  do {                                                                                                                 \
    if ((n) > 0 && !(p)) {                                                                                             \
      weft__argument_null(__func__, #p);                                                                               \
      return __VA_ARGS__;                                                                                              \
    }                                                                                                                  \
  } while (0)

#define API_ITEMS_ON(g, n, p)                                                                                          \
  do {                                                                                                                 \
    if ((n) > 0 && !(p)) {                                                                                             \
      weft__argument_fail(g, weft__argument_null(__func__, #p));                                                       \
      return;                                                                                                          \
    }                                                                                                                  \
  } while (0)
#define API_NEED_IN(b, p)                                                                                              \
  do {                                                                                                                 \
    if (!(p)) {                                                                                                        \
      weft__builder_refuse(b, weft__argument_null(__func__, #p));                                                      \
      return;                                                                                                          \
    }                                                                                                                  \
  } while (0)
#define API_ITEMS_IN(b, n, p)                                                                                          \
  do {                                                                                                                 \
    if ((n) > 0) API_NEED_IN(b, p);                                                                                    \
  } while (0)
#define API_ARRAY_IN(b, n, p)                                                                                          \
  do {                                                                                                                 \
    if ((n) < 0) {                                                                                                     \
      weft__builder_refuse(b, weft__argument_count(__func__, #n, n));                                                  \
      return;                                                                                                          \
    }                                                                                                                  \
    API_ITEMS_IN(b, n, p);                                                                                             \
  } while (0)

#endif
