/* function.c - the public functions of a graph's function library. */
#include "api/argument.h"
#include "weft/function.h"
#include "base/alloc.h"
#include "graph/function.h"
#include "tf.pb-c.h"

weft_err weft_function_add(weft_graph *g, const char *name, weft_graph *body, int n_in, const weft_out *in, int n_out,
                           const weft_out *out) {
  API_NEED(g);
  API_NEED(name);
  API_NEED(body);
  API_ARRAY(n_in, in);
  API_ARRAY(n_out, out);
  API_ALL_OF(body, n_in, in);
  API_ALL_OF(body, n_out, out);

  return weft__function_add(g, body,
                            &(function_spec){.name = name, .n_in = n_in, .in = in, .n_out = n_out, .out = out});
}

weft_err weft_function_of(weft_graph *g, const char *name, weft_out out) {
  API_NEED(g);
  API_NEED(name);
  API_OF(g, out);

  return weft__function_add(g, g, &(function_spec){.name = name, .n_out = 1, .out = &out, .needed_only = true});
}

void weft_builder_function(weft_builder *b, const char *attr_name, const char *name) {
  API_NEED_IN(b, attr_name);
  API_NEED_IN(b, name);

  Tensorflow__AttrValue v;
  Tensorflow__NameAttrList f = TENSORFLOW__NAME_ATTR_LIST__INIT;
  f.name = (char *)(uintptr_t)name;
  tensorflow__attr_value__init(&v);
  v.value_case = TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
  v.func = &f;
  size_t size = tensorflow__attr_value__get_packed_size(&v);
  uint8_t *bytes = weft__alloc(size + 1);
  if (bytes) tensorflow__attr_value__pack(&v, bytes);
  weft_builder_attr(b, attr_name, bytes ? bytes : (uint8_t *)(uintptr_t) "", bytes ? size : 0);
  weft__free(bytes);
}
