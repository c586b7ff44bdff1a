/* argument.c - the errors for invalid arguments: NULL, a negative count, a handle of another graph. */
#include "api/argument.h"
#include "graph/graph.h"
#include <string.h>

weft_err weft__argument_null(const char *function, const char *parameter) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s: the parameter '%s' must not be NULL", function, parameter);
}

weft_err weft__argument_count(const char *function, const char *parameter, int64_t n) {
  return weft__fail(WEFT_INVALID_ARGUMENT, "%s: the parameter '%s' is %lld; a count must not be negative", function,
                    parameter, (long long)n);
}

weft_err weft__argument_graph(const char *function, const char *parameter, const weft_graph *g, int n,
                              const weft_out *x) {
  for (int i = 0; x && i < n; i++)
    if (weft__out_foreign(g, x[i]))
      return weft__fail(WEFT_INVALID_ARGUMENT, "%s: output %d of the parameter '%s' is from another graph", function, i,
                        parameter);
  return WEFT_OK;
}

weft_out weft__argument_fail(weft_graph *g, weft_err err) {
  if (g) weft__status_update(&g->sticky, err);
  return WEFT_NONE;
}

weft_err weft__options_read(const char *type, void *own, size_t known, const void **opts) {
  if (!*opts) return WEFT_OK;
  size_t size;
  memcpy(&size, *opts, sizeof size);
  if (size == 0 || size == known) return WEFT_OK;
  if (size < sizeof size || size > (1 << 16))
    return weft__fail(WEFT_INVALID_ARGUMENT, "%s.size is %zu; set it to sizeof(%s), or to 0", type, size, type);
  const char *bytes = *opts;
  for (size_t i = known; i < size; i++)
    if (bytes[i])
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "%s.size is %zu, of which this library, version %s, knows %zu bytes, and a later field is set; "
                        "use a library as new as the program's headers",
                        type, size, weft_version(), known);
  memcpy(own, bytes, size < known ? size : known);
  *opts = own;
  return WEFT_OK;
}
