/* elementwise.cu - computes on the host how operands broadcast, before a kernel launch. */
#include "kernels/elementwise/elementwise.cuh"

weft_err gpu_broadcast(kernel *k, int n_in, const gpu_tensor *in, shape *out) {
  *out = in[0].shape;
  for (int i = 1; i < n_in; i++) {
    const shape a = *out, &b = in[i].shape;
    out->rank = a.rank > b.rank ? a.rank : b.rank;
    for (int d = 1; d <= out->rank; d++) { /* from the last axis on */
      const int64_t x = d <= a.rank ? a.dim[a.rank - d] : 1, y = d <= b.rank ? b.dim[b.rank - d] : 1;
      if (x != y && x != 1 && y != 1)
        return gpu_fail(k, WEFT_INVALID_ARGUMENT, "Incompatible shapes: axis %d from the end is %lld and %lld", d,
                        (long long)x, (long long)y);
      out->dim[out->rank - d] = x == 1 ? y : x;
    }
  }
  return WEFT_OK;
}

/* Returns the stride of an operand along axis `axis` of `out`. */
static int64_t step_along(const shape &out, const shape &in, int axis) {
  const int own = axis - (out.rank - in.rank);
  if (own < 0 || in.dim[own] == 1) return 0;
  return gpu_span(in, own + 1, in.rank);
}

/* Returns true if axis `outer` of every operand can be merged with the next inner one, which has size `inner`. */
static bool axis_joins(const each_axes *a, int axis, int n_in, const int64_t *step, int64_t inner) {
  for (int o = 0; o < n_in; o++)
    if (step[o] != a->step[o][axis] * inner) return false;
  return true;
}

/* Computes the strides of each operand along the axes of `out`, with adjacent axes merged where every operand allows
 * it. */
static weft_err find_axes(kernel *k, const shape &out, int n_in, const gpu_tensor *in, each_axes *axes) {
  int64_t size[EACH_MAX_AXES];
  int n = 0; /* axes so far, innermost first */
  *axes = each_axes{};
  if (gpu_span(out, 0, out.rank) > INT32_MAX)
    return gpu_fail(k, WEFT_UNIMPLEMENTED, "a broadcast of more than 2^31 elements");
  for (int axis = out.rank - 1; axis >= 0; axis--) {
    if (out.dim[axis] == 1) continue;
    int64_t step[EACH_MAX_IN];
    for (int o = 0; o < n_in; o++) step[o] = step_along(out, in[o].shape, axis);
    if (n && axis_joins(axes, n - 1, n_in, step, size[n - 1])) {
      size[n - 1] *= out.dim[axis];
      continue;
    }
    if (n == EACH_MAX_AXES) return gpu_fail(k, WEFT_UNIMPLEMENTED, "a broadcast along more than %d axes", n);
    for (int o = 0; o < n_in; o++) axes->step[o][n] = step[o];
    size[n++] = out.dim[axis];
  }
  axes->rank = n;
  for (int i = 0, j = n - 1; i < n; i++, j--) {
    axes->dim[j] = divisor_of(size[i]);
    if (i >= j) continue; /* reverses the order: outermost axis first */
    for (int o = 0; o < n_in; o++) {
      const int64_t s = axes->step[o][i];
      axes->step[o][i] = axes->step[o][j];
      axes->step[o][j] = s;
    }
  }
  return WEFT_OK;
}

/* Returns true if the operand consists of the innermost axes of z. */
static bool operand_repeats(const gpu_tensor &z, const gpu_tensor &in) {
  int64_t n = 1;
  if (in.count % EACH_PACK || z.count > INT32_MAX) return false;
  for (int d = 1; d <= in.shape.rank && n < in.count; d++) {
    if (d > z.shape.rank || in.shape.dim[in.shape.rank - d] != z.shape.dim[z.shape.rank - d]) return false;
    n *= in.shape.dim[in.shape.rank - d];
  }
  return n == in.count;
}

/* Returns how an operand walks: by packs, if the innermost axis consists of whole ones. */
static each_how walk_of(const each_axes &axes, int operand, bool aligned) {
  const int in = axes.rank - 1;
  if (in < 0 || axes.dim[in].d % EACH_PACK) return EACH_WALK;
  if (axes.step[operand][in] == 0) return EACH_HOLD;
  for (int d = 0; d < in; d++) aligned = aligned && axes.step[operand][d] % EACH_PACK == 0;
  return aligned && axes.step[operand][in] == 1 ? EACH_TILE : EACH_WALK;
}

weft_err gpu_each_args(kernel *k, const gpu_tensor &z, int n_in, const gpu_tensor *in, each_args *a) {
  const auto how = [](const gpu_tensor &t) {
    const size_t pack_size = EACH_PACK * gpu_size(t.dtype);
    return (uintptr_t)t.data % (pack_size > 16 ? 16 : pack_size) ? EACH_LOOSE : EACH_ROW;
  };
  *a = each_args{};
  a->n = z.count;
  a->z = z.data;
  a->z_type = z.dtype;
  a->z_how = how(z);
  bool walks = false;
  for (int i = 0; i < n_in; i++) {
    const each_how row = in[i].count == 1 ? EACH_ONE : in[i].count == z.count ? how(in[i]) : EACH_WALK;
    a->in[i] = each_in{in[i].data, row, in[i].dtype, divisor_of(1)};
    if (row == EACH_WALK && how(in[i]) == EACH_ROW && operand_repeats(z, in[i]))
      a->in[i].how = EACH_REPEAT, a->in[i].period = divisor_of(in[i].count);
    walks |= a->in[i].how == EACH_WALK;
  }
  if (!walks) return WEFT_OK;
  WEFT_TRY(find_axes(k, z.shape, n_in, in, &a->axes));
  for (int i = 0; i < n_in; i++)
    if (a->in[i].how == EACH_WALK) a->in[i].how = walk_of(a->axes, i, how(in[i]) == EACH_ROW);
  return WEFT_OK;
}

weft_err gpu_each_out(kernel *k, int n_in, gpu_tensor *in, gpu_tensor *z) {
  shape s;
  for (int i = 0; i < n_in; i++) in[i] = gpu_in(k, i);
  WEFT_TRY(gpu_broadcast(k, n_in, in, &s));
  int over = 0; /* the first operand that has the size of the result */
  while (over < n_in - 1 && in[over].count != gpu_span(s, 0, s.rank)) over++;
  return gpu_out_over(k, 0, over, s, z);
}
