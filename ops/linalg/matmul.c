/* matmul.c - products of matrices: MatMul and the batched ops.
 *
 * The transpositions of a and b are flags of the GEMM, so nothing is transposed in memory.  Half and bfloat16 are
 * multiplied as floats.  If a batch has enough matrices, the threads divide the matrices among them; otherwise they
 * divide each product. */
#include "graph/build.h"
#include "graph/fusion.h"
#include "graph/kernel.h"
#include "ops/math/cast.h"
#include "kernels/gemm/gemm_long.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/matrix.h"
#include "kernels/simd/widen.h"

/* The transposed operands, as flags that are stored in the kernel's state pointer itself. */
enum { FLIP_A = 1, FLIP_B = 2 };

static weft_err matmul_prepare_flips(const weft_node *n, const char *flip_a, const char *flip_b, void **state) {
  const int flags = (weft__node_bool(n, flip_a, false) ? FLIP_A : 0) | (weft__node_bool(n, flip_b, false) ? FLIP_B : 0);
  *state = (void *)(uintptr_t)flags;
  return WEFT_OK;
}

static weft_err matmul_prepare(const weft_node *n, void **state) {
  return matmul_prepare_flips(n, "transpose_a", "transpose_b", state);
}
static weft_err batch_prepare(const weft_node *n, void **state) {
  return matmul_prepare_flips(n, "adj_x", "adj_y", state);
}
static void matmul_unprepare(void *state) { (void)state; }

/* ---- shapes ---- */

/* Computes the shape of c = op(a) op(b): the batch dimensions, followed by two. */
static weft_err infer_product(infer *s, bool ta, bool tb, const shape *batch) {
  const shape *a = &s->in[0], *b = &s->in[1];
  const int64_t m = a->dim[a->rank - (ta ? 1 : 2)], ka = a->dim[a->rank - (ta ? 2 : 1)];
  const int64_t kb = b->dim[b->rank - (tb ? 1 : 2)], n = b->dim[b->rank - (tb ? 2 : 1)];
  if (ka >= 0 && kb >= 0 && ka != kb)
    return weft__infer_fail(s, "Dimensions must be equal, but are %lld and %lld", (long long)ka, (long long)kb);
  s->out[0] = *batch;
  s->out[0].dim[s->out[0].rank++] = m;
  s->out[0].dim[s->out[0].rank++] = n;
  return WEFT_OK;
}

static weft_err matmul_infer(infer *s) {
  shape ab[2];
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__infer_rank(s, i, 2, &ab[i]));
  infer full = *s;
  full.in = ab;
  return infer_product(&full, weft__node_bool(s->node, "transpose_a", false),
                       weft__node_bool(s->node, "transpose_b", false), &SHAPE_SCALAR);
}

static weft_err matmul_batch_infer(infer *s, bool broadcasts) {
  for (int i = 0; i < 2; i++) WEFT_TRY(weft__infer_rank_at_least(s, i, 2));
  if (s->in[0].rank < 0 || s->in[1].rank < 0) return WEFT_OK;
  shape x = s->in[0], y = s->in[1], batch;
  x.rank -= 2;
  y.rank -= 2;
  const weft_err err = broadcasts ? weft__shape_broadcast(&batch, &x, &y) : weft__shape_merge(&batch, &x, &y);
  if (err) return weft__infer_fail(s, "%s", weft__error_message());
  return infer_product(s, weft__node_bool(s->node, "adj_x", false), weft__node_bool(s->node, "adj_y", false), &batch);
}

static weft_err batch_infer_v1(infer *s) { return matmul_batch_infer(s, false); }
static weft_err batch_infer_v2(infer *s) { return matmul_batch_infer(s, true); }

/* ---- kernels ---- */

/* Sets the sizes and flags of the product of the last two dimensions.  Returns false if they do not fit. */
static bool set_product(gemm *g, const kernel *k) {
  const shape *a = &k->in[0]->shape, *b = &k->in[1]->shape;
  const uintptr_t flags = (uintptr_t)k->state;
  g->ta = flags & FLIP_A;
  g->tb = flags & FLIP_B;
  g->lda = a->dim[a->rank - 1];
  g->ldb = b->dim[b->rank - 1];
  g->m = a->dim[a->rank - (g->ta ? 1 : 2)];
  g->k = a->dim[a->rank - (g->ta ? 2 : 1)];
  g->n = b->dim[b->rank - (g->tb ? 2 : 1)];
  g->ldc = g->n;
  return g->k == b->dim[b->rank - (g->tb ? 1 : 2)];
}

typedef struct batch {
  gemm one; /* a, b and c of the first product */
  const shape *out, *x, *y;
  int64_t count;
  long_work work;
} batch;

static gemm product_of(const batch *j, int64_t i) {
  const gemm *g = &j->one;
  const size_t size = weft__dtype_size(g->type);
  gemm p = *g;
  p.a = (const char *)g->a + (size_t)(weft__matrix_of(j->out, j->x, i) * g->m * g->k) * size;
  p.b = (const char *)g->b + (size_t)(weft__matrix_of(j->out, j->y, i) * g->k * g->n) * size;
  p.c = (char *)g->c + (size_t)(i * g->m * g->n) * size;
  return p;
}

static void run_products(void *arg, int64_t begin, int64_t end) {
  batch *j = arg;
  const int64_t cost = j->one.m * j->one.n * j->one.k;
  int64_t spent = 0;
  for (int64_t i = begin; i < end && !weft__long_work_spent(&j->work, &spent, cost); i++) {
    const gemm p = product_of(j, i);
    weft__gemm_serial(&p);
  }
}

static weft_err run_batch(kernel *k, batch *j) {
  const int threads = k->step && k->step->intra ? weft__pool_threads(k->step->intra) : 1;
  if (j->count >= 2 * threads) {
    const double work = (double)j->one.m * (double)j->one.n * (double)j->one.k;
    weft__kernel_loop(k, j->count, 100 + (int64_t)(work / 50), run_products, j);
  } else {
    for (int64_t i = 0; i < j->count; i++) {
      const gemm p = product_of(j, i);
      weft__gemm_long(&j->work, &p);
    }
  }
  return weft__kernel_in(k, weft__long_work_end(&j->work));
}

/* Runs the batch on the tensors themselves, or on float copies of 16-bit tensors. */
static weft_err run_types(kernel *k, batch *j, weft_tensor *c) {
  if (!weft__is_16bit(c->dtype)) {
    j->one.type = c->dtype;
    j->one.a = k->in[0]->data, j->one.b = k->in[1]->data, j->one.c = c->data;
    return run_batch(k, j);
  }
  widened a = {0}, b = {0}, z = {0};
  weft_err err = weft__widened_load(&a, k->in[0]);
  if (!err) err = weft__widened_load(&b, k->in[1]);
  if (!err) err = weft__widened_output(&z, c);
  if (!err) {
    j->one.type = WEFT_FLOAT;
    j->one.a = a.data, j->one.b = b.data, j->one.c = z.data;
    err = run_batch(k, j);
    if (!err) weft__widened_store(&z, c);
  }
  weft__widened_finish(&a);
  weft__widened_finish(&b);
  weft__widened_finish(&z);
  return err;
}

static weft_err matmul_multiply(kernel *k, batch *j, const shape *s) {
  const weft_dtype type = k->in[0]->dtype;
  if (!weft__is_16bit(type) && !weft__gemm_has(type)) return weft__kernel_no_type(k, type);
  weft_tensor *c = weft__out(k, 0, s);
  if (!c) return WEFT_RESOURCE_EXHAUSTED;
  if (weft__tensor_count(c) == 0) return WEFT_OK;
  j->work = weft__long_work(k);
  j->out = s;
  j->x = &k->in[0]->shape;
  j->y = &k->in[1]->shape;
  j->count = weft__shape_product(s, 0, s->rank - 2);
  return run_types(k, j, c);
}

weft_err weft__matmul_sizes(const kernel *k, gemm *g) {
  const shape *a = &k->in[0]->shape, *b = &k->in[1]->shape;
  for (int i = 0; i < 2; i++) {
    if (k->in[i]->shape.rank < 2) return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[%d] ndims must be >= 2", i);
    if (k->in[i]->shape.rank > 2)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[%d] is not a matrix. Instead it has shape %s", i,
                               weft__shape_text(&k->in[i]->shape));
  }
  if (!set_product(g, k))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Matrix size-incompatible: In[0]: %s, In[1]: %s",
                             weft__shape_text(a), weft__shape_text(b));
  return WEFT_OK;
}

weft_err weft__matmul_run(kernel *k) {
  batch j = {0};
  WEFT_TRY(weft__matmul_sizes(k, &j.one));
  const shape s = SHAPE2(j.one.m, j.one.n);
  return matmul_multiply(k, &j, &s);
}

/* Checks that the batch dimensions are equal: BatchMatMul (version 1) does not broadcast. */
static weft_err check_same_batch(const kernel *k) {
  const shape *x = &k->in[0]->shape, *y = &k->in[1]->shape;
  if (x->rank != y->rank)
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[0] and In[1] has different ndims: %s vs. %s",
                             weft__shape_text(x), weft__shape_text(y));
  for (int d = 0; d < x->rank - 2; d++)
    if (x->dim[d] != y->dim[d])
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[0].dim(%d) and In[1].dim(%d) must be the same: %s vs %s",
                               d, d, weft__shape_text(x), weft__shape_text(y));
  return WEFT_OK;
}

static weft_err batch_multiply(kernel *k, bool broadcasts) {
  shape x = k->in[0]->shape, y = k->in[1]->shape, s;
  const char *xt = weft__shape_text(&k->in[0]->shape), *yt = weft__shape_text(&k->in[1]->shape);
  if (!broadcasts) WEFT_TRY(check_same_batch(k));
  for (int i = 0; i < 2; i++)
    if (k->in[i]->shape.rank < 2)
      return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "In[%d] ndims must be >= 2: %d", i, k->in[i]->shape.rank);
  x.rank -= 2;
  y.rank -= 2;
  if (weft__shape_broadcast(&s, &x, &y))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT,
                             "In[0] and In[1] must have compatible batch dimensions: %s vs. %s", xt, yt);
  batch j = {.one.adjoint = true};
  if (!set_product(&j.one, k))
    return weft__kernel_fail(k, WEFT_INVALID_ARGUMENT, "Matrix size-incompatible: In[0]: %s, In[1]: %s %d %d", xt, yt,
                             j.one.ta, j.one.tb);
  s.dim[s.rank++] = j.one.m;
  s.dim[s.rank++] = j.one.n;
  return matmul_multiply(k, &j, &s);
}

static weft_err batch_cpu_v1(kernel *k) { return batch_multiply(k, false); }
static weft_err batch_cpu_v2(kernel *k) { return batch_multiply(k, true); }

/* BatchMatMulV3: operands and result may have different types, and all are converted to the type of the result. */
static weft_err batch_cpu_v3(kernel *k) {
  const weft_dtype type = weft__dtype_base(k->node->out_type[0]);
  if (k->in[0]->dtype == type && k->in[1]->dtype == type) return batch_cpu_v2(k);
  weft_tensor cast[2] = {0};
  const weft_tensor *in[2] = {&cast[0], &cast[1]};
  kernel same = *k;
  same.in = in;
  weft_err err = WEFT_OK;
  for (int i = 0; i < 2 && !err; i++) {
    err = weft__scratch(k, &cast[i], type, &k->in[i]->shape);
    if (!err) err = weft__cast_elements(k, k->in[i], &cast[i]);
  }
  if (!err) err = batch_cpu_v2(&same);
  for (int i = 0; i < 2; i++) weft__tensor_clear(&cast[i]);
  return err;
}

/* ---- gradients ---- */
typedef weft_out product_fn(weft_graph *g, weft_out x, weft_out y, bool fx, bool fy);

/* The gradient of op(a) op(b): each operand's gradient is the product of dz with the other operand, transposed to
 * fit. */
static void product_grad(backprop *b, product_fn *mul, bool fa, bool fb, weft_out x, weft_out y, weft_out *dx,
                         weft_out *dy) {
  weft_graph *g = b->graph;
  const weft_out dz = b->dout[0];
  *dx = fa ? mul(g, y, dz, fb, true) : mul(g, dz, y, false, !fb);
  *dy = fb ? mul(g, dz, x, true, fa) : mul(g, x, dz, !fa, false);
}

static weft_err matmul_grad(backprop *b) {
  const bool fa = weft__node_bool(b->node, "transpose_a", false), fb = weft__node_bool(b->node, "transpose_b", false);
  weft_out dx, dy;
  product_grad(b, weft__b_matmul, fa, fb, weft__b_conj(b->graph, b->in[0]), weft__b_conj(b->graph, b->in[1]), &dx, &dy);
  b->din[0] = GRAD_DENSE(dx);
  b->din[1] = GRAD_DENSE(dy);
  return WEFT_OK;
}

static weft_out batch_product(weft_graph *g, const char *type, weft_out x, weft_out y, bool fx, bool fy) {
  return weft__b_node(g, type, NULL, 2, (weft_out[]){x, y}, 2, (attr[]){A_BOOL("adj_x", fx), A_BOOL("adj_y", fy)});
}

static weft_out product_v1(weft_graph *g, weft_out x, weft_out y, bool fx, bool fy) {
  return batch_product(g, "BatchMatMul", x, y, fx, fy);
}

static weft_out product_v2(weft_graph *g, weft_out x, weft_out y, bool fx, bool fy) {
  return batch_product(g, "BatchMatMulV2", x, y, fx, fy);
}

static weft_out product_v3(weft_graph *g, weft_out x, weft_out y, bool fx, bool fy) {
  return weft__b_node(g, "BatchMatMulV3", NULL, 2, (weft_out[]){x, y}, 3,
                      (attr[]){A_BOOL("adj_x", fx), A_BOOL("adj_y", fy), A_TYPE("Tout", weft__out_type(g, x))});
}

static void batch_grad(backprop *b, product_fn *mul) {
  weft_out dx, dy;
  product_grad(b, mul, weft__node_bool(b->node, "adj_x", false), weft__node_bool(b->node, "adj_y", false), b->in[0],
               b->in[1], &dx, &dy);
  b->din[0] = GRAD_DENSE(dx);
  b->din[1] = GRAD_DENSE(dy);
}

static weft_err batch_grad_v1(backprop *b) {
  batch_grad(b, product_v1);
  return WEFT_OK;
}

static weft_err broadcast_grad(backprop *b, product_fn *mul) {
  batch_grad(b, mul);
  weft__b_matrix_fold(b->graph, b->in[0], b->in[1], &b->din[0].dense, &b->din[1].dense);
  return WEFT_OK;
}

static weft_err batch_grad_v2(backprop *b) { return broadcast_grad(b, product_v2); }
static weft_err batch_grad_v3(backprop *b) { return broadcast_grad(b, product_v3); }

/* ---- cases ---- */
static const op_case matmul_cases[] = {
    {"f32[2,3] 1 2 3 4 5 6; f32[3,2] 7 8 9 10 11 12", "f32[2,2] 58 64 139 154"},
    {"f32[1,1] 3; f32[1,1] 4", "f32[1,1] 12"},
    {"f32[0,3]; f32[3,2] 1", "f32[0,2]"},
    {"f32[2,0]; f32[0,3]", "f32[2,3] 0"},
    {"f32[17,33] rand; f32[33,9] rand"},
    {"f32[33,17] rand; f32[33,9] rand", NULL, "transpose_a=true"},
    {"f32[17,33] rand; f32[9,33] rand", NULL, "transpose_b=true"},
    {"f32[33,17] rand; f32[9,33] rand", NULL, "transpose_a=true transpose_b=true"},
    {"f32[100,260] rand; f32[260,130] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[300,400] rand; f32[400,200] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,3] 1; f32[2,3] 1", "error INVALID_ARGUMENT"},
    {"f32[3] 1; f32[3,2] 1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case batch_cases[] = {
    {"f32[2,1,2] 1 2 3 4; f32[2,2,1] 5 6 7 8", "f32[2,1,1] 17 53"},
    {"f32[2,3] rand; f32[3,4] rand"},
    {"f32[0,2,3]; f32[0,3,2]", "f32[0,2,2]"},
    {"f32[2,3,0]; f32[2,0,2]", "f32[2,3,2] 0"},
    {"f32[2,3,4,5] rand; f32[2,3,5,6] rand"},
    {"f32[3,5,4] rand; f32[3,5,6] rand", NULL, "adj_x=true"},
    {"f32[3,4,5] rand; f32[3,6,5] rand", NULL, "adj_y=true"},
    {"f32[3,5,4] rand; f32[3,6,5] rand", NULL, "adj_x=true adj_y=true"},
    {"f32[9,20,30] rand; f32[9,30,40] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,2,3] 1; f32[2,2,3] 1", "error INVALID_ARGUMENT"},
    {"f32[3] 1; f32[3,2] 1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case broadcast_cases[] = {
    {"f32[2,1,2] 1 2 3 4; f32[2,2,1] 5 6 7 8", "f32[2,1,1] 17 53"},
    {"f32[2,3] rand; f32[3,4] rand"},
    {"f32[0,2,3]; f32[3,2]", "f32[0,2,2]"},
    {"f32[2,1,3,4] rand; f32[3,4,2] rand"},
    {"f32[3,4] rand; f32[2,3,4,5] rand"},
    {"f32[5,4] rand; f32[3,6,5] rand", NULL, "adj_x=true adj_y=true"},
    {"f32[9,20,30] rand; f32[30,40] rand", NULL, NULL, CASE_NO_GRAD | CASE_FIXED_TYPE},
    {"f32[2,2,3] 1; f32[2,2,3] 1", "error INVALID_ARGUMENT"},
    {"f32[2,2,3] 1; f32[3,3,3] 1", "error INVALID_ARGUMENT"},
    {0},
};

static const op_case mixed_cases[] = {
    {"f32[2,1,3,4] rand; f32[3,4,2] rand", NULL, "Tout=float", CASE_FIXED_TYPE},
    {"i32[2,2] 1 2 3 4; i32[2,2] 1 0 0 1", "i32[2,2] 1 2 3 4", "Tout=int32", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"i8[2,2] 100 2 3 4; i8[2,2] 100 0 0 1", "i32[2,2] 10000 2 300 4", "Tout=int32", CASE_FIXED_TYPE | CASE_NO_GRAD},
    {"f32[0,2,3]; f32[3,2]", "f32[0,2,2]", "Tout=float", CASE_FIXED_TYPE},
    {"f32[2,2,3] 1; f32[2,2,3] 1", "error INVALID_ARGUMENT", "Tout=float", CASE_FIXED_TYPE},
    {0},
};

static const fusion batch_fusion = {ROLE_MATMULS};

OPS(matmul) = {
    {"MatMul(a:T, b:T) -> (product:T) | transpose_a:bool=false transpose_b:bool=false "
     "T:type{bfloat16,half,float,double,int32,int64,uint8,uint16,uint32,uint64,complex64,complex128}",
     "The product of two matrices.", .infer = matmul_infer, .cpu = weft__matmul_run, .prepare = matmul_prepare,
     .unprepare = matmul_unprepare, .grad = matmul_grad, .fusion = &weft__matmul_fusion, .cases = matmul_cases,
     .amp = AMP_ALLOW},
    {"BatchMatMul(x:T, y:T) -> (output:T) | T:type{bfloat16,half,float,double,int32,int64,complex64,complex128} "
     "adj_x:bool=false adj_y:bool=false",
     "Products of the matrices in the last two dimensions.", .fusion = &batch_fusion, .infer = batch_infer_v1,
     .cpu = batch_cpu_v1, .prepare = batch_prepare, .unprepare = matmul_unprepare, .grad = batch_grad_v1,
     .cases = batch_cases, .amp = AMP_ALLOW},
    {"BatchMatMulV2(x:T, y:T) -> (output:T) | "
     "T:type{bfloat16,half,float,double,int16,int32,int64,uint8,uint16,uint32,uint64,complex64,complex128} "
     "adj_x:bool=false adj_y:bool=false",
     "Products of the matrices in the last two dimensions, the others broadcast.", .fusion = &batch_fusion,
     .infer = batch_infer_v2, .cpu = batch_cpu_v2, .prepare = batch_prepare, .unprepare = matmul_unprepare,
     .grad = batch_grad_v2, .cases = broadcast_cases, .amp = AMP_ALLOW},
    {"BatchMatMulV3(x:Ta, y:Tb) -> (output:Tout) | "
     "Ta:type{bfloat16,half,float,double,uint8,int8,int16,int32,int64,complex64,complex128} "
     "Tb:type{bfloat16,half,float,double,uint8,int8,int16,int32,int64,complex64,complex128} "
     "Tout:type{bfloat16,half,float,double,int16,int32,int64,complex64,complex128} "
     "adj_x:bool=false adj_y:bool=false",
     "Products of the matrices in the last two dimensions, the others broadcast, into a type of choice.",
     .infer = batch_infer_v2, .cpu = batch_cpu_v3, .prepare = batch_prepare, .unprepare = matmul_unprepare,
     .grad = batch_grad_v3, .cases = mixed_cases},
    {0},
};
