/* staging.c - the ops of staging areas. state/staging.h describes their behavior.  Each op names its area by its own
 * attributes. */
#include "base/alloc.h"
#include "graph/kernel.h"
#include "state/staging.h"
#include <string.h>

static staging_kind staging_kind_of(const weft_node *n) {
  if (!strncmp(n->op_name, "OrderedMap", 10)) return STAGING_ORDERED_MAP;
  return strncmp(n->op_name, "Map", 3) ? STAGING_FIFO : STAGING_MAP;
}

static int tuple_size(const weft_node *n) {
  const attr *types = weft__node_attr(n, "dtypes");
  return types ? types->n : 0;
}

/* The first node that uses an area makes it, and gives it its limits.  The number of tensors in a tuple comes from the
 * nodes that stage.  A node that takes from a map may want a part of the tuple, so its own list of types does not tell
 * the number, which stays open (0) until find_area sets it for a node that stages. */
static weft_err make_area(resource **out, void *arg) {
  const weft_node *n = ((const resource_maker *)arg)->node;
  const bool takes =
      staging_kind_of(n) != STAGING_FIFO && (strstr(n->op_name, "Unstage") || strstr(n->op_name, "Peek"));
  const staging_spec spec = {staging_kind_of(n), takes ? 0 : tuple_size(n), weft__node_int(n, "capacity", 0),
                             weft__node_int(n, "memory_limit", 0)};
  return weft__staging_create((staging **)out, &spec);
}

static const resource_kind area_resource = {STAGING_TYPE, false, make_area};

/* Finds the area of the node, or makes it, and checks that it is of the node's kind.  In a FIFO all nodes have the
 * whole tuple, and in a map those that stage: these set its number of tensors, and fail if it has another one. */
static weft_err find_area(kernel *k, staging **out) {
  WEFT_TRY(weft__kernel_in(k, weft__resource_of_node(k, &area_resource, (resource **)out, NULL)));
  const staging_spec *spec = weft__staging_spec(*out);
  if (spec->kind != staging_kind_of(k->node))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "the staging area of that name is of another kind");
  if (spec->kind == STAGING_FIFO || strstr(k->node->op_name, "MapStage"))
    return tuple_size(k->node) ? weft__kernel_in(k, weft__staging_set_size(*out, tuple_size(k->node))) : WEFT_OK;
  return WEFT_OK;
}

/* ---- requests ---- */

/* Sets the outputs from `first` on.  In MapUnstageNoKey the key is output 0, before them. */
static void request_done(void *arg, weft_err err, const weft_tensor *got, int64_t key) {
  kernel *k = arg;
  const bool keyed = strstr(k->node->op_name, "NoKey") != NULL;
  if (!err && keyed) {
    weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
    if (out)
      TENSOR_DATA(out, int64_t)[0] = key;
    else
      err = WEFT_OOM;
  }
  for (int i = keyed; i < k->n_out && !err; i++) {
    if (got[i - keyed].dtype != k->node->out_type[i])
      err = weft__fail(WEFT_INVALID_ARGUMENT, "output %d is %s, but a tensor of %s was staged", i,
                       weft__dtype_name(k->node->out_type[i]), weft__dtype_name(got[i - keyed].dtype));
    else
      err = weft__out_share(k, i, &got[i - keyed]);
  }
  weft__kernel_done(k, weft__kernel_in(k, err));
}

static weft_err staging_ask(kernel *k, staging *s, const staging_request *r) {
  weft__kernel_defer(k);
  weft__staging_submit(s, r, k->step->cancel, request_done, k);
  return WEFT_OK;
}

static weft_err stage_cpu(kernel *k) {
  staging *s = NULL;
  WEFT_TRY(find_area(k, &s));
  return staging_ask(k, s, &(staging_request){.act = STAGING_PUT, .n = k->n_in, .part = k->in});
}

static weft_err unstage_cpu(kernel *k) {
  staging *s = NULL;
  WEFT_TRY(find_area(k, &s));
  return staging_ask(k, s, &(staging_request){.act = STAGING_TAKE_ANY, .n = k->n_out});
}

static weft_err peek_cpu(kernel *k) {
  staging *s = NULL;
  WEFT_TRY(find_area(k, &s));
  WEFT_TRY(weft__kernel_scalar(k, 0, "index"));
  const int64_t index = weft__tensor_int(k->in[0], 0);
  if (index < 0) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "index %lld is below 0", (long long)index);
  return staging_ask(k, s, &(staging_request){.act = STAGING_PEEK, .key = index, .n = k->n_out});
}

/* Checks input i: it lists positions in the tuple, one for each tensor, without repetition. */
static weft_err staging_check_indices(const kernel *k, int i, int n, const staging *s) {
  const weft_tensor *t = k->in[i];
  const int size = weft__staging_spec(s)->n ? weft__staging_spec(s)->n : INT32_MAX;
  if (t->shape.rank != 1 || t->shape.dim[0] != n)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Number of tensors '%d' and indices of shape %s do not match", n,
                             weft__shape_text(&t->shape));
  for (int j = 0; j < n; j++) {
    const int32_t at = TENSOR_DATA(t, int32_t)[j];
    bool twice = false;
    for (int m = 0; m < j; m++) twice |= TENSOR_DATA(t, int32_t)[m] == at;
    if (at < 0 || at >= size || twice)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Tensor index '%d' is not a place of a tuple of %d tensors, or stands twice", at, size);
  }
  return WEFT_OK;
}

static weft_err ask_map(kernel *k, staging_act act, int key, int indices, int n) {
  staging *s = NULL;
  WEFT_TRY(find_area(k, &s));
  WEFT_TRY(staging_check_indices(k, indices, n, s));
  staging_request r = {.act = act, .n = n, .index = k->in[indices]->data};
  if (key >= 0) {
    if (weft__tensor_count(k->in[key]) != 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "key must be an int64 scalar");
    r.key = TENSOR_DATA(k->in[key], int64_t)[0];
  }
  if (act == STAGING_PUT) r.part = k->in + 2;
  return staging_ask(k, s, &r);
}

static weft_err map_stage_cpu(kernel *k) { return ask_map(k, STAGING_PUT, 0, 1, k->n_in - 2); }
static weft_err map_unstage_cpu(kernel *k) { return ask_map(k, STAGING_TAKE, 0, 1, k->n_out); }
static weft_err map_peek_cpu(kernel *k) { return ask_map(k, STAGING_PEEK, 0, 1, k->n_out); }
static weft_err map_any_cpu(kernel *k) { return ask_map(k, STAGING_TAKE_ANY, -1, 0, k->n_out - 1); }

/* ---- sizes ---- */

static weft_err put_size(kernel *k, bool incomplete) {
  staging *s = NULL;
  WEFT_TRY(find_area(k, &s));
  weft_tensor *out = weft__out(k, 0, &SHAPE_SCALAR);
  if (!out) return WEFT_OOM;
  TENSOR_DATA(out, int32_t)[0] = (int32_t)weft__staging_size(s, incomplete);
  return WEFT_OK;
}

static weft_err staging_size_cpu(kernel *k) { return put_size(k, false); }
static weft_err incomplete_cpu(kernel *k) { return put_size(k, true); }

static weft_err clear_cpu(kernel *k) {
  staging *s = NULL;
  WEFT_TRY(find_area(k, &s));
  weft__staging_clear(s);
  return WEFT_OK;
}

/* ---- table ---- */

#define AREA " container:string='' shared_name:string='' ; stateful"
#define LIMITS " | capacity:int>=0=0 memory_limit:int>=0=0 "
#define ROW(DEF, DOC, FLAGS, INFER, FN)                                                                                \
  {                                                                                                                    \
    DEF AREA, DOC, .flags = FLAGS, .infer = INFER, .cpu = FN, .prepare = weft__resource_prepare,                       \
                   .unprepare = weft__resource_unprepare                                                               \
  }
#define GIVES "dtypes:list(type)>=1"
#define KNOWS "dtypes:list(type)"
#define MAP(NAME)                                                                                                      \
  ROW(NAME "Stage(key:int64, indices:int32, values:@fake_dtypes) -> ()" LIMITS KNOWS " fake_dtypes:list(type)>=1",     \
      "Puts tensors of a tuple under a key, waiting for room.", OP_ASYNC, weft__infer_none, map_stage_cpu),            \
      ROW(NAME "Unstage(key:int64, indices:int32) -> (values:@dtypes)" LIMITS GIVES,                                   \
          "Takes tensors of the tuple under a key, waiting for it.", OP_ASYNC | OP_TAKES, weft__infer_none,            \
          map_unstage_cpu),                                                                                            \
      ROW(NAME "UnstageNoKey(indices:int32) -> (key:int64, values:@dtypes)" LIMITS GIVES,                              \
          "Takes tensors of some tuple, waiting for one.", OP_ASYNC | OP_TAKES, weft__infer_none, map_any_cpu),        \
      ROW(NAME "Peek(key:int64, indices:int32) -> (values:@dtypes)" LIMITS GIVES,                                      \
          "The tensors of the tuple under a key, waiting for it.", OP_ASYNC, weft__infer_none, map_peek_cpu),          \
      ROW(NAME "Size() -> (size:int32)" LIMITS KNOWS, "How many tuples are complete.", 0, weft__infer_scalar,          \
          staging_size_cpu),                                                                                           \
      ROW(NAME "IncompleteSize() -> (size:int32)" LIMITS KNOWS, "How many tuples are not complete.", 0,                \
          weft__infer_scalar, incomplete_cpu),                                                                         \
      ROW(NAME "Clear() -> ()" LIMITS KNOWS, "Removes all tuples.", 0, weft__infer_none, clear_cpu)

OPS(staging) = {
    ROW("Stage(values:@dtypes) -> ()" LIMITS GIVES, "Puts a tuple into a staging area, waiting for room.", OP_ASYNC,
        weft__infer_none, stage_cpu),
    ROW("Unstage() -> (values:@dtypes)" LIMITS GIVES, "Takes the first tuple of a staging area, waiting for one.",
        OP_ASYNC | OP_TAKES, weft__infer_none, unstage_cpu),
    ROW("StagePeek(index:int32) -> (values:@dtypes)" LIMITS GIVES, "A tuple of a staging area, waiting for it.",
        OP_ASYNC, weft__infer_none, peek_cpu),
    ROW("StageSize() -> (size:int32)" LIMITS KNOWS, "How many tuples are in a staging area.", 0, weft__infer_scalar,
        staging_size_cpu),
    ROW("StageClear() -> ()" LIMITS KNOWS, "Removes all tuples of a staging area.", 0, weft__infer_none, clear_cpu),
    MAP("Map"),
    MAP("OrderedMap"),
    {.scenario = "tests/parity/test_staging.py"},
};
