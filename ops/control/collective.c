/* collective.c - the collective ops: the members of a group, each on its own device, combine or exchange their
 * tensors.
 *
 * Version 1 of an op has the keys of its group and instance as attributes, version 2 as inputs.  Version 3 takes
 * them from a communicator, which counts its instances. kernels/collective/collective.h has the implementation. */
#include "kernels/collective/collective.h"
#include "base/alloc.h"
#include "base/cast.h"
#include "graph/op.h"

/* ---- reading the arguments of an op ---- */

static weft_err collective_check_size(const kernel *k, const collective_spec *s) {
  if (s->group_size > 0) return WEFT_OK;
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "group_size must be positive integer but got %d", s->group_size);
}

static weft_err read_timeout(const kernel *k, collective_spec *s) {
  s->timeout = weft__node_float(k->node, "timeout_seconds", 0);
  s->n_subdiv = 1;
  return collective_check_size(k, s);
}

static weft_err read_attrs(const kernel *k, collective_spec *s) {
  s->group_size = weft__int_sat(weft__node_int(k->node, "group_size", 0));
  s->group_key = weft__int_sat(weft__node_int(k->node, "group_key", 0));
  s->instance_key = weft__int_sat(weft__node_int(k->node, "instance_key", 0));
  return read_timeout(k, s);
}

/* Reads the keys from the three inputs from `first` on. */
static weft_err read_inputs(const kernel *k, int first, collective_spec *s) {
  static const char *const names[] = {"group_size", "group_key", "instance_key"};
  int32_t *const to[] = {&s->group_size, &s->group_key, &s->instance_key};
  for (int i = 0; i < 3; i++) {
    const weft_tensor *t = k->in[first + i];
    if (weft__tensor_count(t) < 1)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "%s must be a scalar, got shape %s", names[i],
                               weft__shape_text(&t->shape));
    *to[i] = TENSOR_DATA(t, const int32_t)[0];
  }
  return read_timeout(k, s);
}

static void read_merge(const weft_node *n, const char *attr_name, collective_spec *s) {
  const char *merge = weft__node_str(n, attr_name).data, *final = weft__node_str(n, "final_op").data;
  s->merge = !strcmp(merge, "Min")   ? COMBINE_MIN
             : !strcmp(merge, "Max") ? COMBINE_MAX
             : !strcmp(merge, "Mul") ? COMBINE_MUL
                                     : COMBINE_ADD;
  s->divide = final && !strcmp(final, "Div");
}

static weft_err read_subdivs(const kernel *k, collective_spec *s) {
  const attr *a = weft__node_attr(k->node, "subdiv_offsets");
  if (!a || a->n == 0) return WEFT_OK;
  if (a->n > COLLECTIVE_SUBDIVS)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "subdiv_offsets has %d values; at most %d are possible", a->n,
                             COLLECTIVE_SUBDIVS);
  s->n_subdiv = a->n;
  for (int i = 0; i < a->n; i++) {
    s->subdiv[i] = a->is[i];
    if (s->subdiv[i] < 0)
      return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "subdiv_offsets: a ring in reverse order (%lld) is not possible",
                               (long long)s->subdiv[i]);
  }
  return WEFT_OK;
}

/* ---- kernels ---- */

static weft_err collective_reduce_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_REDUCE, .out = k->in[0]->shape};
  read_merge(k->node, "merge_op", &s);
  WEFT_TRY(read_attrs(k, &s));
  WEFT_TRY(read_subdivs(k, &s));
  return weft__collective_run(k, &s);
}

static weft_err reduce_v2_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_REDUCE, .out = k->in[0]->shape};
  read_merge(k->node, "merge_op", &s);
  WEFT_TRY(read_inputs(k, 1, &s));
  return weft__collective_run(k, &s);
}

static weft_err scatter_v2_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_REDUCE_SCATTER, .out = k->in[0]->shape};
  read_merge(k->node, "merge_op", &s);
  WEFT_TRY(read_inputs(k, 1, &s));
  if (s.out.rank < 1 || s.out.dim[0] % s.group_size)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "dimension 0 of the input, of shape %s, is no multiple of the group's size %d",
                             weft__shape_text(&s.out), s.group_size);
  s.out.dim[0] /= s.group_size;
  return weft__collective_run(k, &s);
}

static weft_err collective_gather(kernel *k, collective_spec *s) {
  if (s->out.rank < 1) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "input must have at least one dimension");
  s->out.dim[0] *= s->group_size;
  return weft__collective_run(k, s);
}

static weft_err collective_gather_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_GATHER, .out = k->in[0]->shape};
  WEFT_TRY(read_attrs(k, &s));
  return collective_gather(k, &s);
}

static weft_err gather_v2_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_GATHER, .out = k->in[0]->shape};
  WEFT_TRY(read_inputs(k, 1, &s));
  return collective_gather(k, &s);
}

static weft_err exchange_v2_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_ALL_TO_ALL, .out = k->in[0]->shape};
  WEFT_TRY(read_inputs(k, 1, &s));
  return weft__collective_run(k, &s);
}

static weft_err send_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_BROADCAST, .is_source = true, .out = k->in[0]->shape};
  const attr *want = weft__node_attr(k->node, "shape");
  WEFT_TRY(read_attrs(k, &s));
  if (want && want->kind == ATTR_SHAPE && !weft__shape_equal(want->shape, &s.out))
    return weft__kernel_fail(k, WEFT_INTERNAL, "Declared shape of op %s does not match shape of input: %s",
                             k->node->name, weft__shape_text(&s.out));
  return weft__collective_run(k, &s);
}

static weft_err send_v2_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_BROADCAST, .is_source = true, .out = k->in[0]->shape};
  WEFT_TRY(read_inputs(k, 1, &s));
  return weft__collective_run(k, &s);
}

static weft_err recv_cpu(kernel *k) {
  const attr *a = weft__node_attr(k->node, "shape");
  collective_spec s = {.type = COLLECTIVE_BROADCAST, .input = -1};
  WEFT_TRY(read_attrs(k, &s));
  if (!a || a->kind != ATTR_SHAPE || weft__shape_count(a->shape) < 0)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "shape must be fully known");
  s.out = *a->shape;
  return weft__collective_run(k, &s);
}

static weft_err recv_v2_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_BROADCAST, .input = -1};
  WEFT_TRY(read_inputs(k, 0, &s));
  WEFT_TRY(weft__kernel_dims(k, 3, "shape", &s.out));
  return weft__collective_run(k, &s);
}

/* ---- groups from a table of devices ---- */

static weft_err assign_group_cpu(kernel *k) {
  const weft_tensor *table = k->in[0];
  if (table->shape.rank != 2)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "group_assignment must be a 2-d Tensor, but received tensor of shape: %s",
                             weft__shape_text(&table->shape));
  WEFT_TRY(weft__kernel_scalar(k, 1, "device_index"));
  WEFT_TRY(weft__kernel_scalar(k, 2, "base_key"));
  const int32_t wanted = TENSOR_DATA(k->in[1], const int32_t)[0], base = TENSOR_DATA(k->in[2], const int32_t)[0];
  const int64_t rows = table->shape.dim[0], columns = table->shape.dim[1];
  for (int64_t i = 0; i < rows * columns; i++) {
    const int32_t item = TENSOR_DATA(table, const int32_t)[i];
    if (item < 0 || item >= rows * columns) /* like TensorFlow, checks only the devices before the wanted one */
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                               "Not all items in group_assignment are within [0, number of devices): %d of %lld", item,
                               (long long)(rows * columns));
    if (item != wanted) continue;
    weft_tensor *size = weft__out(k, 0, &SHAPE_SCALAR), *key = weft__out(k, 1, &SHAPE_SCALAR);
    if (!size || !key) return WEFT_OOM;
    TENSOR_DATA(size, int32_t)[0] = (int32_t)columns;
    TENSOR_DATA(key, int32_t)[0] = (int32_t)((uint32_t)base + (uint32_t)(i / columns));
    return WEFT_OK;
  }
  return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "device_index %d is not found in group_assignment of shape %s",
                           wanted, weft__shape_text(&table->shape));
}

/* ---- communicators ---- */

#define COMMUNICATOR_TYPE "communicator"

typedef struct communicator {
  resource base;
  int32_t group_key, group_size;
  atomic_int instances; /* the number of ops that have run */
} communicator;

static void communicator_destroy(object *o) { weft__free(o); }

static weft_err communicator_cpu(kernel *k) {
  collective_spec s = {0};
  int32_t *const to[] = {&s.group_key, NULL, &s.group_size};
  for (int i = 0; i < 3; i++) {
    WEFT_TRY(weft__kernel_scalar(k, i, i == 0 ? "group_key" : i == 1 ? "rank" : "group_size"));
    if (to[i]) *to[i] = TENSOR_DATA(k->in[i], const int32_t)[0];
  }
  WEFT_TRY(collective_check_size(k, &s));
  communicator *c = weft__alloc_zero(1, sizeof *c);
  if (!c) return WEFT_OOM;
  atomic_init(&c->base.base.refs, 1);
  c->base.base.destroy = communicator_destroy;
  c->base.type = COMMUNICATOR_TYPE;
  c->group_key = s.group_key;
  c->group_size = s.group_size;
  weft_tensor *made = NULL;
  weft_err err = weft__handle_create(&made, "", k->node->name, &c->base);
  if (!err) err = weft__out_share(k, 0, made);
  weft_tensor_destroy(made);
  weft__object_release(&c->base.base);
  return err;
}

static weft_err read_communicator(kernel *k, collective_spec *s) {
  resource *r = NULL;
  WEFT_TRY(weft__kernel_in(k, weft__handle_get(k->in[1], COMMUNICATOR_TYPE, &r)));
  communicator *c = (communicator *)r;
  if (weft__tensor_count(k->in[2]))
    return weft__kernel_fail(k, WEFT_UNIMPLEMENTED, "Group assignments are not supported yet.");
  s->group_key = c->group_key;
  s->group_size = c->group_size;
  s->instance_key = atomic_fetch_add(&c->instances, 1);
  return read_timeout(k, s);
}

static weft_err reduce_v3_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_REDUCE, .out = k->in[0]->shape};
  read_merge(k->node, "reduction", &s);
  WEFT_TRY(read_communicator(k, &s));
  return weft__collective_run(k, &s);
}

static weft_err exchange_v3_cpu(kernel *k) {
  collective_spec s = {.type = COLLECTIVE_ALL_TO_ALL, .out = k->in[0]->shape};
  WEFT_TRY(read_communicator(k, &s));
  return weft__collective_run(k, &s);
}

/* ---- shapes ---- */

static weft_err gather_v2_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  const weft_tensor *size = weft__infer_value(s, 1);
  s->out[0] = s->in[0];
  if (s->in[0].rank < 1) return WEFT_OK;
  const int32_t n = size && weft__tensor_count(size) ? TENSOR_DATA(size, const int32_t)[0] : -1;
  s->out[0].dim[0] = n > 0 && s->in[0].dim[0] >= 0 && s->in[0].dim[0] <= INT64_MAX / n ? n * s->in[0].dim[0] : -1;
  return WEFT_OK;
}

static weft_err scatter_v2_infer(infer *s) {
  WEFT_TRY(weft__infer_rank_at_least(s, 0, 1));
  const weft_tensor *size = weft__infer_value(s, 1);
  s->out[0] = s->in[0];
  if (s->in[0].rank < 1) return WEFT_OK;
  const int32_t n = size && weft__tensor_count(size) ? TENSOR_DATA(size, const int32_t)[0] : -1;
  s->out[0].dim[0] = n > 0 && s->in[0].dim[0] >= 0 && s->in[0].dim[0] % n == 0 ? s->in[0].dim[0] / n : -1;
  return WEFT_OK;
}

static weft_err recv_v2_infer(infer *s) { return weft__infer_shape_value(s, 3, &s->out[0]); }

static const op_case assign_cases[] = {
    {"i32[2,2] 0 1 2 3; i32[] 2; i32[] 10", "i32[] 2; i32[] 11", NULL, CASE_FIXED_TYPE},
    {"i32[1,3] 2 1 0; i32[] 1; i32[] 3", "i32[] 3; i32[] 3", NULL, CASE_FIXED_TYPE},
    {"i32[2,2] 0 1 2 4; i32[] 1; i32[] 3", "i32[] 2; i32[] 3", NULL, CASE_FIXED_TYPE},
    {"i32[1,3] 5 6 7; i32[] 5; i32[] 3", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i32[1,2] -1 1; i32[] 1; i32[] 3", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i32[2,2] 0 1 2 3; i32[] 7; i32[] 10", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {"i32[2] 0 1; i32[] 0; i32[] 10", "error INVALID_ARGUMENT", NULL, CASE_FIXED_TYPE},
    {0},
};

#define KEYS_V2 ", group_size:int32, group_key:int32, instance_key:int32"
#define TOKENS ", ordering_token:Nordering_token*resource"
#define REDUCED "T:type{bfloat16,float,half,double,int32,int64}"
#define COPIED "T:type{bool,float,half,double,int32,int64}"
#define GATHERED "T:type{float,half,double,int32,int64}"
#define HINTS " communication_hint:string='auto' timeout_seconds:float=0"
#define KEYS " group_size:int group_key:int instance_key:int"
#define MERGES " merge_op:string{'Min','Max','Mul','Add'} final_op:string{'Id','Div'}"
#define WAITING OP_ASYNC | OP_NO_FOLD

OPS(collective) = {
    {"CollectiveReduce(input:T) -> (data:T) | " REDUCED KEYS MERGES
     " subdiv_offsets:list(int) wait_for:list(int)=[]" HINTS " ; stateful",
     "Combines the tensors of all members.", WAITING, .infer = weft__infer_same, .cpu = collective_reduce_cpu},
    {"CollectiveReduceV2(input:T" KEYS_V2 TOKENS ") -> (data:T) | " REDUCED MERGES HINTS
     " is_stateless:bool=false Nordering_token:int>=0=0 max_subdivs_per_device:int=-1 ; stateful",
     "Combines the tensors of all members; the keys are inputs.", WAITING, .infer = weft__infer_same,
     .cpu = reduce_v2_cpu},
    {"CollectiveReduceV3(input:T, communicator:resource, group_assignment:int32) -> (data:T) | " REDUCED
     " reduction:string{'Min','Max','Mul','Add'} timeout_seconds:float=0 ; stateful",
     "Combines the tensors of all members of a communicator.", WAITING, .infer = weft__infer_same,
     .cpu = reduce_v3_cpu},
    {"CollectiveReduceScatterV2(input:T" KEYS_V2 TOKENS ") -> (data:T) | " REDUCED MERGES HINTS
     " is_stateless:bool=false Nordering_token:int>=0=0 max_subdivs_per_device:int=-1 ; stateful",
     "Combines the tensors of all members; each gets its share of the rows.", WAITING, .infer = scatter_v2_infer,
     .cpu = scatter_v2_cpu},
    {"CollectiveGather(input:T) -> (data:T) | " GATHERED KEYS " shape:shape" HINTS " ; stateful",
     "Concatenates the tensors of all members.", WAITING, .infer = weft__infer_attr_shape,
     .cpu = collective_gather_cpu},
    {"CollectiveGatherV2(input:T" KEYS_V2 TOKENS ") -> (data:T) | " GATHERED HINTS
     " is_stateless:bool=false Nordering_token:int>=0=0 ; stateful",
     "Concatenates the tensors of all members; the keys are inputs.", WAITING, .infer = gather_v2_infer,
     .cpu = gather_v2_cpu},
    {"CollectiveBcastSend(input:T) -> (data:T) | " COPIED KEYS " shape:shape" HINTS " ; stateful",
     "Sends its tensor to all members.", WAITING, .infer = weft__infer_attr_shape, .cpu = send_cpu},
    {"CollectiveBcastSendV2(input:T" KEYS_V2 ") -> (data:T) | " COPIED HINTS " ; stateful",
     "Sends its tensor to all members; the keys are inputs.", WAITING, .infer = weft__infer_same, .cpu = send_v2_cpu},
    {"CollectiveBcastRecv() -> (data:T) | " COPIED KEYS " shape:shape" HINTS " ; stateful",
     "Receives the tensor that one member sends.", WAITING, .infer = weft__infer_attr_shape, .cpu = recv_cpu},
    {"CollectiveBcastRecvV2(group_size:int32, group_key:int32, instance_key:int32, shape:Tshape) -> (data:T) | " COPIED
     " Tshape:type{int32,int64}=int32" HINTS " ; stateful",
     "Receives the tensor that one member sends; the keys are inputs.", WAITING, .infer = recv_v2_infer,
     .cpu = recv_v2_cpu},
    {"CollectiveAllToAllV2(input:T" KEYS_V2 TOKENS ") -> (data:T) | " REDUCED HINTS
     " is_stateless:bool=false Nordering_token:int>=0=0 ; stateful",
     "Sends each member its share of the rows.", WAITING, .infer = weft__infer_same, .cpu = exchange_v2_cpu},
    {"CollectiveAllToAllV3(input:T, communicator:resource, group_assignment:int32) -> (data:T) | " REDUCED
     " timeout_seconds:float=0 ; stateful",
     "Sends each member of a communicator its share of the rows.", WAITING, .infer = weft__infer_same,
     .cpu = exchange_v3_cpu},
    {"CollectiveAssignGroupV2(group_assignment:int32, device_index:int32, base_key:int32) -> (group_size:int32, "
     "group_key:int32) ; stateful",
     "The group of a device, by a table of devices.", .infer = weft__infer_scalar, .cpu = assign_group_cpu,
     .cases = assign_cases},
    {"CollectiveInitializeCommunicator(group_key:int32, rank:int32, group_size:int32) -> (communicator:resource) | "
     "communication_hint:string='auto' timeout_seconds:float=0 ; stateful",
     "A handle of a group.", .infer = weft__infer_scalar, .cpu = communicator_cpu},
    {.scenario = "tests/python/test_calls.py tests/interop/test_collectives.py"},
};
