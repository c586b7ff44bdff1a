/* variable_nodes.h - the nodes around a variable: found, added to lists, made and changed.
 *
 * A variable is named by its output: the reference of a VariableV2 or the handle of a VarHandleOp. */
#ifndef WEFT_TRAIN_MODEL_VARIABLE_NODES_H
#define WEFT_TRAIN_MODEL_VARIABLE_NODES_H

#include "graph/variable_scope.h"
#include "train/model/named.h"

/* INVALID_ARGUMENT unless v is a variable of the graph; `what` says whose argument it is. */
weft_err weft__variable_check(const weft_graph *g, const char *what, weft_out v);
bool weft__variable_is_resource(const weft_graph *g, weft_out v);
weft_dtype weft__variable_type(const weft_graph *g, weft_out v);
shape weft__variable_shape(const weft_graph *g, weft_out v);
const char *weft__variable_name(const weft_graph *g, weft_out v); /* of its node */

/* Its value for use in expressions: w/read, or a new "ReadVariableOp" where we are. */
weft_out weft__variable_value(weft_graph *g, weft_out v);
bool weft__variable_is(const weft_graph *g, weft_out x);
/* The value of x where it is a variable, else x itself. */
weft_out weft__variable_or_value(weft_graph *g, weft_out x);
/* The node that gives it its initial value, and that value; NOT_FOUND if no collection knows it. */
weft_err weft__variable_initializer(const weft_graph *g, weft_out v, weft_out *assign);
weft_err weft__variable_initial(const weft_graph *g, weft_out v, weft_out *value);

/* The variables in a collection, at most room of them; returns how many there are. */
int weft__variables_in(const weft_graph *g, const char *list, weft_out *out, int room);
/* Adds a variable that some collection knows to another one, once. */
weft_err weft__variable_add_to(weft_graph *g, const char *list, weft_out v);
/* Its serialized VariableDef in a list, until something is added there; NULL if it is not in it. */
attr_str *weft__variable_definition(const weft_graph *g, const char *list, weft_out v);
bool weft__variable_listed(const weft_graph *g, const char *list, weft_out v);

/* tf.Variable(value, trainable=False, name): a number, or the value of an output. */
typedef struct new_variable {
  const char *name;
  weft_dtype dtype; /* of a number */
  term initial;
  bool resource, local, trainable;
} new_variable;
weft_out weft__variable_new(weft_graph *g, const new_variable *v);

/* v = value (Assign or AssignVariableOp), v += value, v -= value; name NULL: the op's.  What comes back is the new
 * value; *node (may be NULL) is the node that makes the change. */
typedef enum change { CHANGE_SET, CHANGE_ADD, CHANGE_SUB } change;
weft_out weft__variable_change(weft_graph *g, change how, const char *name, weft_out v, term value, bool locked,
                               int *node);

/* tf.variables_initializer and tf.report_uninitialized_variables. */
weft_out weft__variables_init(weft_graph *g, const char *name, int n, const weft_out *v);
weft_out weft__variables_report(weft_graph *g, const char *name, int n, const weft_out *v);

#endif
