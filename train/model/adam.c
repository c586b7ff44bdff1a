/* adam.c - Adam: the powers of its decays are separate variables, and slices decay the whole slots. */
#include "train/model/adam.h"
#include "base/alloc.h"
#include <string.h>

static weft_out first_by_name(const weft_graph *g, int n, const weft_out *vars) {
  weft_out first = vars[0];
  for (int i = 1; i < n; i++)
    if (strcmp(weft__variable_name(g, vars[i]), weft__variable_name(g, first)) < 0) first = vars[i];
  return first;
}

weft_err weft__adam_slots(weft_optimizer *o, int n, const weft_out *vars) {
  static const char *const names[] = {"beta1_power", "beta2_power"}, *const values[] = {"beta1", "beta2"};
  weft_graph *g = o->g;
  weft_out beside = first_by_name(g, n, vars);
  if (o->powers) return WEFT_OK;
  for (int i = 0; i < 2; i++) {
    new_variable v = {names[i], WEFT_FLOAT, NUM(weft__optimizer_number(o, values[i])),
                      .resource = weft__variable_is_resource(g, beside)};
    if (o->value[weft__optimizer_param(o, values[i])].output.node >= 0)
      v.initial = OUT(o->value[weft__optimizer_param(o, values[i])].output);
    weft__b_push_colocate(g, beside.node);
    o->extra[i] = weft__variable_new(g, &v);
    weft__b_pop(g);
  }
  o->powers = true;
  return weft__b_ok(g);
}

/* Builds slot = slot * beta, then adds the rows of the slices.  Returns the new value. */
static weft_out decay_and_add(update *u, int slot, weft_out beta, weft_out rows) {
  weft_graph *g = u->o->g;
  weft_out s = weft__update_slot(u, slot);
  weft_out decayed = weft__named_binary(g, "Mul", "mul", OUT(weft__update_read(u, s)), OUT(beta));
  int assign;
  weft__variable_change(g, CHANGE_SET, NULL, s, OUT(decayed), u->o->locked, &assign);
  if (assign < 0) return WEFT_NONE;
  weft__b_push_control(g, 1, &assign);
  weft_out in[] = {s, u->gradient.indices, rows}, added;
  if (u->resource) {
    added = weft__b_node(g, "ResourceScatterAdd", NULL, 3, in, 0, NULL);
    weft__b_push_control(g, added.node >= 0, &added.node);
    added = weft__update_read(u, s);
    weft__b_pop(g);
  } else {
    added = weft__b_node(g, "ScatterAdd", NULL, 3, in, 1, &A_BOOL("use_locking", u->o->locked));
  }
  weft__b_pop(g);
  return added;
}

static weft_out one_minus(weft_graph *g, weft_out x) { return weft__named_binary(g, "Sub", "sub", NUM(1), OUT(x)); }

static weft_out adam_power(update *u, int i) {
  return weft__b_cast(u->o->g, weft__update_read(u, u->o->extra[i]), u->dtype);
}

/* Adds the nodes in the order in which Python evaluates them, so that the suffixes of the names agree. */
static weft_out adam_sparse(update *u) {
  weft_graph *g = u->o->g;
  bool same = u->dtype == WEFT_FLOAT;
  weft_out power1 = same ? WEFT_NONE : adam_power(u, 0), power2 = same ? WEFT_NONE : adam_power(u, 1);
  weft_out rate = weft__update_param(u, 0), beta1 = weft__update_param(u, 1), beta2 = weft__update_param(u, 2);
  weft_out epsilon = weft__update_param(u, 3), d;
  weft_out root = weft__named_unary(g, "Sqrt", "Sqrt", one_minus(g, same ? adam_power(u, 1) : power2));
  rate = weft__named_binary(g, "Mul", "mul", OUT(rate), OUT(root));
  rate = weft__named_binary(g, "RealDiv", "truediv", OUT(rate), OUT(one_minus(g, same ? adam_power(u, 0) : power1)));
  d = u->gradient.values;
  weft_out m_rows = weft__named_binary(g, "Mul", "mul", OUT(d), OUT(one_minus(g, beta1)));
  weft_out m = decay_and_add(u, 0, beta1, m_rows);
  weft_out squared = weft__named_binary(g, "Mul", "mul", OUT(d), OUT(d));
  weft_out v_rows = weft__named_binary(g, "Mul", "mul", OUT(squared), OUT(one_minus(g, beta2)));
  weft_out v = decay_and_add(u, 1, beta2, v_rows);
  weft_out v_root = weft__named_unary(g, "Sqrt", "Sqrt", v);
  weft_out step = weft__named_binary(g, "Mul", "mul", OUT(rate), OUT(m));
  weft_out below = weft__named_binary(g, "AddV2", "add", OUT(v_root), OUT(epsilon));
  step = weft__named_binary(g, "RealDiv", "truediv", OUT(step), OUT(below));
  int changed;
  weft__variable_change(g, CHANGE_SUB, NULL, u->variable, OUT(step), u->o->locked, &changed);
  if (changed < 0 || m.node < 0 || v.node < 0) return WEFT_NONE;
  int ids[] = {changed, m.node, v.node};
  return weft__n_group(g, NULL, 3, ids);
}

weft_out weft__adam_slices(update *u) {
  weft__update_unique(u);
  return adam_sparse(u);
}

weft_out weft__adam_finish(weft_optimizer *o, const char *name, int n, const int *updates) {
  weft_graph *g = o->g;
  int *all = weft__alloc(((size_t)n + 2) * sizeof *all);
  if (!all) {
    weft__named_keep(g, WEFT_OOM);
    return WEFT_NONE;
  }
  memcpy(all, updates, (size_t)n * sizeof *all);
  weft__b_push_control(g, n, updates);
  weft__b_push_colocate(g, o->extra[0].node);
  for (int i = 0; i < 2 && !g->sticky.code; i++) {
    weft_out now = weft__variable_value(g, o->extra[i]);
    weft_out next = weft__named_binary(g, "Mul", "mul", OUT(now), OUT(o->node[1 + i]));
    weft__variable_change(g, CHANGE_SET, NULL, o->extra[i], OUT(next), o->locked, &all[n + i]);
  }
  weft__b_pop(g);
  weft__b_pop(g);
  weft_out done = g->sticky.code ? WEFT_NONE : weft__n_group(g, name, n + 2, all);
  weft__free(all);
  return done;
}
