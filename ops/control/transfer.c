/* transfer.c - _Send and _Recv: the two ends of an edge between two parts of a step.
 *
 * The parts exchange the value in the step's rendezvous under a key that both can compute: devices, tensor name, and
 * the iteration of the enclosing loop.  A dead value is sent as dead, because the receiver waits for it. */
#include "base/alloc.h"
#include "graph/op.h"
#include "state/rendezvous.h"

/* Prepares the key for use outside loops, which is the same in every step. */
static weft_err transfer_prepare(const weft_node *n, void **state) {
  *state = weft__rendezvous_key(n, NULL, NULL, 0, 0);
  return *state ? WEFT_OK : WEFT_OOM;
}

static weft_err transfer_key_of(kernel *k, char **key) {
  if (!k->step->rendezvous)
    return weft__kernel_fail(k, WEFT_INTERNAL, "%s runs in a step that has no rendezvous", k->node->op_name);
  bool in_loop = k->frame_id != 0 || k->iteration != 0;
  *key = in_loop ? weft__rendezvous_key(k->node, NULL, NULL, k->frame_id, k->iteration) : k->state;
  return *key ? WEFT_OK : WEFT_OOM;
}

static weft_err send_cpu(kernel *k) {
  char *key;
  WEFT_TRY(transfer_key_of(k, &key));
  static const weft_tensor nothing;
  weft_err err = weft__rendezvous_send(k->step->rendezvous, key, k->input_dead ? &nothing : k->in[0], k->input_dead);
  if (key != k->state) weft__free(key);
  return err;
}

static weft_err transfer_take(kernel *k, const weft_tensor *t, bool dead) {
  weft_dtype want = weft__dtype_base(k->node->out_type[0]);
  k->out[0].dead = dead || k->input_dead;
  if (k->out[0].dead) return WEFT_OK;
  if (t->dtype != want)
    return weft__kernel_fail(k, WEFT_INTERNAL, "Received a tensor of type %s, want %s", weft__dtype_name(t->dtype),
                             weft__dtype_name(want));
  return weft__out_share(k, 0, t);
}

static void on_receipt(void *arg, weft_err err, const weft_tensor *t, bool dead) {
  kernel *k = arg;
  weft__kernel_done(k, err ? err : transfer_take(k, t, dead));
}

/* Cancelling the step aborts the rendezvous, which ends the wait. */
static weft_err recv_cpu(kernel *k) {
  char *key;
  WEFT_TRY(transfer_key_of(k, &key));
  char *own = key != k->state ? key : NULL; /* the kernel may be freed before the value arrives */
  weft__kernel_defer(k);
  weft__rendezvous_recv(k->step->rendezvous, key, on_receipt, k);
  weft__free(own);
  return WEFT_OK;
}

#define PLACE                                                                                                          \
  " tensor_name:string send_device:string send_device_incarnation:int recv_device:string "                             \
  "client_terminated:bool=false ; stateful"
#define SEND "(tensor:T) -> () | T:type" PLACE
#define RECV "() -> (tensor:tensor_type) | tensor_type:type" PLACE

#define WITH_KEY .prepare = transfer_prepare, .unprepare = weft__free

OPS(transfer) = {
    {"_Send" SEND, "Sends a tensor to another part of the step.", .flags = OP_ASYNC, .kind = KIND_SEND,
     .infer = weft__infer_none, .cpu = send_cpu, WITH_KEY, .anywhere = "*"},
    {"_Recv" RECV, "Receives a tensor from another part of the step.", .flags = OP_ASYNC, .kind = KIND_RECV,
     .infer = weft__infer_none, .cpu = recv_cpu, WITH_KEY, .anywhere = "*"},
    {"Send" SEND, "Sends a tensor to another part of the step, for programs.", .flags = OP_ASYNC,
     .infer = weft__infer_none, .cpu = send_cpu, WITH_KEY, .narrow = NARROW_ALL},
    {"Recv" RECV, "Receives a tensor from another part of the step, for programs.", .flags = OP_ASYNC,
     .infer = weft__infer_none, .cpu = recv_cpu, WITH_KEY, .narrow = NARROW_ALL},
    {"_HostSend" SEND, "Sends a tensor that lies in host memory.", .flags = OP_ASYNC, .kind = KIND_SEND,
     .infer = weft__infer_none, .cpu = send_cpu, WITH_KEY, .anywhere = "*"},
    {"_HostRecv" RECV, "Receives a tensor into host memory.", .flags = OP_ASYNC, .kind = KIND_RECV,
     .infer = weft__infer_none, .cpu = recv_cpu, WITH_KEY, .anywhere = "*"},
    {.scenario = "exec/executors/staged_test.c exec/passes/partition_test.c tests/parity/test_rare_ops.py"},
};
