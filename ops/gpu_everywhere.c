/* gpu_everywhere.c - ops whose CPU kernel serves on every device, because it looks at no element; and who serves a node.
 *
 * They hand on, name or measure values.  What they read or write themselves (a shape, an axis, a predicate) is in host
 * memory.  Those with all arguments there run on the host, placed on the GPU as in TensorFlow. */
#include "ops/gpu_host.h"

#include "device/device.h"
#include "device/gpu.h"
#include <pthread.h>
#include <string.h>

static const gpu_kernel everywhere[] = {
    {"VariableV2", NULL, GPU_PLAIN, NULL},
    {"Variable", NULL, GPU_PLAIN, NULL},
    {"VarHandleOp", NULL, GPU_PLAIN, NULL},
    {"IsVariableInitialized", NULL, GPU_PLAIN, "is_initialized"},
    {"VarIsInitializedOp", NULL, GPU_PLAIN, "is_initialized"},
    {"Assign", NULL, GPU_PLAIN, NULL},
    {"AssignVariableOp", NULL, GPU_PLAIN, NULL},
    {"ReadVariableOp", NULL, GPU_PLAIN, NULL},
    {"DestroyResourceOp", NULL, GPU_PLAIN, NULL},
    {"VariableShape", NULL, GPU_PLAIN, "output"},
    {"Identity", NULL, GPU_PLAIN, NULL},
    {"IdentityN", NULL, GPU_PLAIN, NULL},
    {"StopGradient", NULL, GPU_PLAIN, NULL},
    {"PreventGradient", NULL, GPU_PLAIN, NULL},
    {"Snapshot", NULL, GPU_PLAIN, NULL},
    {"Reshape", NULL, GPU_PLAIN, "shape"},
    {"ExpandDims", NULL, GPU_PLAIN, "dim"},
    {"Squeeze", NULL, GPU_PLAIN, NULL},
    {"Shape", NULL, GPU_PLAIN, "output"},
    {"ShapeN", NULL, GPU_PLAIN, "output"},
    {"Size", NULL, GPU_PLAIN, "output"},
    {"Rank", NULL, GPU_PLAIN, "output"},
    {"NoOp", NULL, GPU_PLAIN, "*"},
    {"ControlTrigger", NULL, GPU_PLAIN, "*"},
    {"Const", NULL, GPU_PLAIN, "*"},
    {"Placeholder", NULL, GPU_PLAIN, "*"},
    {"PlaceholderV2", NULL, GPU_PLAIN, "*"},
    {"PlaceholderWithDefault", NULL, GPU_PLAIN, NULL},
    {"Switch", NULL, GPU_PLAIN, "pred"},
    {"RefSwitch", NULL, GPU_PLAIN, "pred"},
    {"Merge", NULL, GPU_PLAIN, "value_index"},
    {"RefMerge", NULL, GPU_PLAIN, "value_index"},
    {"Enter", NULL, GPU_PLAIN, NULL},
    {"RefEnter", NULL, GPU_PLAIN, NULL},
    {"Exit", NULL, GPU_PLAIN, NULL},
    {"RefExit", NULL, GPU_PLAIN, NULL},
    {"NextIteration", NULL, GPU_PLAIN, NULL},
    {"RefNextIteration", NULL, GPU_PLAIN, NULL},
    {"LoopCond", NULL, GPU_PLAIN, "*"},
    {"BroadcastGradientArgs", NULL, GPU_PLAIN, "*"},
    {"BroadcastArgs", NULL, GPU_PLAIN, "*"},
    {"_Send", NULL, GPU_PLAIN, "*"},
    {"_Recv", NULL, GPU_PLAIN, "*"},
    {"_HostSend", NULL, GPU_PLAIN, "*"},
    {"_HostRecv", NULL, GPU_PLAIN, "*"},
    {0},
};

/* Types that TensorFlow keeps in host memory on GPUs have no kernels there: int32 above all.  A variable of them is
 * placed on the CPU. */
static bool host_variable(const weft_node *n) {
  if (strcmp(n->op_name, "VariableV2") != 0 && strcmp(n->op_name, "Variable") != 0 &&
      strcmp(n->op_name, "VarHandleOp") != 0)
    return false;
  const weft_dtype t = weft__node_type(n, "dtype");
  return t == WEFT_INT32 || !weft__dtype_is_plain(t);
}

/* ---- simulated kernels ---- */

static weft_err simulated_run(kernel *k) {
  const gpu_api *api = weft__device_api(k->device);
  api->enter(k->stream);
  weft_err err = k->node->op->cpu(k);
  api->leave(k->stream);
  return err;
}

/* On a simulated card the CPU's kernels stand for a GPU's: of ops that compute or change variables, on numbers. */
static bool simulates(const weft_node *n) {
  static const char *const stateful[] = {"Apply", "Assign", "Scatter", "ResourceApply", "Random", "Truncated"};
  if (!n->op || !n->op->cpu || n->op->flags & (OP_CONTROL_FLOW | OP_BLOCKING | OP_ONCE)) return false;
  for (int i = 0; i < n->n_in; i++)
    if (weft__out_type(n->graph, n->in[i]) == WEFT_STRING) return false;
  bool may = !n->op->opdef.stateful;
  for (size_t i = 0; i < sizeof stateful / sizeof *stateful && !may; i++)
    may = strncmp(n->op_name, stateful[i], strlen(stateful[i])) == 0;
  return may && strstr(n->op_name, "Summary") == NULL && n->n_in > 0;
}

static const gpu_kernel simulated = {"", simulated_run, GPU_FLOATS | GPU_INDICES | GPU_BOOL, NULL};

/* ---- the finder ---- */

static const gpu_kernel *const *plugin_lists;
static void load_lists(void) {
  gpu_kernels_fn *door;
  *(void **)&door = weft__gpu_door(GPU_KERNELS_SYMBOL);
  plugin_lists = door ? door(weft__gpu_host()) : NULL;
}

const gpu_kernel *weft__gpu_kernel(const weft_node *n) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static const gpu_kernel *const own[] = {everywhere, NULL};
  pthread_once(&once, load_lists);
  if (!n->op || host_variable(n)) return NULL;
  const gpu_kernel *g = weft__gpu_find(plugin_lists, n);
  if (!g) g = weft__gpu_find(own, n);
  if (!g && weft__gpu_simulated() && simulates(n) && weft__gpu_serves(&simulated, n)) g = &simulated;
  return g;
}
