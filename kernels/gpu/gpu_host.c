/* gpu_host.c - the functions of libweft that kernels of the CUDA plug-in call.
 *
 * The plug-in is C++ and does not see libweft's structs; these functions are the whole interface. */
#include "kernels/gpu/gpu_host.h"

#include "base/alloc.h"
#include "kernels/training/apply.h"
#include "kernels/random/philox.h"
#include "kernels/conv/volume.h"
#include "state/variable.h"
#include <limits.h>
#include <string.h>

struct scratch {
  struct scratch *next;
  buffer *memory;
};

static void gpu_show(const weft_tensor *t, gpu_tensor *out) {
  *out = (gpu_tensor){t->dtype, t->shape, weft__tensor_count(t), t->data};
}

/* ---- queries ---- */

static int host_n_in(const kernel *k) { return k->n_in; }
static int host_n_out(const kernel *k) { return k->n_out; }
static const char *host_op_name(const kernel *k) { return k->node->op_name; }
static void host_in(const kernel *k, int i, gpu_tensor *t) { gpu_show(k->in[i], t); }
static weft_dtype host_out_type(const kernel *k, int i) { return weft__dtype_base(k->node->out_type[i]); }
static void *host_stream(const kernel *k) { return weft__device_stream(k->device); }

static int64_t host_attr_int(const kernel *k, const char *name, int64_t fallback) {
  return weft__node_int(k->node, name, fallback);
}
static float host_attr_float(const kernel *k, const char *name, float fallback) {
  return weft__node_float(k->node, name, fallback);
}
static bool host_attr_bool(const kernel *k, const char *name, bool fallback) {
  return weft__node_bool(k->node, name, fallback);
}
static weft_dtype host_attr_type(const kernel *k, const char *name) { return weft__node_type(k->node, name); }

static int host_attr_ints(const kernel *k, const char *name, int64_t *out, int room) {
  const attr *a = weft__node_attr(k->node, name);
  if (!a || a->kind != ATTR_INT || !a->is_list) return 0;
  for (int i = 0; i < a->n && i < room; i++) out[i] = a->is[i];
  return a->n;
}

static bool host_attr_is(const kernel *k, const char *name, const char *text) {
  return weft__node_str_is(k->node, name, text);
}

static const char *host_attr_text(const kernel *k, const char *name) { return weft__node_str(k->node, name).data; }

/* ---- outputs and memory ---- */

static weft_err gpu_made(const weft_tensor *t, const shape *s, gpu_tensor *out) {
  if (!t) return weft__out_refused(s);
  gpu_show(t, out);
  return WEFT_OK;
}

static weft_err host_out(kernel *k, int i, const shape *s, gpu_tensor *t) { return gpu_made(weft__out(k, i, s), s, t); }

static weft_err host_out_over(kernel *k, int i, int from, const shape *s, gpu_tensor *t) {
  return gpu_made(weft__out_over(k, i, from, s), s, t);
}

weft_err weft__gpu_scratch(kernel *k, size_t bytes, void **out) {
  struct scratch *s = weft__alloc_zero(1, sizeof *s);
  if (!s) return WEFT_OOM;
  memory_space *m = &k->device->memory;
  weft_err err = m->alloc(m, &s->memory, WEFT_UINT8, (int64_t)(bytes ? bytes : 1));
  if (err != WEFT_OK) {
    weft__free(s);
    return err;
  }
  s->next = k->scratch;
  k->scratch = s;
  *out = s->memory->data;
  return WEFT_OK;
}

void weft__gpu_scratch_release(struct scratch **list) {
  while (*list) {
    struct scratch *s = *list;
    *list = s->next;
    weft__buffer_release(s->memory);
    weft__free(s);
  }
}

void weft__gpu_scratch_move(struct scratch **from, struct scratch **to) {
  while (*from) {
    struct scratch *s = *from;
    *from = s->next;
    s->next = *to;
    *to = s;
  }
}

/* Memory that outlives a step, such as the generator of a random node: a resource of the session, named after the
 * node. */
typedef struct kept {
  resource base;
  buffer *memory;
} kept;

static void kept_destroy(object *o) {
  kept *r = (kept *)o;
  weft__buffer_release(r->memory);
  weft__free(r);
}

typedef struct kept_wish {
  kernel *k;
  size_t bytes;
} kept_wish;

static weft_err kept_make(resource **out, void *arg) {
  const kept_wish *wish = arg;
  weft_tensor zeros = {0}, there = {0};
  kept *r = weft__alloc_zero(1, sizeof *r);
  if (!r) return WEFT_OOM;
  const shape s = SHAPE1((int64_t)wish->bytes);
  device *d = wish->k->device;
  weft_err err = weft__tensor_init(&zeros, WEFT_UINT8, &s);
  if (err == WEFT_OK) err = d->memory.alloc(&d->memory, &r->memory, WEFT_UINT8, (int64_t)wish->bytes);
  if (err == WEFT_OK) {
    memset(zeros.data, 0, wish->bytes);
    there = (weft_tensor){.dtype = WEFT_UINT8, .shape = s, .buf = r->memory, .data = r->memory->data};
    err = d->ops->copy_in(d, &there, &zeros);
  }
  if (err == WEFT_OK) err = d->ops->sync(d);
  weft__tensor_clear(&zeros);
  if (err != WEFT_OK) {
    weft__buffer_release(r->memory);
    weft__free(r);
    return err;
  }
  atomic_init(&r->base.base.refs, 1);
  r->base.base.destroy = kept_destroy;
  r->base.type = "gpu_kept";
  *out = &r->base;
  return WEFT_OK;
}

static weft_err host_kept(kernel *k, size_t bytes, void **out) {
  kept_wish wish = {k, bytes};
  char *container = NULL, *name = NULL;
  resource *found = NULL;
  weft_err err = weft__resource_name(k, true, &container, &name);
  if (err == WEFT_OK)
    err = weft__resource_get(k->step->resources, container, "gpu_kept", name, kept_make, &wish, &found);
  weft__free(container);
  weft__free(name);
  if (err != WEFT_OK) return err;
  *out = ((kept *)found)->memory->data;
  weft__object_release(&found->base); /* the table holds a reference as long as the session exists */
  return WEFT_OK;
}

static weft_err host_seeds(const kernel *k, uint32_t key[2], uint32_t counter[4]) {
  philox p;
  WEFT_TRY(weft__random_take(k, 0, &p));
  memcpy(key, p.key, sizeof p.key);
  memcpy(counter, p.counter, sizeof p.counter);
  return WEFT_OK;
}

/* ---- variables ---- */

enum { MAX_VARIABLES = 8 };

static int gpu_variables(kernel *k, int n, const int *args, variable **v) {
  int found = 0;
  for (int i = 0; i < n && i < MAX_VARIABLES; i++)
    if (weft__kernel_variable(k, args[i], &v[found]) == WEFT_OK) found++;
  return found;
}

static void host_lock(kernel *k, int n, const int *args) {
  variable *v[MAX_VARIABLES];
  n = gpu_variables(k, n, args, v);
  weft__variable_lock(n, v);
}

static void host_unlock(kernel *k, int n, const int *args) {
  variable *v[MAX_VARIABLES];
  n = gpu_variables(k, n, args, v);
  weft__variable_unlock(n, v);
}

static weft_err host_writable(kernel *k, int arg, gpu_tensor *out) {
  variable *v = NULL;
  weft_tensor *now;
  WEFT_TRY(weft__kernel_variable(k, arg, &v));
  if (!v->value.buf) return weft__variable_fail_uninitialized(k, v);
  WEFT_TRY(weft__variable_writable(v, &now));
  gpu_show(now, out);
  return WEFT_OK;
}

static weft_err host_readable(kernel *k, int arg, gpu_tensor *out) {
  variable *v = NULL;
  WEFT_TRY(weft__kernel_variable(k, arg, &v));
  if (!v->value.buf) return weft__variable_fail_uninitialized(k, v);
  gpu_show(&v->value, out);
  return WEFT_OK;
}

static void host_out_ref(kernel *k, int i, int arg) { weft__out_ref(k, i, k->ref[arg]); }

/* ---- windows and strided copies ---- */

static weft_err host_window(const kernel *k, const int64_t in[2], const int64_t size[2], gpu_window *out) {
  window w;
  WEFT_TRY(weft__kernel_in(k, weft__window_read(&w, k->node)));
  out->channels_second = w.channels_second;
  for (int i = 0; i < 2; i++) {
    window_axis *a = &w.at[i];
    a->in = in[i];
    if (size) a->size = size[i];
    WEFT_TRY(weft__kernel_in(k, weft__window_place(a, w.padding)));
    out->size[i] = a->size, out->stride[i] = a->stride, out->dilation[i] = a->dilation;
    out->in[i] = a->in, out->out[i] = a->out, out->before[i] = a->before;
  }
  return WEFT_OK;
}

static weft_err host_volume(const kernel *k, const shape *in, const shape *filter, gpu_volume_window *out) {
  volume_window w;
  volume v = {.batch = 0};
  WEFT_TRY(weft__kernel_in(k, weft__volume_window_read(&w, k->node)));
  WEFT_TRY(filter ? weft__volume_conv(k, &w, in, filter, &v) : weft__volume_pool(k, &w, in, v.at));
  out->channels_second = w.channels_second;
  for (int i = 0; i < 3; i++) {
    const window_axis *a = &v.at[i];
    out->size[i] = a->size, out->stride[i] = a->stride, out->dilation[i] = a->dilation;
    out->in[i] = a->in, out->out[i] = a->out, out->before[i] = a->before;
  }
  return WEFT_OK;
}

static _Atomic(gpu_mover *) mover;

static void host_use_mover(gpu_mover *move) { atomic_store(&mover, move); }

gpu_mover *weft__gpu_mover(void) { return atomic_load(&mover); }

static weft_err host_run_cpu(kernel *k) { return k->op->cpu(k); }

static _Atomic(gpu_adder *) adder;

static void host_use_adder(gpu_adder *add) { atomic_store(&adder, add); }

gpu_adder *weft__gpu_adder(void) { return atomic_load(&adder); }

static _Atomic(const gpu_products *) products;

static void host_use_products(const gpu_products *p) { atomic_store(&products, p); }

const gpu_products *weft__gpu_products(void) { return atomic_load(&products); }

static _Atomic(const gpu_chains *) chains;

static void host_use_chains(const gpu_chains *c) { atomic_store(&chains, c); }

const gpu_chains *weft__gpu_chains(void) { return atomic_load(&chains); }

static const gpu_chain *host_chain(const kernel *k) { return k->state; }

static const gpu_group *host_group(const kernel *k) { return k->state; }

static weft_err host_fail(const kernel *k, weft_err code, const char *message) {
  return weft__kernel_fail(k, code, "%s", message);
}

const gpu_host *weft__gpu_host(void) {
  static const gpu_host host = {
      .n_in = host_n_in,
      .n_out = host_n_out,
      .op_name = host_op_name,
      .in = host_in,
      .out_type = host_out_type,
      .stream = host_stream,
      .attr_int = host_attr_int,
      .attr_float = host_attr_float,
      .attr_bool = host_attr_bool,
      .attr_type = host_attr_type,
      .attr_ints = host_attr_ints,
      .attr_is = host_attr_is,
      .attr_text = host_attr_text,
      .out = host_out,
      .out_over = host_out_over,
      .forward = weft__forward,
      .scratch = weft__gpu_scratch,
      .kept = host_kept,
      .seeds = host_seeds,
      .lock = host_lock,
      .unlock = host_unlock,
      .writable = host_writable,
      .readable = host_readable,
      .roles = weft__apply_roles,
      .out_ref = host_out_ref,
      .window = host_window,
      .volume = host_volume,
      .use_mover = host_use_mover,
      .run_cpu = host_run_cpu,
      .use_adder = host_use_adder,
      .use_products = host_use_products,
      .use_chains = host_use_chains,
      .chain = host_chain,
      .group = host_group,
      .fail = host_fail,
  };
  return &host;
}

/* ---- for executors ---- */

/* Returns true if `arg` is one of the words of `list`.  "arg?" means: if it is int32 or bool (counters, predicates). */
static bool gpu_listed(const char *list, const char *arg, weft_dtype type) {
  const size_t n = strlen(arg);
  const bool counter = type == WEFT_INT32 || type == WEFT_BOOL;
  for (const char *at = list; at && *at;) {
    const size_t word = strcspn(at, " ");
    const bool named = !strncmp(at, arg, n) && (word == n || (word == n + 1 && at[n] == '?' && counter));
    if (named || (word == 1 && *at == '*')) return true;
    at += word + (at[word] == ' ');
  }
  return false;
}

typedef weft_err range_fn(const weft_node *n, const char *arg, int *first, int *count);

/* Returns the name of the argument that flat input (output) i belongs to, or NULL if there is none. */
static const char *arg_of(const weft_node *n, const arg_def *args, int n_arg, range_fn *range, int i) {
  for (int a = 0; a < n_arg; a++) {
    int first = 0, count = 0;
    if (range(n, args[a].name, &first, &count) == WEFT_OK && i >= first && i < first + count) return args[a].name;
  }
  return NULL;
}

static bool listed_in(const gpu_kernel *g, const weft_node *node, int i) {
  const opdef *d = &node->op->opdef;
  const char *arg = g->host ? arg_of(node, d->in, d->n_in, weft__node_in_range, i) : NULL;
  return arg && gpu_listed(g->host, arg, weft__out_type(node->graph, node->in[i]));
}

static bool listed_out(const gpu_kernel *g, const weft_node *node, int i) {
  const opdef *d = &node->op->opdef;
  const char *arg = g->host ? arg_of(node, d->out, d->n_out, weft__node_out_range, i) : NULL;
  return arg && gpu_listed(g->host, arg, weft__dtype_base(node->out_type[i]));
}

bool weft__gpu_host_in(const gpu_kernel *g, const weft_node *node, int i) {
  return !weft__dtype_is_plain(weft__out_type(node->graph, node->in[i])) || listed_in(g, node, i);
}

bool weft__gpu_host_out(const gpu_kernel *g, const weft_node *node, int i) {
  return !weft__dtype_is_plain(weft__dtype_base(node->out_type[i])) || listed_out(g, node, i);
}

/* Returns true if the kernel can take this type.  Strings are always in host memory, where a GPU kernel cannot read
 * them. */
static bool gpu_takes(const gpu_kernel *g, weft_dtype t, bool on_host) {
  if (on_host || t == WEFT_RESOURCE || t == WEFT_VARIANT) return true;
  return t == WEFT_STRING ? !g->run : (g->types & GPU_TYPE(t)) != 0;
}

bool weft__gpu_serves(const gpu_kernel *g, const weft_node *node) {
  /* Executors mark only the first arguments as being in host memory, unless all are. */
  const bool all = !g->run && g->host && strcmp(g->host, "*") == 0;
  for (int i = 0; i < node->n_in; i++) {
    const bool on_host = listed_in(g, node, i);
    if (!gpu_takes(g, weft__out_type(node->graph, node->in[i]), on_host)) return false;
    if (on_host && !all && !weft__gpu_host_bit(node->n_in, i)) return false;
  }
  for (int i = 0; i < node->n_out; i++) {
    const bool on_host = listed_out(g, node, i);
    if (!gpu_takes(g, weft__dtype_base(node->out_type[i]), on_host)) return false;
    if (on_host && !all && i >= GPU_HOST_OUTPUTS) return false;
  }
  return true;
}

const gpu_kernel *weft__gpu_find(const gpu_kernel *const *lists, const char *name, const weft_node *node) {
  if (!node->op) return NULL;
  for (; lists && *lists; lists++)
    for (const gpu_kernel *g = *lists; g->op; g++)
      if (!strcmp(g->op, name) && weft__gpu_serves(g, node)) return g;
  return NULL;
}
