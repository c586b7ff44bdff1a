/* scope.c - the stack of scopes, and unique names.
 *
 * Like TensorFlow's, uniqueness ignores case, because names become file names and some file systems ignore case.  A
 * name that is taken gets the smallest free suffix; used_names remembers where to continue the search. scope_apply.c
 * applies scopes to nodes. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/cast.h"
#include "device/device.h"
#include "graph/scope_stack.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

weft_err weft__scope_create(scope **out) {
  *out = weft__alloc_zero(1, sizeof **out);
  return *out ? WEFT_OK : WEFT_OOM;
}

static void entry_finish(scope *s, scope_entry *e) {
  if (e->kind == SCOPE_VARIABLE) weft__variable_frame_leave(s, e->arg);
  weft__free(e->text);
  weft__free(e->id);
}

void weft__scope_destroy(scope *s) {
  if (!s) return;
  while (s->n) entry_finish(s, &s->entry[--s->n]);
  weft__variable_store_destroy(s->variables);
  weft__free(s->entry);
  weft__free(s->gap);
  weft__free(s->mark);
  weft__free(s);
}

weft_err weft__scope_push(scope *s, scope_entry e) {
  WEFT_ASSERT(e.below >= 0 && e.below <= s->n);
  if (WEFT_ARRAY_RESERVE(s->entry, s->capacity, s->n + 1)) {
    entry_finish(s, &e);
    return WEFT_OOM;
  }
  s->entry[s->n++] = e;
  return WEFT_OK;
}

const scope_entry *weft__scope_top(const scope *s, scope_kind kind) {
  for (int i = s->n - 1; i >= 0; i--)
    if (s->entry[i].kind == kind) return &s->entry[i];
  return NULL;
}

/* Reserves room for the gap that each control(None) on the stack will leave, when the scope is entered, so that a
 * pop cannot fail. */
weft_err weft__scope_reserve_gap(scope *s) {
  int need = s->n_gap + 1;
  for (int i = 0; i < s->n; i++) need += s->entry[i].kind == SCOPE_CONTROL && s->entry[i].clear;
  return WEFT_ARRAY_RESERVE(s->gap, s->cap_gap, need);
}

static void pop_one(weft_graph *g) {
  scope *s = g->scope;
  WEFT_ASSERT(s->n > 0);
  scope_entry e = s->entry[--s->n];
  if (e.kind == SCOPE_CONTROL && e.clear && e.node < g->n_node) {
    while (s->n_gap && s->gap[s->n_gap - 1].begin >= e.node) s->n_gap--; /* gaps of inner scopes */
    WEFT_ASSERT(s->n_gap < s->cap_gap);                                  /* reserved when the scope was entered */
    s->gap[s->n_gap++] = (scope_gap){e.node, g->n_node};
  }
  entry_finish(s, &e);
}

void weft__scope_pop(weft_graph *g) {
  if (g->scope->n == 0) return;
  int below = g->scope->entry[g->scope->n - 1].below;
  WEFT_ASSERT(below >= 0 && below < g->scope->n);
  for (int i = 0; i <= below; i++) pop_one(g);
}

int weft__scope_depth(const weft_graph *g) { return g->scope->n; }

void weft__scope_pop_to(weft_graph *g, int depth) {
  WEFT_ASSERT(depth >= 0);
  while (g->scope->n > depth) pop_one(g);
}

/* ---- names ---- */

static bool name_char(char c) { return isalnum((unsigned char)c) || (c && strchr("_.\\/>-", c)); }

static bool valid_scope(const char *s) {
  while (*s && name_char(*s)) s++;
  return *s == 0;
}

static bool valid_name(const char *s) { return (isalnum((unsigned char)*s) || *s == '.') && valid_scope(s); }

const char *weft__scope_prefix(const weft_graph *g) {
  const scope_entry *e = weft__scope_top(g->scope, SCOPE_NAME);
  return e ? e->text : "";
}

static char *lower_case(const char *name) {
  char *key = weft__strdup(name);
  for (char *p = key; p && *p; p++) *p = (char)tolower((unsigned char)*p);
  return key;
}

typedef struct used_name {
  int next; /* the first suffix to try when the name is used again */
  int born; /* how many names were taken before it */
} used_name;

static weft_err is_used(const weft_graph *g, const char *name, used_name **used) {
  char *key = lower_case(name);
  if (!key) return WEFT_OOM;
  *used = weft__map_get(&g->used_names, key);
  weft__free(key);
  return WEFT_OK;
}

/* Returns the first free one of base, base_1, base_2, ...; *full is on the heap. */
static weft_err find_free(const weft_graph *g, const char *base, char **full) {
  used_name *used, *taken;
  *full = NULL;
  WEFT_TRY(is_used(g, base, &used));
  if (!used) return (*full = weft__strdup(base)) ? WEFT_OK : WEFT_OOM;
  taken = used;
  for (int i = used->next; taken; i++) {
    weft__free(*full);
    if (!(*full = weft__sprintf("%s_%d", base, i))) return WEFT_OOM;
    used->next = i; /* every suffix below i is taken */
    weft_err err = is_used(g, *full, &taken);
    if (err != WEFT_OK) {
      weft__free(*full);
      return err;
    }
  }
  return WEFT_OK;
}

static weft_err in_prefix(const weft_graph *g, const char *name, char **out) {
  const char *prefix = weft__scope_prefix(g);
  *out = *prefix ? weft__sprintf("%s/%s", prefix, name) : weft__strdup(name);
  return *out ? WEFT_OK : WEFT_OOM;
}

/* Returns a unique name below the current prefix, on the heap. */
static weft_err unique_here(const weft_graph *g, const char *name, char **full) {
  char *base;
  WEFT_TRY(in_prefix(g, name, &base));
  weft_err err = find_free(g, base, full);
  weft__free(base);
  return err;
}

static weft_err to_arena(weft_graph *g, char *heap, const char **out) {
  *out = weft__arena_strdup(&g->arena, heap);
  weft__free(heap);
  return *out ? WEFT_OK : weft__fail(WEFT_OOM, "no memory for a name");
}

weft_err weft__scope_take(weft_graph *g, const char *full) {
  used_name *used;
  WEFT_TRY(is_used(g, full, &used));
  if (used) return WEFT_OK;
  char *key = lower_case(full);
  weft_err err = WEFT_OOM; /* the failed allocation has set the error */
  if (key && (used = weft__arena_alloc(&g->arena, sizeof *used))) {
    *used = (used_name){.next = 1, .born = g->scope->n_name++};
    err = weft__map_put(&g->used_names, key, used);
  }
  weft__free(key);
  return err;
}

bool weft__scope_taken(const weft_graph *g, const char *full) {
  used_name *used = NULL;
  return is_used(g, full, &used) == WEFT_OK && used;
}

weft_err weft__scope_free_name(weft_graph *g, const char *full, const char **out) {
  char *found;
  WEFT_TRY(find_free(g, full, &found));
  return to_arena(g, found, out);
}

int weft__scope_names(const weft_graph *g) { return g->scope->n_name; }

/* Marks `key` as free: if it is a name with a suffix, the search for that name continues from there. */
static void free_suffix(weft_graph *g, char *key) {
  char *line = strrchr(key, '_');
  const size_t digits = line ? strspn(line + 1, "0123456789") : 0;
  if (digits == 0 || digits > 9 || line[1 + digits]) return;
  *line = 0;
  used_name *base = weft__map_get(&g->used_names, key);
  *line = '_';
  const int suffix = weft__int_sat(strtol(line + 1, NULL, 10));
  if (base && suffix >= 1 && suffix < base->next) base->next = suffix;
}

void weft__scope_forget(weft_graph *g, int names, int nodes) {
  WEFT_ASSERT(names <= g->scope->n_name && nodes <= g->n_node);
  scope *s = g->scope;
  while (s->n_gap && s->gap[s->n_gap - 1].begin >= nodes) s->n_gap--;
  if (s->n_gap && s->gap[s->n_gap - 1].end > nodes) s->gap[s->n_gap - 1].end = nodes;
  for (int i = 0; i < g->used_names.used; i++) {
    map_entry *e = &g->used_names.entries[i];
    used_name *used = e->value;
    if (!e->key) continue;
    if (used->born < names) continue;
    free_suffix(g, e->key);
    weft__map_remove(&g->used_names, e->key);
  }
  g->scope->n_name = names;
}

static weft_err exact_name(weft_graph *g, const char *name, size_t size, char **full) {
  if (!(*full = weft__strndup(name, size))) return WEFT_OOM;
  if (!weft__map_get(&g->by_name, *full)) return WEFT_OK;
  weft_err err = weft__fail(WEFT_INVALID_ARGUMENT, "Duplicate node name in graph: '%s'", *full);
  weft__free(*full);
  return err;
}

weft_err weft__scope_name(weft_graph *g, const char *name, const char **full) {
  size_t size = strlen(name);
  char *found;
  if (size > 1 && name[size - 1] == '/')
    WEFT_TRY(exact_name(g, name, size - 1, &found));
  else
    WEFT_TRY(unique_here(g, name, &found));
  if (size && valid_name(found)) return to_arena(g, found, full);
  weft_err err = weft__fail(WEFT_INVALID_ARGUMENT, "'%s' is not a valid node name", name);
  weft__free(found);
  return err;
}

weft_err weft__scope_unique(weft_graph *g, const char *name, const char **full) {
  char *found;
  WEFT_TRY(unique_here(g, name, &found));
  WEFT_TRY(to_arena(g, found, full));
  return weft__scope_take(g, *full);
}

static weft_err check_scope_name(const weft_graph *g, const char *name) {
  bool root = !*weft__scope_prefix(g);
  if (root ? valid_name(name) : valid_scope(name)) return WEFT_OK;
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "'%s' is not a valid scope name. A %sscope name has to match the following pattern: "
                    "^%s[A-Za-z0-9_.\\\\/>-]*$",
                    name, root ? "root " : "", root ? "[A-Za-z0-9.]" : "");
}

weft_err weft__scope_push_name(weft_graph *g, const char *name) {
  scope_entry e = {.kind = SCOPE_NAME};
  size_t size = name ? strlen(name) : 0;
  if (size == 0) {
    if (!(e.text = weft__strdup(""))) return WEFT_OOM;
  } else if (name[size - 1] == '/') {
    if (!(e.text = weft__strndup(name, size - 1))) return WEFT_OOM;
  } else {
    WEFT_TRY(check_scope_name(g, name));
    WEFT_TRY(unique_here(g, name, &e.text));
    weft_err err = weft__scope_take(g, e.text);
    if (err != WEFT_OK) {
      weft__free(e.text);
      return err;
    }
  }
  return weft__scope_push(g->scope, e);
}

/* ---- entering scopes of the other kinds ---- */

static weft_err push_text(weft_graph *g, scope_entry e, const char *words) {
  if (!(e.text = weft__strdup(words))) return WEFT_OOM;
  return weft__scope_push(g->scope, e);
}

weft_err weft__scope_push_device(weft_graph *g, const char *name) {
  if (!name) return push_text(g, (scope_entry){.kind = SCOPE_DEVICE, .clear = true}, "");
  device_spec spec;
  WEFT_TRY(weft__device_parse(&spec, name));
  return push_text(g, (scope_entry){.kind = SCOPE_DEVICE}, name);
}

weft_err weft__scope_push_device_fn(weft_graph *g, device_fn *fn, void *arg) {
  return weft__scope_push(g->scope, (scope_entry){.kind = SCOPE_DEVICE, .fn = fn, .arg = arg});
}

weft_err weft__scope_push_control(weft_graph *g, int n, const int *node_ids) {
  scope_entry e = {.kind = SCOPE_CONTROL, .clear = n < 0, .node = g->n_node};
  for (int i = 0; i < n; i++)
    if (node_ids[i] < 0 || node_ids[i] >= g->n_node)
      return weft__fail(WEFT_INVALID_ARGUMENT, "control_dependencies: node %d is not one of the graph's %d",
                        node_ids[i], g->n_node);
  if (n < 0) {
    WEFT_TRY(weft__scope_reserve_gap(g->scope));
  } else if (n > 0) {
    if (!(e.id = weft__alloc((size_t)n * sizeof *e.id))) return WEFT_OOM;
    memcpy(e.id, node_ids, (size_t)n * sizeof *e.id);
    e.n_id = n;
  }
  return weft__scope_push(g->scope, e);
}

weft_err weft__scope_push_colocate(weft_graph *g, int node_id, bool ignore_existing) {
  if (node_id < 0 && !ignore_existing)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Trying to reset colocation (op is None) but ignore_existing is not True");
  if (node_id >= g->n_node)
    return weft__fail(WEFT_INVALID_ARGUMENT, "colocate_with: node %d is not one of the graph's %d", node_id, g->n_node);
  return weft__scope_push(g->scope, (scope_entry){.kind = SCOPE_COLOCATE, .clear = ignore_existing, .node = node_id});
}

weft_err weft__scope_push_class(weft_graph *g, const char *node) {
  return push_text(g, (scope_entry){.kind = SCOPE_CLASS}, node);
}

weft_err weft__scope_push_container(weft_graph *g, const char *container) {
  return push_text(g, (scope_entry){.kind = SCOPE_CONTAINER}, container);
}

weft_err weft__scope_push_gradient(weft_graph *g, const char *op_type, const char *gradient) {
  char *pair = weft__sprintf("%s=%s", op_type, gradient);
  if (!pair) return WEFT_OOM;
  const weft_err err = push_text(g, (scope_entry){.kind = SCOPE_GRADIENT}, pair);
  weft__free(pair);
  return err;
}

/* ---- seeds ---- */

void weft__graph_seed_by_nodes(weft_graph *g, bool on) { g->scope->seed_by_nodes = on; }

/* Reduces a seed to TensorFlow's range, like Python's modulo. */
static int64_t seed_range(int64_t seed) {
  const int64_t top = INT32_MAX;
  return ((seed % top) + top) % top;
}

void weft__graph_seeds(weft_graph *g, bool has_op_seed, int64_t op_seed, int64_t *seed, int64_t *seed2) {
  const int64_t graph_seed_when_none = 87654321;
  *seed = *seed2 = 0;
  if (!g->has_seed && !has_op_seed) return;
  if (g->has_seed && !has_op_seed) op_seed = g->scope->seed_by_nodes ? g->n_node : g->seeds_drawn++;
  *seed = seed_range(g->has_seed ? g->seed : graph_seed_when_none);
  *seed2 = seed_range(op_seed);
  if (*seed == 0 && *seed2 == 0) *seed2 = INT32_MAX; /* both zero would mean a random seed */
}
