/* conv_cudnn.cu - convolutions by cuDNN's backend API, if cuDNN is installed and faster.
 *
 * When a convolution first runs, the engines that cuDNN's heuristic proposes are timed, and the best of them is
 * compared with im2col and a matrix product (conv.cu, conv3d.cu).  We skip engines that are not deterministic, that
 * reduce precision without permission (which includes Winograd and Fourier transforms), and that are compiled at run
 * time.
 *
 * cuDNN needs a filter as (filter, row, column, channel), but TensorFlow stores (row, column, channel, filter); filters
 * of volumes have a depth in front of the row.  So the filter is transposed before, or its gradient after.
 * WEFT_CUDNN=0 turns cuDNN off; 1 uses it wherever it can. */
#include "device/nvidia_library.cuh"
#include "kernels/conv/conv.cuh"
#include "kernels/conv/cudnn.cuh"
#include "kernels/gemm/gemm.cuh"
#include "kernels/gpu/memo.cuh"
#include "kernels/gpu/timing.cuh"
#include "kernels/gpu/transpose.cuh"

#include <pthread.h>

enum { MAX_DEVICES = 64, MAX_PLANS = 512, PROPOSALS = 64, CANDIDATES = 8, REPEATS = 2 };
enum { MAX_PARTS = 8 + 3 * PROPOSALS };
static const size_t MOST_WORKSPACE = (size_t)1 << 29;
static const double WORTH_ASKING = 1 << 24; /* the least number of multiplications for which cuDNN is tried */

typedef cudnnBackendDescriptor_t part;

static struct dnn {
  decltype(&cudnnCreate) create;
  decltype(&cudnnSetStream) use_stream;
  decltype(&cudnnBackendCreateDescriptor) make;
  decltype(&cudnnBackendDestroyDescriptor) drop;
  decltype(&cudnnBackendFinalize) finish;
  decltype(&cudnnBackendSetAttribute) set;
  decltype(&cudnnBackendGetAttribute) get;
  decltype(&cudnnBackendExecute) execute;
} dnn;
static cudnnHandle_t handles[MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool cudnn_open() {
  if (dnn.create) return true;
  dnn.use_stream = GPU_CALL(cudnn, cudnnSetStream);
  dnn.make = GPU_CALL(cudnn, cudnnBackendCreateDescriptor);
  dnn.drop = GPU_CALL(cudnn, cudnnBackendDestroyDescriptor);
  dnn.finish = GPU_CALL(cudnn, cudnnBackendFinalize);
  dnn.set = GPU_CALL(cudnn, cudnnBackendSetAttribute);
  dnn.get = GPU_CALL(cudnn, cudnnBackendGetAttribute);
  dnn.execute = GPU_CALL(cudnn, cudnnBackendExecute);
  if (dnn.use_stream && dnn.make && dnn.drop && dnn.finish && dnn.set && dnn.get && dnn.execute)
    dnn.create = GPU_CALL(cudnn, cudnnCreate);
  return dnn.create != nullptr;
}

/* What identifies a convolution; compared as bytes. */
struct conv_key {
  int64_t device, round;
  conv_shape c;
};
/* The decision for one convolution: the best engine's plan, or that im2col is at least as fast. */
struct conv_plan {
  conv_key key;
  bool known;
  part best; /* NULL: use im2col */
  int64_t workspace;
  part parts[MAX_PARTS]; /* all descriptors that were created; plans refer to the others */
  int n_parts;
};
static conv_plan plans[MAX_PLANS];

static conv_key conv_key_of(const conv_shape &c) {
  int device = 0;
  cudaGetDevice(&device);
  return {device, gpu_rounding(), c};
}

/* ---- describing a convolution: a NULL descriptor means failure, and whatever is built from it fails too ---- */

static part cudnn_create_part(conv_plan *p, cudnnBackendDescriptorType_t type) {
  part d = nullptr;
  if (p->n_parts == MAX_PARTS || dnn.make(type, &d) != CUDNN_STATUS_SUCCESS) return nullptr;
  return p->parts[p->n_parts++] = d;
}

static bool cudnn_set(part d, int name, cudnnBackendAttributeType_t type, int64_t count, const void *values) {
  return d && dnn.set(d, (cudnnBackendAttributeName_t)name, type, count, values) == CUDNN_STATUS_SUCCESS;
}
static bool cudnn_set_part(part d, int name, part value) {
  return value && cudnn_set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}
static part cudnn_finish_part(part d, bool good) { return good && dnn.finish(d) == CUDNN_STATUS_SUCCESS ? d : nullptr; }

/* Describes a tensor in cuDNN's order (images, channels, then the axes), with the channels last in memory. */
static part cudnn_describe_tensor(conv_plan *p, cudnnDataType_t type, int64_t id, int64_t n, int64_t c,
                                  const int64_t *size) {
  const int64_t axes = p->key.c.axes, alignment = 16;
  int64_t dims[5] = {n, c}, steps[5] = {0, 1}, step = c;
  for (int64_t i = axes - 1; i >= 0; i--) dims[2 + i] = size[i], steps[2 + i] = step, step *= size[i];
  steps[0] = step;
  part d = cudnn_create_part(p, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  bool good = cudnn_set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
  good = good && cudnn_set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 2 + axes, dims);
  good = good && cudnn_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 2 + axes, steps);
  good = good && cudnn_set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
  good = good && cudnn_set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
  return cudnn_finish_part(d, good);
}

static part cudnn_describe_window(conv_plan *p) {
  const conv_shape &q = p->key.c;
  const cudnnDataType_t type = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  int64_t after[3];
  for (int64_t i = 0; i < q.axes; i++) {
    const int64_t reach = (q.out[i] - 1) * q.stride[i] + (q.size[i] - 1) * q.dilation[i] + 1;
    after[i] = reach - q.in[i] - q.before[i] > 0 ? reach - q.in[i] - q.before[i] : 0;
  }
  part d = cudnn_create_part(p, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  bool good = cudnn_set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
  good = good && cudnn_set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  good = good && cudnn_set(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &q.axes);
  good = good && cudnn_set(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, q.axes, q.before);
  good = good && cudnn_set(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, q.axes, after);
  good = good && cudnn_set(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, q.axes, q.dilation);
  good = good && cudnn_set(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, q.axes, q.stride);
  return cudnn_finish_part(d, good);
}

enum { ID_FILTER = 1, ID_X, ID_Y };

/* Describes the convolution itself.  The three kinds have their attributes in the same order. */
static part cudnn_describe_conv(conv_plan *p) {
  static const struct {
    cudnnBackendDescriptorType_t type;
    int first; /* first attribute: alpha, then beta, window, filter, x, y */
  } kinds[] = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA},
  };
  const conv_shape &q = p->key.c;
  const cudnnDataType_t type = q.type == WEFT_FLOAT  ? CUDNN_DATA_FLOAT
                               : q.type == WEFT_HALF ? CUDNN_DATA_HALF
                                                     : CUDNN_DATA_BFLOAT16;
  const float one = 1, zero = 0;
  const int first = kinds[q.way].first;
  part d = cudnn_create_part(p, kinds[q.way].type);
  bool good = cudnn_set(d, first, CUDNN_TYPE_FLOAT, 1, &one) && cudnn_set(d, first + 1, CUDNN_TYPE_FLOAT, 1, &zero);
  good = good && cudnn_set_part(d, first + 2, cudnn_describe_window(p));
  good = good && cudnn_set_part(d, first + 3, cudnn_describe_tensor(p, type, ID_FILTER, q.filters, q.channels, q.size));
  good = good && cudnn_set_part(d, first + 4, cudnn_describe_tensor(p, type, ID_X, q.n, q.channels, q.in));
  good = good && cudnn_set_part(d, first + 5, cudnn_describe_tensor(p, type, ID_Y, q.n, q.filters, q.out));
  return cudnn_finish_part(d, good);
}

static part cudnn_describe_graph(conv_plan *p) {
  cudnnHandle_t handle = handles[p->key.device];
  part op = cudnn_describe_conv(p), d = cudnn_create_part(p, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  const bool good = cudnn_set(d, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  return cudnn_finish_part(d, good && cudnn_set_part(d, CUDNN_ATTR_OPERATIONGRAPH_OPS, op));
}

/* ---- engines ---- */

/* Returns true if the engine of a configuration has none of the properties that the file comment excludes. */
static bool engine_is_allowed(conv_plan *p, part config) {
  cudnnBackendNumericalNote_t number[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  cudnnBackendBehaviorNote_t behavior[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
  int64_t n = 0, numbers = 0, behaviors = 0;
  part engine = cudnn_create_part(p, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  if (!engine || dnn.get(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n, &engine) ||
      dnn.get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
              &numbers, number) ||
      dnn.get(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT,
              &behaviors, behavior))
    return false;
  const bool units = p->key.c.type != WEFT_FLOAT || p->key.round != ROUND_NOT; /* true if tensor cores may be used */
  for (int64_t i = 0; i < numbers; i++)
    if (number[i] != CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP && !(units && number[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE))
      return false;
  for (int64_t i = 0; i < behaviors; i++)
    if (behavior[i] == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) return false;
  return true;
}

/* Gets the configurations that the heuristic proposes, best first.  Returns their number. */
static int cudnn_find_configs(conv_plan *p, part *config) {
  const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
  part d = cudnn_create_part(p, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  bool good = cudnn_set_part(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, cudnn_describe_graph(p));
  good = good && cudnn_set(d, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode) && cudnn_finish_part(d, true);
  for (int i = 0; i < PROPOSALS && good; i++)
    good = (config[i] = cudnn_create_part(p, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  int64_t n = 0;
  if (!good || dnn.get(d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, PROPOSALS, &n, config))
    return 0;
  return (int)(n < PROPOSALS ? n : PROPOSALS);
}

/* Creates the plan of a configuration and finds its workspace size.  Returns NULL if it is not supported. */
static part cudnn_create_plan(conv_plan *p, part config, int64_t *workspace) {
  int64_t n = 0;
  cudnnHandle_t handle = handles[p->key.device];
  if (!engine_is_allowed(p, config)) return nullptr;
  part d = cudnn_create_part(p, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  const bool good = cudnn_set(d, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle) &&
                    cudnn_set_part(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  d = cudnn_finish_part(d, good);
  if (!d || dnn.get(d, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &n, workspace)) return nullptr;
  return *workspace <= (int64_t)MOST_WORKSPACE ? d : nullptr;
}

/* ---- running ---- */

struct room {
  void *filter, *workspace; /* filter: in cuDNN's layout */
};

static int64_t conv_window(const conv_shape &c) {
  int64_t n = c.channels;
  for (int64_t i = 0; i < c.axes; i++) n *= c.size[i];
  return n;
}

static weft_err conv_transpose_filter(kernel *k, const conv_shape &c, void *from, void *to, int64_t rows,
                                      int64_t columns) {
  if (c.type == WEFT_FLOAT)
    return gpu_transpose_matrix(k, (const uint32_t *)from, (uint32_t *)to, rows, columns, columns);
  return gpu_transpose_matrix(k, (const uint16_t *)from, (uint16_t *)to, rows, columns, columns);
}

static bool cudnn_execute(kernel *k, const conv_data &data, int64_t device, part plan, const room &r) {
  const int64_t ids[] = {ID_FILTER, ID_X, ID_Y};
  void *at[] = {r.filter, data.x, data.y}, *workspace = r.workspace;
  part pack = nullptr;
  if (dnn.use_stream(handles[device], gpu_stream(k)) != CUDNN_STATUS_SUCCESS ||
      dnn.make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack) != CUDNN_STATUS_SUCCESS)
    return false;
  bool good = cudnn_set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids);
  good = good && cudnn_set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, at);
  good = good && cudnn_set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  good = cudnn_finish_part(pack, good) && dnn.execute(handles[device], plan, pack) == CUDNN_STATUS_SUCCESS;
  dnn.drop(pack);
  return good;
}

static bool conv_run_plan(kernel *k, const conv_key &key, const conv_data &data, part plan, const room &r) {
  const conv_shape &c = key.c;
  const int64_t window = conv_window(c);
  const bool to_filter = c.way == CONV_TO_FILTER;
  if (!to_filter && conv_transpose_filter(k, c, data.filter, r.filter, window, c.filters) != WEFT_OK) return false;
  if (!cudnn_execute(k, data, key.device, plan, r)) return false;
  return !to_filter || conv_transpose_filter(k, c, r.filter, data.filter, c.filters, window) == WEFT_OK;
}

static weft_err conv_allocate(kernel *k, const conv_shape &c, int64_t workspace, room *r) {
  const int64_t elements = conv_window(c) * c.filters;
  WEFT_TRY(weft__gpu->scratch(k, (size_t)elements * gpu_size((weft_dtype)c.type), &r->filter));
  return workspace ? weft__gpu->scratch(k, (size_t)workspace, &r->workspace) : WEFT_OK;
}

/* ---- choosing ---- */

static bool cudnn_is_forced() {
  const char *wanted = getenv("WEFT_CUDNN");
  return wanted && *wanted == '1';
}

static void conv_choose_plan(kernel *k, const conv_data &data, const conv_other &other, conv_plan *p) {
  part config[PROPOSALS], plan[CANDIDATES];
  int64_t need[CANDIDATES], most = 0;
  int n = 0;
  for (int i = 0, found = cudnn_find_configs(p, config); i < found && n < CANDIDATES; i++) {
    plan[n] = cudnn_create_plan(p, config[i], &need[n]);
    if (!plan[n]) continue;
    if (need[n] > most) most = need[n];
    n++;
  }
  room r = {};
  if (n == 0 || conv_allocate(k, p->key.c, most, &r) != WEFT_OK) return;
  const bool timed = gpu_may_time(k);
  float least =
      cudnn_is_forced() || !timed ? 1e30f : time_of(k, REPEATS, [&] { return other.run(k, other.conv) == WEFT_OK; });
  for (int i = 0; i < n; i++) {
    const float ms = timed ? time_of(k, REPEATS, [&] { return conv_run_plan(k, p->key, data, plan[i], r); }) : 1e29f;
    if (ms < least) least = ms, p->best = plan[i], p->workspace = need[i];
  }
}

static void conv_plan_clear(conv_plan *p) {
  while (p->n_parts) dnn.drop(p->parts[--p->n_parts]);
  *p = conv_plan{};
}

/* Returns the decision for the convolution, and makes it if there is none yet.  The caller holds the lock. */
static conv_plan *conv_find_plan(kernel *k, const conv_shape &c, const conv_data &data, const conv_other &other) {
  const conv_key key = conv_key_of(c);
  bool hit;
  conv_plan *p = memo_find(plans, key, &hit);
  if (hit) return p;
  if (!cudnn_is_forced() && !gpu_may_time(k)) return nullptr;
  if (!handles[key.device] && dnn.create(&handles[key.device]) != CUDNN_STATUS_SUCCESS) return nullptr;
  conv_plan_clear(p);
  memcpy(&p->key, &key, sizeof key);
  conv_choose_plan(k, data, other, p);
  p->known = true;
  return p;
}

/* Returns true if we offer the convolution to cuDNN: it is large enough. */
static bool is_candidate(const conv_shape &c, const conv_data &data) {
  const char *wanted = getenv("WEFT_CUDNN");
  if ((wanted && *wanted == '0') || c.type == WEFT_DOUBLE) return false;
  if (((uintptr_t)data.x | (uintptr_t)data.y) % 16 != 0) return false;
  double products = (double)c.n * (double)conv_window(c) * (double)c.filters;
  for (int64_t i = 0; i < c.axes; i++) products *= (double)c.out[i];
  return cudnn_is_forced() || products >= WORTH_ASKING;
}

weft_err gpu_cudnn_conv(kernel *k, const conv_shape &c, const conv_data &data, const conv_other &other, bool *done) {
  *done = false;
  if (!is_candidate(c, data)) return WEFT_OK;
  pthread_mutex_lock(&lock);
  conv_plan *p = cudnn_open() ? conv_find_plan(k, c, data, other) : nullptr;
  room r = {};
  weft_err err = WEFT_OK;
  if (p && p->best) {
    err = conv_allocate(k, c, p->workspace, &r);
    *done = err == WEFT_OK && conv_run_plan(k, p->key, data, p->best, r);
    if (!*done) p->best = nullptr;
  }
  pthread_mutex_unlock(&lock);
  return err;
}
