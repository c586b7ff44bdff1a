/* graph.c - adds nodes: a node is checked and inferred as a draft, then added in one step.
 *
 * The draft is in the graph's arena from the start; a rejected one leaves only unused bytes there. */
#include "graph/graph.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/suggest.h"
#include "graph/expansion.h"
#include "graph/infer.h"
#include "graph/library.h"
#include "graph/node_object.h"
#include "graph/scope.h"
#include <string.h>

/* ---- the objects of nodes: they lie behind the graph, in the same allocation ---- */

typedef struct graph_with_objects {
  weft_graph graph; /* first: a pointer to it is a pointer to the whole */
  pthread_mutex_t lock;
  map objects; /* node name -> object */
} graph_with_objects;

static weft_graph *graph_alloc(void) {
  graph_with_objects *g = weft__alloc_zero(1, sizeof *g);
  if (!g) return NULL;
  pthread_mutex_init(&g->lock, NULL);
  return &g->graph;
}

static void graph_free(weft_graph *graph) {
  graph_with_objects *g = (graph_with_objects *)graph;
  for (int i = 0; i < g->objects.used; i++) weft__object_release(g->objects.entries[i].value);
  weft__map_finish(&g->objects);
  pthread_mutex_destroy(&g->lock);
  weft__free(g);
}

weft_err weft__node_object(const weft_node *n, weft_err (*make)(const weft_node *n, object **out), object **out) {
  graph_with_objects *g = (graph_with_objects *)n->graph;
  weft_err err = WEFT_OK;
  pthread_mutex_lock(&g->lock);
  object *found = weft__map_get(&g->objects, n->name);
  if (!found && (err = make(n, &found)) == WEFT_OK && (err = weft__map_put(&g->objects, n->name, found)) != WEFT_OK)
    weft__object_release(found);
  if (!err) weft__object_retain(found);
  pthread_mutex_unlock(&g->lock);
  if (!err) *out = found;
  return err;
}

/* ---- graphs ---- */

weft_err weft__graph_create(weft_graph **out, const op_table *ops) {
  weft_graph *g = graph_alloc();
  if (!g) return WEFT_OOM;
  pthread_mutexattr_t recursive; /* recursive: a device function called while a node is added may read the graph */
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&g->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  g->ops = ops;
  g->version_producer = WEFT_GRAPH_VERSION;
  g->version_min_consumer = 0;
  weft_err err = weft__scope_create(&g->scope);
  if (err) {
    weft__graph_destroy(g);
    return err;
  }
  *out = g;
  return WEFT_OK;
}

void weft__graph_destroy(weft_graph *g) {
  if (!g) return;
  for (int i = 0; i < g->n_node; i++)
    for (int j = 0; j < g->node[i]->n_attr; j++) weft__attr_release(&g->node[i]->attr[j]);
  weft__scope_destroy(g->scope);
  weft__library_release(g);
  weft__expansion_leave(g);
  weft__free(g->node);
  weft__map_finish(&g->by_name);
  weft__map_finish(&g->used_names);
  weft__map_finish(&g->collections);
  weft__status_finish(&g->sticky);
  weft__arena_finish(&g->arena);
  pthread_mutex_destroy(&g->lock);
  graph_free(g);
}

/* ---- attributes of the draft ---------------------------------------------------------------- */

static attr *draft_attr(weft_node *n, const char *name) {
  const attr *found = weft__node_attr(n, name);
  return found ? &n->attr[found - n->attr] : NULL;
}

/* Appends an attribute.  The draft has room for every attribute of the definition besides those given. */
static attr *append_attr(weft_node *n, const attr *a) {
  WEFT_ASSERT(!weft__node_attr(n, a->name));
  n->attr[n->n_attr] = *a;
  return &n->attr[n->n_attr++];
}

/* Returns true if the value has the kind that the op defines.  A function, and a tensor that no memory can hold, are
 * kept as they came.  Anything else that could not be read is no value: a placeholder for an attribute of a caller. */
static bool attr_fits(const attr_def *d, const attr *a) {
  if (a->kind == ATTR_OPAQUE) return d->kind == ATTR_FUNC || d->kind == ATTR_TENSOR;
  if (d->is_list && a->is_list && a->n == 0) return true; /* the bytes of an empty list do not tell its kind */
  return a->kind == d->kind && a->is_list == d->is_list;
}

static weft_err graph_copy_attrs(weft_graph *g, weft_node *n, const node_spec *spec) {
  WEFT_ASSERT(n->n_attr == 0);
  int room = spec->n_attr + (n->op ? n->op->opdef.n_attr : 0) + 2;
  n->attr = weft__arena_alloc(&g->arena, (size_t)room * sizeof *n->attr);
  if (!n->attr) return WEFT_OOM;
  for (int i = 0; i < spec->n_attr; i++) {
    const attr *a = &spec->attr[i];
    const attr_def *d = n->op ? weft__opdef_attr(&n->op->opdef, a->name) : NULL;
    if (n->op && !d && a->name[0] != '_' && !spec->exact) /* TF accepts unknown attributes in imports */
      return weft__fail_node(WEFT_INVALID_ARGUMENT,
                             "NodeDef mentions attr '%s' not in Op<name=%s>; NodeDef: {{node %s}}", a->name, n->op_name,
                             n->name);
    if (d && !attr_fits(d, a))
      return weft__fail_node(WEFT_INVALID_ARGUMENT,
                             "AttrValue of '%s' has a value of another kind than the op %s defines; "
                             "NodeDef: {{node %s}}",
                             a->name, n->op_name, n->name);
    if (draft_attr(n, a->name))
      return weft__fail(WEFT_INVALID_ARGUMENT, "attr '%s' is given twice for node '%s'", a->name, n->name);
    attr copy;
    WEFT_TRY(weft__attr_copy(&copy, a, &g->arena));
    if (d) copy.kind = copy.is_list && copy.n == 0 ? d->kind : copy.kind;
    append_attr(n, &copy);
  }
  return WEFT_OK;
}

/* Returns true if value a, or element i of list a, is an allowed value. */
static bool allowed_element(const attr_def *d, const attr *a, int i) {
  WEFT_ASSERT(i >= 0 && (!a->is_list || i < a->n));
  const attr *ok = &d->allowed;
  for (int j = 0; j < ok->n; j++) {
    if (d->kind == ATTR_TYPE) {
      if ((a->is_list ? a->types[i] : a->type) == ok->types[j]) return true;
    } else if (d->kind == ATTR_STRING) {
      attr_str s = a->is_list ? a->ss[i] : a->s;
      if (s.size == ok->ss[j].size && memcmp(s.data, ok->ss[j].data, s.size) == 0) return true;
    } else {
      return true;
    }
  }
  return false;
}

static weft_err check_allowed(const weft_node *n, const attr_def *d, const attr *a) {
  for (int i = 0; i < (a->is_list ? a->n : 1); i++) {
    if (allowed_element(d, a, i)) continue;
    if (d->kind == ATTR_TYPE)
      return weft__fail_fact(WEFT_INVALID_ARGUMENT, ERROR_NAMES_NODE | WEFT_FACT_TYPE_NOT_ALLOWED,
                             "Value for attr '%s' of %s is not in the list of allowed values; "
                             "NodeDef: {{node %s}}; Op<name=%s>",
                             d->name, weft__dtype_short(a->is_list ? a->types[i] : a->type), n->name, n->op_name);
    attr_str s = a->is_list ? a->ss[i] : a->s;
    return weft__fail_node(WEFT_INVALID_ARGUMENT,
                           "Value for attr '%s' of \"%.*s\" is not in the list of allowed values; "
                           "NodeDef: {{node %s}}; Op<name=%s>",
                           d->name, weft__int_sat(s.size), s.data, n->name, n->op_name);
  }
  return WEFT_OK;
}

static weft_err check_attr(const weft_node *n, const attr_def *d, const attr *a) {
  if (a->kind == ATTR_OPAQUE) return WEFT_OK;
  int64_t size = a->is_list ? a->n : a->kind == ATTR_INT ? a->i : d->min;
  if (d->has_min && size < d->min)
    return weft__fail_node(WEFT_INVALID_ARGUMENT,
                           a->is_list
                               ? "Length for attr '%s' of %lld must be at least minimum %lld; NodeDef: {{node %s}}; "
                                 "Op<name=%s>"
                               : "Value for attr '%s' of %lld must be at least minimum %lld; NodeDef: {{node %s}}; "
                                 "Op<name=%s>",
                           d->name, (long long)size, (long long)d->min, n->name, n->op_name);
  return d->allowed.kind != ATTR_NONE ? check_allowed(n, d, a) : WEFT_OK;
}

/* Adds the defaults of missing attributes, then checks all attributes. */
static weft_err finish_attrs(weft_graph *g, weft_node *n) {
  const opdef *def = &n->op->opdef;
  for (int i = 0; i < def->n_attr; i++) {
    const attr_def *d = &def->attr[i];
    attr *a = draft_attr(n, d->name);
    if (!a && d->has_default) {
      attr copy;
      WEFT_TRY(weft__attr_copy(&copy, &d->default_value, &g->arena));
      a = append_attr(n, &copy);
    }
    if (!a)
      return weft__fail_node(WEFT_INVALID_ARGUMENT, "NodeDef missing attr '%s' from Op<name=%s>; NodeDef: {{node %s}}",
                             d->name, n->op_name, n->name);
    WEFT_TRY(check_attr(n, d, a));
  }
  return WEFT_OK;
}

/* ---- inputs against arguments ---------------------------------------------------------------- */

/* Returns the number of inputs of argument i if its attributes give it, or -1 if it must be inferred. */
static int argument_count(weft_node *n, const arg_def *d) {
  const attr *a;
  if (d->number_attr) {
    a = draft_attr(n, d->number_attr);
    if (!a || a->kind != ATTR_INT) return -1;
    return a->i >= 0 && a->i <= 1 << 16 ? weft__int_sat(a->i) : -2; /* -2: no input list has this many */
  }
  if (d->list_attr) {
    a = draft_attr(n, d->list_attr);
    return a && a->kind == ATTR_TYPE && a->is_list ? a->n : -1;
  }
  return 1;
}

static weft_err wrong_count(const weft_node *n) {
  return weft__fail_node(WEFT_INVALID_ARGUMENT,
                         "NodeDef expected inputs that do not match %d inputs specified; Op<name=%s>; "
                         "NodeDef: {{node %s}}",
                         n->n_in, n->op_name, n->name);
}

/* Returns true if two arguments take their length from the same attribute (indices:N*int32, data:N*T). */
static bool same_length(const arg_def *a, const arg_def *b) {
  if (a->number_attr && b->number_attr) return strcmp(a->number_attr, b->number_attr) == 0;
  return a->list_attr && b->list_attr && strcmp(a->list_attr, b->list_attr) == 0;
}

/* Finds the count of argument `which`: from its attributes, or its share of the inputs that other arguments leave
 * over. */
static weft_err infer_count(weft_node *n, int which, int *count) {
  const opdef *def = &n->op->opdef;
  *count = argument_count(n, &def->in[which]);
  if (*count == -2) return wrong_count(n);
  if (*count >= 0) return WEFT_OK;
  int others = 0, sharers = 0;
  for (int i = 0; i < def->n_in; i++) {
    if (same_length(&def->in[i], &def->in[which])) {
      sharers++;
      continue;
    }
    int c = argument_count(n, &def->in[i]);
    if (c < 0) return wrong_count(n); /* two lists of unknown length: their lengths must be given */
    others += c;
  }
  WEFT_ASSERT(sharers > 0); /* at least the argument itself */
  int left = n->n_in - others;
  *count = left / sharers;
  return left < 0 || left % sharers ? wrong_count(n) : WEFT_OK;
}

static weft_err type_mismatch(const weft_graph *g, const weft_node *n, int i, const arg_def *d, weft_dtype want) {
  WEFT_ASSERT(i >= 0 && i < n->n_in && n->in[i].node >= 0);
  weft_out from = n->in[i];
  const char *got = weft__dtype_short(weft__out_type(g, from));
  const char *ref = d->is_ref ? "_ref" : "";
  return weft__fail(WEFT_INVALID_ARGUMENT,
                    "Input %d ('%s') of node '%s' (op %s) was passed %s from %s:%d incompatible with expected %s%s.", i,
                    d->name, n->name, n->op_name, got, g->node[from.node]->name, from.slot, weft__dtype_short(want),
                    ref);
}

/* Finds the required type of argument d.  If the attribute is not set yet, it is that of the first input. */
static weft_err argument_type(weft_node *n, const arg_def *d, weft_dtype seen, weft_dtype *want) {
  *want = d->type;
  if (d->type != WEFT_INVALID) return WEFT_OK;
  const attr *a = draft_attr(n, d->type_attr);
  if (a) {
    if (a->kind != ATTR_TYPE || a->is_list)
      return weft__fail(WEFT_INVALID_ARGUMENT, "attr '%s' of node '%s' is not a type", d->type_attr, n->name);
    *want = a->type;
  } else {
    *want = seen;
    append_attr(n, &A_TYPE(d->type_attr, seen));
  }
  return WEFT_OK;
}

static weft_err open_list(weft_graph *g, weft_node *n, const arg_def *d, int first, int count) {
  WEFT_ASSERT(first >= 0 && count >= 0 && first + count <= n->n_in);
  if (d->number_attr && !draft_attr(n, d->number_attr)) append_attr(n, &A_INT(d->number_attr, count));
  if (!d->list_attr || draft_attr(n, d->list_attr)) return WEFT_OK;
  weft_dtype *types = weft__arena_alloc(&g->arena, (size_t)(count ? count : 1) * sizeof *types);
  if (!types) return WEFT_OOM;
  for (int i = 0; i < count; i++) types[i] = weft__out_type(g, n->in[first + i]);
  append_attr(n, &A_TYPES(d->list_attr, types, count));
  return WEFT_OK;
}

static weft_err match_argument(weft_graph *g, weft_node *n, const arg_def *d, int first, int count) {
  WEFT_TRY(open_list(g, n, d, first, count));
  const attr *list = d->list_attr ? draft_attr(n, d->list_attr) : NULL;
  for (int i = first; i < first + count; i++) {
    weft_dtype seen = weft__out_type(g, n->in[i]), want = WEFT_INVALID;
    if (list)
      want = list->types[i - first];
    else
      WEFT_TRY(argument_type(n, d, seen, &want));
    if (seen == WEFT_INVALID) continue; /* from an unknown op */
    if (seen != want || (d->is_ref && !weft__out_is_ref(g, n->in[i]))) return type_mismatch(g, n, i, d, want);
  }
  return WEFT_OK;
}

static weft_err match_inputs(weft_graph *g, weft_node *n) {
  const opdef *def = &n->op->opdef;
  int first = 0;
  for (int i = 0; i < def->n_in; i++) {
    int count;
    WEFT_TRY(infer_count(n, i, &count));
    if (first + count > n->n_in) return wrong_count(n);
    WEFT_TRY(match_argument(g, n, &def->in[i], first, count));
    first += count;
  }
  return first == n->n_in ? WEFT_OK : wrong_count(n);
}

/* ---- outputs ----------------------------------------------------------------------------------- */

static weft_err room_for_outputs(weft_graph *g, weft_node *n, int count) {
  WEFT_ASSERT(count >= 0);
  size_t room = (size_t)(count ? count : 1);
  n->out_type = weft__arena_alloc(&g->arena, room * sizeof *n->out_type);
  n->out_shape = weft__arena_alloc(&g->arena, room * sizeof *n->out_shape);
  if (!n->out_type || !n->out_shape) return WEFT_OOM;
  for (int i = 0; i < count; i++) n->out_shape[i] = SHAPE_UNKNOWN;
  n->n_out = count;
  return WEFT_OK;
}

static weft_err graph_make_outputs(weft_graph *g, weft_node *n) {
  const opdef *def = &n->op->opdef;
  int64_t total = 0;
  for (int i = 0; i < def->n_out; i++) {
    int c = argument_count(n, &def->out[i]);
    total += c > 0 ? c : 0;
    if (c == -2 || total > 1 << 16)
      return weft__fail(WEFT_INVALID_ARGUMENT, "node '%s' (op %s) would have too many outputs", n->name, n->op_name);
  }
  WEFT_TRY(room_for_outputs(g, n, weft__int_sat(total)));
  int at = 0;
  for (int i = 0; i < def->n_out; i++) {
    const arg_def *d = &def->out[i];
    const attr *list = d->list_attr ? draft_attr(n, d->list_attr) : NULL;
    const attr *one = d->type_attr ? draft_attr(n, d->type_attr) : NULL;
    for (int j = 0, c = argument_count(n, d); j < c; j++) {
      weft_dtype t = list ? list->types[j] : one ? one->type : d->type;
      n->out_type[at++] = d->is_ref ? (weft_dtype)(t + WEFT_REF_BASE) : t;
    }
  }
  return WEFT_OK;
}

/* ---- adding a node ------------------------------------------------------------------------------- */

static weft_err copy_edges(weft_graph *g, weft_node *n, const node_spec *spec) {
  for (int i = 0; i < spec->n_in; i++) {
    weft_out o = spec->in[i];
    if (weft__out_foreign(g, o))
      return weft__fail(WEFT_INVALID_ARGUMENT, "input %d of %s is from another graph", i, n->op_name);
    if (!weft__out_exists(g, o))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Input %d of node '%s' (op %s) is not an output of this graph (%d:%d)",
                        i, n->name, n->op_name, o.node, o.slot);
  }
  for (int i = 0; i < spec->n_control; i++)
    if (spec->control[i] < 0 || spec->control[i] >= g->n_node)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Control input %d of node '%s' is not a node of this graph", i, n->name);
  n->n_in = spec->n_in;
  n->in = weft__arena_copy(&g->arena, spec->in, sizeof *n->in * (size_t)spec->n_in);
  /* nodes are copied between graphs, so handles in them have no tag */
  for (int i = 0; n->in && i < n->n_in; i++) n->in[i].graph = 0;
  n->n_control = spec->n_control;
  n->control = weft__arena_copy(&g->arena, spec->control, sizeof *n->control * (size_t)spec->n_control);
  return n->in && n->control ? WEFT_OK : WEFT_OOM;
}

static weft_err name_node(weft_graph *g, const node_spec *spec, weft_node *n) {
  const char *device = spec->device ? spec->device : "";
  n->device = weft__arena_strdup(&g->arena, device);
  if (!n->device) return WEFT_OOM;
  if (!spec->exact) return weft__scope_name(g, spec->name ? spec->name : spec->op, &n->name);
  if (weft__graph_find(g, spec->name))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Node name '%s' already exists in the Graph", spec->name);
  n->name = weft__arena_strdup(&g->arena, spec->name);
  return n->name ? WEFT_OK : WEFT_OOM;
}

static weft_err unknown_op(const weft_graph *g, const node_spec *spec) {
  suggestion s = {.name = spec->op};
  for (int i = 0; i < g->ops->by_name.used; i++)
    if (g->ops->by_name.entries[i].key) weft__suggest_offer(&s, g->ops->by_name.entries[i].key);
  const char *nearest = weft__suggest_nearest(&s), *name = spec->name ? spec->name : spec->op;
  return nearest ? weft__fail(WEFT_NOT_FOUND, "Op type not registered '%s' (node '%s'); did you mean '%s'?", spec->op,
                              name, nearest)
                 : weft__fail(WEFT_NOT_FOUND, "Op type not registered '%s' (node '%s')", spec->op, name);
}

static weft_err node_draft(weft_graph *g, const node_spec *spec, weft_node *n) {
  n->op_name = weft__arena_strdup(&g->arena, spec->op);
  n->op = weft__graph_op(g, spec->op);
  n->graph = g;
  n->id = g->n_node;
  if (!n->op_name) return WEFT_OOM;
  if (!n->op && !spec->exact) return unknown_op(g, spec);
  WEFT_TRY(name_node(g, spec, n));
  WEFT_TRY(copy_edges(g, n, spec));
  WEFT_TRY(graph_copy_attrs(g, n, spec));
  if (!n->op) return room_for_outputs(g, n, spec->opaque_outs);
  WEFT_TRY(match_inputs(g, n));
  WEFT_TRY(finish_attrs(g, n));
  WEFT_TRY(graph_make_outputs(g, n));
  return weft__infer_node(n);
}

enum { FIRST_NODES = 64 };

static weft_err graph_append(weft_graph *g, weft_node *n) {
  WEFT_ASSERT(n->graph == g && n->id == g->n_node); /* nothing was added since it was drafted */
  WEFT_ASSERT(n->name && n->n_out >= 0 && !weft__graph_find(g, n->name));
  WEFT_TRY(WEFT_ARRAY_RESERVE(g->node, g->cap_node, g->n_node ? g->n_node + 1 : FIRST_NODES));
  WEFT_TRY(weft__map_put(&g->by_name, n->name, n));
  weft_err err = weft__scope_take(g, n->name);
  if (err) {
    weft__map_remove(&g->by_name, n->name);
    return err;
  }
  g->node[g->n_node++] = n;
  g->generation++;
  return WEFT_OK;
}

/* Scopes apply to a node of the graph, so that a device function can ask the graph about it.  A node that they refuse
 * is removed, unless the device function added nodes after it: numbers of nodes never change. */
static weft_err scopes_apply(weft_graph *g, const node_spec *spec, weft_node *n) {
  WEFT_ASSERT(n->id < g->n_node && g->node[n->id] == n);
  if (spec->exact || !n->op) return WEFT_OK;
  weft_err err = weft__scope_apply(g, n, spec->device != NULL);
  if (err && g->n_node == n->id + 1) {
    weft__map_remove(&g->by_name, n->name);
    g->n_node--;
    g->generation++;
  }
  return err;
}

weft_err weft__graph_add(weft_graph *g, const node_spec *spec, weft_node **out) {
  pthread_mutex_lock(&g->lock);
  node_spec adapted = *spec;
  weft_err err = g->adapt && !spec->exact ? g->adapt(g->adapt_arg, &adapted) : WEFT_OK;
  weft_node *n = weft__arena_alloc(&g->arena, sizeof *n);
  if (!err) err = n ? node_draft(g, &adapted, n) : WEFT_OOM;
  if (!err) err = graph_append(g, n);
  if (!err) err = scopes_apply(g, &adapted, n);
  const bool kept = n && n->id < g->n_node && g->node[n->id] == n;
  if (err && n && !kept)
    for (int i = 0; i < n->n_attr; i++) weft__attr_release(&n->attr[i]);
  pthread_mutex_unlock(&g->lock);
  if (!err && out) *out = n;
  return err;
}

weft_err weft__graph_set_input(weft_graph *g, weft_node *n, int i, weft_out from) {
  if (weft__out_foreign(g, from))
    return weft__fail(WEFT_INVALID_ARGUMENT, "the new input %d of node '%s' is from another graph", i, n->name);
  if (i < 0 || i >= n->n_in || !weft__out_exists(g, from))
    return weft__fail(WEFT_INVALID_ARGUMENT, "node '%s' has no input %d, or %d:%d is no output", n->name, i, from.node,
                      from.slot);
  weft_dtype have = weft__out_type(g, n->in[i]), want = weft__out_type(g, from);
  if (have != want && have != WEFT_INVALID && want != WEFT_INVALID)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Input %d of node '%s' is of type %s and cannot become %s", i, n->name,
                      weft__dtype_short(have), weft__dtype_short(want));
  pthread_mutex_lock(&g->lock);
  n->in[i] = (weft_out){from.node, from.slot};
  g->generation++;
  pthread_mutex_unlock(&g->lock);
  return WEFT_OK;
}

/* Copies the attributes, with new values for some. */
static weft_err extend_attrs(weft_graph *g, weft_node *n, int n_attr, const attr *attrs) {
  WEFT_ASSERT(n->n_attr >= 0 && n_attr >= 0);
  attr *all = weft__arena_alloc(&g->arena, sizeof *all * (size_t)(n->n_attr + n_attr + 1));
  if (!all) return WEFT_OOM;
  if (n->n_attr) memcpy(all, n->attr, sizeof *all * (size_t)n->n_attr);
  n->attr = all;
  for (int i = 0; i < n_attr; i++) {
    attr *old = draft_attr(n, attrs[i].name);
    WEFT_TRY(weft__attr_copy(old ? old : &all[n->n_attr++], &attrs[i], &g->arena));
  }
  return WEFT_OK;
}

static weft_err node_extend(weft_graph *g, weft_node *n, int n_more, const weft_out *more, int n_attr,
                            const attr *attrs) {
  WEFT_ASSERT(n->op && n->graph == g && n_more >= 0);
  const weft_node before = *n;
  weft_out *in = weft__arena_alloc(&g->arena, sizeof *in * (size_t)(n->n_in + n_more + 1));
  if (!in) return WEFT_OOM;
  if (n->n_in) memcpy(in, n->in, sizeof *in * (size_t)n->n_in);
  if (n_more) memcpy(in + n->n_in, more, sizeof *in * (size_t)n_more);
  n->in = in;
  n->n_in += n_more;
  WEFT_TRY(extend_attrs(g, n, n_attr, attrs));
  WEFT_TRY(match_inputs(g, n));
  WEFT_TRY(graph_make_outputs(g, n));
  if (n->n_out < before.n_out)
    return weft__fail(WEFT_INTERNAL, "node '%s' would lose outputs: %d of %d are left", n->name, n->n_out,
                      before.n_out);
  WEFT_TRY(weft__infer_node(n));
  if (before.n_out) memcpy(n->out_shape, before.out_shape, sizeof *n->out_shape * (size_t)before.n_out);
  return WEFT_OK;
}

weft_err weft__graph_extend_node(weft_graph *g, weft_node *n, int n_more, const weft_out *more, int n_attr,
                                 const attr *attrs) {
  pthread_mutex_lock(&g->lock);
  node_change *c = weft__arena_alloc(&g->arena, sizeof *c);
  weft_err err = c ? WEFT_OK : WEFT_OOM;
  if (c) {
    *c = (node_change){n, *n, g->changes};
    err = node_extend(g, n, n_more, more, n_attr, attrs);
    if (err)
      *n = c->before;
    else
      g->changes = c;
    g->generation++;
  }
  pthread_mutex_unlock(&g->lock);
  return err;
}

/* Doubles the capacity, because thousands may be added one by one. */
static weft_err grow_control(weft_graph *g, weft_node *n) {
  WEFT_ASSERT(n->n_control >= n->room_control);
  const int room = n->n_control < 4 ? 4 : 2 * n->n_control;
  int *grown = weft__arena_alloc(&g->arena, sizeof *grown * (size_t)room);
  if (!grown) return WEFT_OOM;
  if (n->n_control) memcpy(grown, n->control, sizeof *grown * (size_t)n->n_control);
  n->control = grown;
  n->room_control = room;
  return WEFT_OK;
}

weft_err weft__graph_add_control(weft_graph *g, weft_node *n, int control_id) {
  if (control_id < 0 || control_id >= g->n_node || control_id == n->id)
    return weft__fail(WEFT_INVALID_ARGUMENT, "node %d cannot be a control input of '%s'", control_id, n->name);
  for (int i = 0; i < n->n_control; i++)
    if (n->control[i] == control_id) return WEFT_OK;
  pthread_mutex_lock(&g->lock);
  weft_err err = n->n_control < n->room_control ? WEFT_OK : grow_control(g, n);
  if (!err) {
    n->control[n->n_control++] = control_id;
    g->generation++;
  }
  pthread_mutex_unlock(&g->lock);
  return err;
}

weft_err weft__graph_set_attr(weft_graph *g, weft_node *n, const attr *a) {
  attr copy, *old = draft_attr(n, a->name);
  pthread_mutex_lock(&g->lock);
  weft_err err = weft__attr_copy(&copy, a, &g->arena);
  if (!err && old) {
    weft__attr_release(old);
    *old = copy;
  } else if (!err) {
    attr *grown = weft__arena_alloc(&g->arena, sizeof *grown * (size_t)(n->n_attr + 1));
    err = grown ? WEFT_OK : WEFT_OOM;
    if (grown) {
      memcpy(grown, n->attr, sizeof *grown * (size_t)n->n_attr);
      grown[n->n_attr++] = copy;
      n->attr = grown;
    }
  }
  pthread_mutex_unlock(&g->lock);
  return err;
}
