/* train_variable.c - the public functions of variables and the global step. */
#include "api/argument.h"
#include "api/initial.h"
#include "graph/build.h"
#include "train/model/global_step.h"
#include "train/model/partition.h"
#include "train/model/variable_nodes.h"
#include "weft/train.h"

int weft_variables(const weft_graph *g, const char *list, weft_out *out, int room) {
  API_NEED_OR(g, 0);
  API_NEED_OR(list, 0);

  return weft__variables_in(g, list, out, out ? room : 0);
}

weft_err weft_variable_add_to(weft_graph *g, const char *list, weft_out variable) {
  API_NEED(g);
  API_NEED(list);
  API_OF(g, variable);

  return weft__variable_add_to(g, list, variable);
}

weft_err weft_variable_set_slice(weft_graph *g, weft_out variable, const char *full_name, int rank, const int64_t *full,
                                 const int64_t *offset) {
  API_NEED(g);
  API_NEED(full_name);
  API_ARRAY(rank, full);
  API_ARRAY(rank, offset);
  API_OF(g, variable);

  if (!full_name || rank <= 0 || !full || !offset)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a slice needs the name and shape of the whole, and where it lies in it");
  return weft__variable_slice_set(g, variable, &(variable_slice){full_name, rank, full, offset});
}

weft_err weft_get_variable_parts(weft_graph *g, const char *name, weft_dtype dtype, int rank, const int64_t *dims,
                                 int axis, int n, const weft_initial *init, bool trainable, weft_out *out) {
  API_NEED(g);
  API_NEED(name);
  API_ARRAY(rank, dims);
  API_NEED(out);

  variable_spec s = {.name = name, .dtype = dtype, .untrainable = !trainable};
  WEFT_TRY(weft__b_ok(g));
  if (!name || !*name) return weft__fail(WEFT_INVALID_ARGUMENT, "a variable needs a name");
  WEFT_TRY(weft__api_initializer(&s.init, init));
  s.has_shape = s.init.kind != INIT_TENSOR;
  WEFT_TRY(weft__shape_make(&s.shape, rank, dims));
  return weft__variable_get_parts(g, &s, axis, n, out);
}

weft_out weft_variable_value(weft_graph *g, weft_out variable) {
  API_NEED_OUT(NULL, g);
  API_OF_OUT(g, variable);
  return weft__variable_value(g, variable);
}

weft_out weft_variable_initializer(const weft_graph *g, weft_out variable) {
  API_NEED_OUT(NULL, g);
  if (weft__argument_graph(__func__, "variable", g, 1, &variable)) return WEFT_NONE;

  weft_out o;
  return weft__variable_initializer(g, variable, &o) == WEFT_OK ? o : WEFT_NONE;
}

weft_out weft_variable_initial(const weft_graph *g, weft_out variable) {
  API_NEED_OUT(NULL, g);
  if (weft__argument_graph(__func__, "variable", g, 1, &variable)) return WEFT_NONE;

  weft_out o;
  return weft__variable_initial(g, variable, &o) == WEFT_OK ? o : WEFT_NONE;
}

weft_out weft_variables_initializer(weft_graph *g, const char *name, int n, const weft_out *variables) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, variables);
  API_ALL_OF_OUT(g, n, variables);

  return weft__named_given(g, "variables_initializer", n, variables) ? weft__variables_init(g, name, n, variables)
                                                                     : WEFT_NONE;
}

weft_out weft_report_uninitialized(weft_graph *g, const char *name, int n, const weft_out *variables) {
  API_NEED_OUT(NULL, g);
  API_ARRAY_OUT(g, n, variables);
  API_ALL_OF_OUT(g, n, variables);

  return weft__named_given(g, "report_uninitialized", n, variables) ? weft__variables_report(g, name, n, variables)
                                                                    : WEFT_NONE;
}

weft_out weft_global_step(const weft_graph *g) {
  API_NEED_OUT(NULL, g);
  return weft__global_step(g);
}
weft_out weft_global_step_make(weft_graph *g) {
  API_NEED_OUT(NULL, g);
  return weft__global_step_make(g);
}
