/* gpu_host.h - libweft's side of kernels/gpu/gpu.h: the functions that the CUDA plug-in calls, and what executors
 * need to know of its kernels.
 *
 * To run a GPU kernel, an executor fills in a kernel as for the CPU, with tensors in GPU memory (host arguments in
 * host memory).  It sets k->device, k->stream and k->host_out, and calls the kernel's run, or the CPU kernel if it
 * has none.  When that returns, the work is enqueued. */
#ifndef WEFT_KERNELS_GPU_GPU_HOST_H
#define WEFT_KERNELS_GPU_GPU_HOST_H

#include "graph/kernel.h"
#include "kernels/gpu/gpu.h"

/* Returns the functions that the plug-in calls; they are passed to its GPU_KERNELS_SYMBOL. */
const gpu_host *weft__gpu_host(void);

/* Returns the kernel that runs a node on GPUs: the plug-in's, or the CPU kernel if that works there
 * (kernels/gpu/gpu_everywhere.c).  Its op is NULL if there is none for this op and these types. */
gpu_kernel weft__gpu_kernel(const weft_node *node);
/* Returns the plug-in's kernel that runs a node as op `name`, which has the same arguments; its op is NULL if there is
 * none. */
gpu_kernel weft__gpu_kernel_as(const char *name, const weft_node *node);
/* Returns the bit of input i of n in a mask of the inputs that are in host memory: the first 63 have one, and the last
 * (of ConcatV2, that is the axis).  0: it has none. */
static inline uint64_t weft__gpu_host_bit(int n, int i) {
  return i < 63 ? UINT64_C(1) << i : i == n - 1 ? UINT64_C(1) << 63 : 0;
}
/* Returns true if the kernel supports the node's types.  Inputs in host memory must have a bit, or all are there; of
 * the outputs, the first 64 or all can be in host memory. */
enum { GPU_HOST_OUTPUTS = 64 };
bool weft__gpu_serves(const gpu_kernel *g, const weft_node *node);
/* Finds the kernel of a node, as op `name`, in the plug-in's lists; NULL if there is none. */
const gpu_kernel *weft__gpu_find(const gpu_kernel *const *lists, const char *name, const weft_node *node);
/* Return true if input (output) i of the node is in host memory.  Handles and strings always are. */
bool weft__gpu_host_in(const gpu_kernel *g, const weft_node *node, int i);
bool weft__gpu_host_out(const gpu_kernel *g, const weft_node *node, int i);

/* Scratch memory that a kernel allocated is in k->scratch.  Release it at once if memory is allocated in stream
 * order.  Release it after the last launch if the run was captured in a CUDA graph. */
weft_err weft__gpu_scratch(kernel *k, size_t bytes, void **out); /* allocates some; the kernel does not free it */
void weft__gpu_scratch_release(struct scratch **list);
void weft__gpu_scratch_move(struct scratch **from, struct scratch **to);

/* Returns the function that copies elements on GPUs; NULL without a plug-in and for simulated GPUs. */
gpu_mover *weft__gpu_mover(void);
/* Returns the function that adds tensors on GPUs; NULL likewise. */
gpu_adder *weft__gpu_adder(void);
/* Returns how Einsum computes on GPUs; NULL likewise. */
const gpu_products *weft__gpu_products(void);
/* Returns how chains of elementwise ops run on GPUs; NULL likewise. */
const gpu_chains *weft__gpu_chains(void);

#endif
