/* apply.cu - optimizer updates on the GPU: one kernel launch updates a variable and its slots, densely or by rows.
 *
 * An optimizer is a function object on the values of one element: v holds the variable and its slots, g the
 * gradient, and h the scalar arguments, which are read on the GPU (a decayed learning rate is computed there).  In a
 * sparse update, one warp applies all updates of one row, repeated indices in input order, so the results equal the
 * CPU's.  If there are many indices, a hash table says which is the first of its row and how often the row occurs. */
#include "kernels/reduce/reduce.cuh"

struct row_table { /* of indices; place NULL: there is none */
  int32_t *holder; /* per slot: the position of an index with the slot's row, or -1 */
  int32_t *first;  /* per slot: the first position of its row */
  int32_t *count;  /* per slot: how many indices have its row */
  int32_t *place;  /* per index: its slot */
  uint32_t mask;
};

struct apply_args {
  void *var[GPU_MAX_VARS];
  const void *grad;
  weft_dtype type;
  const void *scalar[GPU_MAX_SCALARS];
  weft_dtype scalar_type[GPU_MAX_SCALARS];
  bool option;
  int64_t n;           /* number of elements; of a row if sparse */
  const void *indices; /* NULL if the update is dense */
  bool wide_indices;
  int64_t n_indices, rows;
  row_table table;
};

template <class A> __device__ A scalar_at(const apply_args &a, int i) {
  if (a.scalar_type[i] == WEFT_INT64) return (A) * (const int64_t *)a.scalar[i];
  return fold_load<A>(a.scalar[i], a.scalar_type[i], 0);
}

template <class A, class F>
__device__ void apply_one(const F &f, const apply_args &a, const A *h, int64_t at, int64_t grad_at) {
  A v[F::vars];
#pragma unroll
  for (int i = 0; i < F::vars; i++) v[i] = fold_load<A>(a.var[i], a.type, at);
  f(v, fold_load<A>(a.grad, a.type, grad_at), h, a.option);
#pragma unroll
  for (int i = 0; i < F::vars; i++) fold_store<A>(a.var[i], a.type, at, v[i]);
}

template <class A, class F> __device__ void load_scalars(const apply_args &a, A (&h)[F::scalars]) {
#pragma unroll
  for (int i = 0; i < F::scalars; i++) h[i] = scalar_at<A>(a, i);
}

template <class A, class F>
__global__ void __launch_bounds__(GPU_THREADS) apply_kernel(const F f, const __grid_constant__ apply_args a) {
  A h[F::scalars];
  load_scalars<A, F>(a, h);
  GPU_EACH(i, a.n) apply_one(f, a, h, i, i);
}

__global__ void __launch_bounds__(GPU_THREADS) empty_table_kernel(const row_table t) {
  GPU_EACH(i, (int64_t)t.mask + 1) {
    t.holder[i] = -1;
    t.first[i] = INT32_MAX;
    t.count[i] = 0;
  }
}

template <class I>
__global__ void __launch_bounds__(GPU_THREADS) fill_table_kernel(const I *index, int64_t n, const row_table t) {
  GPU_EACH(i, n) {
    const uint64_t h = (uint64_t)index[i] * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(h >> 32) & t.mask;
    for (;; at = (at + 1) & t.mask) {
      const int32_t there = atomicCAS(&t.holder[at], -1, (int32_t)i);
      if (there < 0 || index[there] == index[i]) break;
    }
    atomicMin(&t.first[at], (int32_t)i);
    atomicAdd(&t.count[at], 1);
    t.place[i] = (int32_t)at;
  }
}

/* A warp for an index.  It looks at 32 indices at a time for those that are equal to its own. */
template <class A, class F>
__global__ void __launch_bounds__(GPU_THREADS) apply_rows_kernel(const F f, const __grid_constant__ apply_args a) {
  const int lane = threadIdx.x % 32;
  const int64_t number = (int64_t)blockIdx.x * (GPU_THREADS / 32) + threadIdx.x / 32;
  const auto index = [&](int64_t i) {
    return a.wide_indices ? ((const int64_t *)a.indices)[i] : (int64_t)((const int32_t *)a.indices)[i];
  };
  if (number >= a.n_indices) return;
  const int64_t mine = index(number);
  bool earlier = mine < 0 || mine >= a.rows;
  int64_t left = a.n_indices; /* how many of the row may be left */
  if (a.table.place) {
    const int32_t slot = a.table.place[number];
    earlier |= a.table.first[slot] != (int32_t)number;
    left = a.table.count[slot];
  } else {
    for (int64_t i = lane; i < number; i += 32) earlier |= index(i) == mine;
  }
  if (__any_sync(0xffffffffu, earlier)) return; /* the warp of the row's first index updates this row */
  A h[F::scalars];
  load_scalars<A, F>(a, h);
  for (int64_t first = number; first < a.n_indices && left > 0; first += 32) {
    unsigned equal = __ballot_sync(0xffffffffu, first + lane < a.n_indices && index(first + lane) == mine);
    left -= __popc(equal);
    for (; equal; equal &= equal - 1) {
      const int64_t row = first + __ffs((int)equal) - 1;
      for (int64_t c = lane; c < a.n; c += 32) apply_one(f, a, h, mine * a.n + c, row * a.n + c);
    }
  }
}

/* ---- the optimizers ---- */

#define OPTIMIZER(name, n_vars, n_scalars)                                                                             \
  struct name {                                                                                                        \
    static const int vars = n_vars, scalars = n_scalars;                                                               \
    template <class A> __device__ __forceinline__ void operator()(A *v, A g, const A *h, bool option) const
#define END                                                                                                            \
  }                                                                                                                    \
  ;

template <class A> __device__ A shrunk(A x, A by) {
  const A size = fabs(x) - by;
  return size > 0 ? copysign(size, x) : (A)0;
}

namespace {
OPTIMIZER(descend, 1, 1) { v[0] -= h[0] * g; }
END OPTIMIZER(momentum, 2, 2) {
  v[1] = v[1] * h[1] + g;
  v[0] -= option ? g * h[0] + v[1] * h[1] * h[0] : v[1] * h[0];
}
END OPTIMIZER(keras_momentum, 2, 2) {
  v[1] = v[1] * h[1] - g * h[0];
  v[0] += option ? v[1] * h[1] - g * h[0] : v[1];
}
END OPTIMIZER(proximal_descent, 1, 3) {
  const A x = v[0] - h[0] * g;
  v[0] = (h[1] > 0 ? shrunk(x, h[0] * h[1]) : x) / (1 + h[0] * h[2]);
}
END OPTIMIZER(adagrad, 2, 1) {
  if (option) v[1] += g * g;
  v[0] -= g * h[0] / sqrt(v[1]);
}
END OPTIMIZER(adagrad_v2, 2, 2) {
  if (option) v[1] += g * g;
  v[0] -= g * h[0] / (sqrt(v[1]) + h[1]);
}
END OPTIMIZER(adagrad_da, 3, 4) {
  v[1] += g;
  v[2] += g * g;
  const A left = h[1] > 0 ? shrunk(v[1], h[1] * h[3]) : v[1];
  v[0] = -h[0] * left / (h[2] * h[3] * h[0] + sqrt(v[2]));
}
END OPTIMIZER(proximal_adagrad, 2, 3) {
  v[1] += g * g;
  const A rate = h[0] / sqrt(v[1]), x = v[0] - g * rate;
  v[0] = (h[1] > 0 ? shrunk(x, rate * h[1]) : x) / (1 + h[2] * rate);
}
END OPTIMIZER(adam, 3, 6) {
  const A alpha = h[2] * sqrt(1 - h[1]) / (1 - h[0]);
  v[1] += (g - v[1]) * (1 - h[3]);
  v[2] += (g * g - v[2]) * (1 - h[4]);
  const A ahead = option ? g * (1 - h[3]) + h[3] * v[1] : v[1];
  v[0] -= ahead * alpha / (sqrt(v[2]) + h[5]);
}
END OPTIMIZER(adamax, 3, 5) {
  const A old = v[2] * h[3], now = fabs(g);
  v[2] = old > now ? old : now;
  v[1] += (g - v[1]) * (1 - h[2]);
  v[0] -= h[1] / (1 - h[0]) * (v[1] / (v[2] + h[4]));
}
END OPTIMIZER(amsgrad, 4, 6) {
  const A alpha = h[2] * sqrt(1 - h[1]) / (1 - h[0]);
  v[1] += (g - v[1]) * (1 - h[3]);
  v[2] += (g * g - v[2]) * (1 - h[4]);
  v[3] = v[3] > v[2] ? v[3] : v[2];
  v[0] -= v[1] * alpha / (sqrt(v[3]) + h[5]);
}
END OPTIMIZER(rmsprop, 3, 4) {
  v[1] += (g * g - v[1]) * (1 - h[1]);
  v[2] = v[2] * h[2] + g * h[0] / sqrt(v[1] + h[3]);
  v[0] -= v[2];
}
END OPTIMIZER(centered_rmsprop, 4, 4) {
  v[2] += (g * g - v[2]) * (1 - h[1]);
  v[1] += (g - v[1]) * (1 - h[1]);
  v[3] = v[3] * h[2] + g * h[0] / sqrt(v[2] - v[1] * v[1] + h[3]);
  v[0] -= v[3];
}
END OPTIMIZER(adadelta, 3, 3) {
  v[1] = v[1] * h[1] + g * g * (1 - h[1]);
  const A move = sqrt(v[2] + h[2]) / sqrt(v[1] + h[2]) * g;
  v[0] -= move * h[0];
  v[2] = v[2] * h[1] + move * move * (1 - h[1]);
}
END

    /* option: the linear term is stored multiplied by lr. */
    template <class A>
    __device__ void ftrl_step(A *v, A g, const A *h, A shrink, A power, bool option) {
  const A lr = option ? 1 : h[0], times = option ? h[0] : 1, l1 = h[1] * times, l2 = 2 * h[2] * times;
  const A now = v[1] + g * g;
  const A was = power == (A)-0.5 ? sqrt(v[1]) : pow(v[1], -power), is = power == (A)-0.5 ? sqrt(now) : pow(now, -power);
  const A x = v[2] + (g + 2 * shrink * v[0]) * times - (is - was) / lr * v[0];
  v[0] = fabs(x) > l1 ? (copysign(l1, x) - x) / (is / lr + l2) : (A)0;
  v[2] = x;
  v[1] = now;
}
OPTIMIZER(ftrl, 3, 4) { ftrl_step(v, g, h, (A)0, h[3], option); }
END OPTIMIZER(ftrl_v2, 3, 5) { ftrl_step(v, g, h, h[3], h[4], option); }
END

    template <class A>
    __device__ void sign_step(A *v, A g, A beta, A against, A neither, A with) {
  v[1] = v[1] * beta + g * (1 - beta);
  const A agree = g > 0 ? v[1] : g < 0 ? -v[1] : (A)0;
  v[0] -= (agree > 0 ? with : agree < 0 ? against : neither) * g;
}
OPTIMIZER(add_sign, 2, 4) { sign_step(v, g, h[3], h[0] * (h[1] - h[2]), h[0] * h[1], h[0] * (h[1] + h[2])); }
END OPTIMIZER(power_sign, 2, 4) { sign_step(v, g, h[3], h[0] * exp(-h[1] * h[2]), h[0], h[0] * exp(h[1] * h[2])); }
END
} // namespace

/* ---- running an optimizer ---- */

static weft_err check_slices(kernel *k, const shape &var, const gpu_tensor &grad, const gpu_tensor &indices) {
  if (var.rank < 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "var must be at least 1 dimensional");
  if (indices.shape.rank != 1) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "indices must be one-dimensional");
  if (grad.shape.rank != var.rank || grad.shape.dim[0] != indices.count)
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "grad must be the same size as indices in the first dimension.");
  for (int i = 1; i < var.rank; i++)
    if (var.dim[i] != grad.shape.dim[i])
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "var and grad must match in dimension %d", i);
  return WEFT_OK;
}

/* Looking through all indices for each takes too long if there are many. */
static weft_err make_table(kernel *k, const gpu_tensor &indices, row_table *t) {
  enum { FEW = 4096 };
  const int64_t n = indices.count;
  if (n <= FEW || n >= 1 << 29) return WEFT_OK;
  int64_t places = 16;
  while (places < 2 * n) places *= 2;
  t->mask = (uint32_t)(places - 1);
  WEFT_TRY(gpu_scratch(k, places, &t->holder));
  WEFT_TRY(gpu_scratch(k, places, &t->first));
  WEFT_TRY(gpu_scratch(k, places, &t->count));
  WEFT_TRY(gpu_scratch(k, n, &t->place));
  empty_table_kernel<<<gpu_blocks(places), GPU_THREADS, 0, gpu_stream(k)>>>(*t);
  return gpu_indices(k, indices.dtype, [&](auto index) {
    fill_table_kernel<<<gpu_blocks(n), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const decltype(index)>(indices), n,
                                                                        *t);
    return gpu_launched(k);
  });
}

/* The caller has locked the variables. */
template <class F> static weft_err apply_run(kernel *k, const gpu_roles &r, const char *option) {
  apply_args a = {};
  const gpu_tensor grad = gpu_in(k, r.grad);
  gpu_tensor var = {}, t;
  for (int i = 0; i < F::vars; i++) {
    WEFT_TRY(weft__gpu->writable(k, i, &t));
    if (i == 0) var = t;
    if (t.dtype != grad.dtype || !gpu_same_shape(t.shape, var.shape))
      return gpu_fail(k, WEFT_INVALID_ARGUMENT, "var and argument %d do not have the same type and shape", i);
    a.var[i] = t.data;
  }
  for (int i = 0; i < F::scalars; i++) {
    t = gpu_in(k, r.scalar[i]);
    if (t.shape.rank) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "argument %d is not a scalar", r.scalar[i]);
    a.scalar[i] = t.data, a.scalar_type[i] = t.dtype;
  }
  a.grad = grad.data, a.type = grad.dtype, a.n = var.count;
  a.option = option && weft__gpu->attr_bool(k, option, false);
  unsigned blocks = gpu_blocks(var.count, 2);
  if (r.indices >= 0) {
    const gpu_tensor indices = gpu_in(k, r.indices);
    WEFT_TRY(check_slices(k, var.shape, grad, indices));
    a.indices = indices.data, a.wide_indices = indices.dtype == WEFT_INT64;
    a.n_indices = indices.count, a.rows = var.shape.dim[0];
    a.n = gpu_span(var.shape, 1, var.shape.rank);
    WEFT_TRY(make_table(k, indices, &a.table));
    blocks = (unsigned)((indices.count + GPU_THREADS / 32 - 1) / (GPU_THREADS / 32));
  } else if (!gpu_same_shape(var.shape, grad.shape)) {
    return gpu_fail(k, WEFT_INVALID_ARGUMENT, "var and delta do not have the same shape");
  }
  if (var.count == 0 || blocks == 0) return WEFT_OK;
  return gpu_wide_floats(k, grad.dtype, [&](auto x) {
    if (a.indices)
      apply_rows_kernel<decltype(x)><<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>(F(), a);
    else
      apply_kernel<decltype(x)><<<blocks, GPU_THREADS, 0, gpu_stream(k)>>>(F(), a);
    return gpu_launched(k);
  });
}

enum { NO_OPTION, NESTEROV, UPDATE_SLOTS, TIMES_LR };
template <class F, int which> static weft_err apply_gpu(kernel *k) {
  static const char *const options[] = {nullptr, "use_nesterov", "update_slots", "multiply_linear_by_lr"};
  static const int vars[] = {0, 1, 2, 3};
  gpu_roles r;
  WEFT_TRY(weft__gpu->roles(k, &r));
  if (r.vars != F::vars || r.scalars != F::scalars)
    return gpu_fail(k, WEFT_INTERNAL, "%s has %d variables and %d scalars", weft__gpu->op_name(k), r.vars, r.scalars);
  weft__gpu->lock(k, F::vars, vars);
  const weft_err err = apply_run<F>(k, r, options[which]);
  weft__gpu->unlock(k, F::vars, vars);
  if (err == WEFT_OK && weft__gpu->n_out(k)) weft__gpu->out_ref(k, 0, 0);
  return err;
}

#define ROW(name, f, option)                                                                                           \
  { name, apply_gpu<f, option>, GPU_FLOATS | GPU_INDICES }
#define DENSE(name, f, option) ROW("Apply" name, f, option), ROW("ResourceApply" name, f, option)
#define BOTH(name, f, option)                                                                                          \
  DENSE(name, f, option), ROW("SparseApply" name, f, option), ROW("ResourceSparseApply" name, f, option)

GPU_OPS(apply) = {
    DENSE("GradientDescent", descend, NO_OPTION),
    BOTH("Momentum", momentum, NESTEROV),
    ROW("ResourceApplyKerasMomentum", keras_momentum, NESTEROV),
    ROW("ResourceSparseApplyKerasMomentum", keras_momentum, NESTEROV),
    BOTH("ProximalGradientDescent", proximal_descent, NO_OPTION),
    BOTH("Adagrad", adagrad, UPDATE_SLOTS),
    BOTH("AdagradV2", adagrad_v2, UPDATE_SLOTS),
    BOTH("AdagradDA", adagrad_da, NO_OPTION),
    BOTH("ProximalAdagrad", proximal_adagrad, NO_OPTION),
    DENSE("Adam", adam, NESTEROV),
    DENSE("AdaMax", adamax, NO_OPTION),
    ROW("ResourceApplyAdamWithAmsgrad", amsgrad, NO_OPTION),
    BOTH("RMSProp", rmsprop, NO_OPTION),
    BOTH("CenteredRMSProp", centered_rmsprop, NO_OPTION),
    BOTH("Adadelta", adadelta, NO_OPTION),
    BOTH("Ftrl", ftrl, TIMES_LR),
    BOTH("FtrlV2", ftrl_v2, TIMES_LR),
    DENSE("AddSign", add_sign, NO_OPTION),
    DENSE("PowerSign", power_sign, NO_OPTION),
    {0},
};
