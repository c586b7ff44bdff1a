/* narrow_types.c - the ops that run on float8 and on 4-bit integers: those for which TensorFlow has kernels.
 *
 * Most definitions allow every type, and many kernels of Weft only copy bytes.  TensorFlow has kernels of few ops for
 * these types; this table has them, so that a graph that runs here runs there.  tests/parity/test_narrow_types.py
 * compares it with TensorFlow's list of kernels. */
#include "exec/narrow_types.h"

#include "tensor/dtype.h"
#include <stdlib.h>
#include <string.h>

typedef enum narrow { FLOAT8 = 1, INT4 = 2, BOTH = 3 } narrow;
typedef struct allowed {
  const char *op;
  narrow types;
} allowed;

/* In the order of strcmp. */
static const allowed table[] = {
    {"AddSparseToTensorsMap", BOTH},
    {"AssignVariableOp", BOTH},
    {"BroadcastTo", FLOAT8},
    {"Cast", BOTH},
    {"Concat", FLOAT8},
    {"ConcatV2", FLOAT8},
    {"ConjugateTranspose", FLOAT8},
    {"Const", BOTH},
    {"Copy", BOTH},
    {"CopyHost", BOTH},
    {"DebugGradientIdentity", BOTH},
    {"DebugGradientRefIdentity", BOTH},
    {"DebugIdentity", BOTH},
    {"DebugIdentityV2", BOTH},
    {"DebugIdentityV3", BOTH},
    {"DeepCopy", BOTH},
    {"DeserializeManySparse", BOTH},
    {"DeserializeSparse", BOTH},
    {"DestroyTemporaryVariable", BOTH},
    {"EmptyTensorList", BOTH},
    {"EnsureShape", BOTH},
    {"ExpandDims", BOTH},
    {"FakeParam", BOTH},
    {"Fill", INT4},
    {"Fingerprint", BOTH},
    {"Gather", FLOAT8},
    {"GatherNd", FLOAT8},
    {"GatherV2", FLOAT8},
    {"GetSessionHandle", BOTH},
    {"GetSessionHandleV2", BOTH},
    {"GetSessionTensor", BOTH},
    {"GuaranteeConst", BOTH},
    {"Identity", BOTH},
    {"If", BOTH},
    {"ImmutableConst", BOTH},
    {"InitializeTable", BOTH},
    {"InitializeTableV2", BOTH},
    {"InplaceAdd", BOTH},
    {"InplaceSub", BOTH},
    {"InplaceUpdate", BOTH},
    {"IsVariableInitialized", BOTH},
    {"LookupTableExport", BOTH},
    {"LookupTableExportV2", BOTH},
    {"LookupTableFind", BOTH},
    {"LookupTableFindV2", BOTH},
    {"LookupTableImport", BOTH},
    {"LookupTableImportV2", BOTH},
    {"LookupTableInsert", BOTH},
    {"LookupTableInsertV2", BOTH},
    {"LookupTableRemoveV2", BOTH},
    {"Merge", BOTH},
    {"Pack", FLOAT8},
    {"ParseTensor", BOTH},
    {"Placeholder", BOTH},
    {"PlaceholderV2", BOTH},
    {"PlaceholderWithDefault", BOTH},
    {"PreventGradient", BOTH},
    {"Print", BOTH},
    {"RaggedTensorToSparse", BOTH},
    {"Rank", BOTH},
    {"ReadVariableOp", BOTH},
    {"Recv", BOTH},
    {"RefEnter", BOTH},
    {"RefExit", BOTH},
    {"RefIdentity", BOTH},
    {"RefMerge", BOTH},
    {"RefNextIteration", BOTH},
    {"Reshape", BOTH},
    {"ResourceStridedSliceAssign", FLOAT8},
    {"Restore", BOTH},
    {"RestoreSlice", BOTH},
    {"Send", BOTH},
    {"SerializeSparse", BOTH},
    {"Shape", BOTH},
    {"ShapeN", BOTH},
    {"Size", BOTH},
    {"Slice", FLOAT8},
    {"Split", BOTH},
    {"SplitV", BOTH},
    {"Squeeze", BOTH},
    {"Stack", BOTH},
    {"StackPop", BOTH},
    {"StackPopV2", BOTH},
    {"StackPush", BOTH},
    {"StackPushV2", BOTH},
    {"StackV2", BOTH},
    {"StatelessIf", BOTH},
    {"StopGradient", BOTH},
    {"StridedSlice", FLOAT8},
    {"StridedSliceAssign", FLOAT8},
    {"StridedSliceGrad", FLOAT8},
    {"TemporaryVariable", BOTH},
    {"TensorArray", BOTH},
    {"TensorArrayV2", BOTH},
    {"TensorArrayV3", BOTH},
    {"TensorListConcatLists", BOTH},
    {"TensorListPushBack", BOTH},
    {"TensorListReserve", BOTH},
    {"TensorListSetItem", BOTH},
    {"TensorMapErase", BOTH},
    {"TensorMapHasKey", BOTH},
    {"TensorMapInsert", BOTH},
    {"TensorMapLookup", BOTH},
    {"TensorMapStackKeys", BOTH},
    {"TensorStridedSliceUpdate", FLOAT8},
    {"Tile", BOTH},
    {"TileGrad", BOTH},
    {"ToBool", BOTH},
    {"Transpose", FLOAT8},
    {"Unbatch", BOTH},
    {"UnbatchGrad", BOTH},
    {"Unpack", FLOAT8},
    {"VarHandleOp", BOTH},
    {"Variable", BOTH},
    {"VariableV2", BOTH},
    {"WriteSummary", BOTH},
};

static int compare_name(const void *name, const void *row) { return strcmp(name, ((const allowed *)row)->op); }

static narrow narrow_of(weft_dtype t) {
  switch (weft__dtype_base(t)) {
  case WEFT_FLOAT8_E5M2:
  case WEFT_FLOAT8_E4M3FN: return FLOAT8;
  case WEFT_INT4:
  case WEFT_UINT4: return INT4;
  default: return 0;
  }
}

weft_dtype weft__narrow_type_refused(const weft_node *n) {
  if (n->op_name[0] == '_') return 0;
  for (int i = 0; i < n->n_attr; i++) {
    const attr *a = &n->attr[i];
    const narrow kind = a->kind == ATTR_TYPE && !a->is_list ? narrow_of(a->type) : 0;
    if (!kind) continue;
    const allowed *row = bsearch(n->op_name, table, sizeof table / sizeof *table, sizeof *table, compare_name);
    if (!row || !(row->types & kind)) return a->type;
  }
  return 0;
}
