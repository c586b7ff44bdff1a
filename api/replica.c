/* replica.c - device functions: replica_device_setter, and functions of the program. */
#include "api/argument.h"
#include "base/alloc.h"
#include "graph/build.h"
#include "graph/scope.h"

weft_err weft_replica_create(weft_replica **out, int ps_tasks, const char *ps_device, const char *worker_device,
                             bool by_bytes) {
  API_NEED(out);

  replica_opts o = {.ps_tasks = ps_tasks, .ps_device = ps_device, .worker_device = worker_device, .by_bytes = by_bytes};
  return weft__replica_setter_create((replica_setter **)out, &o);
}

void weft_replica_destroy(weft_replica *r) { weft__replica_setter_destroy((replica_setter *)r); }

void weft_scope_push_replica(weft_graph *g, weft_replica *r) {
  API_NEED_OR(g, );
  API_NEED_ON(g, r);

  weft__b_pushed(g, weft__scope_push_device_fn(g, weft__replica_setter_device, r));
}

/* ---- functions of the program ---------------------------------------------------------------------- */

typedef struct device_call {
  weft_device_fn *fn;
  void *arg;
} device_call;

static weft_err call_program(void *arg, const weft_node *n, const char *current, text *out) {
  const device_call *c = arg;
  const char *device = c->fn(c->arg, n, current);
  if (!device) return weft__fail(WEFT_INVALID_ARGUMENT, "the device function of the program failed");
  weft__text_puts(out, device);
  return WEFT_OK;
}

void weft_scope_push_device_fn(weft_graph *g, weft_device_fn *fn, void *arg) {
  API_NEED_OR(g, );
  API_NEED_ON(g, fn);

  /* lives as long as the graph: scopes are entered often, but not in a loop */
  device_call *c = weft__arena_alloc(&g->arena, sizeof *c);
  if (c) *c = (device_call){fn, arg};
  weft__b_pushed(g, c ? weft__scope_push_device_fn(g, call_program, c) : WEFT_OOM);
}
