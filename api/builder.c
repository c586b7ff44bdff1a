/* builder.c - builds a node of any op, call by call. */
#include "api/argument.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/arena.h"
#include "graph/attr_proto.h"
#include "graph/attr_text.h"
#include "graph/graph.h"
#include "proto/scan.h"

enum { MAX_ATTRS = 64 };

struct weft_builder {
  weft_graph *g;
  arena arena; /* owns all arguments */
  const char *op, *name, *device;
  weft_out *in;
  int *control;
  int n_in, n_control, n_attr;
  int64_t cap_in, cap_control;
  attr attr[MAX_ATTRS];
  weft_err failed;
};

static void builder_fail(weft_builder *b, weft_err err) {
  if (err) weft__status_update(&b->g->sticky, err);
  if (err && !b->failed) b->failed = err;
}

void weft__builder_refuse(weft_builder *b, weft_err err) {
  if (b) builder_fail(b, err);
}

weft_builder *weft_node_begin(weft_graph *g, const char *op_name, const char *name) {
  API_NEED_OR(g, NULL);
  if (!op_name) {
    weft__argument_fail(g, weft__argument_null(__func__, "op_name"));
    return NULL;
  }

  weft_builder *b = weft__alloc_zero(1, sizeof *b);
  if (!b) {
    weft__status_update(&g->sticky, WEFT_OOM);
    return NULL;
  }
  b->g = g;
  b->op = weft__arena_strdup(&b->arena, op_name);
  b->name = name && name[0] ? weft__arena_strdup(&b->arena, name) : NULL;
  if (!b->op || (name && name[0] && !b->name)) builder_fail(b, WEFT_OOM);
  return b;
}

/* Returns room for one more element of a list, or NULL and fails the builder. */
static void *builder_grow(weft_builder *b, void *list, int n, int64_t *capacity, size_t size) {
  if (n < *capacity) return list;
  void *grown = weft__array_grow(list, capacity, n + 1, size);
  if (!grown) builder_fail(b, WEFT_OOM);
  return grown;
}

void weft_builder_input(weft_builder *b, weft_out x) {
  if (!b) return;
  weft_out *grown = builder_grow(b, b->in, b->n_in, &b->cap_in, sizeof *b->in);
  if (!grown) return;
  b->in = grown;
  b->in[b->n_in++] = x;
  if (weft__out_foreign(b->g, x))
    builder_fail(b, weft__fail(WEFT_INVALID_ARGUMENT, "input %d of %s is from another graph", b->n_in - 1, b->op));
  if (x.node < 0 && !b->g->sticky.code)
    builder_fail(b, weft__fail(WEFT_INVALID_ARGUMENT, "input %d of a new %s is no output", b->n_in - 1, b->op));
}

void weft_builder_inputs(weft_builder *b, const char *name, int n, const weft_out *x) {
  API_NEED_IN(b, name);

  if (b && n < 0)
    builder_fail(b, weft__fail(WEFT_INVALID_ARGUMENT, "%s: n_%s is %d; a count must not be negative", b->op, name, n));
  else if (b && n > 0 && !x)
    builder_fail(b, weft__argument_null(b->op, name));
  else
    for (int i = 0; i < n; i++) weft_builder_input(b, x[i]);
}

void weft_builder_control(weft_builder *b, weft_out x) {
  if (!b) return;
  int *grown = builder_grow(b, b->control, b->n_control, &b->cap_control, sizeof *b->control);
  if (!grown) return;
  b->control = grown;
  b->control[b->n_control++] = x.node;
  builder_fail(b, weft__out_of(b->g, x, "control input", b->n_control - 1));
}

void weft_builder_device(weft_builder *b, const char *device) {
  API_NEED_IN(b, device);

  if (b && !(b->device = weft__arena_strdup(&b->arena, device))) builder_fail(b, WEFT_OOM);
}

static void builder_put_attr(weft_builder *b, const attr *a) {
  if (!b) return;
  if (b->n_attr == MAX_ATTRS) {
    builder_fail(b, weft__fail(WEFT_INVALID_ARGUMENT, "a new %s has more than %d attributes", b->op, MAX_ATTRS));
    return;
  }
  weft_err err = weft__attr_copy(&b->attr[b->n_attr], a, &b->arena);
  if (err)
    builder_fail(b, err);
  else
    b->n_attr++;
}

void weft_builder_int(weft_builder *b, const char *name, int64_t v) {
  API_NEED_IN(b, name);
  builder_put_attr(b, &A_INT(name, v));
}
void weft_builder_float(weft_builder *b, const char *name, float v) {
  API_NEED_IN(b, name);
  builder_put_attr(b, &A_FLOAT(name, v));
}
void weft_builder_bool(weft_builder *b, const char *name, bool v) {
  API_NEED_IN(b, name);
  builder_put_attr(b, &A_BOOL(name, v));
}
void weft_builder_type(weft_builder *b, const char *name, weft_dtype v) {
  API_NEED_IN(b, name);
  builder_put_attr(b, &A_TYPE(name, v));
}

void weft_builder_string(weft_builder *b, const char *name, const char *data, size_t size) {
  API_NEED_IN(b, name);

  builder_put_attr(b, &(attr){.name = name, .kind = ATTR_STRING, .s = {data, size}});
}

void weft_builder_shape(weft_builder *b, const char *name, int rank, const int64_t *dims) {
  API_NEED_IN(b, name);
  API_ITEMS_IN(b, rank, dims);

  shape s = SHAPE_UNKNOWN;
  weft_err err = rank >= 0 ? weft__shape_make(&s, rank, dims) : WEFT_OK;
  if (err && b)
    builder_fail(b, err);
  else
    builder_put_attr(b, &A_SHAPE(name, &s));
}

void weft_builder_tensor(weft_builder *b, const char *name, const weft_tensor *t) {
  API_NEED_IN(b, name);
  API_NEED_IN(b, t);

  builder_put_attr(b, &A_TENSOR(name, (weft_tensor *)(uintptr_t)t));
}

void weft_builder_ints(weft_builder *b, const char *name, int n, const int64_t *v) {
  API_NEED_IN(b, name);
  API_ARRAY_IN(b, n, v);

  builder_put_attr(b, &A_INTS(name, (int64_t *)(uintptr_t)v, n));
}

void weft_builder_types(weft_builder *b, const char *name, int n, const weft_dtype *v) {
  API_NEED_IN(b, name);
  API_ARRAY_IN(b, n, v);

  builder_put_attr(b, &A_TYPES(name, (weft_dtype *)(uintptr_t)v, n));
}

void weft_builder_attr(weft_builder *b, const char *name, const void *attr_value, size_t size) {
  API_NEED_IN(b, name);
  API_ITEMS_IN(b, size, attr_value);

  if (!b) return;
  ProtobufCMessage *m;
  weft_err err = weft__proto_unpack(&m, &tensorflow__attr_value__descriptor, attr_value, size);
  if (!err) {
    attr a;
    err = weft__attr_from_proto(&a, name, (const Tensorflow__AttrValue *)m, &b->arena);
    if (!err) {
      builder_put_attr(b, &a);
      weft__attr_release(&a);
    }
    protobuf_c_message_free_unpacked(m, NULL);
  }
  builder_fail(b, err);
}

void weft_builder_attrs(weft_builder *b, const char *attrs) {
  if (!b || b->failed) return;
  const op *o = weft__op_find(b->g->ops, b->op); /* finish reports an unknown op */
  if (o) builder_fail(b, weft__attrs_read(&o->opdef, attrs, &b->arena, b->attr, MAX_ATTRS, &b->n_attr));
}

weft_out weft_builder_finish(weft_builder *b) {
  if (!b) return WEFT_NONE;
  weft_node *n = NULL;
  if (!b->failed && !b->g->sticky.code)
    builder_fail(b, weft__graph_add(b->g,
                                    &(node_spec){.op = b->op,
                                                 .name = b->name,
                                                 .device = b->device,
                                                 .n_in = b->n_in,
                                                 .in = b->in,
                                                 .n_control = b->n_control,
                                                 .control = b->control,
                                                 .n_attr = b->n_attr,
                                                 .attr = b->attr},
                                    &n));
  for (int i = 0; i < b->n_attr; i++) weft__attr_release(&b->attr[i]);
  weft__arena_finish(&b->arena);
  weft__free(b->in);
  weft__free(b->control);
  weft__free(b);
  return n ? weft__graph_out(n->graph, n->id, 0) : WEFT_NONE;
}

weft_out weft_op(weft_graph *g, const char *op_name, const char *name, int n, const weft_out *in, const char *attrs) {
  API_NEED_OUT(NULL, g);
  API_NEED_OUT(g, op_name);
  API_ARRAY_OUT(g, n, in);

  weft_builder *b = weft_node_begin(g, op_name, name);
  for (int i = 0; i < n; i++) weft_builder_input(b, in[i]);
  weft_builder_attrs(b, attrs);
  return weft_builder_finish(b);
}
