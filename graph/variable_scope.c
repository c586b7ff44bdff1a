/* variable_scope.c - variable scopes, and the variables that names mean in them. */
#include "graph/variable_scope.h"
#include "base/alloc.h"
#include "graph/mark.h"
#include "graph/scope_stack.h"
#include <string.h>

typedef struct stored {
  variable_nodes nodes;
  shape shape;
  weft_dtype dtype;
} stored;

/* Counts the scopes that were opened with a name, so that default names can be made unique.  A name lists those
 * directly below it that were opened since it was last left, so that leaving it takes no longer than opening them
 * did. */
typedef struct opened opened;
struct opened {
  int count;
  opened *around; /* NULL: outermost */
  opened *below;  /* the first entry of its list */
  opened *next;   /* in the list of `around` */
  bool listed;
};

struct variable_store {
  map variables; /* full name -> stored, the arena's */
  map opened;    /* full scope name -> opened, the arena's */
  variable_scope root;
};

typedef struct variable_frame {
  variable_scope *scope;
  int n_saved, *saved; /* counts to restore, for a scope that was entered again */
} variable_frame;

static weft_err variable_scope_oom(void) { return weft__fail(WEFT_OOM, "no memory for a variable scope"); }

static variable_store *store_of(weft_graph *g) {
  if (!g->scope->variables) {
    variable_store *v = weft__alloc_zero(1, sizeof *v);
    if (v) v->root = (variable_scope){"", "", REUSE_NEVER, {0}, WEFT_FLOAT, false};
    g->scope->variables = v;
  }
  return g->scope->variables;
}

void weft__variable_store_destroy(variable_store *v) {
  if (!v) return;
  weft__map_finish(&v->variables);
  weft__map_finish(&v->opened);
  weft__free(v);
}

const variable_scope *weft__variable_scope_now(weft_graph *g) {
  const scope_entry *e = weft__scope_top(g->scope, SCOPE_VARIABLE);
  if (e) return ((variable_frame *)e->arg)->scope;
  variable_store *v = store_of(g);
  return v ? &v->root : NULL;
}

void weft__variable_scope_reuse(weft_graph *g) {
  const scope_entry *e = weft__scope_top(g->scope, SCOPE_VARIABLE);
  variable_store *v = store_of(g);
  if (e) ((variable_frame *)e->arg)->scope->reuse = REUSE_ALWAYS;
  if (!e && v) v->root.reuse = REUSE_ALWAYS;
}

void weft__variable_scope_set_resource(weft_graph *g, bool on) {
  const scope_entry *e = weft__scope_top(g->scope, SCOPE_VARIABLE);
  variable_store *v = store_of(g);
  if (e) ((variable_frame *)e->arg)->scope->resource = on;
  if (!e && v) v->root.resource = on;
}

bool weft__variable_scope_resource(weft_graph *g) {
  const variable_scope *now = weft__variable_scope_now(g);
  return now && now->resource;
}

/* ---- counts of opened scopes ---- */

static int opened_count(const variable_store *v, const char *name) {
  const opened *o = weft__map_get(&v->opened, name);
  return o ? o->count : 0;
}

/* Finds or creates the entry of a scope's name, and those of the scopes around it. */
static weft_err opened_at(weft_graph *g, const char *name, opened **out) {
  variable_store *v = g->scope->variables;
  opened **to = out;
  char *part = weft__strdup(name);
  weft_err err = part ? WEFT_OK : variable_scope_oom();
  for (char *slash = part; slash && !err; to = &(*to)->around) {
    *to = weft__map_get(&v->opened, part);
    if (*to) break;
    err =
        (*to = weft__arena_alloc(&g->arena, sizeof **to)) ? weft__map_put(&v->opened, part, *to) : variable_scope_oom();
    slash = strrchr(part, '/');
    if (slash) *slash = 0;
  }
  weft__free(part);
  return err;
}

static void set_count(opened *o, int count) {
  o->count = count;
  for (; count && o->around && !o->listed; o = o->around) {
    o->listed = true;
    o->next = o->around->below;
    o->around->below = o;
  }
}

static weft_err open_count(weft_graph *g, const char *name) {
  opened *o = weft__map_get(&g->scope->variables->opened, name);
  if (!o) WEFT_TRY(opened_at(g, name, &o));
  set_count(o, o->count + 1);
  return WEFT_OK;
}

/* Resets the counts of all names below o. */
static void clear_below(opened *o) {
  opened *top = o;
  while (o) { /* innermost first; each is removed from its list */
    opened *inner = o->below;
    if (inner) {
      o->below = inner->next;
      inner->listed = false;
      inner->count = 0;
      o = inner;
    } else {
      o = o == top ? NULL : o->around;
    }
  }
}

static void restore_counts(const map *m, const int *saved, int n) {
  for (int i = 0; i < m->used; i++) set_count(m->entries[i].value, i < n ? saved[i] : 0);
}

/* When a scope is left, default names below it start again. */
void weft__variable_frame_leave(scope *s, void *frame) {
  variable_frame *f = frame;
  const map *m = &s->variables->opened;
  if (f->saved) restore_counts(m, f->saved, f->n_saved);
  opened *here = f->saved ? NULL : weft__map_get(m, f->scope->name);
  if (here) clear_below(here);
  weft__free(f->saved);
  weft__free(f);
}

static weft_err save_counts(const variable_store *v, int **saved, int *n) {
  *n = v->opened.used;
  *saved = weft__alloc((size_t)(*n + 1) * sizeof **saved);
  if (!*saved) return WEFT_OOM;
  for (int i = 0; i < *n; i++) (*saved)[i] = ((opened *)v->opened.entries[i].value)->count;
  return WEFT_OK;
}

weft_err weft__variable_counts_save(weft_graph *g, int **count, int *n) {
  variable_store *v = store_of(g);
  return v ? save_counts(v, count, n) : WEFT_OOM;
}

void weft__variable_counts_set(weft_graph *g, const int *count, int n) {
  restore_counts(&g->scope->variables->opened, count, n);
}

/* ---- entering ---- */

static const char *variable_scope_join(weft_graph *g, const char *prefix, const char *name) {
  size_t size = strlen(prefix) + strlen(name) + 2;
  char *full = weft__arena_alloc(&g->arena, size);
  if (!full) return NULL;
  if (*prefix) strcat(strcpy(full, prefix), "/");
  return strcat(full, name);
}

/* Returns the first of "d", "d_1", ... under which no scope was opened. */
static weft_err free_default(weft_graph *g, const char *prefix, const char *name, const char **full) {
  for (int i = 0;; i++) {
    char *numbered = i ? weft__sprintf("%s_%d", name, i) : weft__strdup(name);
    if (!numbered) return WEFT_OOM;
    *full = variable_scope_join(g, prefix, numbered);
    weft__free(numbered);
    if (!*full) return variable_scope_oom();
    if (opened_count(g->scope->variables, *full) == 0) return WEFT_OK;
  }
}

static weft_err check_opts(const variable_scope_opts *o) {
  if (o->name || o->again) return WEFT_OK;
  if (!o->default_name)
    return weft__fail(WEFT_INVALID_ARGUMENT, "If default_name is None then name_or_scope is required");
  if (o->reuse == REUSE_ALWAYS || o->reuse == REUSE_AUTO)
    return weft__fail(WEFT_INVALID_ARGUMENT, "reuse=True cannot be used without a name_or_scope");
  return WEFT_OK;
}

/* Determines the properties of the new scope, except its name scope. */
static weft_err variable_scope_describe(weft_graph *g, const variable_scope_opts *o, variable_scope *s) {
  const variable_scope *now = weft__variable_scope_now(g), *from = o->again ? o->again : now;
  *s = *from;
  if (o->name)
    s->name = *o->name ? variable_scope_join(g, now->name, o->name) : now->name;
  else if (!o->again)
    WEFT_TRY(free_default(g, now->name, o->default_name, &s->name));
  if (!s->name) return variable_scope_oom();
  if (o->reuse == REUSE_ALWAYS || o->reuse == REUSE_AUTO) s->reuse = o->reuse;
  if (o->init.kind != INIT_DEFAULT) s->init = o->init;
  if (o->dtype != WEFT_INVALID) s->dtype = o->dtype;
  return WEFT_OK;
}

/* Opens the name scope for ops: the last part of the name, made unique in the current scope. */
static weft_err push_ops_scope(weft_graph *g, const variable_scope_opts *o, const variable_scope *s, bool *pushed) {
  const char *slash = o->again ? strrchr(o->again->name, '/') : NULL;
  const char *name = o->name ? o->name : slash ? slash + 1 : o->again ? o->again->name : o->default_name;
  *pushed = *name && !o->no_name_scope;
  (void)s;
  return *pushed ? weft__scope_push_name(g, name) : WEFT_OK;
}

static weft_err name_scope_text(weft_graph *g, const char **out) {
  const char *prefix = weft__scope_prefix(g);
  *out = *prefix ? variable_scope_join(g, prefix, "") : "";
  return *out ? WEFT_OK : variable_scope_oom();
}

static weft_err push_frame(weft_graph *g, const variable_scope_opts *o, variable_scope *s, int below) {
  variable_frame *f = weft__alloc_zero(1, sizeof *f);
  if (!f) return WEFT_OOM;
  f->scope = s;
  weft_err err = o->again ? save_counts(g->scope->variables, &f->saved, &f->n_saved) : WEFT_OK;
  if (err == WEFT_OK) err = open_count(g, s->name);
  if (err != WEFT_OK) {
    weft__free(f->saved);
    weft__free(f);
    return err;
  }
  return weft__scope_push(g->scope, (scope_entry){.kind = SCOPE_VARIABLE, .arg = f, .below = below});
}

static weft_err variable_scope_enter(weft_graph *g, const variable_scope_opts *o, variable_scope *s) {
  bool pushed;
  WEFT_TRY(variable_scope_describe(g, o, s));
  WEFT_TRY(push_ops_scope(g, o, s, &pushed));
  if (!o->again) WEFT_TRY(name_scope_text(g, &s->name_scope));
  return push_frame(g, o, s, pushed);
}

weft_err weft__variable_scope_push(weft_graph *g, const variable_scope_opts *o, const variable_scope **entered) {
  WEFT_TRY(check_opts(o));
  variable_scope *s = store_of(g) ? weft__arena_alloc(&g->arena, sizeof *s) : NULL;
  if (!s) return variable_scope_oom();
  int depth = weft__scope_depth(g), names = weft__scope_names(g);
  weft_err err = variable_scope_enter(g, o, s);
  if (err != WEFT_OK) {
    weft__scope_pop_to(g, depth);
    weft__scope_forget(g, names, g->n_node);
    return err;
  }
  if (entered) *entered = s;
  return WEFT_OK;
}

/* ---- get_variable ---- */

static weft_err variable_missing(const char *full) {
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Variable %s does not exist, or was not created with tf.get_variable(). Did you mean to set "
                    "reuse=tf.AUTO_REUSE in VarScope?",
                    full);
}

static weft_err variable_exists(const char *full) {
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Variable %s already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
                    "VarScope?",
                    full);
}

/* Formats a shape as a Python tuple, as in TF's errors. */
static void put_tuple(text *t, const shape *s) {
  weft__text_puts(t, s->rank < 0 ? "<unknown>" : "(");
  for (int i = 0; i < s->rank; i++) {
    if (i) weft__text_puts(t, " ");
    if (s->dim[i] < 0)
      weft__text_puts(t, "None");
    else
      weft__text_printf(t, "%lld", (long long)s->dim[i]);
    if (i + 1 < s->rank || s->rank == 1) weft__text_puts(t, ",");
  }
  if (s->rank >= 0) weft__text_puts(t, ")");
}

static weft_err other_shape(const char *full, const shape *want, const shape *have) {
  text a = {0}, b = {0};
  put_tuple(&a, want);
  put_tuple(&b, have);
  weft_err err =
      weft__fail(WEFT_INVALID_ARGUMENT, "Trying to share variable %s, but specified shape %s and found shape %s.", full,
                 weft__text_get(&a), weft__text_get(&b));
  weft__text_finish(&a);
  weft__text_finish(&b);
  return err;
}

static weft_err variable_share(const stored *v, const char *full, const variable_spec *spec, weft_dtype dtype,
                               variable_nodes *out) {
  if (spec->has_shape && !weft__shape_compatible(&spec->shape, &v->shape))
    return other_shape(full, &spec->shape, &v->shape);
  if (dtype != v->dtype)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Trying to share variable %s, but specified dtype %s and found dtype %s%s.", full,
                      weft__dtype_name(dtype), weft__dtype_name(v->dtype), v->nodes.resource ? "" : "_ref");
  *out = v->nodes;
  out->found = true;
  return WEFT_OK;
}

static weft_err variable_create(weft_graph *g, const char *full, const variable_spec *spec, variable_nodes *out) {
  stored *v = weft__arena_alloc(&g->arena, sizeof *v);
  graph_mark before = weft__graph_mark(g);
  weft_err err = v ? weft__variable_build(g, full, spec, out) : variable_scope_oom();
  if (err == WEFT_OK) {
    *v = (stored){*out, *weft__out_shape(g, out->read), weft__out_type(g, out->read)};
    err = weft__map_put(&g->scope->variables->variables, full, v);
  }
  if (err != WEFT_OK) weft__graph_rewind(g, &before);
  return err;
}

weft_err weft__variable_get(weft_graph *g, const variable_spec *spec, variable_nodes *out) {
  const variable_scope *now = weft__variable_scope_now(g);
  const char *full = now ? variable_scope_join(g, now->name, spec->name) : NULL;
  if (!full) return variable_scope_oom();
  variable_spec s = *spec;
  reuse_mode reuse = spec->reuse != REUSE_INHERIT ? spec->reuse : now->reuse;
  if (s.dtype == WEFT_INVALID) s.dtype = now->dtype;
  if (s.init.kind == INIT_DEFAULT) s.init = now->init;
  const stored *v = weft__map_get(&g->scope->variables->variables, full);
  if (v) return reuse == REUSE_NEVER ? variable_exists(full) : variable_share(v, full, spec, s.dtype, out);
  return reuse == REUSE_ALWAYS ? variable_missing(full) : variable_create(g, full, &s, out);
}
