/* place.c - placement.  With one CPU the choice is easy; the errors and the log lines are the point. */
#include "exec/place.h"

#include "base/alloc.h"
#include "base/text.h"
#include <stdio.h>

/* The first device that the request allows, or -1.  Devices are in the order of preference. */
static int find_device(const placement *p, const device_spec *want) {
  for (int i = 0; i < p->n_device; i++) {
    device_spec full;
    if (weft__device_parse(&full, p->device[i]->name) == WEFT_OK && weft__device_matches(want, &full)) return i;
  }
  return -1;
}

static weft_err impossible(const weft_graph *g, const weft_node *n, const placement *p) {
  text have = {0};
  (void)g;
  for (int i = 0; i < p->n_device; i++) weft__text_printf(&have, "%s%s", i ? ", " : "", p->device[i]->name);
  char canonical[256];
  device_spec want;
  const char *shown = n->device;
  if (weft__device_parse(&want, n->device) == WEFT_OK) shown = weft__device_text(&want, canonical, sizeof canonical);
  weft_err err = weft__fail(WEFT_INVALID_ARGUMENT,
                            "Cannot assign a device for operation %s: {{node %s}} was explicitly assigned to %s but "
                            "available devices are [ %s ]. Make sure the device specification refers to a valid device."
                            "\n\t [[%s]]",
                            n->name, n->name, shown, weft__text_get(&have), n->name);
  weft__text_finish(&have);
  return err;
}

/* `loc:@name` of the first colocation entry, or NULL. */
static const weft_node *colocated(const weft_graph *g, const weft_node *n) {
  const attr *a = weft__node_attr(n, "_class");
  if (!a || a->kind != ATTR_STRING || !a->is_list || a->n == 0) return NULL;
  const attr_str *s = &a->ss[0];
  if (s->size < 5 || memcmp(s->data, "loc:@", 5) != 0) return NULL;
  char name[1024];
  if (s->size - 5 >= sizeof name) return NULL;
  memcpy(name, s->data + 5, s->size - 5);
  name[s->size - 5] = 0;
  return weft__graph_find(g, name);
}

static weft_err place_node(const weft_graph *g, const weft_node *n, const placement *p, int *out) {
  const weft_node *with = n->device[0] ? NULL : colocated(g, n);
  const char *requested = with ? with->device : n->device;
  device_spec want;
  weft_err err = weft__device_parse(&want, requested);
  if (err) return weft__fail_in(err, "node '%s'", n->name);
  *out = find_device(p, &want);
  if (*out >= 0) return WEFT_OK;
  if (!p->soft) return impossible(g, with ? with : n, p);
  want.has_type = false;
  want.id = -1;
  *out = find_device(p, &want);
  return *out >= 0 ? WEFT_OK : impossible(g, n, p);
}

weft_err weft__place(const weft_graph *g, int from, const placement *p, int *out) {
  for (int i = from; i < g->n_node; i++) {
    const weft_node *n = g->node[i];
    WEFT_TRY(place_node(g, n, p, &out[i - from]));
    if (p->log) printf("%s: (%s): %s\n", n->name, n->op_name, p->device[out[i - from]]->name);
  }
  if (p->log) fflush(stdout);
  return WEFT_OK;
}

void weft__place_log_mapping(const placement *p) {
  int shown = 0;
  for (int i = 0; i < p->n_device; i++) {
    if (!p->device[i]->description[0]) continue;
    if (!shown++) printf("Device mapping:\n");
    printf("%s -> %s\n", p->device[i]->name, p->device[i]->description);
  }
  if (!shown) printf("Device mapping: no known devices.\n");
  fflush(stdout);
}
