/* scope.c - the public functions of variable scopes. */
#include "api/argument.h"
#include "api/initial.h"
#include "graph/build.h"
#include "graph/scope.h"
#include "graph/variable_scope.h"

static const reuse_mode modes[] = {[WEFT_REUSE_INHERIT] = REUSE_INHERIT,
                                   [WEFT_REUSE_NEVER] = REUSE_NEVER,
                                   [WEFT_REUSE_ALWAYS] = REUSE_ALWAYS,
                                   [WEFT_REUSE_AUTO] = REUSE_AUTO};

static weft_err push_variables(weft_graph *g, const char *name, weft_reuse reuse, const weft_initial *init) {
  variable_scope_opts o = {.name = name};
  if (!name) return weft__fail(WEFT_INVALID_ARGUMENT, "a variable scope needs a name");
  if (reuse < WEFT_REUSE_INHERIT || reuse > WEFT_REUSE_AUTO)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%d is no way of reusing variables", (int)reuse);
  if (init && init->kind == WEFT_INIT_VALUE)
    return weft__fail(WEFT_INVALID_ARGUMENT, "a scope cannot give all its variables one tensor");
  o.reuse = modes[reuse];
  WEFT_TRY(weft__api_initializer(&o.init, init));
  return weft__variable_scope_push(g, &o, NULL);
}

void weft_scope_push_variables(weft_graph *g, const char *name, weft_reuse reuse, const weft_initial *init) {
  API_NEED_OR(g, );

  weft__status_update(&g->sticky, push_variables(g, name, reuse, init));
}

static weft_err get_variable(weft_graph *g, const char *name, weft_dtype dtype, int rank, const int64_t *dims,
                             const weft_initial *init, bool trainable, variable_nodes *v) {
  variable_spec s = {
      .name = name, .dtype = dtype, .untrainable = !trainable, .resource = weft__variable_scope_resource(g)};
  WEFT_TRY(weft__b_ok(g));
  if (!name || !*name) return weft__fail(WEFT_INVALID_ARGUMENT, "a variable needs a name");
  WEFT_TRY(weft__api_initializer(&s.init, init));
  s.has_shape = s.init.kind != INIT_TENSOR;
  if (s.has_shape) WEFT_TRY(weft__shape_make(&s.shape, rank, dims));
  return weft__variable_get(g, &s, v);
}

weft_out weft_get_variable(weft_graph *g, const char *name, weft_dtype dtype, int rank, const int64_t *dims,
                           const weft_initial *init, bool trainable) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, name);
  API_ITEMS_OUT(g, rank, dims);

  variable_nodes v;
  weft_err err = get_variable(g, name, dtype, rank, dims, init, trainable, &v);
  weft__status_update(&g->sticky, err);
  return err ? WEFT_NONE : v.variable;
}

/* ---- variable scopes as objects -------------------------------------------------------------------- */

weft_err weft_variable_scope_enter(const weft_variable_scope **out, weft_graph *g,
                                   const weft_variable_scope_opts *opts) {
  API_NEED(out);
  API_NEED(g);
  API_NEED(opts);
  API_OPTS(weft_variable_scope_opts, opts);

  if (opts->reuse < WEFT_REUSE_INHERIT || opts->reuse > WEFT_REUSE_AUTO)
    return weft__fail(WEFT_INVALID_ARGUMENT, "%d is no way of reusing variables", (int)opts->reuse);
  return weft__variable_scope_push(g,
                                   &(variable_scope_opts){.name = opts->name,
                                                          .again = (const variable_scope *)opts->again,
                                                          .default_name = opts->default_name,
                                                          .reuse = modes[opts->reuse],
                                                          .no_name_scope = !weft__choice_yes(opts->name_scope)},
                                   (const variable_scope **)out);
}

const weft_variable_scope *weft_variable_scope_now(weft_graph *g) {
  API_NEED_OR(g, NULL);

  return (const weft_variable_scope *)weft__variable_scope_now(g);
}

const char *weft_variable_scope_name(const weft_variable_scope *s) {
  API_NEED_OR(s, NULL);
  return ((const variable_scope *)s)->name;
}
const char *weft_variable_scope_name_scope(const weft_variable_scope *s) {
  API_NEED_OR(s, NULL);

  return ((const variable_scope *)s)->name_scope;
}

weft_reuse weft_variable_scope_reuse(const weft_variable_scope *s) {
  API_NEED_OR(s, (weft_reuse)0);

  reuse_mode mode = ((const variable_scope *)s)->reuse;
  return mode == REUSE_ALWAYS ? WEFT_REUSE_ALWAYS : mode == REUSE_AUTO ? WEFT_REUSE_AUTO : WEFT_REUSE_NEVER;
}

void weft_variable_scope_set_reuse(weft_graph *g) {
  API_NEED_OR(g, );
  weft__variable_scope_reuse(g);
}
void weft_variable_scope_set_resource(weft_graph *g, bool on) {
  API_NEED_OR(g, );
  weft__variable_scope_set_resource(g, on);
}
