/* formula.cu - writes the source of a formula's kernel, compiles it once and launches it.
 *
 * A thread computes four elements, or one if tensors are small or not aligned.  Where steps work on whole rows, the
 * threads of a row are in one block and exchange their sums.  Shapes are constants of the source, so that layers with
 * equal shapes share a kernel.  A value is xored with a zero that the compiler does not know after each step: otherwise
 * it would fuse a product and a sum of two steps, and the last bit would differ from that of the kernels that
 * interpret. */
#include "kernels/elementwise/formula.cuh"
#include "device/nvidia_library.cuh"
#include "kernels/gpu/timing.cuh"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_ROOM = 32 << 10, MAX_FORMULAS = 1024 };

/* ---- the source ---- */

struct writer {
  char *at;
  size_t left;
  bool full;
};

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const int n = vsnprintf(w->at, w->left, fmt, args);
  va_end(args);
  w->full = w->full || n < 0 || (size_t)n >= w->left;
  if (w->full) return;
  w->at += n;
  w->left -= (size_t)n;
}

struct function_text {
  const char *name, *parameters, *expression;
};
#undef UNARY
#undef BINARY
#define UNARY(name, expr) {#name, "A x", #expr},
#define BINARY(name, expr) {#name, "A x, A y", #expr},
static const function_text functions[] = {
#include "kernels/elementwise/functions.inc"
};

/* How elements are stored (S) and computed (A).  The headers of 16-bit floats are not at hand at run time, so they are
 * converted by instructions. */
static const char *storage_text(weft_dtype t) {
  switch (t) {
  case WEFT_FLOAT:
    return "typedef float A, S;\n#define TO(u) (u)\n#define FROM(x) (x)\n#define KEEP(x) "
           "__uint_as_float(__float_as_uint(x) ^ p.zero)\n";
  case WEFT_DOUBLE:
    return "typedef double A, S;\n#define TO(u) (u)\n#define FROM(x) (x)\n#define KEEP(x) "
           "__longlong_as_double(__double_as_longlong(x) ^ p.zero)\n";
  case WEFT_HALF:
    return "typedef float A; typedef unsigned short S;\n#define KEEP(x) __uint_as_float(__float_as_uint(x) ^ p.zero)\n"
           "__device__ A TO(S u) { A x; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(u)); return x; }\n"
           "__device__ S FROM(A x) { S u; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(u) : \"f\"(x)); return u; }\n";
  case WEFT_BFLOAT16:
    return "typedef float A; typedef unsigned short S;\n#define KEEP(x) __uint_as_float(__float_as_uint(x) ^ p.zero)\n"
           "__device__ A TO(S u) { return __uint_as_float((unsigned)u << 16); }\n"
           "__device__ S FROM(A x) { S u; asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(u) : \"f\"(x)); return u; }\n";
  default: return nullptr;
  }
}

static void put_functions(writer *w, const formula &f) {
  put(w, "__device__ A quotient_of(A x, A y) { return x / y; }\n"
         "__device__ A power_of(A x, A y) { return y == 2 ? x * x : y == 3 ? x * x * x : pow(x, y); }\n");
  put(w, "__device__ A f_choose(A c, A x, A y) { return c != 0 ? x : y; }\n");
  for (const function_text &t : functions) {
    bool used = false;
    for (int s = 0; s < f.n_step; s++) used = used || (f.function[s] && strcmp(f.function[s], t.name) == 0);
    if (used) put(w, "__device__ A f_%s(%s) { return (A)(%s); }\n", t.name, t.parameters, t.expression);
  }
}

/* Writes the expression of the offset of element i. */
static void put_offset(writer *w, const formula_view &v) {
  if (v.rank == 0) put(w, "0");
  if (v.rank == 1) put(w, v.step[0] ? "i" : "0");
  if (v.rank < 2) return;
  int64_t inner = 1;
  for (int d = v.rank - 1; d >= 0; inner *= v.dim[d], d--)
    if (v.step[d])
      put(w, "+ (i / %lldu %% %lldu) * %lldu", (long long)inner, (long long)v.dim[d], (long long)v.step[d]);
  put(w, "+ 0u");
}

static bool is_held(const formula_view &v) { return v.rank == 0 || v.step[v.rank - 1] == 0; }

static void put_operand(writer *w, int arg) { put(w, arg < 0 ? "t%d.v[j]" : "x%d.v[j]", arg < 0 ? -1 - arg : arg); }

/* ---- rows ---- */

/* How the threads of a block share rows: a row has `threads` of them, of which `packs` have a pack. */
struct row_split {
  int packs, threads, rows;
};
static row_split split_rows(const formula &f) {
  row_split r = {(int)(f.row / EACH_PACK), 1, 1};
  while (r.threads < r.packs && r.threads < 32) r.threads *= 2;
  if (r.packs > 32) r.threads = (r.packs + 31) / 32 * 32;
  if (r.threads < GPU_THREADS) r.rows = GPU_THREADS / r.threads;
  return r;
}

static int row_steps(const formula &f) {
  int n = 0;
  for (int s = 0; s < f.n_step; s++) n += gpu_is_row_step(f.step[s]);
  return n;
}

/* Writes the functions that combine a number of each thread of a row.  Each call has its own shared memory, so that
 * none waits for the readers of the one before. */
static void put_row_functions(writer *w, const row_split &r) {
  static const char *const function[][2] = {{"row_sum", "a + b"}, {"row_max", "a < b || b != b ? b : a"}};
  for (const auto &name : function) {
    put(w, "__device__ A %s_of(A a, A b) { return %s; }\n__device__ A %s(A a, A *part) {\n", name[0], name[1], name[0]);
    put(w, "  for (int by = %d; by > 0; by /= 2) a = %s_of(a, __shfl_xor_sync(~0u, a, by));\n",
        (r.threads < 32 ? r.threads : 32) / 2, name[0]);
    if (r.threads > 32) {
      put(w, "  if (threadIdx.x %% 32 == 0) part[threadIdx.x / 32] = a;\n  __syncthreads();\n");
      put(w, "  const A *mine = part + threadIdx.x / %d * %d;\n  a = mine[0];\n", r.threads, r.threads / 32);
      put(w, "  for (int i = 1; i < %d; i++) a = %s_of(a, mine[i]);\n", r.threads / 32, name[0]);
    }
    put(w, "  return a;\n}\n");
  }
}

/* Writes what a thread computes first: its row, whether it has a pack of it, and the number of the pack's first
 * element. */
static void put_row_place(writer *w, const formula &f, const row_split &r) {
  const int parts = 2 * row_steps(f); /* none if the only row-wise work is to write one number per row */
  put(w, "  __shared__ A part[%d][%d];\n", parts ? parts : 1, r.rows * r.threads / 32 + 1);
  put(w, "  const unsigned lane = threadIdx.x %% %du, row = blockIdx.x * %du + threadIdx.x / %du;\n",
      (unsigned)r.threads, (unsigned)r.rows, (unsigned)r.threads);
  put(w, "  const bool on = lane < %du && row < %lldu;\n", (unsigned)r.packs, (long long)(f.n / f.row));
  put(w, "  const unsigned i = on ? row * %lldu + lane * 4u : 0;\n", (long long)f.row);
}

/* Writes a step that works on a row; `at` counts the shared memory that is taken. */
static void put_row_step(writer *w, const formula &f, int s, int *at) {
  const int arg = f.step[s].arg[0], function = f.step[s].function;
  const char *kind = arg < 0 ? "t" : "x";
  const int of = arg < 0 ? -1 - arg : arg;
  put(w, "  V t%d; {\n", s);
  if (function == GPU_ROW_SOFTMAX) {
    put(w, "    A m = %s%d.v[0]; EACH m = row_max_of(m, %s%d.v[j]);\n", kind, of, kind, of);
    put(w, "    m = row_max(on ? m : -(A)__int_as_float(0x7f800000), part[%d]);\n", (*at)++);
    put(w, "    EACH t%d.v[j] = exp(%s%d.v[j] - m);\n", s, kind, of);
    kind = "t";
  }
  const int sum = function == GPU_ROW_SOFTMAX ? s : of;
  put(w, "    A a = on ? (%s%d.v[0] + %s%d.v[1]) + (%s%d.v[2] + %s%d.v[3]) : (A)0; a = row_sum(a, part[%d]);\n", kind,
      sum, kind, sum, kind, sum, kind, sum, (*at)++);
  if (function == GPU_ROW_MEAN) put(w, "    a = a / (A)%lld;\n", (long long)f.row);
  if (function == GPU_ROW_SOFTMAX)
    put(w, "    a = 1 / a; EACH { A z = t%d.v[j] * a; t%d.v[j] = KEEP(z); }\n  }\n", s, s);
  else
    put(w, "    EACH t%d.v[j] = KEEP(a);\n  }\n", s);
}

static void put_operand_of(writer *w, int arg, int j) {
  put(w, arg < 0 ? "t%d.v[%d]" : "x%d.v[%d]", arg < 0 ? -1 - arg : arg, j);
}

static void put_step(writer *w, const formula &f, int s) {
  put(w, "  V t%d; EACH { A z = f_%s(", s, f.function[s]);
  put_operand(w, f.step[s].arg[0]);
  for (int i = 1; i < f.step[s].n_in; i++) put(w, ", "), put_operand(w, f.step[s].arg[i]);
  put(w, "); z = KEEP(z); t%d.v[j] = %s; }\n", s, f.rounds ? "TO(FROM(z))" : "z");
}

/* Writes how a thread reads its elements of a view: as S, as a pack of them, or as bools. */
static void put_load(writer *w, const formula_view &v, int i) {
  const bool held = is_held(v);
  const bool is_bool = v.kind == VIEW_BOOL;
  const char *type = is_bool ? (held ? "unsigned char" : "B") : held ? "S" : "Q";
  put(w, "  const %s q%d = *(const %s *)((const %s *)p.in[%d] + (", type, i, type, is_bool ? "unsigned char" : "S", i);
  put_offset(w, v);
  put(w, "));\n");
}

static void put_input(writer *w, const formula_view &v, int i) {
  put(w, "  V x%d; EACH x%d.v[j] = ", i, i);
  if (v.kind == VIEW_BOOL)
    put(w, is_held(v) ? "q%d != 0;\n" : "(q%d >> 8 * j & 255u) != 0;\n", i);
  else
    put(w, is_held(v) ? "TO(q%d);\n" : "TO(q%d.v[j]);\n", i);
}

static void put_store(writer *w, const formula &f, int i) {
  static const char *const before[] = {"  { Q q; EACH q.v[j] = FROM(", "  { unsigned q = 0; EACH q |= (unsigned)(",
                                       "  { H q; EACH q.v[j] = brain((float)("};
  static const char *const after[] = {"); *(Q *)((S *)p.out[%d] + (",
                                      " != 0) << 8 * j; *(B *)((unsigned char *)p.out[%d] + (",
                                      ")); *(H *)((unsigned short *)p.out[%d] + ("};
  if (f.row && is_held(f.out[i])) { /* one number per row */
    const bool is_bool = f.out[i].kind == VIEW_BOOL;
    put(w, "  if (on && lane == 0) ((%s *)p.out[%d])[", is_bool ? "unsigned char" : "S", i);
    put_offset(w, f.out[i]);
    put(w, "] = %s(", is_bool ? "0 != " : "FROM");
    put_operand_of(w, f.result[i], 0);
    put(w, ");\n");
    return;
  }
  if (f.row) put(w, "  if (on)");
  put(w, "%s", before[f.out[i].kind]);
  put_operand(w, f.result[i]);
  put(w, after[f.out[i].kind], i);
  put_offset(w, f.out[i]);
  put(w, ")) = q; }\n");
}

/* Writes what results that are rounded to bfloat16 need. */
static void put_rounding(writer *w, const formula &f) {
  bool used = false;
  for (int i = 0; i < f.n_out; i++) used = used || f.out[i].kind == VIEW_BF16;
  if (used)
    put(w, "struct alignas(2 * N) H { unsigned short v[N]; };\n__device__ unsigned short brain(float x) { unsigned "
           "short u; "
           "asm(\"cvt.rn.bf16.f32 %%0, %%1;\" : \"=h\"(u) : \"f\"(x)); return u; }\n");
}

/* Returns the threads of a block if no step works on rows.  Blocks of small tensors are small, so that there are enough
 * of them. */
static int plain_threads(const formula &f) { return f.n < FORMULA_LEAST ? 64 : (int)GPU_THREADS; }

bool gpu_formula_source(const formula &f, char *text, size_t room) {
  writer w = {text, room, false};
  const char *storage = storage_text(f.type);
  if (!storage) return false;
  put(&w, "%s#define EACH _Pragma(\"unroll\") for (int j = 0; j < N; j++)\n", storage);
  put(&w, "enum { N = %d }; typedef unsigned %s B;\n", f.pack, f.pack == 1 ? "char" : "int");
  put(&w, "struct V { A v[N]; }; struct alignas(N * sizeof(S) > 16 ? 16 : N * sizeof(S)) Q { S v[N]; };\n");
  put(&w, "struct P { const S *in[%d]; S *out[%d]; unsigned zero; };\n", f.n_in, f.n_out);
  put_functions(&w, f);
  put_rounding(&w, f);
  const row_split r = split_rows(f);
  if (f.row) put_row_functions(&w, r);
  put(&w, "extern \"C\" __global__ void __launch_bounds__(%d) formula(const __grid_constant__ P p) {\n",
      f.row ? r.rows * r.threads : plain_threads(f));
  if (f.row)
    put_row_place(&w, f, r);
  else
    put(&w, "  const unsigned i = (blockIdx.x * %du + threadIdx.x) * N;\n  if (i >= %lldu) return;\n",
        (unsigned)plain_threads(f), (long long)f.n);
  for (int v = 0; v < f.n_in; v++) put_load(&w, f.in[v], v); /* all are requested before the first is needed */
  for (int v = 0; v < f.n_in; v++) put_input(&w, f.in[v], v);
  for (int s = 0, shared = 0; s < f.n_step; s++)
    if (gpu_is_row_step(f.step[s]))
      put_row_step(&w, f, s, &shared);
    else
      put_step(&w, f, s);
  for (int v = 0; v < f.n_out; v++) put_store(&w, f, v);
  put(&w, "}\n");
  return !w.full;
}

/* ---- compiling ---- */

struct compiler { /* the functions of NVRTC that are used here */
  int (*create)(void **program, const char *source, const char *name, int n, const char *const *, const char *const *);
  int (*compile)(void *program, int n, const char *const *options);
  int (*size)(void *program, size_t *size);
  int (*code)(void *program, char *code);
  int (*destroy)(void **program);
};

static bool open_compiler(compiler *c) {
  *(void **)&c->create = gpu_symbol("nvrtc", "nvrtcCreateProgram", nullptr);
  *(void **)&c->compile = gpu_symbol("nvrtc", "nvrtcCompileProgram", nullptr);
  *(void **)&c->size = gpu_symbol("nvrtc", "nvrtcGetCUBINSize", nullptr);
  *(void **)&c->code = gpu_symbol("nvrtc", "nvrtcGetCUBIN", nullptr);
  *(void **)&c->destroy = gpu_symbol("nvrtc", "nvrtcDestroyProgram", nullptr);
  return c->create && c->compile && c->size && c->code && c->destroy;
}

bool gpu_formula_compiles() {
  const char *wanted = getenv("WEFT_GPU_COMPILE");
  compiler c;
  return !(wanted && *wanted == '0') && CUDART_VERSION >= 12080 && open_compiler(&c);
}

struct entry {
  char *source;
  int device;
  const void *kernel; /* NULL: it cannot be compiled */
  uint64_t hash;      /* of `last` */
  formula last;       /* the one that was run last, without addresses; its source need not be written again */
};
static entry *entries[MAX_FORMULAS];
static int n_entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const void *load_kernel(const char *code) {
#if CUDART_VERSION >= 12080
  cudaLibrary_t library; /* stays loaded, as the entry does */
  cudaKernel_t found;
  if (cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0) != cudaSuccess) return nullptr;
  return cudaLibraryGetKernel(&found, library, "formula") == cudaSuccess ? (const void *)found : nullptr;
#else
  return code ? nullptr : nullptr;
#endif
}

/* Returns NULL if the source cannot be compiled: the caller then interprets the steps. */
static const void *formula_compile(const char *source, int device) {
  compiler c;
  void *program = nullptr;
  char architecture[48];
  int major = 0, minor = 0;
  size_t size = 0;
  if (!open_compiler(&c)) return nullptr;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", major, minor);
  const char *const options[] = {architecture, "--std=c++17"};
  char *code = nullptr;
  if (c.create(&program, source, "formula.cu", 0, nullptr, nullptr) == 0 && c.compile(program, 2, options) == 0 &&
      c.size(program, &size) == 0 && (code = (char *)malloc(size)) != nullptr && c.code(program, code) != 0)
    size = 0;
  if (program) c.destroy(&program);
  const void *kernel = code && size ? load_kernel(code) : nullptr;
  free(code);
  cudaGetLastError(); /* a kernel that cannot be loaded is no error of the next launch */
  return kernel;
}

/* Returns the entry of the source, which is compiled if it is new and that is possible now; else NULL. */
static entry *find_source(const kernel *k, const char *source, int device) {
  int i = 0;
  while (i < n_entries && (entries[i]->device != device || strcmp(entries[i]->source, source) != 0)) i++;
  if (i < n_entries) return entries[i];
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(gpu_stream(k), &capturing);
  if (capturing != cudaStreamCaptureStatusNone || i == MAX_FORMULAS) return nullptr;
  entry *e = (entry *)calloc(1, sizeof *e);
  char *copy = e ? strdup(source) : nullptr;
  if (!copy) {
    free(e);
    return nullptr;
  }
  e->source = copy, e->device = device, e->kernel = formula_compile(source, device);
  return entries[n_entries++] = e;
}

static uint64_t hash_of(const formula &f) {
  uint64_t h = 14695981039346656037u, word;
  for (size_t i = 0; i + sizeof word <= sizeof f; i += sizeof word) {
    memcpy(&word, (const char *)&f + i, sizeof word);
    h = (h ^ word) * 1099511628211u;
  }
  return h;
}

/* Returns the kernel of the formula, or NULL.  The caller holds the lock. */
static const void *find_kernel(const kernel *k, const formula &f) {
  static char source[SOURCE_ROOM];
  static formula plain;
  int device = 0;
  cudaGetDevice(&device);
  memcpy(&plain, &f, sizeof plain);
  for (int i = 0; i < f.n_in; i++) plain.in[i].at = nullptr;
  for (int i = 0; i < f.n_out; i++) plain.out[i].at = nullptr;
  const uint64_t hash = hash_of(plain);
  for (int i = 0; i < n_entries; i++)
    if (entries[i]->hash == hash && entries[i]->device == device &&
        memcmp(&entries[i]->last, &plain, sizeof plain) == 0)
      return entries[i]->kernel;
  entry *e = gpu_formula_source(f, source, sizeof source) ? find_source(k, source, device) : nullptr;
  if (!e) return nullptr;
  memcpy(&e->last, &plain, sizeof plain);
  e->hash = hash;
  return e->kernel;
}

/* ---- running ---- */

/* Returns true if every pack of four elements is one, or is adjacent and aligned in memory. */
static bool has_packs(const formula_view &v, weft_dtype type) {
  const size_t size = gpu_view_size(v.kind, gpu_size(type)) * EACH_PACK;
  if (v.rank == 0) return true;
  const int in = v.rank - 1;
  if (v.dim[in] % EACH_PACK) return false;
  if (v.step[in] == 0) return true;
  for (int d = 0; d < in; d++)
    if (v.step[d] % EACH_PACK) return false;
  return v.step[in] == 1 && (uintptr_t)v.at % (size > 16 ? 16 : size) == 0;
}

static bool is_worth_compiling(const formula &f) {
  if (f.n > INT32_MAX || f.row % EACH_PACK || f.row > 1024 * EACH_PACK) return false;
  return (f.n >= FORMULA_LEAST || (f.n_step >= FORMULA_STEPS && !f.row)) && gpu_formula_compiles();
}

/* Returns how many elements a thread computes; 0: there is no such kernel. */
static int pack_of(const formula &f) {
  bool packs = f.n >= FORMULA_LEAST && f.n % EACH_PACK == 0;
  for (int i = 0; i < f.n_in && packs; i++) packs = has_packs(f.in[i], f.type);
  for (int i = 0; i < f.n_out && packs; i++) packs = has_packs(f.out[i], f.type);
  return packs ? (int)EACH_PACK : f.row ? 0 : 1;
}

weft_err gpu_formula_run(kernel *k, formula &f, bool *done) {
  *done = false;
  if (!is_worth_compiling(f) || (f.pack = pack_of(f)) == 0) return WEFT_OK;
  pthread_mutex_lock(&lock);
  const void *found = find_kernel(k, f);
  pthread_mutex_unlock(&lock);
  if (!found) return WEFT_OK;
  /* The fields of the kernel's P, one after the other; the last one is the zero. */
  void *address[GPU_GROUP_IN + GPU_GROUP_OUT + 1] = {nullptr}, *args[] = {address};
  for (int i = 0; i < f.n_in; i++) address[i] = f.in[i].at;
  for (int i = 0; i < f.n_out; i++) address[f.n_in + i] = f.out[i].at;
  const row_split r = split_rows(f);
  const unsigned threads = (unsigned)(f.row ? r.rows * r.threads : plain_threads(f));
  const int64_t each = f.row ? f.row * r.rows : (int64_t)threads * f.pack;
  cudaLaunchKernel(found, dim3((unsigned)((f.n + each - 1) / each)), dim3(threads), args, 0, gpu_stream(k));
  *done = true;
  return gpu_launched(k);
}
