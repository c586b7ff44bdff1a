/* place.c - placement: first the groups of nodes, then the nodes that go where the value they make or read is. */
#include "exec/passes/place.h"

#include "base/alloc.h"
#include "base/text.h"
#include "exec/plan.h"
#include "kernels/gpu/gpu_host.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct placer {
  const weft_graph *g;
  const placement *p;
  int from, *where;
  device_spec *full; /* of each device */
  int *rank;         /* devices in the order of preference */
  int *group;        /* per node: its parent in the forest of groups */
  device_spec *want; /* per root: what all members ask for */
  bool *no_gpu;      /* per root: a member has no kernel there */
  int *user;         /* per node: the device all its readers are on; -1 none yet, -2 several */
} placer;

void weft__place_infos_free(device_info *d, int n) {
  for (int i = 0; d && i < n; i++) {
    weft__free(d[i].name);
    weft__free(d[i].type);
    weft__free(d[i].description);
  }
  weft__free(d);
}

/* ---- devices ----------------------------------------------------------------------------------- */

static bool node_is_older(const placer *s, int a, int b) {
  bool gpu_a = strcmp(s->full[a].type, "GPU") == 0, gpu_b = strcmp(s->full[b].type, "GPU") == 0;
  if (gpu_a != gpu_b) return gpu_a;
  return strcmp(s->p->device[a].name, s->p->device[b].name) < 0;
}

static weft_err rank_devices(placer *s) {
  for (int i = 0; i < s->p->n_device; i++) {
    int at = i;
    WEFT_TRY(weft__device_parse(&s->full[i], s->p->device[i].name));
    for (; at > 0 && node_is_older(s, i, s->rank[at - 1]); at--) s->rank[at] = s->rank[at - 1];
    s->rank[at] = i;
  }
  return WEFT_OK;
}

/* A node without a kernel anywhere is placed on a CPU and fails when it runs. */
static bool has_kernel(const weft_node *n, const device_spec *full) {
  return strcmp(full->type, "CPU") == 0 || (strcmp(full->type, "GPU") == 0 && weft__gpu_kernel(n).op);
}

static int root_of(placer *s, int node);

/* Returns the most preferred device that a request allows and that can run the node and its group, or -1. */
static int find_device(placer *s, const weft_node *n, const device_spec *want) {
  for (int i = 0; i < s->p->n_device; i++) {
    int d = s->rank[i];
    if (strcmp(s->full[d].type, "GPU") == 0 && s->no_gpu[root_of(s, n->id)]) continue;
    if (weft__device_matches(want, &s->full[d]) && has_kernel(n, &s->full[d])) return d;
  }
  return -1;
}

/* A group with a member that GPUs cannot run stays off them. */
static void look_for_gpu_kernels(placer *s) {
  const device_spec gpu = {.type = "GPU"};
  bool any = false;
  for (int i = 0; i < s->p->n_device; i++) any = any || strcmp(s->full[i].type, "GPU") == 0;
  for (int i = s->from; any && i < s->g->n_node; i++)
    if (!has_kernel(s->g->node[i], &gpu)) s->no_gpu[root_of(s, i)] = true;
}

/* ---- groups ------------------------------------------------------------------------------------ */

static int root_of(placer *s, int node) {
  while (s->group[node] != node) node = s->group[node] = s->group[s->group[node]];
  return node;
}

/* The older node's root is kept, so that what was placed before leads. */
static int group_join(placer *s, int a, int b) {
  int x = root_of(s, a), y = root_of(s, b);
  if (x > y) {
    int swap = x;
    x = y;
    y = swap;
  }
  s->group[y] = x;
  return x;
}

static bool devices_contradict(const device_spec *a, const device_spec *b) {
  return (a->has_job && b->has_job && strcmp(a->job, b->job) != 0) ||
         (a->replica >= 0 && b->replica >= 0 && a->replica != b->replica) ||
         (a->task >= 0 && b->task >= 0 && a->task != b->task) ||
         (a->has_type && b->has_type && strcmp(a->type, b->type) != 0) || (a->id >= 0 && b->id >= 0 && a->id != b->id);
}

/* Joins two groups and their requests.  Where a reference ties them, the request that was made first is kept. */
static weft_err group_unite(placer *s, int a, int b, bool by_class) {
  int x = root_of(s, a), y = root_of(s, b);
  if (x == y) return WEFT_OK;
  device_spec first = s->want[x], second = s->want[y];
  if (by_class && devices_contradict(&first, &second)) {
    if (!s->p->soft) {
      char one[WEFT_DEVICE_TEXT], other[WEFT_DEVICE_TEXT];
      return weft__fail(WEFT_INVALID_ARGUMENT,
                        "Cannot colocate nodes {{colocation_node %s}} and {{colocation_node %s}} because no device "
                        "type supports both of those nodes and the other nodes colocated with them: %s and %s",
                        s->g->node[a]->name, s->g->node[b]->name, weft__device_text(&first, one, sizeof one),
                        weft__device_text(&second, other, sizeof other));
    }
    first.has_type = second.has_type = false;
    first.id = second.id = -1;
  }
  weft__device_merge(&second, &first);
  s->want[group_join(s, a, b)] = second;
  return WEFT_OK;
}

static weft_err unite_classes(placer *s, const weft_node *n) {
  const attr *a = weft__node_attr(n, "_class");
  if (!a || a->kind != ATTR_STRING || !a->is_list) return WEFT_OK;
  for (int i = 0; i < a->n; i++) {
    if (a->ss[i].size < 5 || memcmp(a->ss[i].data, "loc:@", 5) != 0) continue;
    const weft_node *with = weft__graph_find(s->g, a->ss[i].data + 5);
    if (with) WEFT_TRY(group_unite(s, with->id, n->id, true));
  }
  return WEFT_OK;
}

/* References, resources and variants cannot leave their device; an argument that takes a value is free. */
static weft_err unite_references(placer *s, const weft_node *n) {
  for (int i = 0; i < n->n_in; i++) {
    weft_dtype type = s->g->node[n->in[i].node]->out_type[n->in[i].slot];
    bool ref = (int)type > WEFT_REF_BASE && n->op && weft__node_takes_ref(n, i);
    if (ref || type == WEFT_RESOURCE || type == WEFT_VARIANT) WEFT_TRY(group_unite(s, n->in[i].node, n->id, false));
  }
  return WEFT_OK;
}

static weft_err place_find_groups(placer *s) {
  for (int i = 0; i < s->g->n_node; i++) {
    const weft_node *n = s->g->node[i];
    s->group[i] = i;
    weft_err err = i < s->from ? weft__device_parse(&s->want[i], s->p->device[s->where[i]].name)
                               : weft__device_parse(&s->want[i], n->device);
    if (err) return weft__fail_in(err, "node '%s'", n->name);
  }
  for (int i = s->from; i < s->g->n_node; i++) {
    WEFT_TRY(unite_classes(s, s->g->node[i]));
    WEFT_TRY(unite_references(s, s->g->node[i]));
  }
  return WEFT_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------- */

static weft_err placement_impossible(placer *s, const weft_node *n, const device_spec *want) {
  text have = {0};
  char canonical[WEFT_DEVICE_TEXT];
  bool exists = false;
  for (int i = 0; i < s->p->n_device && !exists; i++) exists = weft__device_matches(want, &s->full[i]);
  if (exists)
    return weft__fail_node(
        WEFT_INVALID_ARGUMENT,
        "Cannot assign a device for operation %s: Could not satisfy explicit device specification '%s' "
        "because no supported kernel for %s devices is available.\n\t [[{{node %s}}]]",
        n->name, weft__device_text(want, canonical, sizeof canonical), want->has_type ? want->type : "its", n->name);
  for (int i = 0; i < s->p->n_device; i++)
    weft__text_printf(&have, "%s%s", i ? ", " : "", s->p->device[s->rank[i]].name);
  weft_err err = weft__fail_node(
      WEFT_INVALID_ARGUMENT,
      "Cannot assign a device for operation %s: {{node %s}} was explicitly assigned to %s but "
      "available devices are [ %s ]. Make sure the device specification refers to a valid device."
      "\n\t [[%s]]",
      n->name, n->name, weft__device_text(want, canonical, sizeof canonical), weft__text_get(&have), n->name);
  weft__text_finish(&have);
  return err;
}

static weft_err place_node(placer *s, const weft_node *n) {
  device_spec want = s->want[root_of(s, n->id)];
  int d = find_device(s, n, &want);
  if (d < 0 && s->p->soft) {
    device_spec task = want;
    task.has_type = false;
    task.id = -1;
    d = find_device(s, n, &task);
  }
  if (d < 0) return placement_impossible(s, n, &want);
  s->where[n->id] = d;
  return WEFT_OK;
}

/* Returns true if a node that is alone in its group may go to device d. */
static bool may_follow(placer *s, const weft_node *n, int d) {
  return root_of(s, n->id) == n->id && weft__device_matches(&s->want[n->id], &s->full[d]) && has_kernel(n, &s->full[d]);
}

static bool only_makes_a_value(const weft_node *n) {
  return n->n_in == 0 && n->n_out == 1 && (int)n->out_type[0] < WEFT_REF_BASE;
}

static bool only_asks_for_a_shape(const weft_node *n) {
  return weft__node_is(n, KIND_SHAPE) || weft__node_is(n, KIND_SIZE) || weft__node_is(n, KIND_RANK);
}

static void note_users(placer *s) {
  for (int i = 0; i < s->g->n_node; i++) s->user[i] = -1;
  for (int i = s->from; i < s->g->n_node; i++) {
    const weft_node *n = s->g->node[i];
    for (int j = 0; j < n->n_in; j++) {
      int *user = &s->user[n->in[j].node];
      *user = *user == -1 || *user == s->where[i] ? s->where[i] : -2;
    }
  }
}

/* A node whose group has other members stays with them: is anyone else's root this one? */
static void mark_shared(placer *s, bool *shared) {
  for (int i = 0; i < s->g->n_node; i++) {
    int root = root_of(s, i);
    if (root != i) shared[root] = true;
  }
}

static weft_err place_followers(placer *s) {
  bool *shared = weft__alloc_zero((size_t)s->g->n_node + 1, sizeof *shared);
  if (!shared) return WEFT_OOM;
  mark_shared(s, shared);
  for (int i = s->from; i < s->g->n_node; i++) {
    const weft_node *n = s->g->node[i];
    if (shared[i] || !only_asks_for_a_shape(n) || n->n_in == 0) continue;
    int d = s->where[n->in[0].node];
    if (may_follow(s, n, d)) s->where[i] = d;
  }
  note_users(s);
  for (int i = s->from; i < s->g->n_node; i++) {
    const weft_node *n = s->g->node[i];
    if (shared[i] || !only_makes_a_value(n) || s->user[i] < 0) continue;
    if (may_follow(s, n, s->user[i])) s->where[i] = s->user[i];
  }
  weft__free(shared);
  return WEFT_OK;
}

static weft_err place_all(placer *s) {
  WEFT_TRY(rank_devices(s));
  WEFT_TRY(place_find_groups(s));
  look_for_gpu_kernels(s);
  for (int i = s->from; i < s->g->n_node; i++) WEFT_TRY(place_node(s, s->g->node[i]));
  WEFT_TRY(place_followers(s));
  if (!s->p->log) return WEFT_OK;
  for (int i = s->from; i < s->g->n_node; i++)
    printf("%s: (%s): %s\n", s->g->node[i]->name, s->g->node[i]->op_name, s->p->device[s->where[i]].name);
  fflush(stdout);
  return WEFT_OK;
}

weft_err weft__place(const weft_graph *g, int from, const placement *p, int *where) {
  size_t nodes = (size_t)g->n_node + 1, devices = (size_t)p->n_device + 1;
  placer s = {.g = g,
              .p = p,
              .from = from,
              .where = where,
              .full = weft__alloc_zero(devices, sizeof *s.full),
              .rank = weft__alloc_zero(devices, sizeof *s.rank),
              .group = weft__alloc_zero(nodes, sizeof *s.group),
              .want = weft__alloc_zero(nodes, sizeof *s.want),
              .no_gpu = weft__alloc_zero(nodes, sizeof *s.no_gpu),
              .user = weft__alloc_zero(nodes, sizeof *s.user)};
  weft_err err = s.full && s.rank && s.group && s.want && s.no_gpu && s.user ? place_all(&s) : WEFT_OOM;
  weft__free(s.full);
  weft__free(s.rank);
  weft__free(s.group);
  weft__free(s.want);
  weft__free(s.no_gpu);
  weft__free(s.user);
  return err;
}

void weft__place_log_mapping(const placement *p) {
  int shown = 0;
  for (int i = 0; i < p->n_device; i++) {
    if (!p->device[i].description[0]) continue;
    if (!shown++) printf("Device mapping:\n");
    printf("%s -> %s\n", p->device[i].name, p->device[i].description);
  }
  if (!shown) printf("Device mapping: no known devices.\n");
  fflush(stdout);
}
