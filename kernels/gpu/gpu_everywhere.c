/* gpu_everywhere.c - chooses the kernel of a node on a GPU: the plug-in's, or the CPU's if that works on every
 * device.
 *
 * The CPU's kernel works for ops that forward values, name them or return their shapes (`anywhere` in graph/op.h).
 * The data that they read or write themselves (a shape, an axis, a predicate) is in host memory.  Ops with all
 * arguments in host memory, and ops on int32 only, run on the host although they are placed on the GPU, as in
 * TensorFlow. */
#include "kernels/gpu/gpu_host.h"

#include "device/device.h"
#include "device/gpu_api.h"
#include <pthread.h>

/* Returns true for a variable of a type that TensorFlow keeps in host memory on GPUs, above all int32.  Such types
 * have no GPU kernels, so the variable is placed on the CPU. */
static bool host_variable(const weft_node *n) {
  if (!(n->op->flags & OP_ONCE) || !weft__node_attr(n, "dtype")) return false;
  const weft_dtype t = weft__node_type(n, "dtype");
  return t == WEFT_INT32 || !weft__dtype_is_plain(t);
}

static bool is_count(weft_dtype t) { return t == WEFT_INT32 || t == WEFT_BOOL; }

/* Returns true if the node reads predicates that were computed from other types than int32 and bool, and so are in
 * GPU memory. */
static bool reads_data(const weft_node *n) {
  for (int i = 0; i < n->n_in; i++) {
    const weft_node *from = n->graph->node[n->in[i].node];
    for (int j = 0; j < from->n_in && from->out_type[n->in[i].slot] == WEFT_BOOL; j++)
      if (!is_count(weft__out_type(from->graph, from->in[j]))) return true;
  }
  return false;
}

/* Returns true if the node computes only with int32 and predicates of them, and so runs on the host.  TensorFlow
 * keeps int32 in host memory on GPUs: such values are shapes, positions and counters, which the host needs without
 * waiting.  If only arguments that are in host memory anyway are int32 (such as the axes of All), the predicates
 * decide. */
static bool gpu_everywhere_counts(const gpu_kernel *g, const weft_node *n) {
  bool any = false, data = false;
  if (!n->op->cpu || n->op->opdef.stateful || n->n_in == 0) return false;
  for (int i = 0; i < n->n_in + n->n_out; i++) {
    const bool is_in = i < n->n_in;
    const weft_dtype t = is_in ? n->graph->node[n->in[i].node]->out_type[n->in[i].slot] : n->out_type[i - n->n_in];
    if (!is_count(t)) return false;
    any = any || t == WEFT_INT32;
    data = data || (t == WEFT_INT32 && !(is_in ? weft__gpu_host_in(g, n, i) : weft__gpu_host_out(g, n, i - n->n_in)));
  }
  return any && (data || !reads_data(n));
}

/* ---- simulated kernels ---- */

static weft_err simulated_run(kernel *k) {
  const gpu_api *api = weft__device_api(k->device);
  api->kernel_begin(k->stream);
  weft_err err = k->node->op->cpu(k);
  api->kernel_end(k->stream);
  return err;
}

/* Returns true if the CPU's kernel stands for a GPU kernel on a simulated card: for ops that compute or change
 * variables, on numbers. */
static bool gpu_everywhere_simulates(const weft_node *n) {
  if (!n->op || !n->op->cpu || n->op->flags & (OP_CONTROL_FLOW | OP_ASYNC | OP_ONCE)) return false;
  for (int i = 0; i < n->n_in; i++)
    if (weft__out_type(n->graph, n->in[i]) == WEFT_STRING) return false;
  for (int i = 0; i < n->n_out; i++)
    if (n->out_type[i] == WEFT_STRING) return false;
  return n->n_in > 0 && (!n->op->opdef.stateful || n->op->flags & (OP_UPDATES | OP_SEED));
}

static const gpu_kernel simulated = {
    .op = "(simulated)", .run = simulated_run, .types = GPU_FLOATS | GPU_INDICES | GPU_BOOL};

/* ---- choosing the kernel ---- */

/* Returns true for ops that store values in objects of the step.  They must run in every step, so a cuda graph
 * cannot capture them.  They move elements. */
static bool fills_objects(const weft_node *n) { return n->op->flags & OP_STEP_OBJECT; }

static const gpu_kernel *const *plugin_lists;
static void load_lists(void) {
  gpu_kernels_fn *door;
  *(void **)&door = weft__gpu_plugin_symbol(GPU_KERNELS_SYMBOL);
  plugin_lists = door ? door(weft__gpu_host()) : NULL;
}

static gpu_kernel gpu_everywhere_find(const weft_node *n) {
  const gpu_kernel *g = weft__gpu_find(plugin_lists, n->op_name, n);
  if (g) return *g;
  gpu_kernel anywhere = {.op = n->op_name, .types = GPU_PLAIN, .host = n->op->anywhere, .waits = fills_objects(n)};
  if (anywhere.host && weft__gpu_serves(&anywhere, n)) {
    if (anywhere.waits && weft__gpu_simulated()) anywhere.run = simulated_run;
    return anywhere;
  }
  const bool simulate = weft__gpu_simulated() && gpu_everywhere_simulates(n) && weft__gpu_serves(&simulated, n);
  return simulate ? simulated : (gpu_kernel){0};
}

static void open_lists(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_lists);
}

gpu_kernel weft__gpu_kernel_as(const char *name, const weft_node *n) {
  open_lists();
  const gpu_kernel *g = weft__gpu_find(plugin_lists, name, n);
  return g ? *g : (gpu_kernel){0};
}

gpu_kernel weft__gpu_kernel(const weft_node *n) {
  open_lists();
  if (!n->op || host_variable(n)) return (gpu_kernel){0};
  const gpu_kernel g = gpu_everywhere_find(n);
  return g.op && gpu_everywhere_counts(&g, n) ? (gpu_kernel){.op = n->op_name, .host = "*"} : g;
}
