/* argument.h - how public functions refuse arguments that a program must not pass: NULL for a required pointer, a
 * negative count.  The message names the function and the parameter.  tests/misuse.py calls them all so.
 *
 * A function begins with these:
 *   API_NEED(p)          returns INVALID_ARGUMENT
 *   API_NEED_OUT(g, p)   fails the graph and returns WEFT_NONE
 *   API_NEED_OR(p, r)    makes the message this thread's and returns r; r is empty in a void function
 *   API_NEED_ON(g, p)    fails the graph and returns from a void function
 *   API_ARRAY...         the same for n elements at p, where p may be NULL if n is 0 */
#ifndef WEFT_API_ARGUMENT_H
#define WEFT_API_ARGUMENT_H

#include "base/status.h"

weft_err weft__argument_null(const char *function, const char *parameter);
weft_err weft__argument_count(const char *function, const char *parameter, int64_t n);
/* Makes the failure the graph's, which may be NULL. */
weft_out weft__argument_fail(weft_graph *g, weft_err err);

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
    API_NEED_OR((n) == 0 || (p), __VA_ARGS__);                                                                         \
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

/* n elements at p, where a count that is not positive means none (of a shape: an unknown rank). */
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

#endif
