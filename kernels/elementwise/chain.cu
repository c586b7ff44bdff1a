/* chain.cu - a chain or a group of elementwise ops as one kernel that interprets its steps.
 *
 * All threads execute the same steps, so a step costs one jump for four elements of 32 threads.  That is little
 * compared with memory, which is read and written once, not once per op.  The stack is four registers deep; it is
 * shifted, not indexed, so it stays in registers.  A chain that updates a variable reads and writes it in place.  Large
 * tensors get a kernel that is compiled for the steps (formula.cuh), where that is possible. */
#include "kernels/elementwise/formula.cuh"
#include "kernels/elementwise/functions.cuh"
#include "kernels/gemm/gemm.cuh"
#include <string.h>

#define UNARY_STEPS(X)                                                                                                 \
  X("Neg", neg)                                                                                                        \
  X("Square", square)                                                                                                  \
  X("Abs", absolute)                                                                                                   \
  X("Sqrt", square_root)                                                                                               \
  X("Rsqrt", inverse_root)                                                                                             \
  X("Reciprocal", reciprocal)                                                                                          \
  X("Exp", exponential)                                                                                                \
  X("Log", logarithm)                                                                                                  \
  X("Log1p", logarithm_plus_1)                                                                                         \
  X("Sigmoid", sigmoid)                                                                                                \
  X("Tanh", hyperbolic_tangent)                                                                                        \
  X("Erf", error_function)                                                                                             \
  X("Relu", relu)                                                                                                      \
  X("Relu6", relu6)                                                                                                    \
  X("Elu", elu)                                                                                                        \
  X("Softplus", softplus)
#define BINARY_STEPS(X)                                                                                                \
  X("Add", add)                                                                                                        \
  X("Sub", sub)                                                                                                        \
  X("Mul", mul)                                                                                                        \
  X("RealDiv", quotient)                                                                                               \
  X("DivNoNan", div_no_nan)                                                                                            \
  X("SquaredDifference", squared_difference)                                                                           \
  X("Maximum", maximum)                                                                                                \
  X("Minimum", minimum)                                                                                                \
  X("Pow", power)                                                                                                      \
  X("TanhGrad", tanh_grad)                                                                                             \
  X("SigmoidGrad", sigmoid_grad)                                                                                       \
  X("SqrtGrad", sqrt_grad)                                                                                             \
  X("RsqrtGrad", rsqrt_grad)                                                                                           \
  X("ReluGrad", relu_grad)                                                                                             \
  X("Relu6Grad", relu6_grad)                                                                                           \
  X("EluGrad", elu_grad)                                                                                               \
  X("SoftplusGrad", softplus_grad)                                                                                     \
  X("Less", is_less)                                                                                                   \
  X("LessEqual", is_less_equal)                                                                                        \
  X("Greater", is_greater)                                                                                             \
  X("GreaterEqual", is_greater_equal)

#define NAME(op, f) op,
#define NUMBER(op, f) step_##f,
enum { UNARY_STEPS(NUMBER) N_UNARY };
enum { BINARY_STEPS(NUMBER) N_BINARY };
static const char *const unary_ops[] = {UNARY_STEPS(NAME)};
static const char *const binary_ops[] = {BINARY_STEPS(NAME)};
#define FUNCTION(op, f) #f,
static const char *const unary_functions[] = {UNARY_STEPS(FUNCTION)};
static const char *const binary_functions[] = {BINARY_STEPS(FUNCTION)};
static const char *function_of(const gpu_step &s) {
  return s.n_in == 3 ? "choose" : s.n_in == 2 ? binary_functions[s.function] : unary_functions[s.function];
}

template <class A> using four = A[EACH_PACK];

template <class A, int N> __device__ __forceinline__ void apply_unary(int function, A (&x)[N]) {
#define CASE(op, f)                                                                                                    \
  case step_##f: _Pragma("unroll") for (int j = 0; j < N; j++) x[j] = f()(x[j]); break;
  switch (function) { UNARY_STEPS(CASE) }
#undef CASE
}

template <class A, int N> __device__ __forceinline__ void apply_binary(int function, A (&x)[N], const A (&y)[N]) {
#define CASE(op, f)                                                                                                    \
  case step_##f: _Pragma("unroll") for (int j = 0; j < N; j++) x[j] = f()(x[j], y[j]); break;
  switch (function) { BINARY_STEPS(CASE) }
#undef CASE
}

template <class A> struct stack {
  four<A> at[GPU_CHAIN_DEPTH];
  __device__ __forceinline__ void push(const four<A> &v) {
#pragma unroll
    for (int d = GPU_CHAIN_DEPTH - 1; d >= 0; d--)
#pragma unroll
      for (int j = 0; j < EACH_PACK; j++) at[d][j] = d ? at[d - 1][j] : v[j];
  }
  __device__ __forceinline__ void pop(four<A> &v) {
#pragma unroll
    for (int d = 0; d < GPU_CHAIN_DEPTH; d++)
#pragma unroll
      for (int j = 0; j < EACH_PACK; j++) {
        if (d == 0) v[j] = at[0][j];
        if (d + 1 < GPU_CHAIN_DEPTH) at[d][j] = at[d + 1][j];
      }
  }
};

template <class A>
__global__ void __launch_bounds__(GPU_THREADS)
    chain_kernel(const __grid_constant__ gpu_chain c, const __grid_constant__ each_args a) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x * EACH_PACK;
  for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * EACH_PACK; i < a.n; i += step) {
    const int left = a.n - i < EACH_PACK ? (int)(a.n - i) : EACH_PACK;
    stack<A> s = {};
    four<A> x = {}, y;
    for (int t = 0; t < c.n_step; t++) {
      const gpu_step &now = c.step[t];
      if (now.n_in == 2) { /* the second operand is on top */
        if (now.arg[1] < 0)
          s.pop(y);
        else
          load(a, now.arg[1], i, left, y);
      }
      if (now.arg[0] < 0)
        s.pop(x);
      else
        load(a, now.arg[0], i, left, x);
      if (now.n_in == 2)
        apply_binary(now.function, x, y);
      else
        apply_unary(now.function, x);
      s.push(x);
    }
    store(a, i, left, x);
  }
}

/* Describes operand o of a chain for a compiled kernel.  Returns false if it is not walked by packs. */
static bool chain_view_of(const each_args &a, int o, formula_view *v) {
  const each_in &x = a.in[o];
  *v = formula_view{(void *)x.at};
  if (x.how == EACH_ROW) v->rank = 1, v->dim[0] = a.n, v->step[0] = 1;
  if (x.how == EACH_REPEAT) {
    v->rank = 2;
    v->dim[0] = a.n / x.period.d, v->dim[1] = x.period.d, v->step[1] = 1;
  }
  if (x.how == EACH_HOLD || x.how == EACH_TILE) {
    v->rank = a.axes.rank;
    for (int d = 0; d < v->rank; d++) v->dim[d] = a.axes.dim[d].d, v->step[d] = a.axes.step[o][d];
  }
  return x.how != EACH_LOOSE && x.how != EACH_WALK;
}

/* Replaces a chain's stack by names of steps. */
static void name_steps(const gpu_chain &c, formula *f) {
  int stack[GPU_CHAIN_STEPS], depth = 0;
  f->n_step = c.n_step;
  for (int s = 0; s < c.n_step; s++) {
    gpu_step &to = f->step[s] = c.step[s];
    for (int i = to.n_in - 1; i >= 0; i--)
      if (to.arg[i] < 0) to.arg[i] = (int8_t)stack[--depth];
    f->function[s] = function_of(to);
    stack[depth++] = -1 - s;
  }
  f->result[0] = (int8_t)-c.n_step;
}

/* Runs a chain with a kernel of its own; *done is false if it has none. */
static weft_err chain_compiled(kernel *k, const gpu_chain &c, const each_args &a, bool *done) {
  formula f = {};
  *done = false;
  f.type = a.z_type, f.n = a.n, f.n_in = gpu_n_in(k), f.n_out = 1;
  if (f.n < FORMULA_LEAST || a.z_how != EACH_ROW) return WEFT_OK;
  for (int i = 0; i < f.n_in; i++)
    if (a.in[i].type != f.type || !chain_view_of(a, i, &f.in[i])) return WEFT_OK;
  f.out[0] = formula_view{a.z, 1, {a.n}, {1}};
  name_steps(c, &f);
  return gpu_formula_run(k, f, done);
}

static weft_err chain_launch(kernel *k, const gpu_chain &c, const gpu_tensor &z, const gpu_tensor *in) {
  each_args a;
  if (z.count == 0) return WEFT_OK;
  WEFT_TRY(gpu_each_args(k, z, gpu_n_in(k), in, &a));
  bool done;
  WEFT_TRY(chain_compiled(k, c, a, &done));
  if (done) return WEFT_OK;
  return gpu_wide_floats(k, z.dtype, [&](auto t) {
    chain_kernel<decltype(t)><<<gpu_blocks(z.count, EACH_PACK), GPU_THREADS, 0, gpu_stream(k)>>>(c, a);
    return gpu_launched(k);
  });
}

/* The caller holds the variable's lock. */
static weft_err chain_update(kernel *k, const gpu_chain &c) {
  gpu_tensor in[GPU_CHAIN_IN];
  shape s;
  WEFT_TRY(weft__gpu->writable(k, 0, &in[0]));
  for (int i = 1; i < gpu_n_in(k); i++) in[i] = gpu_in(k, i);
  WEFT_TRY(gpu_broadcast(k, gpu_n_in(k), in, &s));
  if (!gpu_same_shape(s, in[0].shape))
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "the variable and its update do not have the same shape");
  return chain_launch(k, c, in[0], in);
}

static weft_err chain_gpu(kernel *k) {
  const gpu_chain &c = *weft__gpu->chain(k);
  gpu_tensor in[GPU_CHAIN_IN], z;
  if (!c.updates) {
    WEFT_TRY(gpu_each_out(k, gpu_n_in(k), in, &z));
    return chain_launch(k, c, z, in);
  }
  const int variable = 0;
  weft__gpu->lock(k, 1, &variable);
  const weft_err err = chain_update(k, c);
  weft__gpu->unlock(k, 1, &variable);
  if (err == WEFT_OK && weft__gpu->n_out(k)) weft__gpu->out_ref(k, 0, 0);
  return err;
}

/* ---- groups ---- */

enum { GROUP_THREADS = 64 };
struct group_view {
  void *at;
  uint32_t row, column; /* strides */
  gpu_view_kind kind;
};
struct group_args {
  uint32_t n;
  divisor columns;
  int n_step, n_in, n_out;
  gpu_step step[GPU_GROUP_STEPS + 1]; /* and one that is loaded, but not run */
  group_view in[GPU_GROUP_IN], out[GPU_GROUP_OUT];
  int8_t result[GPU_GROUP_OUT];
};

/* Returns where a thread keeps an operand: the inputs come first, then the results of the steps. */
__device__ __forceinline__ int group_place(int arg) { return arg < 0 ? GPU_GROUP_IN - 1 - arg : arg; }

/* A thread computes one element of each result.  It requests all inputs before it waits for one, and keeps them and the
 * results of the steps in its own column of shared memory, because registers cannot be indexed. */
template <class S, class A>
__global__ void __launch_bounds__(GROUP_THREADS) group_kernel(const __grid_constant__ group_args b) {
  __shared__ A kept[GPU_GROUP_IN + GPU_GROUP_STEPS][GROUP_THREADS];
  const uint32_t i = blockIdx.x * GROUP_THREADS + threadIdx.x;
  if (i >= b.n) return;
  const uint32_t row = divided(i, b.columns), column = i - row * b.columns.d;
  A given[GPU_GROUP_IN];
#pragma unroll
  for (int v = 0; v < GPU_GROUP_IN; v++)
    if (v < b.n_in) {
      const uint32_t at = row * b.in[v].row + column * b.in[v].column;
      given[v] = b.in[v].kind == VIEW_BOOL ? (A)((const bool *)b.in[v].at)[at] : (A)((const S *)b.in[v].at)[at];
    }
#pragma unroll
  for (int v = 0; v < GPU_GROUP_IN; v++)
    if (v < b.n_in) kept[v][threadIdx.x] = given[v];
  gpu_step next = b.step[0];
  for (int t = 0; t < b.n_step; t++) {
    const gpu_step now = next;
    next = b.step[t + 1]; /* loaded while this step runs */
    A x[1] = {kept[group_place(now.arg[0])][threadIdx.x]};
    if (now.n_in == 3) {
      const A yes = kept[group_place(now.arg[1])][threadIdx.x], no = kept[group_place(now.arg[2])][threadIdx.x];
      x[0] = x[0] != 0 ? yes : no;
    } else if (now.n_in == 2) {
      const A y[1] = {kept[group_place(now.arg[1])][threadIdx.x]};
      apply_binary(now.function, x, y);
    } else
      apply_unary(now.function, x);
    kept[GPU_GROUP_IN + t][threadIdx.x] = (A)(S)x[0];
  }
  for (int v = 0; v < b.n_out; v++) {
    const uint32_t at = row * b.out[v].row + column * b.out[v].column;
    const A z = kept[group_place(b.result[v])][threadIdx.x];
    if (b.out[v].kind == VIEW_BOOL)
      ((bool *)b.out[v].at)[at] = z != 0;
    else if (b.out[v].kind == VIEW_BF16)
      ((bf16 *)b.out[v].at)[at] = (bf16)(float)z;
    else
      ((S *)b.out[v].at)[at] = (S)z;
  }
}

/* ---- groups with steps that work on whole rows, if their kernels cannot be compiled ---- */

struct row_view {
  void *at;
  uint32_t row, column;
  gpu_view_kind kind;
  int rank;
  uint32_t dim[GPU_VIEW_AXES], step[GPU_VIEW_AXES];
};
struct row_args {
  int64_t rows, columns;
  int n_step, n_out;
  gpu_step step[GPU_GROUP_STEPS];
  row_view in[GPU_GROUP_IN], out[GPU_GROUP_OUT];
  int8_t result[GPU_GROUP_OUT];
};

__device__ __forceinline__ int64_t row_offset(const row_args &b, const row_view &v, int64_t row, int64_t column) {
  if (v.rank == 0) return row * v.row + column * v.column;
  int64_t i = row * b.columns + column, at = 0;
  for (int d = v.rank - 1; d >= 0; i /= v.dim[d], d--) at += i % v.dim[d] * v.step[d];
  return at;
}

template <class S, class A>
__device__ A row_operand(const row_args &b, const A *kept, int arg, int64_t row, int64_t column) {
  if (arg < 0) return kept[(-1 - arg) * b.columns + column];
  const row_view &v = b.in[arg];
  const int64_t at = row_offset(b, v, row, column);
  return v.kind == VIEW_BOOL ? (A)((const bool *)v.at)[at] : (A)((const S *)v.at)[at];
}

/* Combines a number of each thread; all get the result. */
template <class A, class F> __device__ A block_combine(A a, A *part, F f) {
  for (int by = 16; by > 0; by /= 2) a = f(a, __shfl_xor_sync(~0u, a, by));
  __syncthreads(); /* the results before this one have been read */
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = a;
  __syncthreads();
  a = part[0];
  for (int i = 1; i < GPU_THREADS / 32; i++) a = f(a, part[i]);
  return a;
}

template <class S, class A> __device__ void run_row_step(const row_args &b, A *kept, int t, int64_t row) {
  __shared__ A part[GPU_THREADS / 32];
  const gpu_step &now = b.step[t];
  const bool softmax = now.function == GPU_ROW_SOFTMAX;
  const auto sum_of = [](A x, A y) { return x + y; };
  A most = -(A)INFINITY, sum = 0;
  for (int64_t c = threadIdx.x; c < b.columns && softmax; c += GPU_THREADS)
    most = maximum()(most, row_operand<S>(b, kept, now.arg[0], row, c));
  if (softmax) most = block_combine(most, part, [](A x, A y) { return maximum()(x, y); });
  for (int64_t c = threadIdx.x; c < b.columns; c += GPU_THREADS) {
    const A x = row_operand<S>(b, kept, now.arg[0], row, c);
    sum += softmax ? exp(x - most) : x;
  }
  sum = block_combine(sum, part, sum_of);
  if (now.function == GPU_ROW_MEAN) sum /= (A)b.columns;
  for (int64_t c = threadIdx.x; c < b.columns; c += GPU_THREADS)
    kept[t * b.columns + c] = softmax ? exp(row_operand<S>(b, kept, now.arg[0], row, c) - most) * (1 / sum) : sum;
}

/* A block computes row after row and keeps the results of the steps in its part of `kept`.  A thread has the same
 * columns in every step, so it waits for others only in steps that work on the whole row. */
template <class S, class A>
__global__ void __launch_bounds__(GPU_THREADS) row_kernel(const __grid_constant__ row_args b, A *kept) {
  kept += blockIdx.x * b.n_step * b.columns;
  for (int64_t row = blockIdx.x; row < b.rows; row += gridDim.x) {
    for (int t = 0; t < b.n_step; t++) {
      const gpu_step now = b.step[t];
      if (gpu_is_row_step(now)) {
        run_row_step<S>(b, kept, t, row);
        continue;
      }
      for (int64_t c = threadIdx.x; c < b.columns; c += GPU_THREADS) {
        A x[1] = {row_operand<S>(b, kept, now.arg[0], row, c)}, y[1] = {0};
        if (now.n_in > 1) y[0] = row_operand<S>(b, kept, now.arg[1], row, c);
        if (now.n_in == 3)
          x[0] = x[0] != 0 ? y[0] : row_operand<S>(b, kept, now.arg[2], row, c);
        else if (now.n_in == 2)
          apply_binary(now.function, x, y);
        else
          apply_unary(now.function, x);
        kept[t * b.columns + c] = (A)(S)x[0];
      }
    }
    for (int v = 0; v < b.n_out; v++)
      for (int64_t c = threadIdx.x; c < b.columns; c += GPU_THREADS) {
        const A z = row_operand<S>(b, kept, b.result[v], row, c);
        const int64_t at = row_offset(b, b.out[v], row, c);
        if (b.out[v].rank == 0 && b.out[v].column == 0 && c > 0) continue; /* one number per row */
        if (b.out[v].kind == VIEW_BOOL)
          ((bool *)b.out[v].at)[at] = z != 0;
        else if (b.out[v].kind == VIEW_BF16)
          ((bf16 *)b.out[v].at)[at] = (bf16)(float)z;
        else
          ((S *)b.out[v].at)[at] = (S)z;
      }
  }
}

static void *first_of(const gpu_view &v, size_t size, const gpu_tensor &t) {
  return (char *)t.data + (size_t)v.first * gpu_view_size(v.kind, size);
}

template <class S> static group_view group_view_of(const gpu_view &v, const gpu_tensor &t) {
  return {first_of(v, sizeof(S), t), (uint32_t)v.row, (uint32_t)v.column, v.kind};
}

struct group_tensors {
  gpu_tensor in[GPU_GROUP_IN], out[GPU_GROUP_OUT];
  /* Returns where a result is written: an output, or a variable that is an input. */
  const gpu_tensor &of(const gpu_view &v) const { return v.tensor < 0 ? in[-1 - v.tensor] : out[v.tensor]; }
};

template <class S> static weft_err group_launch(kernel *k, const gpu_group &g, const group_tensors &t) {
  group_args b = {};
  b.n = (uint32_t)(g.rows * g.columns);
  b.columns = divisor_of(g.columns);
  b.n_step = g.n_step, b.n_in = g.n_in, b.n_out = g.n_out;
  for (int i = 0; i < g.n_step; i++) b.step[i] = g.step[i];
  for (int i = 0; i < g.n_in; i++) b.in[i] = group_view_of<S>(g.in[i], t.in[g.in[i].tensor]);
  for (int i = 0; i < g.n_out; i++) {
    b.out[i] = group_view_of<S>(g.out[i], t.of(g.out[i]));
    b.result[i] = g.result[i];
  }
  const unsigned blocks = (b.n + GROUP_THREADS - 1) / GROUP_THREADS;
  group_kernel<S, wide<S>><<<blocks, GROUP_THREADS, 0, gpu_stream(k)>>>(b);
  return gpu_launched(k);
}

static row_view row_view_of(const gpu_view &v, size_t size, const gpu_tensor &t) {
  row_view r = {first_of(v, size, t), (uint32_t)v.row, (uint32_t)v.column, v.kind, v.rank};
  for (int d = 0; d < v.rank; d++) r.dim[d] = (uint32_t)v.dim[d], r.step[d] = (uint32_t)v.step[d];
  return r;
}

template <class S> static weft_err row_launch(kernel *k, const gpu_group &g, const group_tensors &t) {
  using A = wide<S>;
  enum { MOST_BLOCKS = 256 };
  row_args b = {};
  b.rows = g.rows, b.columns = g.columns;
  b.n_step = g.n_step, b.n_out = g.n_out;
  for (int i = 0; i < g.n_step; i++) b.step[i] = g.step[i];
  for (int i = 0; i < g.n_in; i++) b.in[i] = row_view_of(g.in[i], sizeof(S), t.in[g.in[i].tensor]);
  for (int i = 0; i < g.n_out; i++) {
    b.out[i] = row_view_of(g.out[i], sizeof(S), t.of(g.out[i]));
    b.result[i] = g.result[i];
  }
  const unsigned blocks = (unsigned)(g.rows < MOST_BLOCKS ? g.rows : MOST_BLOCKS);
  A *kept = nullptr;
  WEFT_TRY(gpu_scratch(k, (int64_t)blocks * g.n_step * g.columns, &kept));
  row_kernel<S, A><<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>(b, kept);
  return gpu_launched(k);
}

/* Returns true if views of the group cannot be described by rows and columns. */
static bool has_axes(const gpu_group &g) {
  bool has = false;
  for (int i = 0; i < g.n_in; i++) has = has || g.in[i].rank > 0;
  for (int i = 0; i < g.n_out; i++) has = has || g.out[i].rank > 0;
  return has;
}

static formula_view formula_view_of(const gpu_group &g, const gpu_view &v, const gpu_tensor &t) {
  formula_view f = {first_of(v, gpu_size(g.type), t), 2, {g.rows, g.columns}, {v.row, v.column}, v.kind};
  if (v.rank > 0) {
    f.rank = v.rank;
    for (int d = 0; d < v.rank; d++) f.dim[d] = v.dim[d], f.step[d] = v.step[d];
    return f;
  }
  if (v.row == 0 && v.column == 0) f.rank = 0;
  if (v.row == g.columns && v.column == 1) f.rank = 1, f.dim[0] = g.rows * g.columns, f.step[0] = 1;
  return f;
}

/* Runs a group with a kernel of its own; *done is false if it has none. */
static weft_err group_compiled(kernel *k, const gpu_group &g, const group_tensors &t, bool *done) {
  formula f = {};
  *done = false;
  f.type = g.type, f.rounds = true, f.n = g.rows * g.columns, f.row = g.by_rows ? g.columns : 0;
  if (f.n < FORMULA_LEAST && g.n_step < FORMULA_STEPS) return WEFT_OK;
  f.n_in = g.n_in, f.n_step = g.n_step, f.n_out = g.n_out;
  for (int i = 0; i < g.n_in; i++) f.in[i] = formula_view_of(g, g.in[i], t.in[g.in[i].tensor]);
  for (int s = 0; s < g.n_step; s++)
    f.step[s] = g.step[s], f.function[s] = gpu_is_row_step(g.step[s]) ? nullptr : function_of(g.step[s]);
  for (int i = 0; i < g.n_out; i++) f.out[i] = formula_view_of(g, g.out[i], t.of(g.out[i])), f.result[i] = g.result[i];
  return gpu_formula_run(k, f, done);
}

/* Lists the inputs that are variables which the group writes. */
static int written_inputs(const gpu_group &g, int *args) {
  int n = 0;
  for (int i = 0; i < g.n_out; i++)
    if (g.out[i].tensor < 0) args[n++] = -1 - g.out[i].tensor;
  return n;
}

/* The caller holds the locks of the variables that are written. */
static weft_err group_locked(kernel *k, const gpu_group &g, int n_written, const int *written) {
  group_tensors t;
  bool done;
  for (int i = 0; i < gpu_n_in(k); i++) {
    bool writes = false;
    for (int w = 0; w < n_written; w++) writes = writes || written[w] == i;
    if (writes)
      WEFT_TRY(weft__gpu->writable(k, i, &t.in[i]));
    else
      t.in[i] = gpu_in(k, i);
    if (writes && t.in[i].count != g.rows * g.columns)
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "a variable does not have the shape of its new value");
  }
  for (int i = 0; i < g.n_tensor; i++) WEFT_TRY(gpu_out(k, i, g.tensor[i], &t.out[i]));
  WEFT_TRY(group_compiled(k, g, t, &done));
  if (done) return WEFT_OK;
  if (g.by_rows || has_axes(g)) return gpu_floats(k, g.type, [&](auto s) { return row_launch<decltype(s)>(k, g, t); });
  return gpu_floats(k, g.type, [&](auto s) { return group_launch<decltype(s)>(k, g, t); });
}

static weft_err group_gpu(kernel *k) {
  const gpu_group &g = *weft__gpu->group(k);
  int written[GPU_GROUP_OUT];
  const int n = written_inputs(g, written);
  if (n) weft__gpu->lock(k, n, written);
  const weft_err err = group_locked(k, g, n, written);
  if (n) weft__gpu->unlock(k, n, written);
  return err;
}

/* Maps ops with several names to one name. */
static const char *plain_name(const char *op) {
  static const char *const same[][2] = {
      {"AddV2", "Add"}, {"BiasAdd", "Add"}, {"AddN", "Add"}, {"Inv", "Reciprocal"}, {"Select", "SelectV2"}};
  for (const auto &row : same)
    if (strcmp(op, row[0]) == 0) return row[1];
  return op;
}

static int step_of(const char *op, int n_in) {
  const char *const *const list = n_in == 2 ? binary_ops : unary_ops;
  op = plain_name(op);
  if (n_in == 3) return strcmp(op, "SelectV2") == 0 ? 0 : -1;
  for (int i = 0; i < (n_in == 2 ? (int)N_BINARY : (int)N_UNARY); i++)
    if (strcmp(list[i], op) == 0) return i;
  return -1;
}

/* Interpreting a group of a large tensor takes longer than its chains. */
static int64_t most_elements() { return gpu_formula_compiles() ? INT32_MAX : FORMULA_LEAST; }

const gpu_chains *weft__gpu_chains() {
  static const gpu_chains chains = {step_of,       chain_gpu,           group_gpu,
                                    most_elements, gpu_rounds_operands, gpu_round_operand};
  return &chains;
}
