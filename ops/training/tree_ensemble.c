/* tree_ensemble.c - the ops that make, save and describe an ensemble of boosted trees (state/trees/tree_ensemble.h). */
#include "base/alloc.h"
#include "base/cast.h"
#include "base/text.h"
#include "graph/op.h"
#include "kernels/training/tree_args.h"
#include "state/trees/tree_ensemble.h"

static weft_err make_ensemble(resource **out, void *arg) {
  (void)arg;
  return weft__tree_ensemble_create((tree_ensemble **)out);
}

static const resource_kind ensemble_resource = {TREE_ENSEMBLE_TYPE, false, make_ensemble};

static weft_err tree_handle_cpu(kernel *k) {
  return weft__kernel_in(k, weft__resource_output(k, &ensemble_resource, NULL));
}

/* Sets the ensemble; Create leaves one that is set as it is. */
static weft_err ensemble_set(kernel *k, bool keep) {
  tree_ensemble *e = NULL;
  WEFT_TRY(weft__kernel_scalar(k, 1, "stamp_token"));
  WEFT_TRY(weft__kernel_scalar(k, 2, "tree_ensemble_serialized"));
  WEFT_TRY(weft__tree_ensemble_of(k, &e));
  const str *bytes = TENSOR_DATA(k->in[2], str);
  const weft_err err = weft__tree_ensemble_set(e, *TENSOR_DATA(k->in[1], int64_t), bytes->data, bytes->size, keep);
  weft__object_release((object *)e);
  return weft__kernel_in(k, err);
}

static weft_err tree_create_cpu(kernel *k) { return ensemble_set(k, true); }
static weft_err tree_deserialize_cpu(kernel *k) { return ensemble_set(k, false); }

static weft_err view_of(const kernel *k, tree_list *view, int64_t *stamp) {
  tree_ensemble *e = NULL;
  WEFT_TRY(weft__tree_ensemble_of(k, &e));
  const weft_err err = weft__tree_ensemble_view(e, view, stamp);
  weft__object_release((object *)e);
  return weft__kernel_in(k, err);
}

static weft_err tree_serialize_cpu(kernel *k) {
  tree_list view;
  int64_t stamp = 0;
  WEFT_TRY(view_of(k, &view, &stamp));
  text bytes = {0};
  weft__tree_list_write(&bytes, &view);
  weft__tree_list_clear(&view);
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR), *to = out ? weft__out(k, 1, &SHAPE_SCALAR) : NULL;
  weft_err err = !to || bytes.failed ? WEFT_OOM : weft__str_set(to->data, weft__text_get(&bytes), bytes.size);
  if (!err) *TENSOR_DATA(out, int64_t) = stamp;
  weft__text_finish(&bytes);
  return err;
}

static weft_err tree_states_cpu(kernel *k) {
  tree_list view;
  int64_t stamp = 0, finished = 0;
  WEFT_TRY(view_of(k, &view, &stamp));
  for (int64_t i = 0; i < view.n; i++) finished += view.tree[i]->finalized;
  const int64_t count[3] = {view.n, finished, view.layers_attempted};
  const int32_t range[2] = {view.first_node, view.end_node};
  weft__tree_list_clear(&view);
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  *TENSOR_DATA(out, int64_t) = stamp;
  for (int i = 0; i < 3; i++) {
    if (!(out = weft__out(k, 1 + i, &SHAPE_SCALAR))) return WEFT_OOM;
    *TENSOR_DATA(out, int32_t) = weft__int_sat(count[i]);
  }
  if (!(out = weft__out(k, 4, &SHAPE1(2)))) return WEFT_OOM;
  TENSOR_DATA(out, int32_t)[0] = range[0], TENSOR_DATA(out, int32_t)[1] = range[1];
  return WEFT_OK;
}

static weft_err tree_states_infer(infer *s) {
  return weft__tree_infer_dims(s, (const char *const[]){"", "", "", "", "2"});
}

static weft_err tree_is_set_cpu(kernel *k) {
  tree_ensemble *e = NULL;
  WEFT_TRY(weft__tree_ensemble_of(k, &e));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (out) *TENSOR_DATA(out, bool) = weft__tree_ensemble_is_set(e);
  weft__object_release((object *)e);
  return out ? WEFT_OK : WEFT_OOM;
}

OPS(tree_ensemble) = {
    {"BoostedTreesEnsembleResourceHandleOp() -> (resource:resource) | container:string='' "
     "shared_name:string='' ; stateful",
     "The handle of an ensemble of trees.", .infer = weft__infer_scalar, .cpu = tree_handle_cpu, .flags = OP_ONCE,
     .prepare = weft__resource_prepare, .unprepare = weft__resource_unprepare},
    {"BoostedTreesCreateEnsemble(tree_ensemble_handle:resource, stamp_token:int64, "
     "tree_ensemble_serialized:string) -> () ; stateful",
     "Creates an ensemble of trees from its bytes, unless it exists.", .infer = weft__infer_scalar,
     .cpu = tree_create_cpu},
    {"BoostedTreesDeserializeEnsemble(tree_ensemble_handle:resource, stamp_token:int64, "
     "tree_ensemble_serialized:string) -> () ; stateful",
     "Sets an ensemble from its bytes.", .infer = weft__infer_scalar, .cpu = tree_deserialize_cpu},
    {"BoostedTreesSerializeEnsemble(tree_ensemble_handle:resource) -> (stamp_token:int64, "
     "tree_ensemble_serialized:string) ; stateful",
     "The bytes of an ensemble.", .infer = weft__infer_scalar, .cpu = tree_serialize_cpu},
    {"BoostedTreesGetEnsembleStates(tree_ensemble_handle:resource) -> (stamp_token:int64, num_trees:int32, "
     "num_finalized_trees:int32, num_attempted_layers:int32, last_layer_nodes_range:int32) ; stateful",
     "The counters of an ensemble.", .infer = tree_states_infer, .cpu = tree_states_cpu},
    {"IsBoostedTreesEnsembleInitialized(tree_ensemble_handle:resource) -> (is_initialized:bool) ; stateful",
     "Whether an ensemble exists.", .infer = weft__infer_scalar, .cpu = tree_is_set_cpu},
    {.scenario = "tests/python/test_boosted_trees_ops.py"},
};
