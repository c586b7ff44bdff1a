/* function_test.c - tests bodies that are made from FunctionDefs as a peer may send them. */
#include "graph/function.h"
#include "graph/attr_proto.h"
#include "graph/library.h"
#include "graph/test_ops.h"

enum { REPEATED = 20000 };

/* Makes the argument "x", a float, with an attribute that occurs REPEATED times. */
static void draft_argument(Tensorflow__FunctionDef *f, arena *a) {
  static shape scalar;
  Tensorflow__OpDefArgDef *x = weft__arena_alloc(a, sizeof *x);
  Tensorflow__FunctionDefArgAttrs *attrs = weft__arena_alloc(a, sizeof *attrs);
  Tensorflow__FunctionDefArgAttrEntry *of = weft__arena_alloc(a, sizeof *of);
  Tensorflow__FunctionDefArgAttrsAttrEntry *e = weft__arena_alloc(a, sizeof *e);
  tensorflow__op_def_arg_def__init(x);
  tensorflow__function_def_arg_attrs__init(attrs);
  tensorflow__function_def_arg_attr_entry__init(of);
  tensorflow__function_def_arg_attrs_attr_entry__init(e);
  x->name = weft__arena_strdup(a, "x");
  x->type = WEFT_FLOAT;
  e->key = weft__arena_strdup(a, "_output_shapes");
  e->value = weft__arena_alloc(a, sizeof *e->value);
  EXPECT_OK(weft__attr_to_proto(e->value, &A_SHAPES("_output_shapes", &scalar, 1), a));
  attrs->attr = weft__arena_alloc(a, REPEATED * sizeof *attrs->attr);
  while (attrs->n_attr < REPEATED) attrs->attr[attrs->n_attr++] = e;
  of->value = attrs;
  f->signature->input_arg = weft__arena_copy(a, &x, sizeof x);
  f->signature->n_input_arg = 1;
  f->arg_attr = weft__arena_copy(a, &of, sizeof of);
  f->n_arg_attr = 1;
}

TEST(an_argument_may_repeat_an_attribute) {
  weft_graph *g = test_graph();
  arena a = {0};
  Tensorflow__OpDef signature = TENSORFLOW__OP_DEF__INIT;
  Tensorflow__FunctionDef f = TENSORFLOW__FUNCTION_DEF__INIT, *list[] = {&f};
  Tensorflow__FunctionDefLibrary library = TENSORFLOW__FUNCTION_DEF_LIBRARY__INIT;
  signature.name = weft__arena_strdup(&a, "f");
  f.signature = &signature;
  draft_argument(&f, &a);
  library.n_function = 1;
  library.function = list;
  EXPECT_OK(weft__library_merge(g, &library));
  function *made = NULL;
  EXPECT_OK(weft__function_create_named(&made, test_no_op(g, "caller"), "f"));
  EXPECT_EQ_INT(made->n_arg, 1);
  weft__function_release(made);
  weft__arena_finish(&a);
  test_graph_destroy(g);
}
