/* gpu.h - what a GPU kernel sees: its node's tensors and attributes, and the calls that make its outputs.
 *
 * ops/nn/softmax.cu stands beside ops/nn/softmax.c and ends in
 *     GPU_OPS(softmax) = {
 *       {"Softmax", softmax_gpu, GPU_FLOATS},
 *       {0},
 *     };
 * All .cu files go into one plug-in, libweft_cuda.so.  The build gathers their tables; libweft hands the plug-in one
 * table of calls (gpu_host) and gets the tables of kernels back.  Nothing else passes between the two, so this header
 * is plain C and C++: a .cu file sees no other of ours but tensor/shape.h.
 *
 * A kernel queues its work on gpu_stream(k) and returns.  It never waits for the card, unless its row says so, and never
 * allocates but through gpu_out and gpu_scratch: a step may be recorded once and replayed.  So what changes from run to run must be in the
 * card's memory when it is read (a learning rate, a counter), and what the host reads (shapes, axes) is an argument
 * named in `host`. */
#ifndef WEFT_KERNELS_GPU_GPU_H
#define WEFT_KERNELS_GPU_GPU_H

#include "tensor/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kernel kernel; /* graph/kernel.h; only pointed at here */

typedef struct gpu_tensor {
  weft_dtype dtype;
  struct shape shape;
  int64_t count; /* elements */
  void *data;    /* in the card's memory, or the host's where the argument is named in `host` */
} gpu_tensor;

/* Copies a box of elements of `size` bytes within the card's memory, as weft__strided_copy_run does; steps are in bytes, src
 * NULL stands for zeros. */
typedef weft_err gpu_mover(kernel *k, size_t size, void *dst, const void *src, int rank, const int64_t *dim,
                           const int64_t *dst_step, const int64_t *src_step);

/* z = x + y, n elements in the card's memory; z may be x. */
typedef weft_err gpu_adder(kernel *k, weft_dtype type, void *z, const void *x, const void *y, int64_t n);

/* A window over the two spatial axes of an image, placed: height, then width. */
typedef struct gpu_window {
  bool channels_second; /* NCHW */
  int64_t size[2], stride[2], dilation[2], in[2], out[2], before[2];
} gpu_window;

/* The arguments of an optimizer's update: the variables come first. */
enum { GPU_MAX_VARS = 4, GPU_MAX_SCALARS = 8 };
typedef struct gpu_roles {
  int vars, grad, indices; /* indices -1: a dense update */
  int scalars, scalar[GPU_MAX_SCALARS];
} gpu_roles;

/* A chain of elementwise ops in one kernel (exec/passes/fuse.c).  A step takes inputs of the kernel (arg >= 0) or what earlier
 * steps left on a stack (-1; the second operand is on top), and leaves its result there; the last one's is the chain's. */
enum { GPU_CHAIN_STEPS = 14, GPU_CHAIN_IN = 6, GPU_CHAIN_DEPTH = 4 };
typedef struct gpu_step {
  uint8_t function; /* a number that gpu_chains.step gave */
  int8_t n_in, arg[2];
} gpu_step;
typedef struct gpu_chain {
  int n_step;
  bool updates; /* input 0 is a variable, which takes the result in place */
  gpu_step step[GPU_CHAIN_STEPS];
} gpu_chain;
typedef struct gpu_chains {
  int (*step)(const char *op, int n_in); /* the function that an op is; < 0: none */
  weft_err (*run)(kernel *k);            /* the kernel of a chain */
} gpu_chains;

/* ---- what the plug-in calls ---- */
typedef struct gpu_host {
  int (*n_in)(const kernel *k);
  int (*n_out)(const kernel *k);
  const char *(*op_name)(const kernel *k);
  void (*in)(const kernel *k, int i, gpu_tensor *t); /* not for variables */
  weft_dtype (*out_type)(const kernel *k, int i);
  void *(*stream)(const kernel *k); /* a cudaStream_t */
  /* Attributes: the fallback where a node has none of the name. */
  int64_t (*attr_int)(const kernel *k, const char *name, int64_t fallback);
  float (*attr_float)(const kernel *k, const char *name, float fallback);
  bool (*attr_bool)(const kernel *k, const char *name, bool fallback);
  weft_dtype (*attr_type)(const kernel *k, const char *name);
  int (*attr_ints)(const kernel *k, const char *name, int64_t *out, int room); /* how many it has, at most room */
  bool (*attr_is)(const kernel *k, const char *name, const char *text);
  const char *(*attr_text)(const kernel *k, const char *name);
  /* Outputs, as weft__out, weft__out_over and weft__forward. */
  weft_err (*out)(kernel *k, int i, const struct shape *s, gpu_tensor *t);
  weft_err (*out_over)(kernel *k, int i, int from, const struct shape *s, gpu_tensor *t);
  weft_err (*forward)(kernel *k, int i, int from, const struct shape *s);
  /* Memory on the card for this run of the kernel; nothing to free. */
  weft_err (*scratch)(kernel *k, size_t bytes, void **out);
  /* Memory on the card that stays with the node of this plan; zero at the first call. */
  weft_err (*kept)(kernel *k, size_t bytes, void **out);
  /* The seeds of a random node, as its CPU kernel would begin: Philox's key and counter. */
  weft_err (*seeds)(const kernel *k, uint32_t key[2], uint32_t counter[4]);
  /* Variables, reference and resource alike: lock the arguments that will be written, ask for each one's value to be
   * written in place (a copy where somebody still reads it), unlock when the work is queued. */
  void (*lock)(kernel *k, int n, const int *args);
  void (*unlock)(kernel *k, int n, const int *args);
  weft_err (*writable)(kernel *k, int arg, gpu_tensor *value);
  weft_err (*readable)(kernel *k, int arg, gpu_tensor *value); /* while locked; not to be written */
  void (*out_ref)(kernel *k, int i, int arg);                  /* output i is the variable of argument arg */
  /* The node's strides, padding and data format over an image of in[2]; size NULL: the node's ksize. */
  weft_err (*window)(const kernel *k, const int64_t in[2], const int64_t size[2], gpu_window *w);
  /* From now on, CPU kernels that only move elements (weft__strided_copy_run) move them on the card with this. */
  void (*use_mover)(gpu_mover *move);
  weft_err (*run_cpu)(kernel *k); /* runs the CPU's kernel of the node, which looks at no element on the card */
  /* And those that add up what is given to them one by one (the gradients of tensor arrays) do so with this. */
  void (*use_adder)(gpu_adder *add);
  /* From now on, chains of elementwise ops run as one kernel; and the chain that k runs. */
  void (*use_chains)(const gpu_chains *chains);
  const gpu_chain *(*chain)(const kernel *k);
  /* Which arguments of an optimizer's update are what. */
  weft_err (*roles)(const kernel *k, gpu_roles *r);
  /* Fails in the node's name; returns code. */
  weft_err (*fail)(const kernel *k, weft_err code, const char *message);
} gpu_host;

/* ---- what the plug-in gives ---- */
typedef struct gpu_kernel {
  const char *op;
  /* NULL: the CPU's kernel, which looks at no element on the card (Identity, Shape), or at host memory alone. */
  weft_err (*run)(kernel *k);
  uint32_t types;   /* bit t: elements of type t; for every argument on the card, inputs and outputs */
  const char *host; /* arguments by name, inputs and outputs, that are in host memory: "shape axis"; "*": all */
  bool waits; /* it waits for what it reads from the card (how many rows there will be): never part of a recording */
} gpu_kernel;

#define GPU_TYPE(t) ((uint32_t)1 << (t))
#define GPU_FLOATS (GPU_TYPE(WEFT_HALF) | GPU_TYPE(WEFT_BFLOAT16) | GPU_TYPE(WEFT_FLOAT) | GPU_TYPE(WEFT_DOUBLE))
#define GPU_INDICES (GPU_TYPE(WEFT_INT32) | GPU_TYPE(WEFT_INT64))
#define GPU_INTS                                                                                                       \
  (GPU_INDICES | GPU_TYPE(WEFT_INT8) | GPU_TYPE(WEFT_INT16) | GPU_TYPE(WEFT_UINT8) | GPU_TYPE(WEFT_UINT16) |           \
   GPU_TYPE(WEFT_UINT32) | GPU_TYPE(WEFT_UINT64))
#define GPU_REALS (GPU_FLOATS | GPU_INTS)
#define GPU_BOOL GPU_TYPE(WEFT_BOOL)
#define GPU_PLAIN (GPU_REALS | GPU_BOOL | GPU_TYPE(WEFT_COMPLEX64) | GPU_TYPE(WEFT_COMPLEX128))

/* The plug-in's door for kernels: lists, each ended by an entry without op, ended by NULL. */
#define GPU_KERNELS_SYMBOL "weft_cuda_kernels"
typedef const gpu_kernel *const *gpu_kernels_fn(const gpu_host *host);

#ifdef __cplusplus
}
#endif

#endif
