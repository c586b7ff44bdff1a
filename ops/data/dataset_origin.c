/* dataset_origin.c - remembers the node that created a data set, with the functions that it calls.
 *
 * The message is made once for a node and is shared by all data sets that the node creates. */
#include "ops/data/dataset_origin.h"

#include "base/alloc.h"
#include "base/map.h"
#include "graph/graphdef.h"
#include "graph/library.h"
#include "graph/node_object.h"
#include "proto/scan.h"
#include "tensor/tensor_proto.h"
#include <string.h>

static void origin_destroy(object *o) {
  dataset_origin *origin = (dataset_origin *)o;
  if (origin->message) protobuf_c_message_free_unpacked(&origin->message->base, NULL);
  weft__free(origin);
}

/* ---- the functions that a node calls ---- */

typedef struct calls {
  const weft_graph *g;
  map seen; /* name -> library_function */
  const char *stateful;
} calls;

static weft_err calls_function(calls *c, const char *name) {
  if (weft__map_get(&c->seen, name)) return WEFT_OK;
  const library_function *f = weft__library_find(c->g, name);
  return f ? weft__map_put(&c->seen, f->name, (void *)(uintptr_t)f) : WEFT_OK;
}

static weft_err calls_of_node(calls *c, const Tensorflow__NodeDef *n) {
  for (size_t i = 0; i < n->n_attr; i++) {
    const Tensorflow__AttrValue *v = n->attr[i]->value;
    if (v && v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC) WEFT_TRY(calls_function(c, v->func->name));
    if (v && v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST)
      for (size_t j = 0; j < v->list->n_func; j++) WEFT_TRY(calls_function(c, v->list->func[j]->name));
  }
  return calls_function(c, n->op);
}

/* Returns true for an op whose state is not of the program: what it does is the same when it runs again.  These are
 * stateful by definition so that they are not left out or run early. */
static bool is_repeatable(const opdef *d) {
  static const char *const names[] = {"Assert", "Print", "PrintV2", "If", "While", "Case", "StatefulPartitionedCall"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(d->name, names[i])) return true;
  return !strncmp(d->name, "TensorArray", 11) ||
         (strstr(d->name, "Dataset") && d->n_out == 1 && d->out[0].type == WEFT_VARIANT);
}

/* Adds the functions that a function calls, and notes its first stateful op. */
static weft_err calls_of_body(calls *c, const library_function *f) {
  ProtobufCMessage *m = NULL;
  weft_err err = weft__proto_unpack(&m, &tensorflow__function_def__descriptor, f->def.data, f->def.size);
  const Tensorflow__FunctionDef *def = (Tensorflow__FunctionDef *)m;
  for (size_t i = 0; !err && i < def->n_node_def; i++) {
    const op *o = weft__op_find(c->g->ops, def->node_def[i]->op);
    if (o && o->opdef.stateful && !is_repeatable(&o->opdef) && !c->stateful) c->stateful = o->opdef.name;
    err = calls_of_node(c, def->node_def[i]);
  }
  if (m) protobuf_c_message_free_unpacked(m, NULL);
  return err;
}

/* ---- the message ---- */

/* Removes what belongs to the node's place in its graph. */
static void strip_node(Tensorflow__NodeDef *n) {
  n->name = n->device = (char *)(uintptr_t)protobuf_c_empty_string;
  n->n_input = 0;
  size_t kept = 0;
  for (size_t i = 0; i < n->n_attr; i++)
    if (n->attr[i]->key[0] != '_') n->attr[kept++] = n->attr[i];
  n->n_attr = kept;
}

static weft_err unpack_functions(const calls *c, Tensorflow__FunctionDefLibrary *out, arena *a) {
  out->function = weft__arena_alloc(a, sizeof *out->function * (size_t)(c->seen.count + 1));
  if (!out->function) return WEFT_OOM;
  for (int i = 0; i < c->seen.used; i++) {
    const library_function *f = c->seen.entries[i].value;
    ProtobufCMessage *m = NULL;
    WEFT_TRY(weft__proto_unpack(&m, &tensorflow__function_def__descriptor, f->def.data, f->def.size));
    out->function[out->n_function++] = (Tensorflow__FunctionDef *)m;
  }
  return WEFT_OK;
}

/* Copies a message, by packing it, into one that owns its memory. */
static weft_err copy_message(const Tensorflow__GraphDef *g, Tensorflow__GraphDef **out) {
  void *packed = NULL;
  size_t size = 0;
  ProtobufCMessage *m = NULL;
  WEFT_TRY(weft__proto_pack(&g->base, &packed, &size));
  const weft_err err = weft__proto_unpack(&m, &tensorflow__graph_def__descriptor, packed, size);
  weft__free(packed);
  *out = (Tensorflow__GraphDef *)m;
  return err;
}

static weft_err origin_read(dataset_origin *origin, const weft_node *n, calls *c, arena *a) {
  Tensorflow__GraphDef g;
  Tensorflow__FunctionDefLibrary library;
  Tensorflow__NodeDef node, *nodes[] = {&node};
  tensorflow__graph_def__init(&g);
  tensorflow__function_def_library__init(&library);
  pthread_mutex_lock(&n->graph->lock);
  weft_err err = weft__node_export_proto(n, &node, a);
  pthread_mutex_unlock(&n->graph->lock);
  if (err) return err;
  strip_node(&node);
  WEFT_TRY(calls_of_node(c, &node));
  for (int i = 0; i < c->seen.used; i++) WEFT_TRY(calls_of_body(c, c->seen.entries[i].value));
  g.node = nodes;
  g.n_node = 1;
  g.library = &library;
  err = unpack_functions(c, &library, a);
  if (!err) err = copy_message(&g, &origin->message);
  for (size_t i = 0; i < library.n_function; i++) protobuf_c_message_free_unpacked(&library.function[i]->base, NULL);
  if (err) return err;
  origin->node = origin->message->node[0];
  origin->library = origin->message->library;
  origin->stateful = c->stateful; /* a name of the op table, which is constant */
  return WEFT_OK;
}

static weft_err origin_make(const weft_node *n, object **out) {
  dataset_origin *origin = weft__alloc_zero(1, sizeof *origin);
  calls c = {.g = n->graph};
  arena a = {0};
  if (!origin) return WEFT_OOM;
  atomic_init(&origin->base.refs, 1);
  origin->base.destroy = origin_destroy;
  const weft_err err = origin_read(origin, n, &c, &a);
  weft__map_finish(&c.seen);
  weft__arena_finish(&a);
  if (err)
    weft__object_release(&origin->base);
  else
    *out = &origin->base;
  return err;
}

weft_err weft__dataset_remember(const kernel *k, dataset *d) {
  if (d->origin) return WEFT_OK;
  for (int i = 0; i < k->n_in; i++)
    if (!k->in[i]) return WEFT_OK;
  if (!(d->given = weft__components_alloc(k->n_in))) return WEFT_OOM;
  d->n_given = k->n_in;
  for (int i = 0; i < k->n_in; i++) WEFT_TRY(weft__tensor_keep(&d->given[i], k->in[i]));
  const weft_err err = weft__node_object(k->node, origin_make, &d->origin);
  return err == WEFT_RESOURCE_EXHAUSTED ? err : WEFT_OK; /* a node that cannot be written still gives its data set */
}
