/* scope_apply.c - applies the scopes to a node: its device, control edges, colocation, container.
 *
 * Inner scopes have priority: an outer device string only sets fields that are still open, and a device function
 * gets the result of the inner scopes.  A colocate scope hides the device scopes around it, so that a node that
 * follows a variable is placed with the variable without advancing a round robin. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/cast.h"
#include "device/device.h"
#include "graph/scope_stack.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static weft_err scope_oom(void) { return weft__fail(WEFT_OOM, "no memory for a node's scopes"); }

/* ---- devices ---- */

/* Sets *current to the canonical text of `outer`, overridden by the fields of *current. */
static weft_err merge_text(text *current, const char *outer) {
  device_spec spec, over;
  char buf[WEFT_DEVICE_TEXT];
  WEFT_TRY(weft__device_parse(&spec, outer));
  WEFT_TRY(weft__device_parse(&over, weft__text_get(current)));
  weft__device_merge(&spec, &over);
  weft__text_finish(current);
  *current = (text){0};
  weft__text_puts(current, weft__device_text(&spec, buf, sizeof buf));
  return current->failed ? scope_oom() : WEFT_OK;
}

static weft_err call_device_fn(const scope_entry *e, const weft_node *n, text *current) {
  text result = {0};
  weft_err err = e->fn(e->arg, n, weft__text_get(current), &result);
  if (err == WEFT_OK && result.failed) err = scope_oom();
  if (err != WEFT_OK) {
    weft__text_finish(&result);
    return weft__fail_in(err, "device function for node '%s' (op: %s)", n->name, n->op_name);
  }
  weft__text_finish(current);
  *current = result;
  return WEFT_OK;
}

static weft_err device_from_scopes(const scope *s, const weft_node *n, text *found) {
  for (int i = s->n - 1; i >= 0; i--) {
    const scope_entry *e = &s->entry[i];
    if (e->kind == SCOPE_COLOCATE) break;
    if (e->kind != SCOPE_DEVICE) continue;
    if (e->clear) break;
    if (e->fn)
      WEFT_TRY(call_device_fn(e, n, found));
    else if (*e->text)
      WEFT_TRY(merge_text(found, e->text));
  }
  return WEFT_OK;
}

/* Returns the device of the innermost colocated node that has one; it takes precedence over the device scopes. */
static const char *colocated_device(const weft_graph *g) {
  const scope *s = g->scope;
  for (int i = s->n - 1; i >= 0; i--) {
    const scope_entry *e = &s->entry[i];
    if (e->kind != SCOPE_COLOCATE) continue;
    if (e->node >= 0 && *g->node[e->node]->device) return g->node[e->node]->device;
    if (e->clear) break;
  }
  return NULL;
}

static weft_err apply_device(weft_graph *g, weft_node *n) {
  text found = {0};
  weft__text_puts(&found, n->device ? n->device : "");
  weft_err err = found.failed ? scope_oom() : device_from_scopes(g->scope, n, &found);
  const char *follow = colocated_device(g);
  if (err == WEFT_OK) {
    n->device = weft__arena_strdup(&g->arena, follow ? follow : weft__text_get(&found));
    if (!n->device) err = scope_oom();
  }
  weft__text_finish(&found);
  return err;
}

/* ---- control edges ---- */

static bool in_gap(const scope *s, int since, int id) {
  int low = 0, high = s->n_gap; /* binary search: the last gap that begins at or before id precedes `high` */
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (s->gap[middle].begin <= id)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && s->gap[low - 1].begin >= since && id < s->gap[low - 1].end;
}

/* Returns true if one of n's inputs was made in this scope, and so already waits. */
static bool input_waits(const scope *s, const scope_entry *e, const weft_node *n, int before) {
  for (int i = 0; i < n->n_in; i++)
    if (n->in[i].node >= e->node && n->in[i].node < before && !in_gap(s, e->node, n->in[i].node)) return true;
  return false;
}

/* Clears the marks of all nodes for a new search. */
static weft_err clear_marks(weft_graph *g) {
  scope *s = g->scope;
  if (s->asked == INT_MAX) s->cap_mark = s->asked = 0;
  if (s->cap_mark < g->n_node) {
    const size_t capacity = 2 * (size_t)g->n_node;
    weft__free(s->mark);
    s->mark = weft__alloc_zero(capacity, sizeof *s->mark);
    s->cap_mark = s->mark ? weft__int_sat(capacity) : 0;
    if (!s->mark) return scope_oom();
  }
  s->asked++;
  return WEFT_OK;
}

/* Marks a node.  Returns false if it was already marked. */
static bool mark_node(scope *s, int id) {
  WEFT_ASSERT(id >= 0 && id < s->cap_mark);
  const bool first = s->mark[id] != s->asked;
  s->mark[id] = s->asked;
  return first;
}

static int first_control(const scope *s) {
  for (int i = s->n - 1; i >= 0; i--)
    if (s->entry[i].kind == SCOPE_CONTROL && s->entry[i].clear) return i + 1;
  return 0;
}

static weft_err apply_control(weft_graph *g, weft_node *n, int before) {
  WEFT_ASSERT(before >= 0 && before <= n->id);
  scope *s = g->scope;
  int first = first_control(s), room = n->n_control, used = n->n_control;
  for (int i = first; i < s->n; i++) room += s->entry[i].kind == SCOPE_CONTROL ? s->entry[i].n_id : 0;
  if (room == n->n_control) return WEFT_OK;
  int *control = weft__arena_alloc(&g->arena, (size_t)room * sizeof *control);
  if (!control) return scope_oom();
  if (used) memcpy(control, n->control, (size_t)used * sizeof *control);
  WEFT_TRY(clear_marks(g));
  for (int i = 0; i < n->n_in; i++)
    if (n->in[i].node >= 0) mark_node(s, n->in[i].node);
  for (int i = 0; i < used; i++) mark_node(s, control[i]);
  for (int i = first; i < s->n; i++) {
    const scope_entry *e = &s->entry[i];
    if (e->kind != SCOPE_CONTROL || input_waits(s, e, n, before)) continue;
    for (int j = 0; j < e->n_id; j++)
      if (mark_node(s, e->id[j])) control[used++] = e->id[j];
  }
  WEFT_ASSERT(used <= room);
  n->control = control;
  n->n_control = n->room_control = used;
  return WEFT_OK;
}

/* ---- attributes ---- */

static weft_err set_attr(weft_graph *g, weft_node *n, const attr *a) {
  for (int i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i].name, a->name) == 0) return weft__attr_copy(&n->attr[i], a, &g->arena);
  attr *more = weft__arena_alloc(&g->arena, (size_t)(n->n_attr + 1) * sizeof *more);
  if (!more) return scope_oom();
  if (n->n_attr) memcpy(more, n->attr, (size_t)n->n_attr * sizeof *more);
  WEFT_TRY(weft__attr_copy(&more[n->n_attr], a, &g->arena));
  n->attr = more;
  n->n_attr++;
  return WEFT_OK;
}

static int by_text(const void *a, const void *b) {
  return strcmp(((const attr_str *)a)->data, ((const attr_str *)b)->data);
}

static bool is_group(attr_str s) { return s.size > 5 && memcmp(s.data, "loc:@", 5) == 0; }

/* Adds the groups of a node to list (which has room for all): those in its `_class`, or itself.  Returns their
 * number. */
static int groups_of(const weft_node *n, attr_str *list) {
  const attr *class = weft__node_attr(n, "_class");
  int found = 0;
  if (class && class->kind == ATTR_STRING && class->is_list)
    for (int i = 0; i < class->n; i++)
      if (is_group(class->ss[i])) list[found++] = class->ss[i];
  return found;
}

static int group_room(const weft_node *n) {
  const attr *class = weft__node_attr(n, "_class");
  return class && class->is_list ? class->n + 1 : 1;
}

static weft_err own_group(weft_graph *g, const char *name, attr_str *out) {
  WEFT_ASSERT(*name);
  size_t size = strlen(name) + strlen("loc:@");
  char *group = weft__arena_alloc(&g->arena, size + 1);
  if (!group) return scope_oom();
  memcpy(group, "loc:@", strlen("loc:@"));
  memcpy(group + strlen("loc:@"), name, strlen(name) + 1);
  *out = (attr_str){group, size};
  return WEFT_OK;
}

static int sort_unique(attr_str *list, int n) {
  int kept = 0;
  qsort(list, (size_t)n, sizeof *list, by_text);
  for (int i = 0; i < n; i++)
    if (kept == 0 || strcmp(list[kept - 1].data, list[i].data) != 0) list[kept++] = list[i];
  return kept;
}

static int first_colocate(const scope *s, int *count) {
  *count = 0;
  for (int i = s->n - 1; i >= 0; i--) {
    if (s->entry[i].kind != SCOPE_COLOCATE) continue;
    *count += s->entry[i].node >= 0;
    if (s->entry[i].clear) return i;
  }
  return 0;
}

static weft_err apply_class(weft_graph *g, weft_node *n) {
  const scope *s = g->scope;
  int count, first = first_colocate(s, &count), room = 1, used = 0;
  const scope_entry *class = weft__scope_top(s, SCOPE_CLASS);
  if (count == 0 && !class) return WEFT_OK;
  for (int i = first; i < s->n; i++)
    if (s->entry[i].kind == SCOPE_COLOCATE && s->entry[i].node >= 0) room += group_room(g->node[s->entry[i].node]);
  attr_str *list = weft__arena_alloc(&g->arena, (size_t)room * sizeof *list);
  if (!list) return scope_oom();
  for (int i = first; i < s->n && count; i++) {
    if (s->entry[i].kind != SCOPE_COLOCATE || s->entry[i].node < 0) continue;
    const weft_node *with = g->node[s->entry[i].node];
    int found = groups_of(with, list + used);
    if (found == 0) WEFT_TRY(own_group(g, with->name, &list[used]));
    used += found ? found : 1;
  }
  WEFT_ASSERT(used < room || count);
  if (count == 0) WEFT_TRY(own_group(g, class->text, &list[used++]));
  used = sort_unique(list, used);
  return set_attr(g, n, &A_STRS("_class", list, used));
}

static weft_err apply_container(weft_graph *g, weft_node *n) {
  const scope_entry *e = weft__scope_top(g->scope, SCOPE_CONTAINER);
  if (!e || !*e->text || !n->op || !n->op->opdef.stateful) return WEFT_OK;
  const attr *a = weft__node_attr(n, "container");
  if (!a || a->kind != ATTR_STRING || a->is_list || a->s.size) return WEFT_OK;
  return set_attr(g, n, &A_STR("container", e->text));
}

/* Sets the gradient of the node's op from the innermost scope that names the op. */
static weft_err apply_gradient(weft_graph *g, weft_node *n) {
  const size_t size = strlen(n->op_name);
  for (int i = g->scope->n - 1; i >= 0; i--) {
    const scope_entry *e = &g->scope->entry[i];
    if (e->kind == SCOPE_GRADIENT && !strncmp(e->text, n->op_name, size) && e->text[size] == '=')
      return set_attr(g, n, &A_STR("_gradient_op_type", e->text + size + 1));
  }
  return WEFT_OK;
}

weft_err weft__scope_apply(weft_graph *g, weft_node *n, bool has_device) {
  if (g->scope->n == 0) {
    if (!n->device) n->device = "";
    return WEFT_OK;
  }
  WEFT_TRY(apply_control(g, n, n->id));
  WEFT_TRY(apply_class(g, n));
  WEFT_TRY(apply_container(g, n));
  WEFT_TRY(apply_gradient(g, n));
  return has_device ? WEFT_OK : apply_device(g, n);
}

weft_err weft__scope_apply_imported(weft_graph *g, weft_node *n, int first) {
  WEFT_ASSERT(first <= n->id && n->id < g->n_node);
  if (g->scope->n == 0) return WEFT_OK;
  WEFT_TRY(apply_control(g, n, first));
  WEFT_TRY(apply_class(g, n));
  return apply_device(g, n);
}
