/* replica.c - replica_device_setter: places variables on ps tasks and everything else on the worker.
 *
 * A Weft worker and a TensorFlow worker of one job build the same graph and must agree on the task of each variable.
 * So the round robin is exactly TensorFlow's. */
#include "base/alloc.h"
#include "base/assert.h"
#include "device/device.h"
#include "graph/scope.h"
#include <string.h>

struct replica_setter {
  device_spec ps, worker;
  int ps_tasks, next;
  bool by_bytes;
  int64_t *load; /* bytes per task */
  char **ps_op;
  int n_ps_op;
};

static const char *const default_ps_ops[] = {"Variable",
                                             "VariableV2",
                                             "AutoReloadVariable",
                                             "MutableHashTable",
                                             "MutableHashTableV2",
                                             "MutableHashTableOfTensors",
                                             "MutableHashTableOfTensorsV2",
                                             "MutableDenseHashTable",
                                             "MutableDenseHashTableV2",
                                             "VarHandleOp",
                                             "BoostedTreesEnsembleResourceHandleOp",
                                             "BoostedTreesQuantileStreamResourceHandleOp",
                                             "ResourceConditionalAccumulator",
                                             "DecisionTreeResource"};

static weft_err setter_fill(replica_setter *r, const replica_opts *o) {
  const char *const *ops = o->n_ps_ops ? o->ps_ops : default_ps_ops;
  int n = o->n_ps_ops ? o->n_ps_ops : (int)(sizeof default_ps_ops / sizeof *default_ps_ops);
  WEFT_TRY(weft__device_parse(&r->ps, o->ps_device ? o->ps_device : "/job:ps"));
  WEFT_TRY(weft__device_parse(&r->worker, o->worker_device ? o->worker_device : "/job:worker"));
  r->ps_tasks = o->ps_tasks;
  r->by_bytes = o->by_bytes;
  r->load = weft__alloc_zero((size_t)(o->ps_tasks > 0 ? o->ps_tasks : 1), sizeof *r->load);
  r->ps_op = weft__alloc_zero((size_t)n, sizeof *r->ps_op);
  if (!r->load || !r->ps_op) return WEFT_OOM;
  for (; r->n_ps_op < n; r->n_ps_op++)
    if (!(r->ps_op[r->n_ps_op] = weft__strdup(ops[r->n_ps_op]))) return WEFT_OOM;
  return WEFT_OK;
}

weft_err weft__replica_setter_create(replica_setter **out, const replica_opts *opts) {
  *out = NULL;
  replica_setter *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  weft_err err = setter_fill(r, opts);
  if (err == WEFT_OK)
    *out = r;
  else
    weft__replica_setter_destroy(r);
  return err;
}

void weft__replica_setter_destroy(replica_setter *r) {
  if (!r) return;
  for (int i = 0; i < r->n_ps_op; i++) weft__free(r->ps_op[i]);
  weft__free(r->ps_op);
  weft__free(r->load);
  weft__free(r);
}

static bool is_ps_op(const replica_setter *r, const char *name) {
  for (int i = 0; i < r->n_ps_op; i++)
    if (strcmp(r->ps_op[i], name) == 0) return true;
  return false;
}

static weft_err replica_bytes_of(const weft_node *n, int64_t *bytes) {
  const attr *s = weft__node_attr(n, "shape");
  int64_t count = s && s->kind == ATTR_SHAPE && !s->is_list ? weft__shape_count(s->shape) : -1;
  if (count < 0)
    return weft__fail(WEFT_INVALID_ARGUMENT, "'%s': its shape must be fully defined to place it by bytes", n->name);
  *bytes = count * (int64_t)weft__dtype_size(weft__dtype_base(weft__node_type(n, "dtype")));
  return WEFT_OK;
}

static weft_err choose_task(replica_setter *r, const weft_node *n, int *task) {
  WEFT_ASSERT(r->ps_tasks > 0 && r->next >= 0 && r->next < r->ps_tasks);
  if (!r->by_bytes) {
    *task = r->next;
    r->next = (r->next + 1) % r->ps_tasks;
    return WEFT_OK;
  }
  int64_t bytes = 0;
  int least = 0;
  WEFT_TRY(replica_bytes_of(n, &bytes));
  for (int i = 1; i < r->ps_tasks; i++)
    if (r->load[i] < r->load[least]) least = i;
  r->load[least] += bytes;
  *task = least;
  return WEFT_OK;
}

weft_err weft__replica_setter_device(void *arg, const weft_node *n, const char *current, text *out) {
  replica_setter *r = arg;
  device_spec now, spec = r->worker;
  char buf[WEFT_DEVICE_TEXT];
  if (r->ps_tasks <= 0) {
    weft__text_puts(out, current);
    return WEFT_OK;
  }
  WEFT_TRY(weft__device_parse(&now, current));
  if (is_ps_op(r, n->op_name)) {
    spec = r->ps;
    /* A node that the program put into another job does not advance the round robin. */
    if (spec.has_job && (!now.has_job || strcmp(now.job, spec.job) == 0)) WEFT_TRY(choose_task(r, n, &spec.task));
  }
  weft__device_merge(&spec, &now);
  weft__text_puts(out, weft__device_text(&spec, buf, sizeof buf));
  return WEFT_OK;
}
