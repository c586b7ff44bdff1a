/* stages.c - the stage of each node is the largest stage of its inputs, plus 1 for an input of another task. */
#include "exec/passes/stages.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include <limits.h>

weft_err weft__stages_init(stages *s, int n_node) {
  *s = (stages){.at = weft__alloc_zero((size_t)n_node + 1, sizeof *s->at),
                .latest = weft__alloc(((size_t)n_node + 1) * sizeof *s->latest)};
  return s->at && s->latest ? WEFT_OK : WEFT_OOM;
}

void weft__stages_finish(stages *s) {
  weft__free(s->at);
  weft__free(s->latest);
  weft__free(s->edge);
}

static bool edge_crosses(const stage_edge *e) { return e->from_task != e->to_task; }

weft_err weft__stages_add(stages *s, stage_edge e) {
  WEFT_TRY(WEFT_ARRAY_RESERVE(s->edge, s->room, s->n_edge + 1));
  s->edge[s->n_edge++] = e;
  int stage = s->at[e.from] + edge_crosses(&e);
  if (stage > s->at[e.to]) s->at[e.to] = stage;
  return WEFT_OK;
}

/* A node whose value another task reads keeps its stage, and so does a node that nothing reads. */
void weft__stages_find_latest(stages *s, int n_node) {
  for (int i = 0; i < n_node; i++) s->latest[i] = INT_MAX;
  for (int i = s->n_edge - 1; i >= 0; i--) {
    const stage_edge *e = &s->edge[i];
    if (s->latest[e->to] == INT_MAX) s->latest[e->to] = s->at[e->to];
    int most = edge_crosses(e) ? s->at[e->from] : s->latest[e->to];
    if (most < s->latest[e->from]) s->latest[e->from] = most;
  }
}

/* Returns the first stage from `from` to `to` at which a value that is not small crosses, or 0. */
static int find_crossing(const stages *s, int from_task, int to_task, int from, int to) {
  int found = 0;
  for (int i = 0; i < s->n_edge; i++) {
    const stage_edge *e = &s->edge[i];
    int stage = s->at[e->from] + 1;
    if (e->small || e->from_task != from_task || e->to_task != to_task || stage < from || stage > to) continue;
    if (!found || stage < found) found = stage;
  }
  return found;
}

/* Returns the last stage at which all readers of the node on that task can still run. */
static int latest_receive(const stages *s, int node, int to_task) {
  int latest = INT_MAX;
  for (int i = 0; i < s->n_edge; i++) {
    const stage_edge *e = &s->edge[i];
    if (e->from == node && e->to_task == to_task && s->latest[e->to] < latest) latest = s->latest[e->to];
  }
  return latest;
}

stage_route weft__stages_route(const stages *s, int node, int from_task, int to_task, int client_task) {
  int first = s->at[node] + 1, last = latest_receive(s, node, to_task);
  if (last == INT_MAX) return (stage_route){.stage = first}; /* only the client reads it */
  WEFT_ASSERT(last >= first);
  int direct = find_crossing(s, from_task, to_task, first, last);
  if (direct) return (stage_route){.stage = direct};
  if (from_task == client_task || to_task == client_task) return (stage_route){.stage = first};
  int there = latest_receive(s, node, client_task); /* for readers on the client's task itself */
  int relay = find_crossing(s, from_task, client_task, first, there < last - 1 ? there : last - 1);
  int then = relay ? find_crossing(s, client_task, to_task, relay + 1, last) : 0;
  return then ? (stage_route){.stage = then, .relay = relay} : (stage_route){.stage = first};
}
