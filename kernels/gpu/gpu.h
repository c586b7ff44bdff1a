/* gpu.h - the interface of GPU kernels: their node's tensors and attributes, and the functions that create outputs.
 *
 * ops/nn/softmax.cu is beside ops/nn/softmax.c and ends in
 *     GPU_OPS(softmax) = {
 *       {"Softmax", softmax_gpu, GPU_FLOATS},
 *       {0},
 *     };
 * All .cu files are built into one plug-in, libweft_cuda.so.  The build collects their tables.  libweft passes one
 * table of functions (gpu_host) to the plug-in and gets the tables of kernels back.  The two have no other
 * interface, so this header is plain C and C++, and a .cu file includes no other header of ours but tensor/shape.h.
 *
 * A kernel enqueues its work on gpu_stream(k) and returns.  It never waits for the GPU, unless its row has `waits`,
 * and it allocates only through gpu_out and gpu_scratch.  The reason is that a step may be captured in a CUDA graph
 * once and launched many times without calling the kernel again.  So numbers that change from run to run (a learning
 * rate, a counter) must be read from GPU memory, and arguments that the host reads (shapes, axes) are named in
 * `host`. */
#ifndef WEFT_KERNELS_GPU_GPU_H
#define WEFT_KERNELS_GPU_GPU_H

#include "tensor/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kernel kernel; /* graph/kernel.h; opaque here */

typedef struct gpu_tensor {
  weft_dtype dtype;
  struct shape shape;
  int64_t count; /* elements */
  void *data;    /* in GPU memory; in host memory if the argument is named in `host` */
} gpu_tensor;

/* Copies an n-dimensional array of elements of `size` bytes within GPU memory, as weft__strided_copy_run does.
 * Strides are in bytes; a NULL src writes zeros. */
typedef weft_err gpu_mover(kernel *k, size_t size, void *dst, const void *src, int rank, const int64_t *dim,
                           const int64_t *dst_step, const int64_t *src_step);

/* Computes z = x + y for n elements in GPU memory; z may be x. */
typedef weft_err gpu_adder(kernel *k, weft_dtype type, void *z, const void *x, const void *y, int64_t n);

/* c[i] = a[i] b[i] for `batch` dense matrices in GPU memory, row by row: a[i] is m x k, b[i] k x n.  A flipped one is
 * stored transposed.  k is 0 for products that are zeros. */
typedef struct gpu_product {
  weft_dtype type;
  bool flip_a, flip_b;
  int64_t batch, m, n, k;
  const void *a, *b;
  void *c;
} gpu_product;
/* How Einsum computes in GPU memory what is more than a strided copy. */
typedef struct gpu_products {
  weft_err (*multiply)(kernel *k, const gpu_product *p);
  weft_err (*sum_rows)(kernel *k, weft_dtype type, const void *x, int64_t rows, int64_t n, void *sums);
} gpu_products;

/* A sliding window over the two spatial axes of an image: height, then width. */
typedef struct gpu_window {
  bool channels_second; /* NCHW */
  int64_t size[2], stride[2], dilation[2], in[2], out[2], before[2];
} gpu_window;

/* The same over the three of a volume: depth, height, width. */
typedef struct gpu_volume_window {
  bool channels_second; /* NCDHW */
  int64_t size[3], stride[3], dilation[3], in[3], out[3], before[3];
} gpu_volume_window;

/* The roles of the arguments of an optimizer's update; the variables come first. */
enum { GPU_MAX_VARS = 4, GPU_MAX_SCALARS = 8 };
typedef struct gpu_roles {
  int vars, grad, indices; /* indices -1: a dense update */
  int scalars, scalar[GPU_MAX_SCALARS];
} gpu_roles;

/* A chain of elementwise ops in one kernel (exec/passes/fuse.c).  A step reads inputs of the kernel (arg >= 0) or
 * pops results of earlier steps from a stack (-1; the second operand is on top), and pushes its result.  The result
 * of the last step is that of the chain. */
enum { GPU_CHAIN_STEPS = 14, GPU_CHAIN_IN = 6, GPU_CHAIN_DEPTH = 4 };
typedef struct gpu_step {
  uint8_t function; /* a number that gpu_chains.step returned */
  int8_t n_in, arg[3];
} gpu_step;
/* Functions of a step that work on a whole row of a group's matrix.  A sum or a mean is the same number in all
 * columns. */
enum { GPU_ROW_SUM = 240, GPU_ROW_MEAN, GPU_ROW_SOFTMAX };
typedef struct gpu_chain {
  int n_step;
  bool updates; /* input 0 is a variable, which is updated in place */
  gpu_step step[GPU_CHAIN_STEPS];
} gpu_chain;

/* A group of elementwise ops with several results in one kernel (exec/fused_groups/fused_group.c).  All its steps work
 * on a matrix of rows and columns.  A tensor is seen through a view: element (r, c) of the matrix is at the place
 * first + r * row + c * column.  So a part of a tensor, such as an output of Split or an input of ConcatV2, is read and
 * written in its place.  A view with axes of its own sees the matrix as an array of them. */
enum { GPU_GROUP_STEPS = 40, GPU_GROUP_IN = 24, GPU_GROUP_OUT = 20, GPU_VIEW_AXES = 4 };
typedef enum gpu_view_kind {
  VIEW_PLAIN, /* elements of the group's type */
  VIEW_BOOL,  /* bools, which the steps see as 0 and 1 */
  VIEW_BF16   /* of a result: floats that are rounded to bfloat16 (exec/passes/round_operands.h) */
} gpu_view_kind;
typedef struct gpu_view {
  int tensor; /* number of the input or output of the kernel; of a result: -1 - input, if that variable is written */
  int64_t first, row, column; /* a result whose column is 0 is written once for each row */
  gpu_view_kind kind;
  int rank; /* > 0: row and column are not used; element i of the matrix is at first + the sum of index * step */
  int64_t dim[GPU_VIEW_AXES], step[GPU_VIEW_AXES]; /* outermost first */
} gpu_view;
typedef struct gpu_group {
  weft_dtype type;
  int64_t rows, columns;
  bool by_rows; /* it has steps that work on whole rows, or writes one number per row */
  int n_step, n_in, n_out, n_tensor;
  gpu_step step[GPU_GROUP_STEPS]; /* arg >= 0: an input view; < 0: the result of step -1 - arg */
  gpu_view in[GPU_GROUP_IN], out[GPU_GROUP_OUT];
  int8_t result[GPU_GROUP_OUT];       /* per output view: what is written there, as an arg of a step */
  struct shape tensor[GPU_GROUP_OUT]; /* per output of the kernel */
} gpu_group;

typedef struct gpu_chains {
  int (*step)(const char *op, int n_in); /* returns the number of an op's function; < 0: none */
  weft_err (*run)(kernel *k);            /* runs a chain */
  weft_err (*run_group)(kernel *k);
  int64_t (*most_elements)(void); /* returns the number of elements up to which groups are faster than chains */
  bool (*rounds)(void);           /* returns true if products of floats round their operands to bfloat16 first */
  weft_err (*round)(kernel *k);   /* output 0 = input 0, rounded */
} gpu_chains;

/* ---- functions that the plug-in calls ---- */
typedef struct gpu_host {
  int (*n_in)(const kernel *k);
  int (*n_out)(const kernel *k);
  const char *(*op_name)(const kernel *k);
  void (*in)(const kernel *k, int i, gpu_tensor *t); /* not for variables */
  weft_dtype (*out_type)(const kernel *k, int i);
  void *(*stream)(const kernel *k); /* a cudaStream_t */
  /* Attributes.  If the node has none of that name, the fallback is returned. */
  int64_t (*attr_int)(const kernel *k, const char *name, int64_t fallback);
  float (*attr_float)(const kernel *k, const char *name, float fallback);
  bool (*attr_bool)(const kernel *k, const char *name, bool fallback);
  weft_dtype (*attr_type)(const kernel *k, const char *name);
  /* returns how many there are, at most room */
  int (*attr_ints)(const kernel *k, const char *name, int64_t *out, int room);
  bool (*attr_is)(const kernel *k, const char *name, const char *text);
  const char *(*attr_text)(const kernel *k, const char *name);
  /* Outputs, as weft__out, weft__out_over and weft__forward. */
  weft_err (*out)(kernel *k, int i, const struct shape *s, gpu_tensor *t);
  weft_err (*out_over)(kernel *k, int i, int from, const struct shape *s, gpu_tensor *t);
  weft_err (*forward)(kernel *k, int i, int from, const struct shape *s);
  /* Stores GPU memory that is valid for this run of the kernel.  The kernel does not free it. */
  weft_err (*scratch)(kernel *k, size_t bytes, void **out);
  /* Stores GPU memory that belongs to the node and lives as long as the session.  It is zero at the first call. */
  weft_err (*kept)(kernel *k, size_t bytes, void **out);
  /* Stores the key and the counter of Philox with which the CPU kernel of a random node would start. */
  weft_err (*seeds)(const kernel *k, uint32_t key[2], uint32_t counter[4]);
  /* Variables, as references or as resources.  Lock the arguments that will be written, get a writable value of each
   * (a copy if something still reads the old one), and unlock when the work is enqueued. */
  void (*lock)(kernel *k, int n, const int *args);
  void (*unlock)(kernel *k, int n, const int *args);
  weft_err (*writable)(kernel *k, int arg, gpu_tensor *value);
  weft_err (*readable)(kernel *k, int arg, gpu_tensor *value); /* only while locked; must not be written */
  void (*out_ref)(kernel *k, int i, int arg);                  /* output i is the variable of argument arg */
  /* Computes the window from the node's strides, padding and data format over an image of in[2]; size NULL: the
   * node's ksize. */
  weft_err (*window)(const kernel *k, const int64_t in[2], const int64_t size[2], gpu_window *w);
  /* The same for a volume of shape `in`, which must have five axes.  filter NULL: the node pools, and has a ksize. */
  weft_err (*volume)(const kernel *k, const struct shape *in, const struct shape *filter, gpu_volume_window *w);
  /* Sets the function with which CPU kernels that only copy elements (weft__strided_copy_run) copy them on the GPU. */
  void (*use_mover)(gpu_mover *move);
  weft_err (*run_cpu)(kernel *k); /* runs the CPU kernel of the node, which reads no element in GPU memory */
  /* Sets the function with which CPU kernels add tensors on the GPU (the gradients of tensor arrays). */
  void (*use_adder)(gpu_adder *add);
  void (*use_products)(const gpu_products *products); /* sets how Einsum multiplies and sums on the GPU */
  /* Sets how chains of elementwise ops run on the GPU; and returns the chain that k runs. */
  void (*use_chains)(const gpu_chains *chains);
  const gpu_chain *(*chain)(const kernel *k);
  const gpu_group *(*group)(const kernel *k); /* likewise */
  /* Stores the roles of the arguments of an optimizer's update. */
  weft_err (*roles)(const kernel *k, gpu_roles *r);
  /* Sets an error that names the node, and returns code. */
  weft_err (*fail)(const kernel *k, weft_err code, const char *message);
} gpu_host;

/* ---- tables that the plug-in returns ---- */
typedef struct gpu_kernel {
  const char *op;
  /* NULL: the CPU kernel is used.  It reads no element in GPU memory (Identity, Shape), or only host memory. */
  weft_err (*run)(kernel *k);
  uint32_t types;   /* bit t: type t is supported; for every argument in GPU memory, inputs and outputs */
  const char *host; /* names of the inputs and outputs that are in host memory: "shape axis"; "*": all */
  /* it waits for values that it reads from the GPU (such as a number of rows), so it is never captured in a CUDA
   * graph */
  bool waits;
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

/* The plug-in's entry point for kernels.  It returns lists, ended by NULL; an entry without op ends a list. */
#define GPU_KERNELS_SYMBOL "weft_cuda_kernels"
typedef const gpu_kernel *const *gpu_kernels_fn(const gpu_host *host);

#ifdef __cplusplus
}
#endif

#endif
