/* import.c - converts a GraphDef to nodes of a graph: all of them, or none.
 *
 * There are three passes.  The first gives every node its final name.  The second resolves the input strings to
 * nodes, and counts for each node the inputs that are not added yet.  The third adds nodes whose inputs are all
 * added, in the order of the file where possible, so that a sorted GraphDef keeps its order.  The back edge of a
 * loop (NextIteration to Merge) is not counted.  Until its source is added, the Merge has another of its inputs in
 * that position.  The shape of the Merge stays unknown, because it may change from iteration to iteration. */
#include "graph/import.h"
#include "base/assert.h"
#include "base/cast.h"
#include "base/alloc.h"
#include "device/device.h"
#include "graph/attr_proto.h"
#include "graph/mark.h"
#include "graph/scope.h"
#include "proto/scan.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* The maximum number of outputs of a node of an unknown op. */
enum { OPAQUE_OUTPUTS = 4096 };

static weft_err import_oom(void) { return weft__fail(WEFT_OOM, "no memory to import a graph"); }

/* ---- names ---- */

static bool valid_name(const char *s, bool part) {
  if (!isalnum((unsigned char)*s) && *s != '.' && !(part && *s == '_')) return false;
  for (; *s; s++)
    if (!isalnum((unsigned char)*s) && !strchr("_.\\/>-", *s)) return false;
  return true;
}

static weft_err name_item(importer *im, import_item *it) {
  const char *prefix = im->opts->prefix ? im->opts->prefix : "", *name = it->def->name;
  it->name = name;
  if (*prefix) {
    char *full = weft__arena_alloc(&im->tmp, strlen(prefix) + strlen(name) + 2);
    if (!full) return import_oom();
    sprintf(full, "%s/%s", prefix, name);
    it->name = full;
  }
  if (!im->opts->unique || !weft__scope_taken(im->g, it->name)) return WEFT_OK;
  return weft__scope_free_name(im->g, it->name, &it->name);
}

static weft_err read_names(importer *im) {
  for (int i = 0; i < im->n; i++) {
    import_item *it = &im->item[i];
    it->def = im->def->node[i];
    if (!valid_name(it->def->name, im->opts->part))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Node '%s': Node name contains invalid characters", it->def->name);
    if (!*it->def->op)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Node '%s' does not specify an operation", it->def->name);
    if (weft__map_get(&im->by_name, it->def->name))
      return weft__fail(WEFT_INVALID_ARGUMENT, "Node '%s' is not unique", it->def->name);
    WEFT_TRY(weft__map_put(&im->by_name, it->def->name, it));
    WEFT_TRY(name_item(im, it));
  }
  return WEFT_OK;
}

/* ---- edges ---- */

/* Splits "name:12" into name and slot. "name" has slot 0; a control edge has slot -1. */
static bool split_input(const char *input, char *name, size_t size, int *slot) {
  const char *colon = strrchr(input, ':');
  size_t digits = colon ? strlen(colon + 1) : 0, length = strlen(input);
  *slot = 0;
  if (*input == '^') {
    *slot = -1;
    input++, length--;
  } else if (digits && digits < 7 && strspn(colon + 1, "0123456789") == digits) {
    *slot = atoi(colon + 1);
    length = (size_t)(colon - input);
  }
  if (length >= size) return false;
  memcpy(name, input, length);
  name[length] = 0;
  return true;
}

/* Returns the entry of the caller's map for this edge, or NULL. */
static const import_map *import_mapped(importer *im, const char *name, int slot) {
  for (int i = 0; i < im->opts->n_map; i++) {
    char key[WEFT_NAME_MAX];
    int key_slot;
    if (!split_input(im->opts->map[i].name, key, sizeof key, &key_slot)) continue;
    if (key_slot != slot || strcmp(key, name) != 0) continue;
    im->map_used[i] = true;
    return &im->opts->map[i];
  }
  return NULL;
}

static weft_err import_resolve(importer *im, const import_item *it, const char *input, import_edge *e) {
  WEFT_ASSERT(!e->from && !e->back);
  char name[WEFT_NAME_MAX];
  if (!split_input(input, name, sizeof name, &e->slot))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Node '%s': an input name of %zu characters is too long", it->def->name,
                      strlen(input));
  const import_map *m = import_mapped(im, name, e->slot);
  if (m) {
    if (m->to.node < 0 || m->to.node >= im->first)
      return weft__fail(WEFT_INVALID_ARGUMENT, "input_map of '%s' leads to node %d, which is not one of the graph's",
                        m->name, m->to.node);
    e->to = m->to;
    return WEFT_OK;
  }
  e->from = weft__map_get(&im->by_name, name);
  const weft_node *there = !e->from && im->opts->extend ? weft__graph_find(im->g, name) : NULL;
  if (there) {
    e->to = weft__graph_out(there->graph, there->id, e->slot < 0 ? 0 : e->slot);
    return WEFT_OK;
  }
  if (!e->from)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Node '%s': Unknown input node '%s'", it->def->name,
                      *input == '^' ? input + 1 : input);
  if (e->slot > OPAQUE_OUTPUTS && !weft__graph_op(im->g, e->from->def->op))
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Node '%s': Connecting to output %d of source node %s, whose op %s is unknown", it->def->name,
                      e->slot, name, e->from->def->op);
  if (e->slot > e->from->top_slot) e->from->top_slot = e->slot;
  return WEFT_OK;
}

static bool def_is(const importer *im, const import_item *it, op_kind kind) {
  const op *o = weft__op_find(im->g->ops, it->def->op);
  return o && o->kind == kind;
}

/* A Merge needs one input that is added before it.  If all its inputs are back edges, none is exempt, and the cycle is
 * reported. */
static void mark_back_edges(const importer *im, import_item *it) {
  WEFT_ASSERT(it->n_in <= it->n_edge && !it->has_back);
  int back = 0;
  if (!def_is(im, it, KIND_MERGE)) return;
  for (int i = 0; i < it->n_in; i++) back += it->edge[i].from && def_is(im, it->edge[i].from, KIND_NEXT_ITERATION);
  for (int i = 0; i < it->n_in && back < it->n_in; i++)
    if (it->edge[i].from && def_is(im, it->edge[i].from, KIND_NEXT_ITERATION)) it->edge[i].back = it->has_back = true;
}

static weft_err wait_for_edges(importer *im, import_item *it) {
  WEFT_ASSERT(it->waits == 0);
  for (int i = 0; i < it->n_edge; i++) {
    import_edge *e = &it->edge[i];
    if (!e->from || e->back) continue;
    import_waiter *w = weft__arena_alloc(&im->tmp, sizeof *w);
    if (!w) return import_oom();
    *w = (import_waiter){it, e->from->waiters};
    e->from->waiters = w;
    it->waits++;
  }
  return WEFT_OK;
}

static weft_err read_item_edges(importer *im, import_item *it) {
  WEFT_TRY(weft__int_of_size(&it->n_edge, it->def->n_input, "the number of inputs of a node"));
  it->edge = weft__arena_alloc(&im->tmp, sizeof *it->edge * (it->def->n_input + 1));
  if (!it->edge) return import_oom();
  for (int i = 0; i < it->n_edge; i++) {
    WEFT_TRY(import_resolve(im, it, it->def->input[i], &it->edge[i]));
    if (it->edge[i].slot < 0) continue;
    if (it->n_in < i)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Node '%s': Control dependencies must come after regular dependencies",
                        it->def->name);
    it->n_in++;
  }
  mark_back_edges(im, it);
  return wait_for_edges(im, it);
}

static weft_err read_edges(importer *im) {
  for (int i = 0; i < im->n; i++) WEFT_TRY(read_item_edges(im, &im->item[i]));
  for (int i = 0; i < im->opts->n_map; i++)
    if (!im->map_used[i])
      return weft__fail(WEFT_INVALID_ARGUMENT, "Attempted to map inputs that were not found in graph_def: [%s]",
                        im->opts->map[i].name);
  return WEFT_OK;
}

/* ---- attributes ---- */

static const Tensorflow__OpDefAttrDef *producer_attr(const importer *im, const char *type, const char *name) {
  const Tensorflow__OpList *ops = im->opts->producer_ops;
  for (size_t i = 0; ops && i < ops->n_op; i++)
    for (size_t j = 0; strcmp(ops->op[i]->name, type) == 0 && j < ops->op[i]->n_attr; j++)
      if (strcmp(ops->op[i]->attr[j]->name, name) == 0) return ops->op[i]->attr[j];
  return NULL;
}

/* Returns true for an attribute that our definition does not have, if its value is the writer's default. */
static weft_err is_new_default(importer *im, const import_item *it, const op *o, const attr *a, bool *yes) {
  *yes = false;
  if (!o || weft__opdef_attr(&o->opdef, a->name)) return WEFT_OK;
  const Tensorflow__OpDefAttrDef *d = producer_attr(im, it->def->op, a->name);
  if (!d || !d->default_value) return WEFT_OK;
  attr fallback;
  WEFT_TRY(weft__attr_from_proto(&fallback, a->name, d->default_value, &im->tmp));
  *yes = weft__attr_equal(&fallback, a);
  weft__attr_release(&fallback);
  return WEFT_OK;
}

/* In GraphDefs of versions before 22, the shape [] of a Placeholder means that no shape was given. */
static void import_modernize(const importer *im, const import_item *it, attr *a) {
  if (im->producer < 22 && strcmp(it->def->op, "Placeholder") == 0 && strcmp(a->name, "shape") == 0 &&
      a->kind == ATTR_SHAPE && !a->is_list && a->shape->rank == 0)
    a->shape->rank = -1;
}

/* Renames "loc:@a" to "loc:@prefix/a", as a itself is renamed. */
static weft_err rename_class(importer *im, const import_item *it, attr *a) {
  if (strcmp(a->name, "_class") != 0 || a->kind != ATTR_STRING || !a->is_list) return WEFT_OK;
  for (int i = 0; i < a->n; i++) {
    if (a->ss[i].size < 5 || memcmp(a->ss[i].data, "loc:@", 5) != 0) continue;
    const import_item *with = weft__map_get(&im->by_name, a->ss[i].data + 5);
    if (!with && (im->opts->part || (im->opts->extend && weft__graph_find(im->g, a->ss[i].data + 5)))) continue;
    if (!with)
      return weft__fail(WEFT_INVALID_ARGUMENT, "Node '%s' expects to be colocated with unknown node '%s'",
                        it->def->name, a->ss[i].data + 5);
    size_t size = strlen(with->name) + 5;
    char *group = weft__arena_alloc(&im->tmp, size + 1);
    if (!group) return import_oom();
    sprintf(group, "loc:@%s", with->name);
    a->ss[i] = (attr_str){group, size};
  }
  return WEFT_OK;
}

static weft_err read_attr(importer *im, const import_item *it, const op *o, const Tensorflow__NodeDefAttrEntry *e,
                          attr *a) {
  weft_err err = !o && e->key[0] != '_' ? weft__attr_keep_proto(a, e->key, e->value, &im->tmp)
                                        : weft__attr_from_proto(a, e->key, e->value, &im->tmp);
  if (err != WEFT_OK) return weft__fail_in(err, "Node '%s' (op %s): attr '%s'", it->def->name, it->def->op, e->key);
  import_modernize(im, it, a);
  return rename_class(im, it, a);
}

static void release_attrs(attr *list, int n) {
  for (int i = 0; i < n; i++) weft__attr_release(&list[i]);
}

/* Reads the attributes of a node, except `_output_shapes`, which goes to *shapes. */
static weft_err read_attrs(importer *im, const import_item *it, const op *o, attr *list, int *n, attr *shapes) {
  for (size_t i = 0; i < it->def->n_attr; i++) {
    attr a = {0};
    bool drop = false;
    WEFT_TRY(read_attr(im, it, o, it->def->attr[i], &a));
    if (o && strcmp(a.name, "_output_shapes") == 0) {
      weft__attr_release(&a);
      if (a.kind == ATTR_SHAPE && a.is_list) *shapes = a;
      continue;
    }
    weft_err err = is_new_default(im, it, o, &a, &drop);
    if (err == WEFT_OK && !drop)
      list[(*n)++] = a;
    else
      weft__attr_release(&a);
    WEFT_TRY(err);
  }
  return WEFT_OK;
}

/* ---- nodes ---- */

/* Explains a missing output: TensorFlow's client adds outputs to If and While when it differentiates them, but a
 * session that already has the node does not see them. */
static const char *missing_output_hint(const weft_node *from) {
  const bool calls =
      weft__node_attr(from, "then_branch") || weft__node_attr(from, "body") || weft__node_attr(from, "branches");
  return calls ? " Try using tf.compat.v1.experimental.output_all_intermediates(True)." : "";
}

static weft_err edge_out(const importer *im, const import_item *it, const import_edge *e, weft_out *out) {
  WEFT_ASSERT(!e->from || e->from->node); /* sources are added first */
  *out = e->from ? weft__graph_out(e->from->node->graph, e->from->node->id, e->slot) : e->to;
  WEFT_ASSERT(out->node >= 0 && out->node < im->g->n_node);
  const weft_node *from = im->g->node[out->node];
  if (e->slot >= 0 && out->slot >= from->n_out)
    return weft__fail(WEFT_INVALID_ARGUMENT,
                      "Node '%s': Connecting to invalid output %d of source node %s which has %d outputs.%s",
                      it->def->name, out->slot, from->name, from->n_out, missing_output_hint(from));
  return WEFT_OK;
}

/* Sets the inputs of spec.  A back edge temporarily gets the first forward input. */
static weft_err edges_to_spec(importer *im, const import_item *it, node_spec *spec) {
  WEFT_ASSERT(it->n_in <= it->n_edge);
  weft_out *in = weft__arena_alloc(&im->tmp, sizeof *in * (size_t)(it->n_in + 1)), forward = WEFT_NONE;
  int *control = weft__arena_alloc(&im->tmp, sizeof *control * (size_t)(it->n_edge - it->n_in + 1)), n_control = 0;
  if (!in || !control) return import_oom();
  for (int i = 0; i < it->n_in; i++) {
    if (it->edge[i].back) continue;
    WEFT_TRY(edge_out(im, it, &it->edge[i], &in[i]));
    if (forward.node < 0) forward = in[i];
  }
  for (int i = 0; i < it->n_in; i++)
    if (it->edge[i].back) in[i] = forward;
  for (int i = it->n_in; i < it->n_edge; i++) {
    weft_out o;
    int seen = 0;
    WEFT_TRY(edge_out(im, it, &it->edge[i], &o));
    while (seen < n_control && control[seen] != o.node) seen++;
    if (seen == n_control) control[n_control++] = o.node;
  }
  spec->n_in = it->n_in, spec->in = in;
  spec->n_control = n_control, spec->control = control;
  return WEFT_OK;
}

/* Uses the shapes of `_output_shapes` where they are more precise than ours.  Those of handles are skipped:
 * TensorFlow writes the shapes that handles had when they were strings. */
static weft_err refine_shapes(const import_item *it, const attr *shapes) {
  WEFT_ASSERT(it->node && (shapes->n == 0 || shapes->is_list));
  for (int i = 0; i < shapes->n && i < it->node->n_out; i++) {
    if (weft__dtype_class(it->node->out_type[i]) == CLASS_OBJECT) continue;
    weft_err err = weft__shape_merge(&it->node->out_shape[i], &it->node->out_shape[i], &shapes->shapes[i]);
    if (err != WEFT_OK)
      return weft__fail_in(err,
                           "Node '%s' has an _output_shapes attribute inconsistent with the GraphDef for output #%d",
                           it->def->name, i);
  }
  return WEFT_OK;
}

static weft_err keep_unknown_fields(importer *im, const import_item *it) {
  if (it->def->base.n_unknown_fields == 0) return WEFT_OK;
  Tensorflow__NodeDef rest = TENSORFLOW__NODE_DEF__INIT;
  rest.base.n_unknown_fields = it->def->base.n_unknown_fields;
  rest.base.unknown_fields = it->def->base.unknown_fields;
  size_t size = tensorflow__node_def__get_packed_size(&rest);
  uint8_t *bytes = weft__arena_alloc(&im->g->arena, size + 1);
  if (!bytes) return import_oom();
  tensorflow__node_def__pack(&rest, bytes);
  it->node->unknown = (attr_str){(const char *)bytes, size};
  return WEFT_OK;
}

static weft_err check_device(const import_item *it) {
  device_spec parsed;
  weft_err err = weft__device_parse(&parsed, it->def->device);
  return err == WEFT_OK ? WEFT_OK : weft__fail_in(err, "Node '%s' (op %s)", it->def->name, it->def->op);
}

static weft_err finish_node(importer *im, import_item *it, const attr *shapes) {
  WEFT_ASSERT(it->node->id >= im->first);
  if (it->has_back) it->node->out_shape[0] = SHAPE_UNKNOWN;
  WEFT_TRY(refine_shapes(it, shapes));
  WEFT_TRY(keep_unknown_fields(im, it));
  return weft__scope_apply_imported(im->g, it->node, im->first);
}

static weft_err import_add_item(importer *im, import_item *it) {
  WEFT_ASSERT(it->waits == 0 && !it->node);
  const op *o = weft__graph_op(im->g, it->def->op);
  attr shapes = {0}, *list = weft__arena_alloc(&im->tmp, sizeof *list * (it->def->n_attr + 1));
  node_spec spec = {.op = it->def->op,
                    .name = it->name,
                    .device = it->def->device,
                    .exact = true,
                    .attr = list,
                    .opaque_outs = it->top_slot + 1};
  if (!list) return import_oom();
  WEFT_TRY(check_device(it));
  WEFT_TRY(edges_to_spec(im, it, &spec));
  weft_err err = read_attrs(im, it, o, list, &spec.n_attr, &shapes);
  if (err == WEFT_OK) err = weft__graph_add(im->g, &spec, &it->node);
  release_attrs(list, spec.n_attr);
  return err == WEFT_OK ? finish_node(im, it, &shapes) : err;
}

/* A heap of item numbers with the smallest at the top. */
static void ready_push(importer *im, int at) {
  WEFT_ASSERT(at >= 0 && at < im->n && im->n_ready < im->n); /* each item is pushed once */
  int i = im->n_ready++;
  for (; i > 0 && im->ready[(i - 1) / 2] > at; i = (i - 1) / 2) im->ready[i] = im->ready[(i - 1) / 2];
  im->ready[i] = at;
}

static int ready_pop(importer *im) {
  WEFT_ASSERT(im->n_ready > 0);
  int top = im->ready[0], last = im->ready[--im->n_ready], i = 0;
  for (int child = 1; child < im->n_ready; i = child, child = 2 * i + 1) {
    if (child + 1 < im->n_ready && im->ready[child + 1] < im->ready[child]) child++;
    if (im->ready[child] >= last) break;
    im->ready[i] = im->ready[child];
  }
  im->ready[i] = last;
  return top;
}

static weft_err close_loops(importer *im) {
  WEFT_ASSERT(im->n_ready == 0);
  for (int i = 0; i < im->n; i++)
    for (int j = 0; im->item[i].has_back && j < im->item[i].n_in; j++) {
      const import_edge *e = &im->item[i].edge[j];
      weft_out from;
      if (!e->back) continue;
      WEFT_TRY(edge_out(im, &im->item[i], e, &from));
      WEFT_TRY(weft__graph_set_input(im->g, im->item[i].node, j, from));
    }
  return WEFT_OK;
}

static weft_err add_all(importer *im) {
  int added = 0;
  for (int i = 0; i < im->n; i++)
    if (im->item[i].waits == 0) ready_push(im, i);
  for (; im->n_ready; added++) {
    import_item *it = &im->item[ready_pop(im)];
    WEFT_TRY(import_add_item(im, it));
    for (import_waiter *w = it->waiters; w; w = w->next)
      if (--w->item->waits == 0) ready_push(im, weft__int_sat(w->item - im->item));
  }
  if (added < im->n) return weft__fail(WEFT_INVALID_ARGUMENT, "%d nodes in a cycle", im->n - added);
  return close_loops(im);
}

/* ---- the whole import ---- */

static weft_err return_one(importer *im, const char *wanted, weft_out *out) {
  char name[WEFT_NAME_MAX];
  int slot;
  bool tensor = strchr(wanted, ':') != NULL;
  const import_item *it = NULL;
  if (split_input(wanted, name, sizeof name, &slot)) {
    const import_map *m = tensor ? import_mapped(im, name, slot) : NULL;
    if (m) {
      *out = m->to;
      return WEFT_OK;
    }
    it = weft__map_get(&im->by_name, name);
  }
  if (!it || slot < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Requested return %s '%s' not found in graph def",
                      tensor ? "tensor" : "node", wanted);
  if (tensor && slot >= it->node->n_out)
    return weft__fail(WEFT_INVALID_ARGUMENT, "Invalid return output %d of node '%s', which has %d output(s)", slot,
                      name, it->node->n_out);
  *out = weft__graph_out(it->node->graph, it->node->id, slot);
  return WEFT_OK;
}

static weft_err check_versions(importer *im) {
  const Tensorflow__VersionDef *v = im->def->versions;
  int minimum = v ? v->min_consumer : 0;
  im->producer = v ? v->producer : im->def->version;
  if (im->producer < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "GraphDef producer version %d below min producer 0 supported",
                      im->producer);
  if (minimum > WEFT_GRAPH_VERSION)
    return weft__fail(WEFT_INVALID_ARGUMENT, "GraphDef min consumer version %d above current version %d", minimum,
                      WEFT_GRAPH_VERSION);
  for (size_t i = 0; v && i < v->n_bad_consumers; i++)
    if (v->bad_consumers[i] == WEFT_GRAPH_VERSION)
      return weft__fail(WEFT_INVALID_ARGUMENT, "GraphDef disallows consumer version %d", WEFT_GRAPH_VERSION);
  return WEFT_OK;
}

static weft_err import_prepare(importer *im) {
  size_t n = im->def->n_node;
  if (im->opts->prefix && *im->opts->prefix && !valid_name(im->opts->prefix, false))
    return weft__fail(WEFT_INVALID_ARGUMENT, "Imported node name prefix '%s/' would lead to invalid node names",
                      im->opts->prefix);
  if (n > INT32_MAX / 2) return weft__fail(WEFT_INVALID_ARGUMENT, "a GraphDef of %zu nodes is too big", n);
  WEFT_TRY(weft__int_of_size(&im->n, n, "the number of nodes of a GraphDef"));
  im->item = weft__arena_alloc(&im->tmp, sizeof *im->item * (n + 1));
  im->ready = weft__arena_alloc(&im->tmp, sizeof *im->ready * (n + 1));
  im->map_used = weft__arena_alloc(&im->tmp, sizeof *im->map_used * (size_t)(im->opts->n_map + 1));
  if (!im->item || !im->ready || !im->map_used) return import_oom();
  WEFT_TRY(check_versions(im));
  WEFT_TRY(read_names(im));
  return read_edges(im);
}

static weft_err import_all(importer *im) {
  WEFT_TRY(weft__library_merge(im->g, im->def->library)); /* before the nodes, which may call its functions by name */
  WEFT_TRY(import_prepare(im));
  WEFT_TRY(add_all(im));
  for (int i = 0; i < im->opts->n_return; i++) WEFT_TRY(return_one(im, im->opts->returns[i], &im->opts->returned[i]));
  if (im->producer < im->g->version_producer) im->g->version_producer = im->producer;
  return WEFT_OK;
}

weft_err weft__graph_import_proto(weft_graph *g, const Tensorflow__GraphDef *def, const import_opts *opts) {
  const import_opts none = {0};
  pthread_mutex_lock(&g->lock);
  importer im = {.g = g, .opts = opts ? opts : &none, .def = def, .first = g->n_node};
  graph_mark before = weft__graph_mark(g);
  weft_err err = import_all(&im);
  if (err != WEFT_OK) weft__graph_rewind(g, &before);
  weft__map_finish(&im.by_name);
  weft__arena_finish(&im.tmp);
  pthread_mutex_unlock(&g->lock);
  return err;
}

weft_err weft__graph_import(weft_graph *g, const void *bytes, size_t size, const import_opts *opts) {
  ProtobufCMessage *m;
  WEFT_TRY(weft__proto_unpack(&m, &tensorflow__graph_def__descriptor, bytes, size));
  weft_err err = weft__graph_import_proto(g, (const Tensorflow__GraphDef *)m, opts);
  protobuf_c_message_free_unpacked(m, NULL);
  return err;
}
