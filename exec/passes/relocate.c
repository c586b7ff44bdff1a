/* relocate.c - visits the nodes from the last to the first, so that the readers of a node are decided before it. */
#include "exec/passes/relocate.h"

#include "base/alloc.h"
#include <string.h>

enum { NOWHERE = -1, SEVERAL = -2 };

typedef struct relocator {
  const cut *c;
  relocation *out;
  waits *waits;
  int *reader; /* per node: a device on the only task whose nodes wait for it; or NOWHERE, SEVERAL */
} relocator;

static void note_reader(relocator *r, int node, int where) {
  int *at = &r->reader[node];
  if (*at == NOWHERE)
    *at = where;
  else if (*at != SEVERAL && r->c->task[*at] != r->c->task[where])
    *at = SEVERAL;
}

/* Returns true if nothing happens when the node runs: NoOp. */
static bool does_nothing(const weft_node *n) {
  return n->op && n->n_in == 0 && n->n_out == 0 && n->op->flags == 0 && !n->op->opdef.stateful;
}

/* A task that does nothing else in the step still gets its NoOp, unless it is the client's, which runs the step. */
static void relocate_node(relocator *r, int node) {
  const cut *c = r->c;
  int *where = &r->out->where[node], reader = r->reader[node];
  if (does_nothing(c->graph->node[node])) {
    r->out->unread[node] = reader == NOWHERE;
    if (reader >= 0 && c->task[*where] == c->task[c->client]) *where = reader;
  }
  if (r->out->unread[node]) return;
  weft__waits_of(r->waits, node);
  for (int i = 0; i < r->waits->n; i++) note_reader(r, r->waits->from[i], *where);
}

weft_err weft__relocate(relocation *out, const cut *c, waits *w, const int *order, int n_order) {
  size_t n = (size_t)c->graph->n_node + 1;
  *out = (relocation){.where = weft__alloc(n * sizeof *out->where), .unread = weft__alloc_zero(n, sizeof *out->unread)};
  relocator r = {.c = c, .out = out, .waits = w, .reader = weft__alloc(n * sizeof *r.reader)};
  weft_err err = out->where && out->unread && r.reader ? WEFT_OK : WEFT_OOM;
  if (!err) {
    memcpy(out->where, c->where, (size_t)c->graph->n_node * sizeof *out->where);
    for (int i = 0; i < c->graph->n_node; i++) r.reader[i] = NOWHERE;
    for (int i = n_order - 1; i >= 0; i--) relocate_node(&r, order[i]);
  }
  weft__free(r.reader);
  return err;
}

void weft__relocation_finish(relocation *r) {
  weft__free(r->where);
  weft__free(r->unread);
}
