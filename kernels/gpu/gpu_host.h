/* gpu_host.h - libweft's side of kernels/gpu/gpu.h: the calls the CUDA plug-in gets, and what an executor asks of its kernels.
 *
 * To run one: fill in a kernel as for the CPU, with tensors in the device's memory (host arguments in the host's), set
 * k->device, k->stream and k->host_out, and call its run, or the CPU's where it has none.  The work is queued when it
 * returns. */
#ifndef WEFT_KERNELS_GPU_GPU_HOST_H
#define WEFT_KERNELS_GPU_GPU_HOST_H

#include "graph/kernel.h"
#include "kernels/gpu/gpu.h"

/* What the plug-in calls; handed to its GPU_KERNELS_SYMBOL. */
const gpu_host *weft__gpu_host(void);

/* The kernel that serves a node on GPUs: the plug-in's, or the CPU's where it will do (kernels/gpu/gpu_everywhere.c); op NULL: none
 * for this op, or not for these types. */
gpu_kernel weft__gpu_kernel(const weft_node *node);
/* Does its row allow the node's types?  Of its arguments the first 64 can be in host memory, or all. */
enum { GPU_HOST_ARGS = 64 };
bool weft__gpu_serves(const gpu_kernel *g, const weft_node *node);
/* The kernel of a node in lists. */
const gpu_kernel *weft__gpu_find(const gpu_kernel *const *lists, const weft_node *node);
/* Is the node's input (output) i in host memory?  Handles and strings always are. */
bool weft__gpu_host_in(const gpu_kernel *g, const weft_node *node, int i);
bool weft__gpu_host_out(const gpu_kernel *g, const weft_node *node, int i);

/* What a kernel took as scratch is in k->scratch: release it at once where memory is given out in the order of the
 * stream, or after the last replay where the run was recorded. */
void weft__gpu_scratch_release(struct scratch **list);
void weft__gpu_scratch_move(struct scratch **from, struct scratch **to);

/* How elements are moved on cards; NULL where no plug-in was loaded, or a simulated one. */
gpu_mover *weft__gpu_mover(void);
/* How tensors are added up on cards; NULL likewise. */
gpu_adder *weft__gpu_adder(void);
/* How chains of elementwise ops run on cards; NULL likewise. */
const gpu_chains *weft__gpu_chains(void);

#endif
