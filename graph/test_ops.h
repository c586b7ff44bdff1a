/* test_ops.h - a few ops for the tests of this floor, which cannot include ops/. */
#ifndef WEFT_GRAPH_TEST_OPS_H
#define WEFT_GRAPH_TEST_OPS_H

#include "graph/graph.h"
#include "tests/check.h"

static inline weft_err test_const_infer(infer *s) {
  const attr *a = weft__node_attr(s->node, "value");
  if (a && a->kind == ATTR_TENSOR) s->out[0] = a->tensor->shape;
  return WEFT_OK;
}

static const op test_op_list[] = {
    {"Const() -> (output:dtype) | value:tensor dtype:type", "", .kind = KIND_CONST, .infer = test_const_infer},
    {"Placeholder() -> (output:dtype) | dtype:type shape:shape=?", "", .kind = KIND_PLACEHOLDER,
     .infer = weft__infer_attr_shape},
    {"VariableV2() -> (ref:&dtype) | shape:shape dtype:type container:string='' shared_name:string='' ; stateful", "",
     .kind = KIND_VARIABLE, .infer = weft__infer_attr_shape},
    {"Identity(input:T) -> (output:T) | T:type", "", .kind = KIND_IDENTITY, .known = weft__known_input,
     .infer = weft__infer_same},
    {"IdentityN(input:@T) -> (output:@T) | T:list(type)>=1", "", .infer = weft__infer_none},
    {"AddV2(x:T, y:T) -> (z:T) | T:type{float,double,int32}", "", .infer = weft__infer_broadcast},
    {"AddN(inputs:N*T) -> (sum:T) | N:int>=1 T:type{float,double,int32}", "", .kind = KIND_SUM,
     .infer = weft__infer_merge_all},
    {"Two() -> (a:float, b:int32)", "", .infer = weft__infer_scalar},
    {"NoOp() -> ()", "", .infer = weft__infer_none},
    {"_Arg() -> (output:T) | T:type index:int>=0 ; stateful", "", .kind = KIND_ARGUMENT, .infer = weft__infer_none},
    {"Assign(ref:&T, value:T) -> (output_ref:&T) | T:type validate_shape:bool=true use_locking:bool=true ; uninit", "",
     .infer = weft__infer_same},
    {"Switch(data:T, pred:bool) -> (output_false:T, output_true:T) | T:type", "", .kind = KIND_SWITCH,
     .infer = weft__infer_none},
    {"Merge(inputs:N*T) -> (output:T, value_index:int32) | T:type N:int>=1", "", .kind = KIND_MERGE,
     .infer = weft__infer_merge_all},
    {"Enter(data:T) -> (output:T) | T:type frame_name:string is_constant:bool=false parallel_iterations:int=10", "",
     .kind = KIND_ENTER, .infer = weft__infer_same},
    {"Exit(data:T) -> (output:T) | T:type", "", .kind = KIND_EXIT, .infer = weft__infer_same},
    {"NextIteration(data:T) -> (output:T) | T:type", "", .kind = KIND_NEXT_ITERATION, .infer = weft__infer_same},
    {"LoopCond(input:bool) -> (output:bool)", "", .kind = KIND_LOOP_COND, .infer = weft__infer_scalar},
    {"Sub(x:T, y:T) -> (z:T) | T:type{float,double,int32}", "", .infer = weft__infer_broadcast},
    {"Mul(x:T, y:T) -> (z:T) | T:type{float,double,int32}", "", .infer = weft__infer_broadcast},
    {"Fill(dims:index_type, value:T) -> (output:T) | T:type index_type:type{int32,int64}=int32", "",
     .infer = weft__infer_none},
    {"RandomUniform(shape:T) -> (output:dtype) | seed:int=0 seed2:int=0 dtype:type T:type{int32,int64} ; stateful", "",
     .infer = weft__infer_none},
    {"TruncatedNormal(shape:T) -> (output:dtype) | seed:int=0 seed2:int=0 dtype:type T:type{int32,int64} ; stateful",
     "", .infer = weft__infer_none},
    {"VarHandleOp() -> (resource:resource) | container:string='' shared_name:string='' debug_name:string='' dtype:type "
     "shape:shape ; stateful",
     "", .kind = KIND_HANDLE, .infer = weft__infer_scalar},
    {"VarIsInitializedOp(resource:resource) -> (is_initialized:bool) ; stateful", "", .infer = weft__infer_scalar},
    {"AssignVariableOp(resource:resource, value:dtype) -> () | dtype:type validate_shape:bool=false ; stateful", "",
     .infer = weft__infer_none},
    {"ReadVariableOp(resource:resource) -> (value:dtype) | dtype:type ; stateful", "", .kind = KIND_READ,
     .infer = weft__infer_none},
    {"Less(x:T, y:T) -> (z:bool) | T:type{float,double,int32}", "", .infer = weft__infer_broadcast},
    {0},
};

/* Creates a graph with these ops; test_graph_destroy frees both. */
static inline weft_graph *test_graph(void) {
  const op *const lists[] = {test_op_list, NULL};
  op_table *table;
  weft_graph *g;
  EXPECT_OK(weft__op_table_create(&table, lists));
  EXPECT_OK(weft__graph_create(&g, table));
  return g;
}

static inline void test_graph_destroy(weft_graph *g) {
  op_table *table = (op_table *)(uintptr_t)g->ops;
  weft__graph_destroy(g);
  weft__op_table_destroy(table);
}

/* Adds a node through the scopes. */
static inline weft_node *test_node(weft_graph *g, const char *type, const char *name, int n_in, const weft_out *in,
                                   int n_attr, const attr *attrs) {
  weft_node *n;
  EXPECT_OK(weft__graph_add(
      g, &(node_spec){.op = type, .name = name, .n_in = n_in, .in = in, .n_attr = n_attr, .attr = attrs}, &n));
  return n;
}

static inline weft_node *test_no_op(weft_graph *g, const char *name) {
  return test_node(g, "NoOp", name, 0, NULL, 0, NULL);
}

static inline weft_node *test_const(weft_graph *g, const char *name, double number) {
  weft_tensor *t;
  EXPECT_OK(weft__tensor_scalar(&t, WEFT_FLOAT, number));
  weft_node *n = test_node(g, "Const", name, 0, NULL, 2, (attr[]){A_TENSOR("value", t), A_TYPE("dtype", WEFT_FLOAT)});
  weft_tensor_destroy(t);
  return n;
}

static inline weft_node *test_identity(weft_graph *g, const char *name, const weft_node *in) {
  return test_node(g, "Identity", name, 1, &(weft_out){in->id, 0}, 0, NULL);
}

static inline weft_node *test_variable(weft_graph *g, const char *name, int64_t size) {
  shape s = SHAPE1(size);
  return test_node(g, "VariableV2", name, 0, NULL, 2, (attr[]){A_TYPE("dtype", WEFT_FLOAT), A_SHAPE("shape", &s)});
}

#endif
