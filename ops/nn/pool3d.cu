/* pool3d.cu - MaxPool3D and AvgPool3D on the GPU, and their gradients.
 *
 * A thread computes one element, or sixteen bytes of channels if these are last in memory: the volumes of its arguments
 * then count such packs as channels.  Gradients are gathered: each element of a volume reads the windows that contain
 * it, in order, so that results repeat and are the CPU's.  The gradient of a maximum goes to every element that equals
 * it.
 */
#include "kernels/conv/volume.cuh"
#include <float.h>
#include <type_traits>

struct pool3d_args {
  volume in, out;
  volume_window w;
};
/* A range of positions along each axis: [begin, end). */
struct ranges {
  int begin[3], end[3];
};

/* Finds the positions of the volume that are in window `at`. */
__device__ inline ranges pool3d_inside(const volume_window &w, const int at[3]) {
  ranges r;
#pragma unroll
  for (int i = 0; i < 3; i++) {
    const int first = at[i] * w.stride[i] - w.before[i], last = first + w.size[i];
    r.begin[i] = first < 0 ? 0 : first;
    r.end[i] = last < w.in[i] ? last : w.in[i];
  }
  return r;
}
/* Finds the windows that contain position `at`. */
__device__ inline ranges pool3d_over(const volume_window &w, const int at[3]) {
  ranges r;
#pragma unroll
  for (int i = 0; i < 3; i++) {
    const int from = at[i] + w.before[i], first = from - w.size[i] + 1, last = from / w.stride[i] + 1;
    r.begin[i] = first <= 0 ? 0 : (first + w.stride[i] - 1) / w.stride[i];
    r.end[i] = last < w.out[i] ? last : w.out[i];
  }
  return r;
}
__device__ inline int pool3d_count(const ranges &r) {
  int n = 1;
#pragma unroll
  for (int i = 0; i < 3; i++) n *= r.end[i] > r.begin[i] ? r.end[i] - r.begin[i] : 0;
  return n;
}

/* Calls f(at) for each position of the ranges, in order. */
template <class F> __device__ inline void pool3d_each(const ranges &r, const F &f) {
  int at[3];
  for (at[0] = r.begin[0]; at[0] < r.end[0]; at[0]++)
    for (at[1] = r.begin[1]; at[1] < r.end[1]; at[1]++)
      for (at[2] = r.begin[2]; at[2] < r.end[2]; at[2]++) f(at);
}

template <class T, int V> struct alignas(sizeof(T) * V) pack {
  using type = T;
  enum { size = V };
  T v[V];
};

/* Returns the lowest finite number, which the maximum of a window begins with. */
template <class A> __device__ A pool3d_lowest() { return sizeof(A) == sizeof(double) ? (A)-DBL_MAX : (A)-FLT_MAX; }

template <class P> __global__ void max3d_kernel(const P *x, P *y, int64_t count, const pool3d_args a) {
  using T = typename P::type;
  constexpr int V = P::size;
  GPU_EACH(i, count) {
    const spot3 s = volume_spot(a.out, i);
    P max;
#pragma unroll
    for (int v = 0; v < V; v++) max.v[v] = (T)pool3d_lowest<T>();
    pool3d_each(pool3d_inside(a.w, s.at), [&](const int at[3]) {
      const P here = x[volume_at(a.in, s.n, at, s.c)];
#pragma unroll
      for (int v = 0; v < V; v++)
        if ((wide<T>)here.v[v] > (wide<T>)max.v[v] || here.v[v] != here.v[v]) max.v[v] = here.v[v];
    });
    y[i] = max;
  }
}

template <class P>
__global__ void max3d_grad_kernel(const P *x, const P *y, const P *g, P *dx, int64_t count, const pool3d_args a) {
  using T = typename P::type;
  constexpr int V = P::size;
  GPU_EACH(i, count) {
    const spot3 s = volume_spot(a.in, i);
    const P mine = x[i];
    wide<T> sum[V] = {};
    pool3d_each(pool3d_over(a.w, s.at), [&](const int at[3]) {
      const uint32_t o = volume_at(a.out, s.n, at, s.c);
      const P most = y[o], slope = g[o];
#pragma unroll
      for (int v = 0; v < V; v++)
        if (mine.v[v] == most.v[v]) sum[v] += (wide<T>)slope.v[v];
    });
    P z;
#pragma unroll
    for (int v = 0; v < V; v++) z.v[v] = (T)sum[v];
    dx[i] = z;
  }
}

/* The gradient at the first element that equals the maximum. */
template <class T>
__global__ void max3d_grad_grad_kernel(const T *x, const T *y, const T *g, T *z, int64_t count, const pool3d_args a) {
  GPU_EACH(i, count) {
    const spot3 s = volume_spot(a.out, i);
    const wide<T> max = (wide<T>)y[i];
    int64_t found = -1;
    pool3d_each(pool3d_inside(a.w, s.at), [&](const int at[3]) {
      const uint32_t o = volume_at(a.in, s.n, at, s.c);
      if (found < 0 && (wide<T>)x[o] == max) found = o;
    });
    z[i] = found < 0 ? T(0.f) : g[found];
  }
}

template <class P> __global__ void avg3d_kernel(const P *x, P *y, int64_t count, const pool3d_args a) {
  using T = typename P::type;
  constexpr int V = P::size;
  GPU_EACH(i, count) {
    const spot3 s = volume_spot(a.out, i);
    const ranges r = pool3d_inside(a.w, s.at);
    const int n = pool3d_count(r);
    wide<T> sum[V] = {};
    pool3d_each(r, [&](const int at[3]) {
      const P here = x[volume_at(a.in, s.n, at, s.c)];
#pragma unroll
      for (int v = 0; v < V; v++) sum[v] += (wide<T>)here.v[v];
    });
    P z;
#pragma unroll
    for (int v = 0; v < V; v++) z.v[v] = (T)(n ? sum[v] / (wide<T>)n : sum[v]);
    y[i] = z;
  }
}

template <class P> __global__ void avg3d_grad_kernel(const P *g, P *dx, int64_t count, const pool3d_args a) {
  using T = typename P::type;
  constexpr int V = P::size;
  GPU_EACH(i, count) {
    const spot3 s = volume_spot(a.in, i);
    wide<T> sum[V] = {};
    pool3d_each(pool3d_over(a.w, s.at), [&](const int at[3]) {
      const P slope = g[volume_at(a.out, s.n, at, s.c)];
      const wide<T> n = (wide<T>)pool3d_count(pool3d_inside(a.w, at));
#pragma unroll
      for (int v = 0; v < V; v++) sum[v] += (wide<T>)slope.v[v] / n;
    });
    P z;
#pragma unroll
    for (int v = 0; v < V; v++) z.v[v] = (T)sum[v];
    dx[i] = z;
  }
}

/* ---- on the host ---- */

static weft_err pool3d_read(kernel *k, const shape &in, pool3d_args *a) {
  gpu_volume_window w;
  WEFT_TRY(volume_read(k, in, nullptr, &w));
  a->w = volume_window_of(w);
  a->in = volume_of(in, w.channels_second, w.in);
  a->out = volume_of(in, w.channels_second, w.out);
  return WEFT_OK;
}

static weft_err pool3d_expect(kernel *k, const gpu_tensor &t, const shape &want, const char *name) {
  if (gpu_same_shape(t.shape, want)) return WEFT_OK;
  return gpu_fail(k, WEFT_INVALID_ARGUMENT, "%s: %s has not the shape that the window gives", weft__gpu->op_name(k),
                  name);
}

/* Calls f(T, number of elements of a pack, its arguments): packs of sixteen bytes where all tensors can be read so. */
template <class F>
static weft_err pool3d_packs(kernel *k, weft_dtype type, pool3d_args a, std::initializer_list<const void *> all,
                             const F &f) {
  uintptr_t bits = (uintptr_t)(a.in.c * (int)gpu_size(type));
  for (const void *at : all) bits |= (uintptr_t)at;
  return gpu_floats(k, type, [&](auto t) {
    constexpr int V = 16 / (int)sizeof t;
    if (a.in.channels_second || bits % 16) return f(t, std::integral_constant<int, 1>(), a);
    a.in.c /= V, a.out.c /= V;
    return f(t, std::integral_constant<int, V>(), a);
  });
}

template <bool is_max> static weft_err pool3d_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0);
  gpu_tensor y;
  pool3d_args a;
  WEFT_TRY(pool3d_read(k, x.shape, &a));
  WEFT_TRY(gpu_out(k, 0, volume_shape(a.out), &y));
  if (y.count == 0) return WEFT_OK;
  return pool3d_packs(k, x.dtype, a, {x.data, y.data}, [&](auto t, auto v, const pool3d_args &args) {
    constexpr int V = decltype(v)::value;
    using P = pack<decltype(t), V>;
    auto *const of = is_max ? max3d_kernel<P> : avg3d_kernel<P>;
    of<<<gpu_blocks(y.count / V), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const P>(x), gpu_data<P>(y), y.count / V,
                                                                   args);
    return gpu_launched(k);
  });
}

/* The gradient, or the gradient of that. */
template <bool second> static weft_err max3d_gradient_gpu(kernel *k) {
  const gpu_tensor x = gpu_in(k, 0), y = gpu_in(k, 1), g = gpu_in(k, 2);
  gpu_tensor z;
  pool3d_args a;
  WEFT_TRY(pool3d_read(k, x.shape, &a));
  WEFT_TRY(pool3d_expect(k, y, volume_shape(a.out), "orig_output"));
  WEFT_TRY(pool3d_expect(k, g, second ? x.shape : y.shape, "grad"));
  if (x.dtype != g.dtype)
    return gpu_fail(k, WEFT_UNIMPLEMENTED, "the volume and its gradient have different types: cast one of them");
  WEFT_TRY(gpu_out(k, 0, second ? y.shape : x.shape, &z));
  if (z.count == 0) return WEFT_OK;
  if (second)
    return gpu_floats(k, x.dtype, [&](auto t) {
      using T = decltype(t);
      max3d_grad_grad_kernel<<<gpu_blocks(z.count), GPU_THREADS, 0, gpu_stream(k)>>>(
          gpu_data<const T>(x), gpu_data<const T>(y), gpu_data<const T>(g), gpu_data<T>(z), z.count, a);
      return gpu_launched(k);
    });
  return pool3d_packs(k, x.dtype, a, {x.data, y.data, g.data, z.data}, [&](auto t, auto v, const pool3d_args &args) {
    constexpr int V = decltype(v)::value;
    using P = pack<decltype(t), V>;
    max3d_grad_kernel<<<gpu_blocks(z.count / V), GPU_THREADS, 0, gpu_stream(k)>>>(
        gpu_data<const P>(x), gpu_data<const P>(y), gpu_data<const P>(g), gpu_data<P>(z), z.count / V, args);
    return gpu_launched(k);
  });
}

static weft_err avg3d_grad_gpu(kernel *k) {
  const gpu_tensor g = gpu_in(k, 1);
  gpu_tensor dx;
  pool3d_args a;
  shape s;
  WEFT_TRY(gpu_dims(k, 0, &s));
  if (s.rank != 5) return gpu_fail(k, WEFT_INVALID_ARGUMENT, "orig_input_shape must have 5 elements");
  WEFT_TRY(pool3d_read(k, s, &a));
  WEFT_TRY(pool3d_expect(k, g, volume_shape(a.out), "grad"));
  WEFT_TRY(gpu_out(k, 0, s, &dx));
  if (dx.count == 0) return WEFT_OK;
  return pool3d_packs(k, g.dtype, a, {g.data, dx.data}, [&](auto t, auto v, const pool3d_args &args) {
    constexpr int V = decltype(v)::value;
    using P = pack<decltype(t), V>;
    avg3d_grad_kernel<<<gpu_blocks(dx.count / V), GPU_THREADS, 0, gpu_stream(k)>>>(gpu_data<const P>(g),
                                                                                   gpu_data<P>(dx), dx.count / V, args);
    return gpu_launched(k);
  });
}

GPU_OPS(pool3d) = {
    {"MaxPool3D", pool3d_gpu<true>, GPU_FLOATS},
    {"MaxPool3DGrad", max3d_gradient_gpu<false>, GPU_FLOATS},
    {"MaxPool3DGradGrad", max3d_gradient_gpu<true>, GPU_FLOATS},
    {"AvgPool3D", pool3d_gpu<false>, GPU_FLOATS},
    {"AvgPool3DGrad", avg3d_grad_gpu, GPU_FLOATS, "orig_input_shape"},
    {0},
};
