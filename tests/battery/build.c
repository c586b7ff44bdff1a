/* build.c - builds the graph of a case: it parses attributes from text, and creates variables for reference inputs. */
#include "graph/attr_text.h"
#include "tests/battery/case.h"

static weft_err add(weft_graph *g, weft_node **out, const char *type, const char *name, int n_in, const weft_out *in,
                    int n_attr, const attr *a) {
  return weft__graph_add(g, &(node_spec){.op = type, .name = name, .n_in = n_in, .in = in, .n_attr = n_attr, .attr = a},
                         out);
}

/* The argument that input i belongs to when no list stands before it (variables never stand in lists). */
static const arg_def *argument(const test_case *c, int i) {
  return i < c->op->opdef.n_in ? &c->op->opdef.in[i] : &c->op->opdef.in[c->op->opdef.n_in - 1];
}

static weft_err ref_variable(case_graph *cg, int i, const weft_tensor *v, const attr *type_shape) {
  weft_node *var, *set;
  (void)v;
  WEFT_TRY(add(cg->g, &var, "VariableV2", "var", 0, NULL, 2, type_shape));
  cg->variable[i] = cg->read[i] = (weft_out){var->id, 0};
  WEFT_TRY(add(cg->g, &set, "Assign", "init", 2, (weft_out[]){cg->variable[i], cg->feed[i]}, 0, NULL));
  cg->init[cg->n_init++] = set->id;
  return WEFT_OK;
}

static weft_err resource_variable(case_graph *cg, int i, const weft_tensor *v, const attr *type_shape) {
  weft_node *var, *set, *read;
  WEFT_TRY(add(cg->g, &var, "VarHandleOp", "var", 0, NULL, 2, type_shape));
  cg->variable[i] = (weft_out){var->id, 0};
  WEFT_TRY(add(cg->g, &set, "AssignVariableOp", "init", 2, (weft_out[]){cg->variable[i], cg->feed[i]}, 0, NULL));
  WEFT_TRY(add(cg->g, &read, "ReadVariableOp", "read", 1, &cg->variable[i], 1, &A_TYPE("dtype", v->dtype)));
  cg->init[cg->n_init++] = set->id;
  cg->read[i] = (weft_out){read->id, 0};
  return WEFT_OK;
}

static weft_err add_inputs(case_graph *cg, const test_case *c, case_inputs how, weft_out *in) {
  for (int i = 0; i < c->n_in; i++) {
    weft_tensor *v = c->in[i].value;
    shape unknown = SHAPE_UNKNOWN;
    const bool constant = how == CASE_CONSTANTS && !c->in[i].is_variable;
    attr type_shape[] = {A_TYPE("dtype", v->dtype), A_SHAPE("shape", how == CASE_UNKNOWN ? &unknown : &v->shape)};
    attr type_value[] = {A_TYPE("dtype", v->dtype), A_TENSOR("value", v)};
    weft_node *n;
    WEFT_TRY(constant ? add(cg->g, &n, "Const", "in", 0, NULL, 2, type_value)
                      : add(cg->g, &n, "Placeholder", "in", 0, NULL, 2, type_shape));
    in[i] = cg->feed[i] = (weft_out){n->id, 0};
    cg->variable[i] = cg->read[i] = WEFT_NONE;
    if (!c->in[i].is_variable) continue;
    if (argument(c, i)->is_ref)
      WEFT_TRY(ref_variable(cg, i, v, type_shape));
    else
      WEFT_TRY(resource_variable(cg, i, v, type_shape));
    in[i] = cg->variable[i];
  }
  return WEFT_OK;
}

static bool given(const attr *list, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (strcmp(list[i].name, name) == 0) return true;
  return false;
}

/* A resource argument does not tell its variable's type: dtype and T are set from the case. */
static void add_variable_type(const test_case *c, attr *list, int *n) {
  for (int i = 0; i < c->n_in; i++) {
    if (!c->in[i].is_variable || argument(c, i)->is_ref) continue;
    for (int j = 0; j < 2; j++) {
      const char *name = j ? "T" : "dtype";
      if (weft__opdef_attr(&c->op->opdef, name) && !given(list, *n, name))
        list[(*n)++] = A_TYPE(name, c->in[i].value->dtype);
    }
    return;
  }
}

weft_err case_build(case_graph *cg, const op_table *ops, const test_case *c) {
  return case_build_as(cg, ops, c, CASE_KNOWN);
}

weft_err case_build_as(case_graph *cg, const op_table *ops, const test_case *c, case_inputs how) {
  *cg = (case_graph){0};
  attr list[40];
  int n = 0;
  weft_out in[MAX_INPUTS];
  arena a = {0};
  weft_err err = weft__graph_create(&cg->g, ops);
  if (!err) err = add_inputs(cg, c, how, in);
  if (!err) err = weft__attrs_read(&c->op->opdef, c->from->attr, &a, list, 32, &n);
  if (!err) add_variable_type(c, list, &n);
  if (!err) err = add(cg->g, &cg->node, c->op->opdef.name, "op", c->n_in, in, n, list);
  weft__arena_finish(&a);
  return err;
}
