/* scaffold.c - the defaults of Scaffold, in the order in which TensorFlow creates them. */
#include "train/session/scaffold.h"

#include "train/session/defaults.h"
#include "train/model/nodes.h"
#include "train/model/summary.h"

/* There are no resources besides variables and tables, so their reports and initializers are empty. */
static weft_out no_resources(weft_graph *g) {
  weft__b_push_name(g, "report_uninitialized_resources");
  weft__n_push_device(g, "/device:CPU:0");
  weft_out o = weft__n_strings(g, "Const", 0, NULL);
  weft__b_pop(g);
  weft__b_pop(g);
  return o;
}

static int no_init(weft_graph *g) { return weft__n_group(g, "init", 0, NULL).node; }

static weft_out scaffold_report(weft_graph *g, bool with_local) {
  weft_out both[] = {weft__default_report_of(g, NULL, with_local), no_resources(g)};
  weft__b_push_name(g, "concat");
  weft_out axis = weft__n_scalar(g, "axis", WEFT_INT32, 0);
  weft_out o = weft__n_scope_node(g, "ConcatV2", 3, (weft_out[]){both[0], both[1], axis}, 0, NULL);
  weft__b_pop(g);
  return o;
}

static weft_out make_local_init(weft_graph *g) {
  int all[3] = {weft__default_init_of(g, "local_variables", NULL).node};
  all[1] = weft__default_tables_init(g).node;
  all[2] = no_init(g);
  return weft__n_group(g, NULL, 3, all);
}

weft_err weft__scaffold_build(scaffold *s, weft_graph *g, const weft_monitored_opts *o) {
  bool make;
  WEFT_TRY(weft__b_ok(g));
  s->init = weft__default_given_or_first(g, o->init_op, "init_op", &make);
  if (make) {
    int both[2] = {weft__default_init_of(g, "variables", NULL).node};
    both[1] = no_init(g);
    weft__default_list_node(g, "init_op", s->init = weft__n_group(g, NULL, 2, both));
  }
  s->ready = weft__default_given_or_first(g, o->ready_op, "ready_op", &make);
  if (make) weft__default_list_out(g, "ready_op", s->ready = scaffold_report(g, true));
  s->ready_for_local_init =
      weft__default_given_or_first(g, o->ready_for_local_init_op, "ready_for_local_init_op", &make);
  if (make) weft__default_list_out(g, "ready_for_local_init_op", s->ready_for_local_init = scaffold_report(g, false));
  s->local_init = weft__default_given_or_first(g, o->local_init_op, "local_init_op", &make);
  if (make) weft__default_list_node(g, "local_init_op", s->local_init = make_local_init(g));
  s->summary = weft__default_given_or_first(g, o->summary_op, "summary_op", &make);
  if (make) weft__default_list_out(g, "summary_op", s->summary = weft__summary_merge_all(g, NULL, NULL, NULL));
  WEFT_TRY(weft__b_ok(g));
  s->saver = o->saver;
  if (s->saver) return WEFT_OK;
  s->own_saver = true;
  return weft__default_saver(g, true, &s->saver);
}

void weft__scaffold_finish(scaffold *s) {
  if (s->own_saver) weft__saver_destroy(s->saver);
}
