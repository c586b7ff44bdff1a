/* variable_nodes.h - the nodes of a variable: functions that find, list, create and change them.
 *
 * A variable is identified by its output: the reference of a VariableV2 or the handle of a VarHandleOp. */
#ifndef WEFT_TRAIN_MODEL_VARIABLE_NODES_H
#define WEFT_TRAIN_MODEL_VARIABLE_NODES_H

#include "graph/variable_scope.h"
#include "train/model/named.h"

/* Returns INVALID_ARGUMENT unless v is a variable of the graph; `what` names the argument. */
weft_err weft__variable_check(const weft_graph *g, const char *what, weft_out v);
bool weft__variable_is_resource(const weft_graph *g, weft_out v);
weft_dtype weft__variable_type(const weft_graph *g, weft_out v);
shape weft__variable_shape(const weft_graph *g, weft_out v);
const char *weft__variable_name(const weft_graph *g, weft_out v); /* the name of its node */

/* Returns its value for use in expressions: w/read, or a new "ReadVariableOp" at the current place. */
weft_out weft__variable_value(weft_graph *g, weft_out v);
bool weft__variable_is(const weft_graph *g, weft_out x);
/* Returns the value of x if it is a variable, otherwise x itself. */
weft_out weft__variable_or_value(weft_graph *g, weft_out x);
/* Finds the node that assigns its initial value, and that value.  Returns NOT_FOUND if no collection lists it. */
weft_err weft__variable_initializer(const weft_graph *g, weft_out v, weft_out *assign);
weft_err weft__variable_initial(const weft_graph *g, weft_out v, weft_out *value);

/* Lists the variables of a collection, at most `room`.  Returns their number. */
int weft__variables_in(const weft_graph *g, const char *list, weft_out *out, int room);
/* Adds a variable that is in some collection to another one, once. */
weft_err weft__variable_add_to(weft_graph *g, const char *list, weft_out v);
/* Returns its serialized VariableDef in a list, valid until something is added to the list; NULL if it is not in it. */
attr_str *weft__variable_definition(const weft_graph *g, const char *list, weft_out v);
bool weft__variable_listed(const weft_graph *g, const char *list, weft_out v);

/* tf.Variable(value, trainable=False, name): a number, or the value of an output. */
typedef struct new_variable {
  const char *name;
  weft_dtype dtype; /* type of a number */
  term initial;
  bool resource, local, trainable;
} new_variable;
weft_out weft__variable_new(weft_graph *g, const new_variable *v);

/* v = value (Assign or AssignVariableOp), v += value, v -= value.  If name is NULL, it is the op's name.  Returns
 * the new value; *node (may be NULL) is the node that makes the change. */
typedef enum change { CHANGE_SET, CHANGE_ADD, CHANGE_SUB } change;
weft_out weft__variable_change(weft_graph *g, change how, const char *name, weft_out v, term value, bool locked,
                               int *node);

/* tf.variables_initializer and tf.report_uninitialized_variables. */
weft_out weft__variables_init(weft_graph *g, const char *name, int n, const weft_out *v);
weft_out weft__variables_report(weft_graph *g, const char *name, int n, const weft_out *v);

#endif
